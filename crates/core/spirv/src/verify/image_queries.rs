//! Rule 18 for image queries.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::images::{count_coordinates, has_int_components, of_operand};
use super::rules::VerifyRule;
use super::signatures::get_components;
use crate::grammar::Op;
use crate::grammar::enumerants::Dim;
use crate::ir::InstRef;

pub(super) fn query_size(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let found = of_operand(cx, inst.operand_word(0), false)?;
    let dims = match found.dim {
        Dim::Cube => 2,
        dim => count_coordinates(dim),
    } + u32::from(found.arrayed);
    ensure(
        VerifyRule::Images,
        has_int_components(cx, inst.words()[0], dims),
        || format!("the result is not of {dims} integers"),
    )?;
    if inst.op() == Op::ImageQuerySizeLod {
        ensure(
            VerifyRule::Images,
            matches!(found.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube)
                && !found.multisampled,
            || "images like this have no levels".to_owned(),
        )?;
        ensure(
            VerifyRule::Images,
            !cx.is_vulkan() || found.sampled == 1,
            || "the image is not meant to be sampled".to_owned(),
        )?;
        ensure(
            VerifyRule::Images,
            cx.value_shape(inst.operand_word(1)).op == Op::TypeInt,
            || "the level is no integer".to_owned(),
        )
    } else {
        let fits = match found.dim {
            Dim::Buffer | Dim::Rect => true,
            Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube => {
                found.multisampled || found.sampled != 1
            }
            _ => false,
        };
        ensure(VerifyRule::Images, fits, || {
            "images like this have levels; OpImageQuerySizeLod queries them".to_owned()
        })
    }
}

pub(super) fn query_lod(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let found = of_operand(cx, inst.operand_word(0), true)?;
    let own = get_components(cx, inst.words()[0]);
    ensure(
        VerifyRule::Images,
        own.part.op == Op::TypeFloat && own.count == 2,
        || "the result is no vector of two floats".to_owned(),
    )?;
    ensure(
        VerifyRule::Images,
        matches!(found.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube),
        || "images like this have no levels".to_owned(),
    )?;
    let at = get_components(cx, cx.type_of(inst.operand_word(1)));
    ensure(
        VerifyRule::Images,
        (at.part.op == Op::TypeFloat || cx.is_kernel && at.part.op == Op::TypeInt)
            && at.count.max(1) >= count_coordinates(found.dim),
        || "the coordinate does not fit the image".to_owned(),
    )
}

pub(super) fn query_number(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let found = of_operand(cx, inst.operand_word(0), false)?;
    ensure(
        VerifyRule::Images,
        has_int_components(cx, inst.words()[0], 1)
            && cx.defining_op(inst.words()[0]) == Op::TypeInt,
        || "the result is no integer".to_owned(),
    )?;
    let fits = if inst.op() == Op::ImageQuerySamples {
        found.dim == Dim::Dim2D && found.multisampled
    } else {
        matches!(found.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Cube)
            && (!cx.is_vulkan() || found.sampled == 1)
    };
    ensure(VerifyRule::Images, fits, || {
        "images like this do not have that".to_owned()
    })
}
