//! Rule 18: image instructions.

use super::context::{VerifyContext, VerifyFault, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use super::signatures::get_components;
use super::{image_operands, image_queries};
use crate::Id;
use crate::grammar::enumerants::{Capability, Dim};
use crate::grammar::{InstructionClass, Op};
use crate::ir::{Func, InstRef};
use rustc_hash::FxHashMap;

/// An image type's operands.
pub(super) struct ImageTypeOperands {
    pub sampled_type: u32,
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    pub sampled: u32,
    pub format: u32,
}

/// Whether an instruction picks the level of detail from derivatives.
pub(super) fn is_implicit(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSampleImplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageQueryLod
    )
}

fn is_sparse(op: Op) -> bool {
    (Op::ImageSparseSampleImplicitLod.0..=Op::ImageSparseDrefGather.0).contains(&op.0)
        || op == Op::ImageSparseRead
}

fn decode_image_type(cx: &VerifyContext<'_>, ty: u32) -> Option<ImageTypeOperands> {
    let inst = cx.defining_inst(ty).filter(|i| i.op() == Op::TypeImage)?;
    let words = inst.operands();
    Some(ImageTypeOperands {
        sampled_type: words[0],
        dim: Dim(words[1]),
        arrayed: words[3] == 1,
        multisampled: words[4] == 1,
        sampled: words[5],
        format: words[6],
    })
}

/// The image of a sampled image operand, or of an image operand where that is allowed.
pub(super) fn of_operand(
    cx: &VerifyContext<'_>,
    value: u32,
    sampled: bool,
) -> Result<ImageTypeOperands, VerifyFault> {
    let shape = cx.value_shape(value);
    let ty = match (shape.op, sampled) {
        (Op::TypeSampledImage, true) => shape.part,
        (Op::TypeImage, false) => cx.type_of(value),
        _ => 0,
    };
    decode_image_type(cx, ty).ok_or_else(|| {
        let what = if sampled { "sampled image" } else { "image" };
        make_fault(VerifyRule::Images, format!("%{value} is no {what}"))
    })
}

/// Checks an image instruction.
pub(super) fn verify_image_inst(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::SampledImage => sampled_image(cx, inst),
        Op::Image => {
            let shape = cx.value_shape(inst.operand_word(0));
            ensure(
                VerifyRule::Images,
                shape.op == Op::TypeSampledImage && shape.part == inst.words()[0],
                || "the operand is no sampled image of the result's type".to_owned(),
            )
        }
        Op::ImageTexelPointer => texel_pointer(cx, inst),
        Op::ImageRead | Op::ImageSparseRead => verify_image_read(cx, inst),
        Op::ImageWrite => verify_image_write(cx, inst),
        Op::ImageFetch | Op::ImageSparseFetch => verify_image_fetch(cx, inst),
        Op::ImageSampleImplicitLod
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjExplicitLod
        | Op::ImageSparseSampleImplicitLod
        | Op::ImageSparseSampleExplicitLod => verify_image_sample(cx, inst, false),
        Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSampleProjDrefExplicitLod
        | Op::ImageSparseSampleDrefImplicitLod
        | Op::ImageSparseSampleDrefExplicitLod => verify_image_sample(cx, inst, true),
        Op::ImageGather
        | Op::ImageDrefGather
        | Op::ImageSparseGather
        | Op::ImageSparseDrefGather => verify_image_gather(cx, inst),
        Op::ImageQuerySize | Op::ImageQuerySizeLod => image_queries::query_size(cx, inst),
        Op::ImageQueryLod => image_queries::query_lod(cx, inst),
        Op::ImageQueryLevels | Op::ImageQuerySamples => image_queries::query_number(cx, inst),
        _ => Ok(()),
    }
}

/// Instructions that take the result of `OpSampledImage`.
fn takes_sampled_image(cx: &VerifyContext<'_>, op: Op) -> bool {
    let class = op.info().map(|i| i.class);
    matches!(
        class,
        Some(InstructionClass::Image | InstructionClass::Annotation | InstructionClass::Debug)
    ) || op
        .info()
        .is_some_and(|i| i.class == InstructionClass::Reserved && i.name.starts_with("OpImage"))
        || op == Op::CopyObject
        || op == Op::Store && cx.has_capability(Capability::BindlessTextureNV)
}

