//! Privatised atomics: memory that a kernel only updates by one kind of atomic, so that each thread may count alone.
//!
//! An atomic update waits until others see all earlier stores of the thread, and takes its cache line from the
//! processor that has it. The order of updates cannot be observed where three conditions hold: the kernel uses the
//! memory in no other way, nothing uses the updates' results, and the updates order nothing. Then each thread updates
//! a copy of its own, and the copies are merged at the end. Compilers know this as the privatisation of reductions.

use super::analysed_module::AnalysedModule;
use super::pointer_roots::{BoundVariable, ParameterIndex, PointerRoots, find_parameters};
use super::provenance::PointerProvenance;
use crate::module::operand_ids::operand_ids;
use crate::module::types::{LoweredTypeKind, ScalarRepr};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// The operator that combines two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivatisedOperator {
    Add,
    And,
    Or,
    Xor,
    SMin,
    UMin,
    SMax,
    UMax,
}

/// An update of numbers of 32 or 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrivatisedUpdate {
    /// The operator that combines the old number with the operand.
    pub operator: PrivatisedOperator,
    /// Bytes of a number.
    pub bytes: u64,
}

/// The memory that a kernel only updates.
#[derive(Default)]
pub(crate) struct PrivatisedAtomics {
    /// The pointers of the updates.
    pub pointers: FxHashSet<Id>,
    /// Each parameter whose memory is only updated, with its kind of update.
    pub parameters: Vec<(ParameterIndex, PrivatisedUpdate)>,
}

impl PrivatisedAtomics {
    /// Finds the memory that a program only updates.
    pub fn from_program(
        program: &AnalysedModule<'_>,
        bound: &[BoundVariable],
    ) -> PrivatisedAtomics {
        let functions = program.functions.bottom_up.iter();
        let insts = functions.flat_map(|func| program.module.function_insts(*func));
        let is_update = |inst: InstRef<'_>| classify_operator(inst.op()).is_some();
        if !insts.clone().any(is_update) {
            return PrivatisedAtomics::default();
        }
        let mut uses = AtomicMemoryUses {
            roots: PointerRoots::new(program, bound),
            ..AtomicMemoryUses::default()
        };
        let used = insts.clone().flat_map(operand_ids).collect();
        for inst in insts {
            if matches!(inst.op(), Op::EnqueueKernel) {
                return PrivatisedAtomics::default();
            }
            uses.add_instruction(program, inst, &used);
        }
        let update = |id: Id| uses.updates.get(&id).copied().flatten();
        let is_counted = |id: Id| update(id).is_some() && !uses.others.contains(&id);
        let mut counted = find_parameters(program, bound, is_counted);
        // Several variables may be the same memory.
        counted.retain(|(index, _)| match index {
            ParameterIndex::Argument(_) => true,
            ParameterIndex::Binding(row) => {
                bound.iter().filter(|b| b.row as usize == *row).count() == 1
            }
        });
        // A pointer that is only an address may point to the same memory.
        if counted.is_empty() || PointerProvenance::from_program(program).has_unknown() {
            return PrivatisedAtomics::default();
        }
        let is_parameter = |root: Id| counted.iter().any(|(_, id)| *id == root);
        let pointers = uses.pointers.iter().filter(|(_, root)| is_parameter(*root));
        let parameters = counted.iter();
        let parameters = parameters.filter_map(|(index, id)| Some((*index, update(*id)?)));
        PrivatisedAtomics {
            pointers: pointers.map(|(pointer, _)| *pointer).collect(),
            parameters: parameters.collect(),
        }
    }
}

/// The uses of each root.
#[derive(Default)]
struct AtomicMemoryUses {
    roots: PointerRoots,
    /// Pointers of updates, each with its root.
    pointers: Vec<(Id, Id)>,
    /// The update of each root; none where updates are of several kinds.
    updates: FxHashMap<Id, Option<PrivatisedUpdate>>,
    /// Roots that are used in other ways.
    others: FxHashSet<Id>,
}

impl AtomicMemoryUses {
    fn add_instruction(
        &mut self,
        program: &AnalysedModule<'_>,
        inst: InstRef<'_>,
        used: &FxHashSet<Id>,
    ) {
        if self.roots.follow_pointer(inst) || inst.op() == Op::FunctionParameter {
            return;
        }
        let root = classify_operator(inst.op()).and_then(|_| self.roots.get(inst.id_operand(0)));
        let Some(root) = root else {
            let roots = operand_ids(inst).filter_map(|id| self.roots.get(id));
            return self.others.extend(roots);
        };
        self.pointers.push((inst.id_operand(0), root));
        let update = match_privatised_update(program, inst, used);
        let known = self.updates.entry(root).or_insert(update);
        if *known != update {
            *known = None;
        }
    }
}

/// The operator of an atomic instruction that updates a number.
fn classify_operator(op: Op) -> Option<PrivatisedOperator> {
    Some(match op {
        Op::AtomicIIncrement | Op::AtomicIDecrement | Op::AtomicIAdd | Op::AtomicISub => {
            PrivatisedOperator::Add
        }
        Op::AtomicAnd => PrivatisedOperator::And,
        Op::AtomicOr => PrivatisedOperator::Or,
        Op::AtomicXor => PrivatisedOperator::Xor,
        Op::AtomicSMin => PrivatisedOperator::SMin,
        Op::AtomicUMin => PrivatisedOperator::UMin,
        Op::AtomicSMax => PrivatisedOperator::SMax,
        Op::AtomicUMax => PrivatisedOperator::UMax,
        _ => return None,
    })
}

/// The update of an atomic that orders nothing and whose result is not used; none for others.
fn match_privatised_update(
    program: &AnalysedModule<'_>,
    inst: InstRef<'_>,
    used: &FxHashSet<Id>,
) -> Option<PrivatisedUpdate> {
    const ORDERS: u64 = 0x1e;
    const VOLATILE: u64 = 0x8000;
    let semantics = program.constants.get_u64(inst.id_operand(2))?;
    let is_used = inst.result().is_none_or(|id| used.contains(&id));
    if is_used || semantics & (ORDERS | VOLATILE) != 0 {
        return None;
    }
    let LoweredTypeKind::Scalar(ScalarRepr::Int(bits @ (32 | 64))) =
        program.types.kind(inst.result_type()?)
    else {
        return None;
    };
    Some(PrivatisedUpdate {
        operator: classify_operator(inst.op())?,
        bytes: u64::from(bits) / 8,
    })
}
