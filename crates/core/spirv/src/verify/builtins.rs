//! Rule 20: built-in variables, by Vulkan's list ("Built-In Variables").

use super::context::{VerifyContext, VerifyResult, ensure};
use super::rules::VerifyRule;
use crate::Id;
use crate::grammar::Op;
use crate::grammar::enumerants::{BuiltIn as B, Decoration, ExecutionModel as Model, StorageClass};

/// The type of a built-in variable. Integers may be signed or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BuiltinType {
    F32,
    I32,
    Bool,
    F32s(u32),
    I32s(u32),
    F32Array,
    I32Array,
}

const IN: u8 = 1;
const OUT: u8 = 2;

type BuiltinStages = &'static [(Model, u8)];

const COMPUTE: BuiltinStages = &[
    (Model::GLCompute, IN),
    (Model::TaskNV, IN),
    (Model::MeshNV, IN),
    (Model::TaskEXT, IN),
    (Model::MeshEXT, IN),
];

const VERTICES: BuiltinStages = &[
    (Model::Vertex, OUT),
    (Model::TessellationControl, IN | OUT),
    (Model::TessellationEvaluation, IN | OUT),
    (Model::Geometry, IN | OUT),
    (Model::MeshNV, OUT),
    (Model::MeshEXT, OUT),
];

const DISTANCES: BuiltinStages = &[
    (Model::Vertex, OUT),
    (Model::Fragment, IN),
    (Model::TessellationControl, IN | OUT),
    (Model::TessellationEvaluation, IN | OUT),
    (Model::Geometry, IN | OUT),
    (Model::MeshNV, OUT),
    (Model::MeshEXT, OUT),
];

const LAYERS: BuiltinStages = &[
    (Model::Vertex, OUT),
    (Model::TessellationEvaluation, OUT),
    (Model::Geometry, OUT),
    (Model::Fragment, IN),
    (Model::MeshNV, OUT),
    (Model::MeshEXT, OUT),
];

const FRAGMENT: BuiltinStages = &[(Model::Fragment, IN)];
const VERTEX: BuiltinStages = &[(Model::Vertex, IN)];

