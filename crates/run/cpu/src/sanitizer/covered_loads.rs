//! Covered loads: loads of an address that the same invocation writes right after, as in `x[i] += 1`.
//!
//! An access that races with such a load races with the store, too. Therefore only the store is checked.

use crate::analysis::analysed_module::AnalysedModule;
use rustc_hash::FxHashMap;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// The results of covered loads. The store is a plain one of the same type through the same pointer, in the same
/// block, before any instruction that could order invocations.
pub(crate) fn covered_loads(program: &AnalysedModule<'_>) -> IdMap<bool> {
    let mut covered = IdMap::new(program.module.bound(), false);
    for func in &program.functions.bottom_up {
        let info = program.functions.get(*func);
        for at in &info.order {
            let body: Vec<InstRef<'_>> = program.module.body(info.cfg.block(*at)).collect();
            in_block(program, &body, &mut covered);
        }
    }
    covered
}

fn in_block(program: &AnalysedModule<'_>, body: &[InstRef<'_>], covered: &mut IdMap<bool>) {
    let mut stored: FxHashMap<Id, Id> = FxHashMap::default();
    for inst in body.iter().rev() {
        match inst.op() {
            Op::Store if !is_volatile(inst.operands().get(2)) => {
                if let Some(ty) = program.type_of(inst.id_operand(1)) {
                    stored.insert(inst.id_operand(0), ty);
                }
            }
            Op::Load => {
                if let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) {
                    covered.set(id, stored.get(&inst.id_operand(0)) == Some(&ty));
                }
            }
            op if is_ordering_op(op) => stored.clear(),
            _ => {}
        }
    }
}

pub(super) fn is_volatile(access: Option<&u32>) -> bool {
    access.is_some_and(|mask| mask & MemoryAccess::Volatile.0 != 0)
}

/// Whether other invocations may run, or be waited for, during an instruction.
pub(super) fn is_ordering_op(op: Op) -> bool {
    let name = op.info().map_or("", |info| info.name);
    let is_collective = ["OpFunction", "OpGroup", "OpSubgroup"]
        .iter()
        .any(|kind| name.starts_with(kind));
    is_collective || op.is_atomic() || op.is_barrier()
}
