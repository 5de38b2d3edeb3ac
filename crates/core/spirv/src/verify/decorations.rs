//! Rule 15: names and decorations fit their targets.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::analysis::function_name;
use crate::grammar::Op;
use crate::grammar::enumerants::{BuiltIn, Decoration, LinkageType, MemoryModel, StorageClass};
use crate::ir::{InstRef, ModuleSection};
use rustc_hash::FxHashSet;
use spirula_diagnostics::SourceDiagnostic;

/// The valid targets of a decoration.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecorationTarget {
    Struct,
    ArrayOrPointer,
    /// A variable or parameter that is a pointer.
    Memory,
    Variable,
    SpecConstant,
    BuiltIn,
    /// Members of structures only.
    Member,
    Anything,
}

/// Whether members of structures may have it.
const MEMBERS: bool = true;
const WHOLE: bool = false;

const ROWS: &[(Decoration, DecorationTarget, bool)] = &[
    (Decoration::SpecId, DecorationTarget::SpecConstant, WHOLE),
    (Decoration::Block, DecorationTarget::Struct, WHOLE),
    (Decoration::BufferBlock, DecorationTarget::Struct, WHOLE),
    (Decoration::GLSLShared, DecorationTarget::Struct, WHOLE),
    (Decoration::GLSLPacked, DecorationTarget::Struct, WHOLE),
    (Decoration::CPacked, DecorationTarget::Struct, WHOLE),
    (Decoration::RowMajor, DecorationTarget::Member, MEMBERS),
    (Decoration::ColMajor, DecorationTarget::Member, MEMBERS),
    (Decoration::MatrixStride, DecorationTarget::Member, MEMBERS),
    (
        Decoration::ArrayStride,
        DecorationTarget::ArrayOrPointer,
        WHOLE,
    ),
    (Decoration::BuiltIn, DecorationTarget::BuiltIn, MEMBERS),
    (Decoration::NoPerspective, DecorationTarget::Memory, MEMBERS),
    (Decoration::Flat, DecorationTarget::Memory, MEMBERS),
    (Decoration::Patch, DecorationTarget::Memory, MEMBERS),
    (Decoration::Centroid, DecorationTarget::Memory, MEMBERS),
    (Decoration::Sample, DecorationTarget::Memory, MEMBERS),
    (Decoration::Restrict, DecorationTarget::Memory, MEMBERS),
    (Decoration::Aliased, DecorationTarget::Memory, WHOLE),
    (Decoration::Volatile, DecorationTarget::Memory, MEMBERS),
    (Decoration::Coherent, DecorationTarget::Memory, MEMBERS),
    (Decoration::NonWritable, DecorationTarget::Memory, MEMBERS),
    (Decoration::NonReadable, DecorationTarget::Memory, MEMBERS),
    (Decoration::XfbBuffer, DecorationTarget::Memory, MEMBERS),
    (Decoration::XfbStride, DecorationTarget::Memory, MEMBERS),
    (Decoration::Component, DecorationTarget::Memory, MEMBERS),
    (Decoration::Stream, DecorationTarget::Memory, MEMBERS),
    (Decoration::RestrictPointer, DecorationTarget::Memory, WHOLE),
    (Decoration::AliasedPointer, DecorationTarget::Memory, WHOLE),
    (
        Decoration::PerPrimitiveEXT,
        DecorationTarget::Memory,
        MEMBERS,
    ),
    (Decoration::PerVertexKHR, DecorationTarget::Memory, MEMBERS),
    (Decoration::Invariant, DecorationTarget::Variable, MEMBERS),
    (Decoration::Constant, DecorationTarget::Variable, WHOLE),
    (Decoration::Location, DecorationTarget::Variable, MEMBERS),
    (Decoration::Index, DecorationTarget::Variable, WHOLE),
    (Decoration::Binding, DecorationTarget::Variable, WHOLE),
    (Decoration::DescriptorSet, DecorationTarget::Variable, WHOLE),
    (
        Decoration::InputAttachmentIndex,
        DecorationTarget::Variable,
        WHOLE,
    ),
    (Decoration::Uniform, DecorationTarget::Anything, WHOLE),
    (Decoration::UniformId, DecorationTarget::Anything, WHOLE),
    (
        Decoration::SaturatedConversion,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (Decoration::FuncParamAttr, DecorationTarget::Anything, WHOLE),
    (
        Decoration::FPRoundingMode,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (
        Decoration::FPFastMathMode,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (
        Decoration::LinkageAttributes,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (Decoration::NoContraction, DecorationTarget::Anything, WHOLE),
    (Decoration::Alignment, DecorationTarget::Anything, WHOLE),
    (Decoration::MaxByteOffset, DecorationTarget::Anything, WHOLE),
    (Decoration::AlignmentId, DecorationTarget::Anything, WHOLE),
    (
        Decoration::MaxByteOffsetId,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (Decoration::NoSignedWrap, DecorationTarget::Anything, WHOLE),
    (
        Decoration::NoUnsignedWrap,
        DecorationTarget::Anything,
        WHOLE,
    ),
    (Decoration::NonUniform, DecorationTarget::Anything, WHOLE),
    (Decoration::CounterBuffer, DecorationTarget::Anything, WHOLE),
];

/// Decorations whose operands are ids, for `OpDecorateId`.
const OF_IDS: &[Decoration] = &[
    Decoration::UniformId,
    Decoration::AlignmentId,
    Decoration::MaxByteOffsetId,
    Decoration::CounterBuffer,
    Decoration::AliasScopeINTEL,
    Decoration::NoAliasINTEL,
    Decoration::NodeSharesPayloadLimitsWithAMDX,
    Decoration::PayloadNodeNameAMDX,
    Decoration::PayloadNodeBaseIndexAMDX,
    Decoration::PayloadNodeSparseArrayAMDX,
    Decoration::PayloadNodeArraySizeAMDX,
    Decoration::PayloadDispatchIndirectAMDX,
    Decoration::NodeMaxPayloadsAMDX,
    Decoration::ArrayStrideIdEXT,
    Decoration::OffsetIdEXT,
];

/// Checks an annotation, or `OpMemberName`.
pub(super) fn verify_annotation(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::MemberName => verify_member_index(cx, inst.operand_word(0), inst.operand_word(1)),
        Op::Line => ensure(
            VerifyRule::OperandClass,
            cx.defining_op(inst.operand_word(0)) == Op::String,
            || "the file is no OpString".to_owned(),
        ),
        Op::MemberDecorate | Op::MemberDecorateString => {
            verify_member_index(cx, inst.operand_word(0), inst.operand_word(1))?;
            of_member(inst)
        }
        Op::Decorate | Op::DecorateString => of_id(cx, inst),
        Op::DecorateId => ensure(
            VerifyRule::Decorations,
            OF_IDS.contains(&Decoration(inst.operand_word(1))),
            || format!("{} takes no ids", Decoration(inst.operand_word(1))),
        ),
        Op::GroupDecorate | Op::GroupMemberDecorate => verify_decoration_group(cx, inst),
        _ => Ok(()),
    }
}

fn verify_member_index(cx: &VerifyContext<'_>, structure: u32, n: u32) -> VerifyResult {
    ensure(
        VerifyRule::Decorations,
        cx.defining_op(structure) == Op::TypeStruct,
        || format!("%{structure} is no structure"),
    )?;
    let count = cx.struct_members(structure).len();
    ensure(VerifyRule::Decorations, (n as usize) < count, || {
        format!("member {n} of {count}")
    })
}

fn of_member(inst: InstRef<'_>) -> VerifyResult {
    let what = Decoration(inst.operand_word(2));
    let row = ROWS.iter().find(|r| r.0 == what);
    ensure(VerifyRule::Decorations, row.is_none_or(|r| r.2), || {
        format!("{what} cannot be applied to members")
    })
}

fn verify_decoration_group(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let group = inst.operand_word(0);
    ensure(
        VerifyRule::Decorations,
        cx.defining_op(group) == Op::DecorationGroup,
        || format!("%{group} is no decoration group"),
    )?;
    if inst.op() == Op::GroupMemberDecorate {
        for pair in inst.operands()[1..].chunks_exact(2) {
            verify_member_index(cx, pair[0], pair[1])?;
        }
    }
    Ok(())
}

fn of_id(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (target, what) = (inst.operand_word(0), Decoration(inst.operand_word(1)));
    if cx.is_vulkan() {
        ensure(
            VerifyRule::Environment,
            !matches!(what, Decoration::GLSLShared | Decoration::GLSLPacked),
            || format!("Vulkan does not take {what}"),
        )?;
    }
    ensure(
        VerifyRule::Decorations,
        !OF_IDS.contains(&what) || what == Decoration::CounterBuffer && inst.op() != Op::Decorate,
        || format!("{what} takes ids; it requires OpDecorateId"),
    )?;
    let op = cx.defining_op(target);
    if op == Op::DecorationGroup {
        return Ok(());
    }
    let row = ROWS.iter().find(|r| r.0 == what);
    let class = cx.value_shape(target).class;
    if let Some((_, on, _)) = row {
        if let DecorationTarget::BuiltIn = on {
            return built_in(cx, inst, target);
        }
        let fits = stands_on(cx, on, target);
        ensure(VerifyRule::Decorations, fits, || {
            format!("{what} cannot be applied to %{target}, which is {op}")
        })?;
    }
    verify_value_decoration(cx, what, target)?;
    if cx.is_vulkan() {
        class_in_vulkan(what, class)?;
    }
    Ok(())
}

/// Whether the condition of a row on the decoration's target holds.
fn stands_on(cx: &VerifyContext<'_>, on: &DecorationTarget, target: u32) -> bool {
    let op = cx.defining_op(target);
    match on {
        DecorationTarget::Struct => op == Op::TypeStruct,
        DecorationTarget::ArrayOrPointer => matches!(
            op,
            Op::TypeArray
                | Op::TypeRuntimeArray
                | Op::TypePointer
                | Op::TypeUntypedPointerKHR
                | Op::UntypedVariableKHR
        ),
        DecorationTarget::Memory => {
            matches!(
                op,
                Op::Variable
                    | Op::UntypedVariableKHR
                    | Op::FunctionParameter
                    | Op::RawAccessChainNV
                    | Op::BufferPointerEXT
            ) && super::memory::is_pointer(cx.value_shape(target).op)
        }
        DecorationTarget::Variable => {
            matches!(op, Op::Variable | Op::UntypedVariableKHR)
        }
        DecorationTarget::SpecConstant => matches!(
            op,
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse
        ),
        DecorationTarget::Member | DecorationTarget::BuiltIn => false,
        DecorationTarget::Anything => true,
    }
}

/// Requirements of decorations of values.
fn verify_value_decoration(cx: &VerifyContext<'_>, what: Decoration, target: u32) -> VerifyResult {
    let op = cx.defining_op(target);
    match what {
        Decoration::RelaxedPrecision => {
            ensure(VerifyRule::Decorations, !cx.is_type(target), || {
                "types have no precision".to_owned()
            })
        }
        Decoration::Uniform | Decoration::UniformId => ensure(
            VerifyRule::Decorations,
            cx.type_of(target) != 0 && cx.defining_op(cx.type_of(target)) != Op::TypeVoid,
            || format!("%{target} is no value"),
        ),
        Decoration::NoSignedWrap | Decoration::NoUnsignedWrap => ensure(
            VerifyRule::Decorations,
            matches!(
                op,
                Op::IAdd | Op::ISub | Op::IMul | Op::ShiftLeftLogical | Op::SNegate | Op::ExtInst
            ),
            || format!("{what} cannot be applied to {op}"),
        ),
        Decoration::FPRoundingMode => ensure(
            VerifyRule::Decorations,
            !cx.is_shader || op == Op::FConvert,
            || "rounding modes apply to OpFConvert only".to_owned(),
        ),
        Decoration::Coherent | Decoration::Volatile => ensure(
            VerifyRule::Decorations,
            cx.memory_model != MemoryModel::Vulkan,
            || format!("the Vulkan memory model has no {what}"),
        ),
        _ => Ok(()),
    }
}

/// The storage classes of variables that may have a decoration in Vulkan.
fn class_in_vulkan(what: Decoration, class: StorageClass) -> VerifyResult {
    let fits = match what {
        Decoration::Location | Decoration::Component => matches!(
            class,
            StorageClass::Input
                | StorageClass::Output
                | StorageClass::RayPayloadKHR
                | StorageClass::IncomingRayPayloadKHR
                | StorageClass::HitAttributeKHR
                | StorageClass::CallableDataKHR
                | StorageClass::IncomingCallableDataKHR
                | StorageClass::ShaderRecordBufferKHR
                | StorageClass::HitObjectAttributeNV
                | StorageClass::HitObjectAttributeEXT
                | StorageClass::TileImageEXT
        ),
        Decoration::Index => class == StorageClass::Output,
        Decoration::Binding | Decoration::DescriptorSet => matches!(
            class,
            StorageClass::StorageBuffer
                | StorageClass::Uniform
                | StorageClass::UniformConstant
                | StorageClass::TileAttachmentQCOM
        ),
        Decoration::InputAttachmentIndex => class == StorageClass::UniformConstant,
        Decoration::Flat
        | Decoration::NoPerspective
        | Decoration::Centroid
        | Decoration::Sample => {
            matches!(class, StorageClass::Input | StorageClass::Output)
        }
        Decoration::PerVertexKHR => class == StorageClass::Input,
        _ => true,
    };
    ensure(VerifyRule::Decorations, fits, || {
        format!("{what} is not for variables of the class {class} in Vulkan")
    })
}

fn built_in(cx: &VerifyContext<'_>, inst: InstRef<'_>, target: u32) -> VerifyResult {
    let op = cx.defining_op(target);
    let is_size = BuiltIn(inst.operands().get(2).copied().unwrap_or(0)) == BuiltIn::WorkgroupSize;
    ensure(
        VerifyRule::Decorations,
        matches!(op, Op::Variable | Op::UntypedVariableKHR) || cx.is_constant(target),
        || format!("%{target} is neither a variable nor a constant"),
    )?;
    if !is_size {
        return ensure(
            VerifyRule::Decorations,
            matches!(op, Op::Variable | Op::UntypedVariableKHR),
            || format!("%{target} is no variable"),
        );
    }
    if !cx.is_constant(target) {
        return ensure(VerifyRule::Decorations, !cx.is_shader, || {
            "the size of workgroups is a constant in shaders".to_owned()
        });
    }
    let parts = cx.defining_inst(target).map_or(&[][..], |i| i.operands());
    let sizes = parts.iter().map(|p| cx.constant_value(*p));
    let zero = sizes.into_iter().any(|s| s == Some(0));
    let all = parts.iter().all(|p| cx.constant_value(*p).is_some());
    ensure(VerifyRule::Decorations, !(zero && all), || {
        "a workgroup of no invocations".to_owned()
    })
}

/// Decorations that may be repeated on the same target.
fn may_repeat(what: Decoration) -> bool {
    matches!(
        what,
        Decoration::FuncParamAttr
            | Decoration::UserSemantic
            | Decoration::UserTypeGOOGLE
            | Decoration::AliasScopeINTEL
            | Decoration::NoAliasINTEL
            | Decoration::CacheControlLoadINTEL
            | Decoration::CacheControlStoreINTEL
            | Decoration::UniformId
            | Decoration::FPRoundingMode
            | Decoration::FunctionRoundingModeINTEL
            | Decoration::FunctionDenormModeINTEL
            | Decoration::FunctionFloatingPointModeINTEL
    )
}

/// Decorations that exclude each other on a target or member.
const EXCLUSIVE: &[[Decoration; 2]] = &[
    [Decoration::Block, Decoration::BufferBlock],
    [Decoration::RowMajor, Decoration::ColMajor],
    [Decoration::Restrict, Decoration::Aliased],
    [Decoration::RestrictPointer, Decoration::AliasedPointer],
    [Decoration::Offset, Decoration::OffsetIdEXT],
];

/// Rules about all decorations of a target: none twice, none that exclude each other.
pub(super) fn verify_decoration_sets(cx: &VerifyContext<'_>, faults: &mut Vec<SourceDiagnostic>) {
    let mut seen: FxHashSet<(u32, u32, u32)> = FxHashSet::default();
    let excluded = |what: Decoration| {
        EXCLUSIVE.iter().find_map(|[a, b]| match what {
            what if what == *a => Some(*b),
            what if what == *b => Some(*a),
            _ => None,
        })
    };
    for inst in cx.module.section_insts(ModuleSection::Annotations) {
        let (target, member, what) = match inst.op() {
            Op::Decorate | Op::DecorateId | Op::DecorateString => (
                inst.operand_word(0),
                u32::MAX,
                Decoration(inst.operand_word(1)),
            ),
            Op::MemberDecorate | Op::MemberDecorateString => (
                inst.operand_word(0),
                inst.operand_word(1),
                Decoration(inst.operand_word(2)),
            ),
            _ => continue,
        };
        let mut check = ensure(
            VerifyRule::Decorations,
            seen.insert((target, member, what.0)) || may_repeat(what),
            || format!("%{target} is decorated with {what} before"),
        );
        if let Some(other) = excluded(what)
            && check.is_ok()
        {
            check = ensure(
                VerifyRule::Decorations,
                !seen.contains(&(target, member, other.0)),
                || format!("%{target} is decorated with {other} too"),
            );
        }
        if check.is_ok()
            && matches!(what, Decoration::Coherent | Decoration::Volatile)
            && cx.memory_model == MemoryModel::Vulkan
        {
            check = Err(make_fault(
                VerifyRule::Decorations,
                format!("the Vulkan memory model has no {what}"),
            ));
        }
        if let Err(fault) = check {
            faults.push(fault.into_diagnostic(inst));
        }
    }
}

/// Whether an id is imported from another module.
pub(super) fn is_imported(cx: &VerifyContext<'_>, id: u32) -> bool {
    cx.decoration(id, Decoration::LinkageAttributes)
        .and_then(<[u32]>::last)
        .is_some_and(|last| *last == LinkageType::Import.0)
}

/// Functions without blocks are imported, others are not; imported variables have no initialiser.
pub(super) fn verify_linkage(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    has_blocks: bool,
) -> VerifyResult {
    let Some(id) = inst.result() else {
        return Ok(());
    };
    let imported = is_imported(cx, id.word());
    match inst.op() {
        Op::Function => ensure(VerifyRule::Functions, imported != has_blocks, || {
            let name = function_name(cx.module, id);
            if imported {
                format!("{name} is imported, but has blocks")
            } else {
                format!("{name} has no blocks, and no LinkageAttributes with Import")
            }
        }),
        _ => ensure(
            VerifyRule::Memory,
            !imported || inst.operands().len() < 2,
            || "an imported variable has no initialiser".to_owned(),
        ),
    }
}
