//! What pointers of a kernel point into, as far as one look at each instruction tells.

use crate::layout::globals::ReachedGlobals;
use crate::module::program::AnalysedModule;
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// By pointer: the argument or bound variable that it points into.
#[derive(Default)]
pub(crate) struct PointerRoots(FxHashMap<Id, Id>);

impl PointerRoots {
    /// The arguments and bound variables themselves.
    pub fn new(program: &AnalysedModule<'_>, globals: &ReachedGlobals) -> PointerRoots {
        let entry = program.functions.get(program.entry.func);
        let bound = globals.bound.iter().map(|(id, _)| *id);
        let all = entry.params.iter().copied().chain(bound);
        PointerRoots(all.map(|id| (id, id)).collect())
    }

    /// What a pointer points into, where that is known.
    pub fn get(&self, pointer: Id) -> Option<Id> {
        self.0.get(&pointer).copied()
    }

    /// Whether an instruction only makes a pointer of another one, which is taken note of.
    pub fn follow_pointer(&mut self, inst: InstRef<'_>) -> bool {
        let Some(result) = inst.result() else {
            return false;
        };
        let makes =
            inst.op().is_access_chain() || matches!(inst.op(), Op::Bitcast | Op::CopyObject);
        if makes && let Some(root) = self.get(inst.id_operand(0)) {
            self.0.insert(result, root);
        }
        makes
    }
}

/// Where those that something holds for stand among a kernel's arguments, and in its table of bindings, that of arrays of
/// bindings left out.
pub(crate) fn find_parameter_positions(
    program: &AnalysedModule<'_>,
    globals: &ReachedGlobals,
    holds: impl Fn(Id) -> bool,
) -> [Vec<usize>; 2] {
    let params = program.functions.get(program.entry.func).params.iter();
    let params = params.enumerate().filter(|(_, id)| holds(**id));
    let plain = globals.bound.iter().filter(|(id, row)| {
        let slot = globals.bindings.get(*row as usize);
        holds(*id) && slot.is_some_and(|slot| slot.count.is_none())
    });
    [
        params.map(|(at, _)| at).collect(),
        plain.map(|(_, row)| *row as usize).collect(),
    ]
}