/// The result of `OpSampledImage` is used in its block, by image instructions (specification, section 2.16.1).
pub(super) fn verify_sampled_image_uses(
    cx: &VerifyContext<'_>,
    func: Func,
    faults: &mut super::VerifyFaults<'_>,
) {
    let mut blocks = FxHashMap::default();
    for block in &cx.module.function(func).blocks {
        for inst in cx.module.body(*block) {
            let mut used = Ok(());
            cx.ids.visit_uses(inst, |_, id| {
                let made = cx.defining_op(id.word()) == Op::SampledImage;
                if made && used.is_ok() && !super::ids::is_debug(cx, inst) {
                    used = verify_sampled_image_use(cx, inst, blocks.get(&id) == Some(block), id);
                }
            });
            faults.add_result(inst, used);
            if let (Op::SampledImage, Some(id)) = (inst.op(), inst.result()) {
                blocks.insert(id, *block);
            }
        }
    }
}

fn verify_sampled_image_use(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    is_here: bool,
    id: Id,
) -> VerifyResult {
    ensure(VerifyRule::Images, is_here, || {
        format!("{id} is made by OpSampledImage in another block")
    })?;
    ensure(
        VerifyRule::Images,
        takes_sampled_image(cx, inst.op()),
        || format!("{id} is made by OpSampledImage, which only instructions on images use"),
    )
}

