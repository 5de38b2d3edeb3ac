//! Rules 8 and 22: declarations of types.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::enumerants::{Capability, Decoration, Dim, ImageFormat, StorageClass};
use crate::grammar::{InstructionClass, Kind, Op};
use crate::ir::InstRef;
use rustc_hash::FxHashSet;

/// Type declarations that may occur once.
#[derive(Default)]
pub(super) struct DeclaredTypes<'m> {
    seen: FxHashSet<(Op, &'m [u32])>,
}

/// Largest numbers of the universal limits (section 2.17).
const MEMBERS: usize = 16383;
const NESTING: u32 = 255;
const PARAMETERS: usize = 255;

impl<'m> DeclaredTypes<'m> {
    /// Checks a declaration.
    pub fn verify_declaration(
        &mut self,
        cx: &VerifyContext<'_>,
        inst: InstRef<'m>,
    ) -> VerifyResult {
        let class = inst.op().info().map(|i| i.class);
        if class != Some(InstructionClass::TypeDeclaration) {
            return Ok(());
        }
        verify_type(cx, inst)?;
        if inst.op() == Op::TypeStruct {
            verify_nesting(cx, inst)?;
        }
        let may_repeat = matches!(
            inst.op(),
            Op::TypeArray
                | Op::TypeRuntimeArray
                | Op::TypeNodePayloadArrayAMDX
                | Op::TypeStruct
                | Op::TypePointer
                | Op::TypeUntypedPointerKHR
        );
        ensure(
            VerifyRule::Types,
            may_repeat
                || self.seen.insert((
                    inst.op(),
                    if inst.op() == Op::TypeForwardPointer {
                        inst.words()
                    } else {
                        inst.operands()
                    },
                )),
            || "the same type is declared before".to_owned(),
        )
    }
}

fn verify_nesting(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let members = inst.operands();
    ensure(VerifyRule::Limits, members.len() <= MEMBERS, || {
        format!("{} members; there may be {MEMBERS}", members.len())
    })?;
    let depth = cx.type_shape(inst.words()[0]).depth;
    ensure(VerifyRule::Limits, depth <= NESTING, || {
        format!("structures nest {depth} deep; they may {NESTING}")
    })
}

fn verify_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::TypeInt => verify_int_type(cx, inst),
        Op::TypeFloat => verify_float_type(cx, inst),
        Op::TypeVector => verify_vector_type(cx, inst),
        Op::TypeMatrix => verify_matrix_type(cx, inst),
        Op::TypeArray => verify_array_type(cx, inst),
        Op::TypeRuntimeArray => verify_element_type(cx, inst),
        Op::TypeStruct => verify_struct_type(cx, inst),
        Op::TypePointer => verify_pointer_type(cx, inst),
        Op::TypeFunction => verify_function_type(cx, inst),
        Op::TypeImage => verify_image_type(cx, inst),
        Op::TypeSampledImage => sampled_image(cx, inst),
        Op::TypeUntypedPointerKHR => untyped_pointer(cx, inst),
        Op::TypeForwardPointer => forward_pointer(cx, inst),
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV => {
            super::cooperative::verify_matrix_declaration(cx, inst)
        }
        _ => Ok(()),
    }
}

fn verify_int_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let width = inst.operand_word(0);
    let allowed = match width {
        32 => true,
        8 => cx.has_any(&[
            Capability::Int8,
            Capability::StorageBuffer8BitAccess,
            Capability::UniformAndStorageBuffer8BitAccess,
            Capability::StoragePushConstant8,
            Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
        ]),
        16 => {
            cx.has_any(&[
                Capability::Int16,
                Capability::StorageBuffer16BitAccess,
                Capability::UniformAndStorageBuffer16BitAccess,
                Capability::StoragePushConstant16,
                Capability::StorageInputOutput16,
                Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
            ]) || cx.has_extension("SPV_AMD_gpu_shader_int16")
        }
        64 => cx.has_capability(Capability::Int64),
        4 => cx.has_capability(Capability::Int4TypeINTEL),
        1..=64 | 65.. => cx.has_capability(Capability::ArbitraryPrecisionIntegersALTERA),
        0 => false,
    };
    ensure(VerifyRule::Types, allowed, || {
        format!("integers of {width} bits need a capability that is not declared")
    })?;
    ensure(VerifyRule::Types, inst.operand_word(1) <= 1, || {
        format!("the signedness {} is neither 0 nor 1", inst.operand_word(1))
    })?;
    ensure(
        VerifyRule::Types,
        inst.operand_word(1) == 0 || !cx.is_kernel,
        || "integers have no signedness in kernels".to_owned(),
    )
}

