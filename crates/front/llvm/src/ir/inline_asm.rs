//! Inline assembly.

use super::LlvmType;

/// Inline assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineAsm {
    /// The assembly.
    pub text: String,
    /// Constraints on its operands.
    pub constraints: String,
    /// Type of the function it acts as.
    pub function_type: LlvmType,
    /// `sideeffect`
    pub side_effect: bool,
    /// `alignstack`
    pub align_stack: bool,
    /// `inteldialect`
    pub intel_dialect: bool,
    /// `unwind`
    pub unwind: bool,
}
