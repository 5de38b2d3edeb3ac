//! Pointer roots: the argument or bound variable that each pointer points into.
//!
//! One pass over the instructions finds them. A pointer that passes through memory, a phi or a call has no known root.

use super::analysed_module::AnalysedModule;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// A module-level variable that is bound to a descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundVariable {
    /// The variable.
    pub id: Id,
    /// Its row in the table of bindings.
    pub row: u32,
    /// Whether the row is an array of bindings.
    pub is_array: bool,
}

/// The parameter through which a kernel gets memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterIndex {
    /// Position among the arguments.
    Argument(usize),
    /// Row of the table of bindings.
    Binding(usize),
}

/// Maps each pointer to the argument or bound variable that it points into.
#[derive(Default)]
pub(crate) struct PointerRoots(FxHashMap<Id, Id>);

impl PointerRoots {
    /// The arguments and bound variables, each its own root.
    pub fn new(program: &AnalysedModule<'_>, bound: &[BoundVariable]) -> PointerRoots {
        let entry = program.functions.get(program.entry.func);
        let bound = bound.iter().map(|variable| variable.id);
        let all = entry.params.iter().copied().chain(bound);
        PointerRoots(all.map(|id| (id, id)).collect())
    }

    /// The root of a pointer, where it is known.
    pub fn get(&self, pointer: Id) -> Option<Id> {
        self.0.get(&pointer).copied()
    }

    /// Whether an instruction only derives a pointer from another one. Its result then gets the same root.
    pub fn follow_pointer(&mut self, inst: InstRef<'_>) -> bool {
        let Some(result) = inst.result() else {
            return false;
        };
        let is_derived =
            inst.op().is_access_chain() || matches!(inst.op(), Op::Bitcast | Op::CopyObject);
        if is_derived && let Some(root) = self.get(inst.id_operand(0)) {
            self.0.insert(result, root);
        }
        is_derived
    }
}

/// The arguments and bound variables for which `holds` is true, with their ids. Arrays of bindings are left out.
pub(crate) fn find_parameters(
    program: &AnalysedModule<'_>,
    bound: &[BoundVariable],
    holds: impl Fn(Id) -> bool,
) -> Vec<(ParameterIndex, Id)> {
    let params = program.functions.get(program.entry.func).params.iter();
    let arguments = params
        .enumerate()
        .map(|(at, id)| (ParameterIndex::Argument(at), *id));
    let bound = bound.iter().filter(|b| !b.is_array);
    let bindings = bound.map(|b| (ParameterIndex::Binding(b.row as usize), b.id));
    arguments
        .chain(bindings)
        .filter(|(_, id)| holds(*id))
        .collect()
}