fn verify_float_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let width = inst.operand_word(0);
    if inst.operands().len() > 1 {
        return Ok(());
    }
    let allowed = match width {
        32 => true,
        16 => {
            cx.has_any(&[
                Capability::Float16,
                Capability::Float16Buffer,
                Capability::StorageBuffer16BitAccess,
                Capability::UniformAndStorageBuffer16BitAccess,
                Capability::StoragePushConstant16,
                Capability::StorageInputOutput16,
                Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
            ]) || cx.has_extension("SPV_AMD_gpu_shader_half_float")
                || cx.has_extension("SPV_AMD_gpu_shader_half_float_fetch")
        }
        64 => cx.has_capability(Capability::Float64),
        _ => false,
    };
    ensure(VerifyRule::Types, allowed, || {
        format!("floats of {width} bits need a capability that is not declared")
    })
}

fn verify_vector_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (part, count) = (inst.operand_word(0), inst.operand_word(1));
    let op = cx.defining_op(part);
    ensure(
        VerifyRule::Types,
        matches!(op, Op::TypeInt | Op::TypeFloat | Op::TypeBool)
            || op == Op::TypePointer && cx.has_capability(Capability::MaskedGatherScatterINTEL),
        || format!("its components are {op}, which is no scalar"),
    )?;
    let allowed = match count {
        2..=4 => true,
        8 | 16 => cx.has_capability(Capability::Vector16),
        _ => false,
    } || cx.has_capability(Capability::LongVectorEXT);
    ensure(VerifyRule::Types, allowed, || {
        format!("a vector cannot have {count} components here")
    })
}

fn verify_matrix_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let column = cx.type_shape(inst.operand_word(0));
    ensure(VerifyRule::Types, column.op == Op::TypeVector, || {
        format!("its columns are {}, which is no vector", column.op)
    })?;
    ensure(
        VerifyRule::Types,
        cx.defining_op(column.part) == Op::TypeFloat,
        || "matrices are of floats only".to_owned(),
    )?;
    ensure(
        VerifyRule::Types,
        (2..=4).contains(&inst.operand_word(1)),
        || format!("a matrix cannot have {} columns", inst.operand_word(1)),
    )
}

fn verify_element_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let part = inst.operand_word(0);
    let op = cx.defining_op(part);
    if op == Op::Nop {
        return Ok(());
    }
    ensure(
        VerifyRule::Types,
        cx.is_type(part) && op != Op::TypeVoid,
        || format!("its elements are {op}, which has no values"),
    )?;
    ensure(
        VerifyRule::Types,
        !(cx.is_vulkan() && op == Op::TypeRuntimeArray),
        || "an array of runtime arrays is not allowed in Vulkan".to_owned(),
    )?;
    ensure(VerifyRule::Types, op != Op::TypeFunction, || {
        "an array of functions has no size".to_owned()
    })
}

fn verify_array_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    verify_element_type(cx, inst)?;
    let length = inst.operand_word(1);
    ensure(VerifyRule::Types, cx.is_constant(length), || {
        format!("its length %{length} is no constant")
    })?;
    let shape = cx.value_shape(length);
    ensure(VerifyRule::Types, shape.op == Op::TypeInt, || {
        format!("its length %{length} is no integer")
    })?;
    let Some(value) = cx.constant_value(length) else {
        return Ok(());
    };
    let positive = if shape.signed {
        let shift = 64 - shape.width.clamp(1, 64);
        ((value << shift) as i64) > 0
    } else {
        value > 0
    };
    ensure(VerifyRule::Types, positive, || {
        format!("its length is {value}; it is 1 at least")
    })
}

