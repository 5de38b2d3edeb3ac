//! Options of a device that checks every access.

/// Loop iterations that an invocation may make without waiting for others.
const LOOPS: u64 = 1 << 30;

/// Options of the sanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOptions {
    /// Invocations of a workgroup run in an order that depends on this number; in order without one.
    pub seed: Option<u64>,
    /// Number of loop iterations after which an invocation counts as endless.
    pub loops: u64,
    /// Faults that are not reported. A rule is the name of a kind, or `*`. With `:TEXT` after it, it holds for faults
    /// with this text in the kernel's name or in one of the sites.
    pub suppressed: Vec<String>,
    /// Whether faults are reported that are often harmless. They are single reads of values that others change by
    /// atomics, searches in a structure that changes meanwhile, and missing neighbours in a scan.
    pub strict: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions {
            seed: None,
            loops: LOOPS,
            suppressed: Vec::new(),
            strict: false,
        }
    }
}
