//! Translated entities: the SPIR-V counterparts of functions, globals and inline assembly.

use crate::ir::LlvmFunc;
use spirula_spirv::Id;

/// The types of a function.
#[derive(Debug)]
pub(super) struct TranslatedSignature {
    pub(super) id: Id,
    pub(super) ty: Id,
    pub(super) result: Id,
    pub(super) params: Vec<Id>,
}

/// Translation state of a global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobalState {
    /// Not needed so far.
    Unseen,
    /// Its initializer is being translated.
    Open,
    /// Its variable.
    Done(Id),
    /// It was refused, and reported.
    Refused,
}

/// The entities that a function refers to.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionReferences {
    /// Variables at module level.
    pub(super) variables: Vec<Id>,
    /// Functions with a body.
    pub(super) functions: Vec<LlvmFunc>,
}

/// Declared assembly, with the types of its operands.
#[derive(Clone, Debug)]
pub(super) struct TranslatedInlineAsm {
    pub(super) id: Id,
    pub(super) result: Id,
    pub(super) params: Vec<Id>,
}