fn verify_struct_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let own = inst.words()[0];
    let last = inst.operands().len().saturating_sub(1);
    for (n, member) in inst.operands().iter().enumerate() {
        ensure(VerifyRule::Types, *member != own, || {
            "a structure cannot contain itself".to_owned()
        })?;
        let op = cx.defining_op(*member);
        if op == Op::Nop || cx.forward_pointers.contains(member) {
            continue;
        }
        ensure(VerifyRule::Types, cx.is_type(*member), || {
            format!("member {n}, %{member}, is no type")
        })?;
        ensure(
            VerifyRule::Types,
            !matches!(op, Op::TypeVoid | Op::TypeFunction),
            || format!("member {n} is {op}, which has no values"),
        )?;
        ensure(
            VerifyRule::Types,
            !(is_block(cx, *member) && is_block(cx, own)),
            || format!("member {n} is a block within a block"),
        )?;
        if cx.is_vulkan() && op == Op::TypeRuntimeArray {
            ensure(VerifyRule::Types, n == last, || {
                format!("member {n} is a runtime array, but not the last member")
            })?;
        }
        if cx.is_vulkan()
            && op == Op::TypeStruct
            && let Some(inner) = cx.struct_members(*member).last()
            && cx.defining_op(*inner) == Op::TypeRuntimeArray
        {
            return Err(make_fault(
                VerifyRule::Types,
                format!("member {n} is a structure that ends in a runtime array"),
            ));
        }
    }
    let is_sized = !cx.is_vulkan()
        || is_block(cx, own)
        || inst
            .operands()
            .iter()
            .all(|m| cx.defining_op(*m) != Op::TypeRuntimeArray);
    ensure(VerifyRule::Types, is_sized, || {
        "it has a runtime array, but is no block".to_owned()
    })?;
    built_in_members(cx, inst)
}

fn is_block(cx: &VerifyContext<'_>, ty: u32) -> bool {
    cx.has_decoration(ty, Decoration::Block) || cx.has_decoration(ty, Decoration::BufferBlock)
}

/// All members are built-in or none is.
fn built_in_members(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let own = inst.words()[0];
    let count = inst.operands().len() as u32;
    let what = Decoration::BuiltIn;
    let built_in = (0..count).filter(|n| cx.member_decoration(own, *n, what).is_some());
    let built_in = built_in.count() as u32;
    ensure(
        VerifyRule::Types,
        built_in == 0 || built_in == count,
        || format!("{built_in} of {count} members are built-in; all are or none"),
    )
}

fn verify_pointer_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let pointee = inst.operand_word(1);
    let op = cx.defining_op(pointee);
    ensure(
        VerifyRule::Types,
        op == Op::Nop || cx.is_type(pointee),
        || format!("it points to %{pointee}, which is no type"),
    )?;
    let class = StorageClass(inst.operand_word(0));
    if op == Op::TypeImage && class == StorageClass::UniformConstant {
        return Ok(());
    }
    ensure(
        VerifyRule::Types,
        super::environment::takes_class(cx, class),
        || format!("the storage class {class} is none of the target environment"),
    )
}

/// Vulkan has untyped pointers to memory that is laid out explicitly.
fn untyped_pointer(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let class = StorageClass(inst.operand_word(0));
    let taken = match class {
        StorageClass::StorageBuffer
        | StorageClass::PhysicalStorageBuffer
        | StorageClass::Uniform
        | StorageClass::PushConstant => true,
        StorageClass::Workgroup => cx.has_capability(Capability::WorkgroupMemoryExplicitLayoutKHR),
        StorageClass::UniformConstant | StorageClass::Image => {
            cx.has_capability(Capability::DescriptorHeapEXT)
        }
        _ => false,
    };
    ensure(VerifyRule::Environment, taken || !cx.is_vulkan(), || {
        format!("Vulkan has no untyped pointers of the class {class} here")
    })
}

