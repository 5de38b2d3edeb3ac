//! Rule 10 for floats of formats other than IEEE's (`SPV_KHR_bfloat16`, `SPV_EXT_float8`). Such numbers are stored,
//! converted and factors of products; other instructions do not compute with them.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use super::signatures::get_components;
use crate::grammar::{InstructionClass, Op};
use crate::ir::InstRef;

/// Whether an instruction computes with IEEE's floats only, or with others of 16 bits too.
fn takes_ieee_only(op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    match class {
        Some(InstructionClass::Arithmetic) => {
            !matches!(op, Op::Dot | Op::CooperativeMatrixMulAddKHR)
        }
        Some(InstructionClass::RelationalandLogical) => op != Op::Select,
        Some(InstructionClass::Atomic) => op != Op::AtomicStore,
        Some(InstructionClass::Derivative | InstructionClass::NonUniform) => true,
        _ => op == Op::CooperativeMatrixMulAddNV,
    }
}

/// Checks the types of an instruction's result and operands.
pub(super) fn verify_float_encodings(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let op = inst.op();
    let is_dot = op == Op::Dot;
    if !is_dot && !takes_ieee_only(op) {
        return Ok(());
    }
    let is_other = |ty: u32| {
        let part = get_components(cx, ty).part;
        let is_matrix = cx.defining_op(ty) == Op::TypeCooperativeMatrixKHR;
        part.op == Op::TypeFloat && part.count > 0 && !is_matrix && !(is_dot && part.width == 16)
    };
    let result = inst.result_type().map_or(0, |ty| ty.word());
    let mut operands = inst.operands().iter().map(|id| cx.type_of(*id));
    ensure(
        VerifyRule::Values,
        !is_other(result) && !operands.any(is_other),
        || "it does not compute with floats of this format".to_owned(),
    )
}
