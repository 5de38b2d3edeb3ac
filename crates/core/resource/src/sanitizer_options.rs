//! Options of the sanitizer, the device that checks every access.

/// Default of [`SanitizerOptions::loops`].
const DEFAULT_LOOPS: u64 = 1 << 30;

/// Options of the sanitizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SanitizerOptions {
    /// Invocations of a workgroup run in an order that depends on this number; in order without one.
    pub seed: Option<u64>,
    /// Number of loop iterations after which an invocation counts as endless.
    pub loops: u64,
    /// Rules for faults that are not reported. A rule is the name of a kind of faults, or `*` for all kinds. A rule with
    /// `:TEXT` at its end holds only for faults with this text in the kernel's name or in one of the sites.
    pub suppressed: Vec<String>,
    /// Whether faults are reported that are often harmless. Examples are single reads of values that other invocations
    /// change by atomics, searches in a structure that changes meanwhile, and missing neighbours in a scan.
    pub strict: bool,
}

impl Default for SanitizerOptions {
    fn default() -> Self {
        SanitizerOptions {
            seed: None,
            loops: DEFAULT_LOOPS,
            suppressed: Vec::new(),
            strict: false,
        }
    }
}