fn verify_function_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    ensure(VerifyRule::Types, cx.is_type(inst.operand_word(0)), || {
        format!("its result %{} is no type", inst.operand_word(0))
    })?;
    let params = &inst.operands()[1..];
    for param in params {
        ensure(
            VerifyRule::Types,
            cx.is_type(*param) && cx.defining_op(*param) != Op::TypeVoid,
            || format!("its parameter %{param} has no values"),
        )?;
    }
    ensure(VerifyRule::Limits, params.len() <= PARAMETERS, || {
        format!("{} parameters; there may be {PARAMETERS}", params.len())
    })
}

fn verify_image_type(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let &[sampled_type, dim, depth, arrayed, ms, sampled, format, ..] = inst.operands() else {
        return Ok(());
    };
    sampled_type_fits(cx, sampled_type)?;
    let say = |what: &str| make_fault(VerifyRule::Images, what);
    for (value, limit, name) in [
        (depth, 2, "depth"),
        (arrayed, 1, "arrayed"),
        (ms, 1, "multisampled"),
        (sampled, 2, "sampled"),
    ] {
        ensure(VerifyRule::Images, value <= limit, || {
            format!("its operand {name} is {value}; it is {limit} at most")
        })?;
    }
    let dim = Dim(dim);
    if dim == Dim::SubpassData {
        if sampled != 2 {
            return Err(say("an image of subpass data has the operand sampled 2"));
        }
        if ImageFormat(format) != ImageFormat::Unknown {
            return Err(say("an image of subpass data has no format"));
        }
    }
    if cx.is_opencl() {
        if ms != 0 || sampled != 0 || inst.operands().len() < 8 {
            return Err(say(
                "OpenCL's images are not sampled or multisampled and have an access qualifier",
            ));
        }
        if arrayed == 1 && !matches!(dim, Dim::Dim1D | Dim::Dim2D) {
            return Err(say(
                "OpenCL has arrays of images of one and two dimensions only",
            ));
        }
        if ImageFormat(format) != ImageFormat::Unknown {
            return Err(say("OpenCL's images have no format"));
        }
    }
    if cx.is_vulkan() {
        if sampled == 0 {
            return Err(say("Vulkan's images say whether they are sampled: 1 or 2"));
        }
        if dim == Dim::SubpassData && arrayed != 0 {
            return Err(say("an image of subpass data is no array in Vulkan"));
        }
        if dim == Dim::Rect {
            return Err(say("Vulkan has no images of the dimension Rect"));
        }
    }
    format_fits(cx, sampled_type, format)?;
    if ms == 1 && cx.is_vulkan() && matches!(dim, Dim::Cube | Dim::Dim3D | Dim::Buffer) {
        return Err(say("images of this dimension are not multisampled"));
    }
    image_capabilities(cx, dim, arrayed, ms, sampled)
}

/// In Vulkan the sampled type agrees with the format ("Image Format and Type Matching"). Integer formats end in
/// `i` or `ui`.
fn format_fits(cx: &VerifyContext<'_>, sampled_type: u32, format: u32) -> VerifyResult {
    let row = Kind::ImageFormat.info().enumerant_by_value(format);
    let known = row.filter(|row| row.value != ImageFormat::Unknown.0 && cx.is_vulkan());
    let Some(row) = known else { return Ok(()) };
    let part = cx.type_shape(sampled_type);
    let integers = row.name.ends_with('i');
    ensure(
        VerifyRule::Images,
        integers == (part.op == Op::TypeInt),
        || {
            format!(
                "its format {} is not of {}",
                row.name,
                cx.describe_type(sampled_type)
            )
        },
    )?;
    let is_wide = row.name.starts_with("R64");
    ensure(
        VerifyRule::Images,
        !integers || is_wide == (part.width == 64),
        || format!("its format {} is not of {} bits", row.name, part.width),
    )
}

