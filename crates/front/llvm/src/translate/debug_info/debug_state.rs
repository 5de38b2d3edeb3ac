//! Debug information state: the instructions that were emitted so far.

use crate::ir::{LlvmFunc, LlvmModule};
use rustc_hash::FxHashMap;
use spirula_spirv::Id;

/// Debug information that was emitted so far.
#[derive(Default)]
pub(in crate::translate) struct DebugInfoTranslation {
    pub(in crate::translate) set: Option<Id>,
    /// By node: its instruction.
    pub(in crate::translate) nodes: Vec<Option<Id>>,
    pub(in crate::translate) none: Option<Id>,
    pub(in crate::translate) depth: u32,
    /// By node: the function whose subprogram it is.
    pub(in crate::translate) functions: Vec<Option<LlvmFunc>>,
    /// By node: the template that a class or function is an instance of.
    pub(in crate::translate) templates: Vec<Option<Id>>,
    /// Strings that were emitted, also by other users of `OpString`.
    pub(in crate::translate) strings: FxHashMap<String, Id>,
}

impl DebugInfoTranslation {
    /// The state before anything is emitted.
    pub(in crate::translate) fn new(module: &LlvmModule) -> DebugInfoTranslation {
        let mut functions = vec![None; module.metadata.len()];
        for func in module.function_ids() {
            if !module.function(func).is_declaration()
                && let Some(node) = module.function_metadata(func, "dbg")
            {
                functions[node.index()] = Some(func);
            }
        }
        DebugInfoTranslation {
            nodes: vec![None; module.metadata.len()],
            templates: vec![None; module.metadata.len()],
            functions,
            ..DebugInfoTranslation::default()
        }
    }
}

/// The source location of the previous instruction: its scope, the inlining of that, and its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::translate) struct EmittedDebugLocation {
    pub(in crate::translate) scope: Option<(Id, Option<Id>)>,
    pub(in crate::translate) line: Option<(Id, u32, u32)>,
}

/// Debug information of the function that is being translated.
#[derive(Debug, Default)]
pub(in crate::translate) struct FunctionDebugState {
    /// Whether debug information is kept.
    pub(in crate::translate) enabled: bool,
    /// The source location of the previous instruction.
    pub(in crate::translate) last_location: EmittedDebugLocation,
    /// The first debug record that was not processed yet.
    pub(in crate::translate) next_record: usize,
}