/// Rows without places are for every model as inputs.
const ROWS: &[(B, BuiltinType, BuiltinStages)] = &[
    (B::Position, BuiltinType::F32s(4), VERTICES),
    (B::PointSize, BuiltinType::F32, VERTICES),
    (B::ClipDistance, BuiltinType::F32Array, DISTANCES),
    (B::CullDistance, BuiltinType::F32Array, DISTANCES),
    (B::VertexIndex, BuiltinType::I32, VERTEX),
    (B::InstanceIndex, BuiltinType::I32, VERTEX),
    (
        B::InstanceId,
        BuiltinType::I32,
        &[
            (Model::IntersectionKHR, IN),
            (Model::AnyHitKHR, IN),
            (Model::ClosestHitKHR, IN),
        ],
    ),
    (B::BaseVertex, BuiltinType::I32, VERTEX),
    (B::BaseInstance, BuiltinType::I32, VERTEX),
    (
        B::PrimitiveId,
        BuiltinType::I32,
        &[
            (Model::Fragment, IN),
            (Model::TessellationControl, IN),
            (Model::TessellationEvaluation, IN),
            (Model::Geometry, IN | OUT),
            (Model::MeshNV, OUT),
            (Model::MeshEXT, OUT),
            (Model::IntersectionKHR, IN),
            (Model::AnyHitKHR, IN),
            (Model::ClosestHitKHR, IN),
        ],
    ),
    (
        B::InvocationId,
        BuiltinType::I32,
        &[(Model::TessellationControl, IN), (Model::Geometry, IN)],
    ),
    (B::Layer, BuiltinType::I32, LAYERS),
    (B::ViewportIndex, BuiltinType::I32, LAYERS),
    (
        B::TessLevelOuter,
        BuiltinType::F32Array,
        &[
            (Model::TessellationControl, OUT),
            (Model::TessellationEvaluation, IN),
        ],
    ),
    (
        B::TessLevelInner,
        BuiltinType::F32Array,
        &[
            (Model::TessellationControl, OUT),
            (Model::TessellationEvaluation, IN),
        ],
    ),
    (
        B::TessCoord,
        BuiltinType::F32s(3),
        &[(Model::TessellationEvaluation, IN)],
    ),
    (
        B::PatchVertices,
        BuiltinType::I32,
        &[
            (Model::TessellationControl, IN),
            (Model::TessellationEvaluation, IN),
        ],
    ),
    (B::FragCoord, BuiltinType::F32s(4), FRAGMENT),
    (B::PointCoord, BuiltinType::F32s(2), FRAGMENT),
    (B::FrontFacing, BuiltinType::Bool, FRAGMENT),
    (B::SampleId, BuiltinType::I32, FRAGMENT),
    (B::SamplePosition, BuiltinType::F32s(2), FRAGMENT),
    (
        B::SampleMask,
        BuiltinType::I32Array,
        &[(Model::Fragment, IN | OUT)],
    ),
    (B::FragDepth, BuiltinType::F32, &[(Model::Fragment, OUT)]),
    (B::HelperInvocation, BuiltinType::Bool, FRAGMENT),
    (B::NumWorkgroups, BuiltinType::I32s(3), COMPUTE),
    (B::WorkgroupId, BuiltinType::I32s(3), COMPUTE),
    (B::LocalInvocationId, BuiltinType::I32s(3), COMPUTE),
    (B::GlobalInvocationId, BuiltinType::I32s(3), COMPUTE),
    (B::LocalInvocationIndex, BuiltinType::I32, COMPUTE),
    (B::NumSubgroups, BuiltinType::I32, COMPUTE),
    (B::SubgroupId, BuiltinType::I32, COMPUTE),
    (B::SubgroupSize, BuiltinType::I32, &[]),
    (B::SubgroupLocalInvocationId, BuiltinType::I32, &[]),
    (B::SubgroupEqMask, BuiltinType::I32s(4), &[]),
    (B::SubgroupGeMask, BuiltinType::I32s(4), &[]),
    (B::SubgroupGtMask, BuiltinType::I32s(4), &[]),
    (B::SubgroupLeMask, BuiltinType::I32s(4), &[]),
    (B::SubgroupLtMask, BuiltinType::I32s(4), &[]),
    (B::DeviceIndex, BuiltinType::I32, &[]),
    (B::ViewIndex, BuiltinType::I32, &[]),
    (
        B::DrawIndex,
        BuiltinType::I32,
        &[
            (Model::Vertex, IN),
            (Model::TaskNV, IN),
            (Model::MeshNV, IN),
            (Model::TaskEXT, IN),
            (Model::MeshEXT, IN),
        ],
    ),
];

/// Checks the types of built-in variables and of members of blocks, in Vulkan.
pub(super) fn verify_built_in_types(
    cx: &VerifyContext<'_>,
    inst: crate::ir::InstRef<'_>,
) -> VerifyResult {
    if !cx.is_vulkan() {
        return Ok(());
    }
    let words = inst.operands();
    let (target, member, what) = match inst.op() {
        Op::Decorate if words.len() > 2 => (words[0], None, &words[1..]),
        Op::MemberDecorate if words.len() > 3 => (words[0], Some(words[1]), &words[2..]),
        _ => return Ok(()),
    };
    if Decoration(what[0]) != Decoration::BuiltIn {
        return Ok(());
    }
    let built_in = B(what[1]);
    ensure(
        VerifyRule::BuiltIns,
        member.is_some()
            || !matches!(built_in, B::TessLevelOuter | B::TessLevelInner)
            || cx.has_decoration(target, Decoration::Patch),
        || format!("variables with the built-in {built_in} are decorated with Patch in Vulkan"),
    )?;
    let ty = match member {
        Some(n) => cx
            .struct_members(target)
            .get(n as usize)
            .copied()
            .unwrap_or(0),
        None if cx.is_constant(target) => cx.type_of(target),
        None => cx.value_shape(target).part,
    };
    if built_in == B::WorkgroupSize {
        let count = cx.type_shape(ty).count;
        let part = cx.type_shape(cx.type_shape(ty).part);
        return ensure(
            VerifyRule::BuiltIns,
            count == 3 && part.op == Op::TypeInt && part.width == 32,
            || "WorkgroupSize is no vector of three integers of 32 bits".to_owned(),
        );
    }
    let Some((_, wanted, places)) = ROWS.iter().find(|r| r.0 == built_in) else {
        return Ok(());
    };
    if member.is_none() {
        verify_built_in_class(cx, target, built_in, places)?;
    }
    let is = |ty: u32| is_type(cx, ty, *wanted);
    // Inputs and outputs of some models have one more array around.
    let inner = cx.type_shape(ty);
    let per_vertex = matches!(inner.op, Op::TypeArray | Op::TypeRuntimeArray) && is(inner.part);
    ensure(VerifyRule::BuiltIns, is(ty) || per_vertex, || {
        format!("{built_in} cannot be of {}", cx.describe_type(ty))
    })
}

