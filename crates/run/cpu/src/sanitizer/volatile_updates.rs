//! Volatile updates: volatile stores of a value that is computed from a load of the same address.
//!
//! Such an update loses stores of others in between. It counts as a plain store, unless the kernel waits for
//! something, which may order volatile accesses.

use super::covered_loads::is_volatile;
use super::load_purpose::LoadPurpose;
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::provenance::is_private;
use crate::module::operand_ids::operand_ids;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// Most operations between load and store, and in a pointer.
const DEPTH: u32 = 4;
/// Most operands of such an operation.
const OPERANDS: usize = 4;

/// Whether a store updates the address that it stores to.
pub(crate) fn is_update(program: &AnalysedModule<'_>, store: InstRef<'_>) -> bool {
    is_made_of(program, store.id_operand(1), store.id_operand(0), DEPTH)
}

/// Whether invocations may wait for others: there are locks, or a volatile or atomic value is read and compared.
pub(crate) fn can_invocations_wait(
    program: &AnalysedModule<'_>,
    purposes: &IdMap<LoadPurpose>,
) -> bool {
    let mut functions = program.functions.bottom_up.iter();
    functions.any(|func| {
        let mut insts = program.module.function_insts(*func);
        insts.any(|inst| match (inst.op(), inst.result()) {
            (
                Op::AtomicLoad
                | Op::AtomicExchange
                | Op::AtomicCompareExchange
                | Op::AtomicCompareExchangeWeak
                | Op::AtomicFlagTestAndSet
                | Op::AtomicOr,
                _,
            ) => true,
            (Op::Load, Some(id)) => {
                purposes[id] != LoadPurpose::Any && is_volatile(inst.operands().get(1))
            }
            _ => false,
        })
    })
}

/// Whether a value is computed from a load through a pointer.
fn is_made_of(program: &AnalysedModule<'_>, value: Id, pointer: Id, depth: u32) -> bool {
    let Some(inst) = program.definitions.get(program.module, value) else {
        return false;
    };
    match (inst.op(), depth.checked_sub(1)) {
        (Op::Load, _) if is_same(program, inst.id_operand(0), pointer, DEPTH) => true,
        (_, Some(depth)) if is_simple(inst) => {
            operand_ids(inst).any(|id| is_made_of(program, id, pointer, depth))
        }
        _ => false,
    }
}

/// Whether two values are computed alike, of the same values and variables of the invocation.
fn is_same(program: &AnalysedModule<'_>, a: Id, b: Id, depth: u32) -> bool {
    if a == b {
        return true;
    }
    let find_definition = |id| program.definitions.get(program.module, id);
    let (Some(p), Some(q), Some(depth)) =
        (find_definition(a), find_definition(b), depth.checked_sub(1))
    else {
        return false;
    };
    if p.op() != q.op() {
        return false;
    }
    if p.op() == Op::Load {
        return is_private(program, p.id_operand(0))
            && is_same(program, p.id_operand(0), q.id_operand(0), depth);
    }
    let [of_p, of_q] = [p, q].map(|inst| operand_ids(inst).collect::<Vec<Id>>());
    let mut pairs = of_p.iter().zip(&of_q);
    // The instructions have ids only, so that there are no literals to compare.
    let whole = [(&p, &of_p), (&q, &of_q)].map(|(inst, ids)| inst.operands().len() == ids.len());
    is_simple(p)
        && whole == [true; 2]
        && of_p.len() == of_q.len()
        && pairs.all(|(a, b)| is_same(program, *a, *b, depth))
}

/// Whether an instruction computes something of few operands.
fn is_simple(inst: InstRef<'_>) -> bool {
    inst.op().effects().is_pure() && inst.operands().len() <= OPERANDS
}
