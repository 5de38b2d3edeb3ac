//! The state of the reader.

use super::cursor::FutharkCursor;
use super::scopes::FutharkScopes;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::VariableType;
use spirula_program::ScalarOperator;

/// Types of the inputs and outputs of a function.
pub(super) struct FutharkSignature {
    pub inputs: Vec<VariableType>,
    pub outputs: Vec<VariableType>,
}

/// The state of the reader.
pub(super) struct FutharkReader<'a> {
    pub cursor: FutharkCursor<'a>,
    pub syntax: SectionSyntax,
    pub builder: ProgramBuilder,
    pub scopes: FutharkScopes<'a>,
    pub operators: &'static FxHashMap<String, ScalarOperator>,
    pub signatures: FxHashMap<&'a str, FutharkSignature>,
    /// The source place in the Futhark program that was named last.
    pub provenance: &'a str,
    /// Number of open blocks and expressions.
    pub depth: u32,
    /// Whether the statements of a kernel are being read.
    pub is_in_kernel: bool,
    /// The fault of a copy that cannot be meant as it is written, unless a branch around it has been made to avoid
    /// it.
    pub broken_copy: Option<SourceDiagnostic>,
}

/// Deepest nesting of blocks and expressions.
pub(super) const DEPTH: u32 = 200;

/// The syntax of a program's sections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionSyntax {
    /// Headings.
    Headings,
    /// Braces.
    Braces,
}

/// The beginning of a program with braces.
pub(super) const TUNING_PARAMETERS: &str = "tuning params {\n";

impl SectionSyntax {
    /// Detects the syntax of a text that looks like a program.
    pub fn from_text(text: &str) -> Option<SectionSyntax> {
        if text.starts_with("types {") && text.contains("\nInitialisation:\n") {
            return Some(SectionSyntax::Headings);
        }
        let is_new = text.starts_with(TUNING_PARAMETERS) && text.contains("\ninitialisation {\n");
        is_new.then_some(SectionSyntax::Braces)
    }
}