fn sampled_image(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = cx.type_shape(inst.words()[0]);
    ensure(
        VerifyRule::Images,
        result.op == Op::TypeSampledImage,
        || "the result is no sampled image".to_owned(),
    )?;
    let found = of_operand(cx, inst.operand_word(0), false)?;
    ensure(
        VerifyRule::Images,
        same_but_depth(cx, cx.type_of(inst.operand_word(0)), result.part),
        || "the image is not of the result's image type".to_owned(),
    )?;
    ensure(
        VerifyRule::Images,
        if cx.is_vulkan() {
            found.sampled == 1
        } else {
            found.sampled != 2
        },
        || "the image is not meant to be sampled".to_owned(),
    )?;
    ensure(VerifyRule::Images, found.dim != Dim::SubpassData, || {
        "the image is of subpass data".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        cx.value_shape(inst.operand_word(1)).op == Op::TypeSampler,
        || format!("%{} is no sampler", inst.operand_word(1)),
    )
}

/// Whether two image types are equal except for the depth operand.
fn same_but_depth(cx: &VerifyContext<'_>, a: u32, b: u32) -> bool {
    let (Some(x), Some(y)) = (cx.defining_inst(a), cx.defining_inst(b)) else {
        return false;
    };
    let (x, y) = (x.operands(), y.operands());
    a == b
        || x.len() == y.len()
            && x.iter()
                .zip(y)
                .enumerate()
                .all(|(n, (p, q))| n == 2 || p == q)
}

/// The texel type of an instruction's result, which sparse instructions wrap in a structure.
fn get_texel_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> Result<u32, VerifyFault> {
    let result = inst.words()[0];
    if !is_sparse(inst.op()) {
        return Ok(result);
    }
    match cx.struct_members(result) {
        &[code, texel] if cx.defining_op(code) == Op::TypeInt => Ok(texel),
        _ => Err(make_fault(
            VerifyRule::Images,
            "the result is no structure of a code and a texel",
        )),
    }
}

/// Coordinates that a dimension has, the array's layer not counted.
pub(super) fn count_coordinates(dim: Dim) -> u32 {
    match dim {
        Dim::Dim1D | Dim::Buffer => 1,
        Dim::Dim3D | Dim::Cube => 3,
        _ => 2,
    }
}

fn verify_coordinate(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    found: &ImageTypeOperands,
    at: usize,
    floats: bool,
    projected: bool,
) -> VerifyResult {
    let own = get_components(cx, cx.type_of(inst.operand_word(at)));
    let allowed = match own.part.op {
        Op::TypeFloat => floats,
        Op::TypeInt => !floats || cx.is_kernel && inst.op() == Op::ImageSampleExplicitLod,
        _ => false,
    };
    ensure(VerifyRule::Images, allowed, || {
        let what = if floats { "floats" } else { "integers" };
        format!("the coordinate is not of {what}")
    })?;
    let mut needed = count_coordinates(found.dim) + u32::from(found.arrayed);
    if projected {
        needed = count_coordinates(found.dim) + 1;
    }
    ensure(VerifyRule::Images, own.count.max(1) >= needed, || {
        format!(
            "the coordinate has {} components of {needed}",
            own.count.max(1)
        )
    })?;
    ensure(
        VerifyRule::Images,
        !cx.is_vulkan() || !floats || own.part.width == 32,
        || "the coordinate is not of 32 bits".to_owned(),
    )
}

/// The result is a vector of four, of the image's sampled type.
fn texel_fits(
    cx: &VerifyContext<'_>,
    ty: u32,
    found: &ImageTypeOperands,
    scalar: bool,
) -> VerifyResult {
    let own = get_components(cx, ty);
    if scalar {
        ensure(
            VerifyRule::Images,
            own.count == 0 && matches!(own.part.op, Op::TypeInt | Op::TypeFloat),
            || "the result is no number".to_owned(),
        )?;
    } else {
        ensure(
            VerifyRule::Images,
            own.count == 4 && matches!(own.part.op, Op::TypeInt | Op::TypeFloat),
            || "the result is no vector of four numbers".to_owned(),
        )?;
    }
    sampled_type_fits(cx, ty, found)
}

fn sampled_type_fits(cx: &VerifyContext<'_>, ty: u32, found: &ImageTypeOperands) -> VerifyResult {
    let component = if cx.defining_op(ty) == Op::TypeVector {
        cx.type_shape(ty).part
    } else {
        ty
    };
    ensure(
        VerifyRule::Images,
        cx.defining_op(found.sampled_type) == Op::TypeVoid || component == found.sampled_type,
        || {
            format!(
                "texels are of {}, the image's of {}",
                cx.describe_type(component),
                cx.describe_type(found.sampled_type)
            )
        },
    )
}

fn verify_image_sample(cx: &VerifyContext<'_>, inst: InstRef<'_>, compares: bool) -> VerifyResult {
    let ty = get_texel_type(cx, inst)?;
    let found = of_operand(cx, inst.operand_word(0), true)?;
    texel_fits(cx, ty, &found, compares)?;
    let projected = matches!(
        inst.op(),
        Op::ImageSampleProjImplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefImplicitLod
            | Op::ImageSampleProjDrefExplicitLod
    );
    ensure(VerifyRule::Images, !found.multisampled, || {
        "a multisampled image is not sampled so".to_owned()
    })?;
    if projected {
        ensure(
            VerifyRule::Images,
            matches!(found.dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Rect) && !found.arrayed,
            || "images of this dimension are not projected".to_owned(),
        )?;
    }
    verify_coordinate(cx, inst, &found, 1, true, projected)?;
    if compares {
        verify_depth_reference(cx, inst.operand_word(2))?;
    }
    image_operands::verify_image_operands(cx, inst, &found, if compares { 3 } else { 2 })
}

fn verify_depth_reference(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    let shape = cx.value_shape(id);
    ensure(
        VerifyRule::Images,
        shape.op == Op::TypeFloat && shape.width == 32,
        || "the depth is no float of 32 bits".to_owned(),
    )
}

fn verify_image_fetch(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = get_texel_type(cx, inst)?;
    let found = of_operand(cx, inst.operand_word(0), false)?;
    texel_fits(cx, ty, &found, false)?;
    ensure(VerifyRule::Images, found.dim != Dim::Cube, || {
        "cubes are not fetched from".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        found.sampled == 1 || !cx.is_shader && found.sampled == 0,
        || "the image is not meant to be sampled".to_owned(),
    )?;
    verify_coordinate(cx, inst, &found, 1, false, false)?;
    image_operands::verify_image_operands(cx, inst, &found, 2)
}

fn verify_image_gather(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = get_texel_type(cx, inst)?;
    let found = of_operand(cx, inst.operand_word(0), true)?;
    texel_fits(cx, ty, &found, false)?;
    ensure(VerifyRule::Images, !found.multisampled, || {
        "a multisampled image is not gathered from".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        matches!(found.dim, Dim::Dim2D | Dim::Cube | Dim::Rect),
        || "images of this dimension are not gathered from".to_owned(),
    )?;
    verify_coordinate(cx, inst, &found, 1, true, false)?;
    if matches!(inst.op(), Op::ImageGather | Op::ImageSparseGather) {
        let component = inst.operand_word(2);
        let shape = cx.value_shape(component);
        ensure(
            VerifyRule::Images,
            shape.op == Op::TypeInt && shape.width == 32,
            || "the component is no integer of 32 bits".to_owned(),
        )?;
        if cx.is_vulkan() {
            ensure(VerifyRule::Images, cx.is_constant(component), || {
                "the component is no constant".to_owned()
            })?;
        }
    } else {
        verify_depth_reference(cx, inst.operand_word(2))?;
    }
    image_operands::verify_image_operands(cx, inst, &found, 3)
}

fn verify_image_read(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let ty = get_texel_type(cx, inst)?;
    let found = of_operand(cx, inst.operand_word(0), false)?;
    let own = get_components(cx, ty);
    ensure(
        VerifyRule::Images,
        matches!(own.part.op, Op::TypeInt | Op::TypeFloat),
        || "the result is not of numbers".to_owned(),
    )?;
    ensure(
        VerifyRule::Images,
        !cx.is_vulkan() || own.count == 4,
        || "the result is no vector of four numbers".to_owned(),
    )?;
    sampled_type_fits(cx, ty, &found)?;
    ensure(
        VerifyRule::Images,
        found.sampled != 1 || !cx.is_shader || !cx.is_vulkan(),
        || "the image is meant to be sampled, not to be read".to_owned(),
    )?;
    verify_coordinate(cx, inst, &found, 1, false, false)?;
    if found.format == 0
        && found.dim != Dim::SubpassData
        && found.sampled == 2
        && cx.is_shader
        && cx.is_vulkan()
    {
        ensure(
            VerifyRule::Capabilities,
            cx.has_capability(Capability::StorageImageReadWithoutFormat),
            || "reads of images without format need StorageImageReadWithoutFormat".to_owned(),
        )?;
    }
    image_operands::verify_image_operands(cx, inst, &found, 2)
}

fn verify_image_write(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let found = of_operand(cx, inst.operand_word(0), false)?;
    ensure(VerifyRule::Images, found.dim != Dim::SubpassData, || {
        "subpass data is not written to".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        found.sampled != 1 || !cx.is_vulkan(),
        || "the image is meant to be sampled, not to be written to".to_owned(),
    )?;
    verify_coordinate(cx, inst, &found, 1, false, false)?;
    let ty = cx.type_of(inst.operand_word(2));
    let own = get_components(cx, ty);
    ensure(
        VerifyRule::Images,
        matches!(own.part.op, Op::TypeInt | Op::TypeFloat),
        || "the texel is not of numbers".to_owned(),
    )?;
    sampled_type_fits(cx, ty, &found)?;
    if found.format == 0 && found.sampled == 2 && cx.is_shader && cx.is_vulkan() {
        ensure(
            VerifyRule::Capabilities,
            cx.has_capability(Capability::StorageImageWriteWithoutFormat),
            || "writes to images without format need StorageImageWriteWithoutFormat".to_owned(),
        )?;
        ensure(VerifyRule::Images, own.count == 4, || {
            "the texel is no vector of four numbers".to_owned()
        })?;
    }
    image_operands::verify_image_operands(cx, inst, &found, 3)
}

fn texel_pointer(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    use crate::grammar::enumerants::StorageClass;
    let result = cx.type_shape(inst.words()[0]);
    ensure(
        VerifyRule::Images,
        result.op == Op::TypePointer && result.class == StorageClass::Image,
        || "the result is no pointer of the class Image".to_owned(),
    )?;
    let pointer = cx.value_shape(inst.operand_word(0));
    let found = decode_image_type(cx, pointer.part);
    let Some(found) = found.filter(|_| pointer.op == Op::TypePointer) else {
        return Err(make_fault(
            VerifyRule::Images,
            format!("%{} is no pointer to an image", inst.operand_word(0)),
        ));
    };
    ensure(
        VerifyRule::Images,
        result.part == found.sampled_type
            || cx.defining_op(found.sampled_type) == Op::TypeVoid
            || cx.defining_op(result.part) == Op::TypeVector,
        || "the result does not point to the image's sampled type".to_owned(),
    )?;
    ensure(VerifyRule::Images, found.dim != Dim::SubpassData, || {
        "there are no pointers into subpass data".to_owned()
    })?;
    let own = get_components(cx, cx.type_of(inst.operand_word(1)));
    let needed = count_coordinates(found.dim) + u32::from(found.arrayed && found.dim != Dim::Cube);
    ensure(
        VerifyRule::Images,
        own.part.op == Op::TypeInt && own.count.max(1) == needed,
        || format!("the coordinate is not of {needed} integers"),
    )?;
    let sample = cx.value_shape(inst.operand_word(2));
    ensure(VerifyRule::Images, sample.op == Op::TypeInt, || {
        "the sample is no integer".to_owned()
    })?;
    if !found.multisampled {
        ensure(
            VerifyRule::Images,
            cx.constant_value(inst.operand_word(2)) == Some(0),
            || "the image has one sample, 0".to_owned(),
        )?;
    }
    ensure(
        VerifyRule::Images,
        !cx.is_vulkan() || found.format != 0 && is_atomic_format(cx, found.format),
        || "the image's format is not one for atomics in Vulkan".to_owned(),
    )
}

fn is_atomic_format(cx: &VerifyContext<'_>, format: u32) -> bool {
    use crate::grammar::enumerants::ImageFormat as F;
    matches!(F(format), F::R64i | F::R64ui | F::R32f | F::R32i | F::R32ui)
        || cx.has_capability(Capability::AtomicFloat16VectorNV)
}

pub(super) fn has_int_components(cx: &VerifyContext<'_>, ty: u32, count: u32) -> bool {
    let own = get_components(cx, ty);
    own.part.op == Op::TypeInt && own.count.max(1) == count
}