fn sampled_type_fits(cx: &VerifyContext<'_>, sampled_type: u32) -> VerifyResult {
    let part = cx.type_shape(sampled_type);
    if cx.is_vulkan() {
        let fits = match part.op {
            Op::TypeInt => {
                part.width == 32 || part.width == 64 && cx.has_capability(Capability::Int64ImageEXT)
            }
            Op::TypeFloat => {
                part.width == 32
                    || part.width == 16 && cx.has_extension("SPV_AMD_gpu_shader_half_float_fetch")
            }
            Op::TypeVoid => false,
            _ => false,
        };
        ensure(VerifyRule::Images, fits, || {
            "its sampled type is no number of 32 bits".to_owned()
        })?;
    } else if cx.is_opencl() {
        ensure(VerifyRule::Images, part.op == Op::TypeVoid, || {
            "its sampled type is not void".to_owned()
        })?;
    } else {
        let fits = match part.op {
            Op::TypeInt | Op::TypeFloat => matches!(part.width, 16 | 32 | 64),
            Op::TypeVoid => true,
            _ => false,
        };
        ensure(VerifyRule::Images, fits, || {
            "its sampled type is neither void nor a number".to_owned()
        })?;
    }
    Ok(())
}

fn image_capabilities(
    cx: &VerifyContext<'_>,
    dim: Dim,
    arrayed: u32,
    ms: u32,
    sampled: u32,
) -> VerifyResult {
    let needed: &[Capability] = match (dim, sampled) {
        (Dim::Dim1D, 2) => &[Capability::Image1D],
        (Dim::Rect, 2) => &[Capability::ImageRect],
        (Dim::Buffer, 2) if !cx.is_shader || cx.is_vulkan() => &[Capability::ImageBuffer],
        (Dim::Cube, 2) if arrayed == 1 => &[Capability::ImageCubeArray],
        _ => &[],
    };
    let all = cx.has_any(needed)
        && (ms == 0
            || sampled != 2
            || dim == Dim::SubpassData
            || cx.has_capability(Capability::StorageImageMultisample)
                && (arrayed == 0 || cx.has_capability(Capability::ImageMSArray)));
    ensure(VerifyRule::Capabilities, all, || {
        "images like this need a capability that is not declared".to_owned()
    })
}

fn sampled_image(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let image = cx.defining_inst(inst.operand_word(0));
    let Some(image) = image.filter(|i| i.op() == Op::TypeImage) else {
        return Err(make_fault(
            VerifyRule::Images,
            format!("%{} is no image", inst.operand_word(0)),
        ));
    };
    let sampled = image.operand_word(5);
    ensure(VerifyRule::Images, sampled != 2, || {
        "its image is not meant to be sampled".to_owned()
    })?;
    let dim = Dim(image.operand_word(1));
    ensure(VerifyRule::Images, dim != Dim::SubpassData, || {
        "its image is of subpass data".to_owned()
    })?;
    ensure(
        VerifyRule::Images,
        dim != Dim::Buffer || cx.version < crate::grammar::SpirvVersion::new(1, 6),
        || "its image is a buffer, which SPIR-V 1.6 does not sample".to_owned(),
    )
}

fn forward_pointer(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let pointer = cx.type_shape(inst.operand_word(0));
    ensure(VerifyRule::Types, pointer.op == Op::TypePointer, || {
        format!("%{} is no pointer type", inst.operand_word(0))
    })?;
    ensure(
        VerifyRule::Types,
        pointer.class == StorageClass(inst.operand_word(1)),
        || "its storage class is not that of the pointer type".to_owned(),
    )?;
    ensure(
        VerifyRule::Types,
        !cx.is_vulkan() || pointer.class == StorageClass::PhysicalStorageBuffer,
        || "Vulkan has forward pointers of the class PhysicalStorageBuffer only".to_owned(),
    )?;
    ensure(
        VerifyRule::Types,
        !cx.is_vulkan() || cx.defining_op(pointer.part) == Op::TypeStruct,
        || "a forward pointer points to a structure".to_owned(),
    )
}
