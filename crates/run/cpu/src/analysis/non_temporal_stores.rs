//! Non-temporal stores: which memory a kernel only writes, so that its stores may pass the caches by.
//!
//! A store to a line that is in no cache reads the line first. A launch that writes much memory which it does not
//! read spends a third of its traffic on these reads, and evicts other data. Instructions for data that is not used
//! again soon (`movntps`; Intel's optimization manual, "Non-temporal stores") avoid both. SIMD gangs use them, as
//! their stores have whole vectors. Other threads see such stores in any order. Therefore a fence follows the stores
//! of each thread, and kernels with atomics have none.

use super::analysed_module::AnalysedModule;
use super::pointer_roots::{BoundVariable, ParameterIndex, PointerRoots, find_parameters};
use crate::module::operand_ids::operand_ids;
use rustc_hash::FxHashSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Memory that a kernel stores to and uses in no other way.
#[derive(Default)]
pub(crate) struct NonTemporalStores {
    /// The pointers that are stored to.
    pub pointers: FxHashSet<Id>,
    /// The arguments and bindings that are only stored to.
    pub parameters: Vec<ParameterIndex>,
}

impl NonTemporalStores {
    /// Finds the memory that a program only stores to.
    pub fn from_program(
        program: &AnalysedModule<'_>,
        bound: &[BoundVariable],
    ) -> NonTemporalStores {
        let mut uses = StoredMemoryUses {
            roots: PointerRoots::new(program, bound),
            ..StoredMemoryUses::default()
        };
        for func in &program.functions.bottom_up {
            for inst in program.module.function_insts(*func) {
                if is_ordering(inst.op()) {
                    return NonTemporalStores::default();
                }
                uses.add_instruction(inst);
            }
        }
        let is_written = |id: Id| uses.stored.contains(&id) && !uses.others.contains(&id);
        let parameters = find_parameters(program, bound, is_written);
        let pointers = uses.pointers.iter();
        NonTemporalStores {
            pointers: pointers
                .filter(|(_, root)| is_written(*root))
                .map(|(pointer, _)| *pointer)
                .collect(),
            parameters: parameters.into_iter().map(|(index, _)| index).collect(),
        }
    }
}

/// Whether an instruction may order memory between invocations.
fn is_ordering(op: Op) -> bool {
    op == Op::MemoryBarrier || op.is_atomic() || op.is_pipe()
}

/// The uses of each root.
#[derive(Default)]
struct StoredMemoryUses {
    roots: PointerRoots,
    /// Pointers that are stored to, each with its root.
    pointers: Vec<(Id, Id)>,
    /// Roots that are stored to.
    stored: FxHashSet<Id>,
    /// Roots that are used in other ways.
    others: FxHashSet<Id>,
}

impl StoredMemoryUses {
    fn add_instruction(&mut self, inst: InstRef<'_>) {
        if self.roots.follow_pointer(inst) {
            return;
        }
        let root = |id: Id| self.roots.get(id);
        match inst.op() {
            Op::Store => {
                if let Some(root) = root(inst.id_operand(0)) {
                    self.pointers.push((inst.id_operand(0), root));
                    self.stored.insert(root);
                }
                self.others.extend(root(inst.id_operand(1)));
            }
            Op::FunctionParameter | Op::ArrayLength => {}
            _ => self.others.extend(operand_ids(inst).filter_map(root)),
        }
    }
}
