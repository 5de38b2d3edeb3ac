//! Rule 18 for the optional operands of image instructions.

use super::context::{VerifyContext, VerifyResult, ensure};
use super::images::{ImageTypeOperands, count_coordinates, is_implicit};
use super::rules::VerifyRule;
use super::signatures::get_components;
use crate::grammar::Op;
use crate::grammar::enumerants::{Capability, Dim, ImageOperands};
use crate::ir::InstRef;

/// Checks the optional operands that begin at a word.
pub(super) fn verify_image_operands(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    found: &ImageTypeOperands,
    at: usize,
) -> VerifyResult {
    let op = inst.op();
    let Some((&mask, rest)) = inst.operands().get(at..).and_then(<[u32]>::split_first) else {
        ensure(VerifyRule::Images, !found.multisampled, || {
            "a multisampled image needs the operand Sample".to_owned()
        })?;
        return ensure(VerifyRule::Images, !is_explicit(op), || {
            "there is no level of detail".to_owned()
        });
    };
    let mask = ImageOperands(mask);
    verify_operand_combination(op, found, mask)?;
    let mut next = rest.iter().copied();
    for (bit, takes, check) in OPERANDS {
        if mask.contains(*bit) {
            for _ in 0..*takes {
                check(cx, op, found, next.next().unwrap_or(0))?;
            }
        }
    }
    Ok(())
}

/// Operands in the order of their bits, with the ids that each takes and the kind of each.
const OPERANDS: &[(ImageOperands, usize, ImageOperandCheck)] = &[
    (ImageOperands::Bias, 1, verify_bias),
    (ImageOperands::Lod, 1, verify_level),
    (ImageOperands::Grad, 2, verify_gradient),
    (ImageOperands::ConstOffset, 1, constant_offset),
    (ImageOperands::Offset, 1, any_offset),
    (ImageOperands::ConstOffsets, 1, constant_offsets),
    (ImageOperands::Sample, 1, verify_sample),
];

type ImageOperandCheck = fn(&VerifyContext<'_>, Op, &ImageTypeOperands, u32) -> VerifyResult;

fn is_explicit(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageSparseSampleExplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
    )
}

fn is_gather(op: Op) -> bool {
    matches!(
        op,
        Op::ImageGather | Op::ImageDrefGather | Op::ImageSparseGather | Op::ImageSparseDrefGather
    )
}

/// Whether an instruction picks a texel by integers.
fn is_access(op: Op) -> bool {
    matches!(
        op,
        Op::ImageFetch
            | Op::ImageSparseFetch
            | Op::ImageRead
            | Op::ImageSparseRead
            | Op::ImageWrite
    )
}

/// Which operands may be combined, and with which instructions and images.
fn verify_operand_combination(
    op: Op,
    found: &ImageTypeOperands,
    mask: ImageOperands,
) -> VerifyResult {
    let has = |what: ImageOperands| mask.contains(what);
    let count = |list: &[ImageOperands]| list.iter().filter(|o| has(**o)).count();
    let explicit = is_explicit(op);
    let levels = [ImageOperands::Bias, ImageOperands::Lod, ImageOperands::Grad];
    let offsets = [
        ImageOperands::ConstOffset,
        ImageOperands::Offset,
        ImageOperands::ConstOffsets,
        ImageOperands::Offsets,
    ];
    let takes_level =
        explicit || is_access(op) || matches!(op, Op::ImageGather | Op::ImageSparseGather);
    let rules = [
        (count(&levels) <= 1, "more than one of Bias, Lod and Grad"),
        (
            !explicit || has(ImageOperands::Lod) || has(ImageOperands::Grad),
            "there is no level of detail",
        ),
        (
            has(ImageOperands::Sample) == found.multisampled || op == Op::ImageTexelPointer,
            "the operand Sample requires multisampled images",
        ),
        (
            !has(ImageOperands::Bias) || is_implicit(op) && op != Op::ImageQueryLod,
            "Bias requires implicit levels of detail",
        ),
        (
            !has(ImageOperands::Lod) || takes_level,
            "Lod requires explicit levels of detail",
        ),
        (
            !has(ImageOperands::Grad) || explicit,
            "Grad requires explicit levels of detail",
        ),
        (count(&offsets) <= 1, "more than one kind of offset"),
    ];
    for (holds, message) in rules {
        ensure(VerifyRule::Images, holds, || message.to_owned())?;
    }
    Ok(())
}

fn verify_scalar_operand(cx: &VerifyContext<'_>, id: u32, wanted: Op, what: &str) -> VerifyResult {
    ensure(VerifyRule::Images, cx.value_shape(id).op == wanted, || {
        format!("{what} is of {}", cx.describe_type(cx.type_of(id)))
    })
}

fn verify_bias(cx: &VerifyContext<'_>, _: Op, _: &ImageTypeOperands, id: u32) -> VerifyResult {
    verify_scalar_operand(cx, id, Op::TypeFloat, "the bias")
}

fn verify_level(cx: &VerifyContext<'_>, op: Op, _: &ImageTypeOperands, id: u32) -> VerifyResult {
    let wanted = if is_access(op) {
        Op::TypeInt
    } else {
        Op::TypeFloat
    };
    verify_scalar_operand(cx, id, wanted, "the level of detail")
}

fn verify_gradient(
    cx: &VerifyContext<'_>,
    _: Op,
    found: &ImageTypeOperands,
    id: u32,
) -> VerifyResult {
    let plane = count_coordinates(found.dim);
    let own = get_components(cx, cx.type_of(id));
    ensure(
        VerifyRule::Images,
        own.part.op == Op::TypeFloat && own.count.max(1) == plane,
        || format!("a gradient is not of {plane} floats"),
    )
}

fn constant_offset(
    cx: &VerifyContext<'_>,
    _: Op,
    found: &ImageTypeOperands,
    id: u32,
) -> VerifyResult {
    ensure(VerifyRule::Images, cx.is_constant(id), || {
        "the offset is no constant".to_owned()
    })?;
    verify_offset(cx, found, id)
}

fn any_offset(cx: &VerifyContext<'_>, op: Op, found: &ImageTypeOperands, id: u32) -> VerifyResult {
    verify_offset(cx, found, id)?;
    ensure(
        VerifyRule::Images,
        !cx.is_vulkan()
            || is_gather(op)
            || cx.has_extension("SPV_KHR_maximal_reconvergence")
            || cx.has_capability(Capability::ImageGatherBiasLodAMD),
        || "Vulkan takes Offset in gathers only".to_owned(),
    )
}

fn constant_offsets(
    cx: &VerifyContext<'_>,
    op: Op,
    _: &ImageTypeOperands,
    id: u32,
) -> VerifyResult {
    ensure(
        VerifyRule::Images,
        is_gather(op) && cx.is_constant(id) && cx.value_shape(id).op == Op::TypeArray,
        || "ConstOffsets are a constant array, in gathers".to_owned(),
    )
}

fn verify_sample(cx: &VerifyContext<'_>, _: Op, _: &ImageTypeOperands, id: u32) -> VerifyResult {
    verify_scalar_operand(cx, id, Op::TypeInt, "the sample")
}

fn verify_offset(cx: &VerifyContext<'_>, found: &ImageTypeOperands, id: u32) -> VerifyResult {
    let (own, plane) = (
        get_components(cx, cx.type_of(id)),
        count_coordinates(found.dim),
    );
    ensure(VerifyRule::Images, found.dim != Dim::Cube, || {
        "cubes have no offsets".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        own.part.op == Op::TypeInt && own.count.max(1) == plane,
        || format!("the offset is not of {plane} integers"),
    )
}
