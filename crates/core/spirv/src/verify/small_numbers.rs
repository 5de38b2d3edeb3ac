//! Rule 25: numbers of 8 and 16 bits in shaders that can only store them (specification, sections 2.16.1 and 3.31:
//! the capabilities for storage). Such a number is stored, converted to another width of its kind, and copied, and
//! nothing else.

use super::context::{TypeContents, VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use crate::grammar::{InstructionClass, Op};
use crate::ir::InstRef;

/// Instructions that may use such a number, or a composite with one.
fn may_use(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> bool {
    let op = inst.op();
    let describes = op.info().is_some_and(|i| {
        matches!(
            i.class,
            InstructionClass::Annotation | InstructionClass::Debug | InstructionClass::ModeSetting
        )
    });
    describes
        || matches!(
            op,
            Op::CopyObject | Op::Store | Op::FConvert | Op::UConvert | Op::SConvert
        )
        || super::ids::is_debug(cx, inst)
}

/// Checks the operands of an instruction. `limited` has the types that the module may only store.
pub(super) fn verify_narrow_operands(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    limited: TypeContents,
) -> VerifyResult {
    if limited == TypeContents::NOTHING || may_use(cx, inst) {
        return Ok(());
    }
    let from = usize::from(inst.result_type().is_some());
    let mut found = None;
    cx.ids.visit_uses(inst, |at, id| {
        let ty = cx.type_of(id.word());
        if at >= from && ty != 0 && cx.type_shape(ty).holds.has_any(limited) {
            found = found.or(Some(id));
        }
    });
    let message = || {
        let id = found.map_or(String::new(), |id| id.to_string());
        format!("{id} has 8 or 16 bits, and can be stored and converted only")
    };
    ensure(VerifyRule::SmallNumbers, found.is_none(), message)
}