/// A built-in variable is of a class that some execution model has it in.
fn verify_built_in_class(
    cx: &VerifyContext<'_>,
    variable: u32,
    built_in: B,
    places: BuiltinStages,
) -> VerifyResult {
    let class = cx.value_shape(variable).class;
    let way = way_of(class);
    let fits = if places.is_empty() {
        way == IN
    } else {
        places.iter().any(|(_, d)| d & way != 0)
    };
    ensure(VerifyRule::BuiltIns, fits, || {
        format!("no variable of the class {class} has the built-in {built_in} in Vulkan")
    })
}

fn way_of(class: StorageClass) -> u8 {
    match class {
        StorageClass::Input => IN,
        StorageClass::Output => OUT,
        _ => 0,
    }
}

fn is_type(cx: &VerifyContext<'_>, ty: u32, wanted: BuiltinType) -> bool {
    let shape = cx.type_shape(ty);
    let f32 = |ty: u32| cx.defining_op(ty) == Op::TypeFloat && cx.type_shape(ty).width == 32;
    let i32 = |ty: u32| cx.defining_op(ty) == Op::TypeInt && cx.type_shape(ty).width == 32;
    match wanted {
        BuiltinType::F32 => f32(ty),
        BuiltinType::I32 => i32(ty),
        BuiltinType::Bool => shape.op == Op::TypeBool,
        BuiltinType::F32s(n) => shape.op == Op::TypeVector && shape.count == n && f32(shape.part),
        BuiltinType::I32s(n) => shape.op == Op::TypeVector && shape.count == n && i32(shape.part),
        BuiltinType::F32Array => shape.op == Op::TypeArray && f32(shape.part),
        BuiltinType::I32Array => shape.op == Op::TypeArray && i32(shape.part),
    }
}

/// Checks that an execution model has the built-in variables of a variable that it uses.
pub(super) fn verify_built_in_use(
    cx: &VerifyContext<'_>,
    variable: Id,
    model: Model,
) -> VerifyResult {
    let shape = cx.value_shape(variable.word());
    let direction = way_of(shape.class);
    let whole = cx.decoration(variable.word(), Decoration::BuiltIn);
    if let Some([built_in, ..]) = whole {
        return verify_built_in_placement(B(*built_in), model, direction);
    }
    let mut block = shape.part;
    if matches!(cx.defining_op(block), Op::TypeArray | Op::TypeRuntimeArray) {
        block = cx.type_shape(block).part;
    }
    for n in 0..cx.struct_members(block).len() as u32 {
        if let Some([built_in, ..]) = cx.member_decoration(block, n, Decoration::BuiltIn) {
            verify_built_in_placement(B(*built_in), model, direction)?;
        }
    }
    Ok(())
}

fn verify_built_in_placement(built_in: B, model: Model, direction: u8) -> VerifyResult {
    let Some((_, _, places)) = ROWS.iter().find(|r| r.0 == built_in) else {
        return Ok(());
    };
    let fits = if places.is_empty() {
        direction == IN
    } else {
        places
            .iter()
            .any(|(m, d)| *m == model && d & direction != 0)
    };
    ensure(VerifyRule::BuiltIns, fits, || {
        let way = if direction == OUT { "output" } else { "input" };
        format!("{model} has no {way} {built_in}")
    })
}
