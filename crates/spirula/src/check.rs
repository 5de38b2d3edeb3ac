//! Comparisons that a program asks for of its own values.

/// A comparison. What it compares stands behind the results of the entry point, check by check: the
/// value, then what is expected of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// When it holds.
    pub kind: CheckKind,
    /// Type of the elements: `i1`, `i4` to `i64`, `u4` to `u64`, `f16`, `bf16`, `f32`, `f64`,
    /// `f8e4m3fn`, `c64`, `c128`.
    pub element: String,
}

/// When a comparison holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CheckKind {
    /// A single value is true everywhere; nothing is expected of it beyond.
    True,
    /// All elements are equal.
    Equal,
    /// Floats differ by no more than this.
    Near(f64),
    /// No more floats of their format lie between them than this.
    Close(u64),
}
