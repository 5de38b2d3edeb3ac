//! Memory functions: vector loads and stores, address space casts, output.

use super::numeric::split_rounding;
use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{FPRoundingMode, StorageClass};
use spirula_spirv::grammar::opencl_std as std_;

/// The number of lanes at the end of a name; `None` for a scalar.
fn lanes_of(name: &str) -> Option<u32> {
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

/// `vloadN`, `vload_half`, `vload_halfN`, `vloada_halfN`: `(offset, pointer)`
pub(super) fn lower_vector_load(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let lanes = lanes_of(call.name);
    let number = match (
        call.name.trim_end_matches(|c: char| c.is_ascii_digit()),
        lanes,
    ) {
        ("vload", Some(_)) => std_::VLOADN,
        ("vload_half", None) => std_::VLOAD_HALF,
        ("vload_half", Some(_)) => std_::VLOAD_HALFN,
        ("vloada_half", Some(_)) => std_::VLOADA_HALFN,
        ("vloada_half", None) => std_::VLOAD_HALF,
        _ => return Err(make_refusal("there is no such load")),
    };
    let offset = body.lower_value(call.arg(0)?)?;
    let pointer = body.lower_argument(call, 1)?;
    let ty = body.call_type(call)?;
    let mut words = vec![body.t.opencl_std().word(), number];
    words.extend([offset.word(), pointer.word()]);
    words.extend(lanes);
    Ok(Some(body.t.b.append_value(Op::ExtInst, ty, &words)))
}

/// `vstoreN`, `vstore_half`, `vstore_halfN`, `vstorea_halfN`, with rounding modes:
/// `(data, offset, pointer)`
pub(super) fn lower_vector_store(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (name, rounding) = split_rounding(call.name);
    let lanes = lanes_of(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = match (stem, lanes, rounding) {
        ("vstore", Some(_), None) => std_::VSTOREN,
        ("vstore_half" | "vstorea_half", None, None) => std_::VSTORE_HALF,
        ("vstore_half" | "vstorea_half", None, Some(_)) => std_::VSTORE_HALF_R,
        ("vstore_half", Some(_), None) => std_::VSTORE_HALFN,
        ("vstore_half", Some(_), Some(_)) => std_::VSTORE_HALFN_R,
        ("vstorea_half", Some(_), None) => std_::VSTOREA_HALFN,
        ("vstorea_half", Some(_), Some(_)) => std_::VSTOREA_HALFN_R,
        _ => return Err(make_refusal("there is no such store")),
    };
    let data = body.lower_value(call.arg(0)?)?;
    let offset = body.lower_value(call.arg(1)?)?;
    let pointer = body.lower_argument(call, 2)?;
    let ty = body.t.b.void_type();
    let mut words = vec![body.t.opencl_std().word(), number];
    words.extend([data, offset, pointer].map(Id::word));
    words.extend(rounding.map(|mode: FPRoundingMode| mode.0));
    body.t.b.append_value(Op::ExtInst, ty, &words);
    Ok(None)
}

/// `to_global`, `to_local`, `to_private`: a generic pointer in the address space, or null if it
/// points to other memory.
pub(super) fn to_space(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ty = body.call_type(call)?;
    let Some((class, pointee)) = body.t.pointee_of(ty) else {
        return Err(make_refusal("the result is not a pointer"));
    };
    let pointer = body.lower_pointer(call.arg(0)?, pointee)?;
    let words = [pointer.word(), class.0];
    let id = body
        .t
        .b
        .append_value(Op::GenericCastToPtrExplicit, ty, &words);
    Ok(Some(id))
}

/// Memory semantics are fence flags, this many bits higher.
const FENCE_SHIFT: u32 = 8;

/// `get_fence(pointer)`: the fence flag of the memory that a generic pointer points to.
pub(super) fn fence_of(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let byte = body.t.make_byte_type();
    let pointer = body.lower_pointer(call.arg(0)?, byte)?;
    let ty = body.call_type(call)?;
    let semantics = body.emit_op(Op::GenericPtrMemSemantics, ty, [pointer]);
    let by = body.t.make_u32(FENCE_SHIFT);
    Ok(Some(body.emit_op(
        Op::ShiftRightLogical,
        ty,
        [semantics, by],
    )))
}

/// `printf(format, ...)`
pub(super) fn lower_printf(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let byte = body.t.make_byte_type();
    let mut operands = Vec::with_capacity(call.args.len());
    for (index, &argument) in call.args.iter().enumerate() {
        operands.push(if index == 0 || body.is_pointer(argument) {
            body.lower_pointer(argument, byte)?
        } else {
            body.lower_value(argument)?
        });
    }
    let format = operands.first().and_then(|id| body.t.b.type_of(*id));
    if let Some((class, _)) = format.and_then(|ty| body.t.pointee_of(ty))
        && class != StorageClass::UniformConstant
    {
        body.t
            .b
            .declare_extension("SPV_EXT_relaxed_printf_string_address_space");
    }
    let ty = body.call_type(call)?;
    Ok(Some(body.emit_ext_inst(std_::PRINTF, ty, &operands)))
}
