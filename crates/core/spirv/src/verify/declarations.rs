//! Rules 1, 6 and 7: the tables know every word, and the module declares the capabilities, extensions and versions
//! that it uses.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::analysis::ROUNDING;
use crate::grammar::enumerants::{BuiltIn, Capability, Decoration, GroupOperation};
use crate::grammar::{
    DecodeError, EnumerantInfo, Kind, Op, OperandCategory, OperandIter, SpirvVersion,
    all_instructions, extension_version,
};
use crate::ir::InstRef;

/// Checks an instruction's opcode and enumerants.
pub(super) fn verify_availability(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let Some(row) = inst.op().info() else {
        return Err(
            make_fault(VerifyRule::Encoding, "the tables do not know the opcode")
                .with_hint("the module needs a newer grammar than this build has"),
        );
    };
    if !row.capabilities.is_empty() {
        ensure_any(cx, row.capabilities, || row.name.to_owned())?;
    }
    if !is_ballot_of_amd(cx, inst.op()) {
        verify_version(
            cx,
            row.version,
            row.last_version,
            row.extensions,
            !row.capabilities.is_empty() && row.extensions.is_empty(),
            || row.name.to_owned(),
        )?;
    }
    if inst.op() == Op::Extension {
        let (name, own) = (inst.string_operand(0), cx.version);
        let first = extension_version(&name);
        return ensure(VerifyRule::Versions, own >= first, || {
            format!("the extension {name} is for SPIR-V {first}, the module is of {own}")
        });
    }
    if !has_enumerants(inst.op()) {
        return Ok(());
    }
    let mut operands = OperandIter::new(inst.op(), inst.words());
    match inst.op() {
        Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
            operands = operands.with_ext(cx.ids.ext_inst_set(inst));
        }
        Op::Switch => {
            operands = operands.with_switch_literal_words(cx.ids.switch_literal_words(inst));
        }
        _ => {}
    }
    for operand in operands {
        let operand = match operand {
            Ok(operand) => operand,
            Err(DecodeError::Surplus(_)) if matches!(inst.op(), Op::ExtInst) => break,
            Err(error) => return Err(make_fault(VerifyRule::Encoding, error.to_string())),
        };
        let word = operand.words[0];
        match operand.kind.info().category {
            OperandCategory::BitEnum => {
                let mut rest = word;
                while rest != 0 {
                    let bit = rest & rest.wrapping_neg();
                    rest ^= bit;
                    verify_enumerant(cx, operand.kind, bit)?;
                }
            }
            OperandCategory::ValueEnum => verify_enumerant(cx, operand.kind, word)?,
            OperandCategory::Literal if operand.kind == Kind::LiteralExtInstInteger => {
                verify_extended_number(cx, inst, word)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an instruction has operands that rules 6 and 7 look at.
fn has_enumerants(op: Op) -> bool {
    op.row_index().is_none_or(|row| HAS_ENUMERANTS[row])
}

/// By row of the grammar, computed when the crate is compiled.
static HAS_ENUMERANTS: [bool; all_instructions().len()] = {
    let mut found = [false; all_instructions().len()];
    let mut row = 0;
    while row < found.len() {
        let operands = all_instructions()[row].operands;
        let mut at = 0;
        while at < operands.len() {
            let kind = operands[at].kind;
            found[row] |= kind.has_rows() || matches!(kind, Kind::PairLiteralIntegerIdRef);
            at += 1;
        }
        row += 1;
    }
    found
};

fn verify_enumerant(cx: &VerifyContext<'_>, kind: Kind, word: u32) -> VerifyResult {
    let Some(row) = kind.info().enumerant_by_value(word) else {
        return Ok(());
    };
    let name = || format!("{} {}", kind.info().name, row.name);
    if kind == Kind::Capability {
        verify_environment_capability(cx, Capability(word), row)?;
    } else if !row.capabilities.is_empty() && !is_free(cx, kind, word) {
        if kind == Kind::Decoration && word == Decoration::FPRoundingMode.0 && cx.is_vulkan() {
            ensure_any(cx, ROUNDING, name)?;
        } else {
            ensure_any(cx, row.capabilities, name)?;
        }
    }
    verify_version(
        cx,
        row.version,
        row.last_version,
        row.extensions,
        false,
        name,
    )
}

/// Values whose mere mention needs no capability.
fn is_free(cx: &VerifyContext<'_>, kind: Kind, word: u32) -> bool {
    match kind {
        Kind::BuiltIn => {
            word == BuiltIn::PointSize.0
                || word == BuiltIn::ClipDistance.0
                || word == BuiltIn::CullDistance.0
        }
        Kind::FPRoundingMode => cx.has_any(ROUNDING),
        Kind::Decoration if word == Decoration::FPRoundingMode.0 => cx.has_any(ROUNDING),
        Kind::GroupOperation if word <= GroupOperation::ExclusiveScan.0 => {
            cx.has_extension("SPV_AMD_shader_ballot")
        }
        _ => false,
    }
}

/// AMD's extension brings its group operations without the capability.
fn is_ballot_of_amd(cx: &VerifyContext<'_>, op: Op) -> bool {
    op.is_amd_group_reduction() && cx.has_extension("SPV_AMD_shader_ballot")
}

fn ensure_any(
    cx: &VerifyContext<'_>,
    capabilities: &[Capability],
    name: impl Fn() -> String,
) -> VerifyResult {
    if cx.has_any(capabilities) {
        return Ok(());
    }
    let names: Vec<_> = capabilities.iter().map(|c| c.to_string()).collect();
    let message = format!("{} needs the capability {}", name(), names.join(" or "));
    let hint = format!("declare it: OpCapability {}", names[0]);
    Err(make_fault(VerifyRule::Capabilities, message).with_hint(hint))
}

fn verify_version(
    cx: &VerifyContext<'_>,
    first: SpirvVersion,
    last: SpirvVersion,
    extensions: &[&str],
    has_capability: bool,
    name: impl Fn() -> String,
) -> VerifyResult {
    if cx.version > last {
        let message = format!("{} is not part of SPIR-V since {last}", name());
        return Err(make_fault(VerifyRule::Versions, message));
    }
    if cx.version >= first || has_capability {
        return Ok(());
    }
    if extensions.is_empty() {
        if first == SpirvVersion::NEVER {
            return Ok(());
        }
        let message = format!(
            "{} needs SPIR-V {first}, the module is of {}",
            name(),
            cx.version
        );
        return Err(make_fault(VerifyRule::Versions, message));
    }
    if extensions.iter().any(|e| cx.has_extension(e)) {
        return Ok(());
    }
    let message = format!("{} needs the extension {}", name(), extensions.join(" or "));
    let hint = format!("declare it: OpExtension \"{}\"", extensions[0]);
    Err(make_fault(VerifyRule::Versions, message).with_hint(hint))
}

fn verify_extended_number(cx: &VerifyContext<'_>, inst: InstRef<'_>, number: u32) -> VerifyResult {
    let Some(set) = cx.ids.ext_inst_set(inst) else {
        return ensure(
            VerifyRule::OperandClass,
            cx.defining_op(inst.operand_word(0)) == Op::ExtInstImport,
            || {
                format!(
                    "%{} is no set of extended instructions",
                    inst.operand_word(0)
                )
            },
        );
    };
    match set.instruction_by_number(number) {
        Some(row) if !row.capabilities.is_empty() => {
            ensure_any(cx, row.capabilities, || row.name.to_owned())
        }
        Some(_) => Ok(()),
        None if set.name.starts_with("NonSemantic.") => Ok(()),
        None => Err(make_fault(
            VerifyRule::Encoding,
            format!("the set {} has no instruction {number}", set.name),
        )),
    }
}

/// Whether the environment takes a capability.
fn verify_environment_capability(
    cx: &VerifyContext<'_>,
    capability: Capability,
    row: &EnumerantInfo,
) -> VerifyResult {
    use crate::target::TargetEnvironment;
    let by_extension = || row.extensions.iter().any(|e| cx.has_extension(e));
    let taken = match cx.options.target.environment {
        TargetEnvironment::Universal => true,
        TargetEnvironment::Vulkan(major, minor) => {
            let known = VULKAN.iter().filter(|(since, _)| *since <= (major, minor));
            known
                .into_iter()
                .any(|(_, list)| list.contains(&capability))
                || by_extension()
        }
        TargetEnvironment::OpenCl(major, minor) => {
            let known = OPENCL.iter().filter(|(since, _)| *since <= (major, minor));
            known
                .into_iter()
                .any(|(_, list)| list.contains(&capability))
                || by_extension()
        }
    };
    ensure(VerifyRule::Environment, taken, || {
        format!(
            "the capability {} is none that the target environment takes",
            row.name
        )
    })
}

type CapabilitySince = ((u8, u8), &'static [Capability]);

/// Capabilities that versions of Vulkan know without an extension (Vulkan specification, appendix
/// "Vulkan Environment for SPIR-V").
const VULKAN: &[CapabilitySince] = &[
    (
        (1, 0),
        &[
            Capability::Matrix,
            Capability::Shader,
            Capability::InputAttachment,
            Capability::Sampled1D,
            Capability::Image1D,
            Capability::SampledBuffer,
            Capability::ImageBuffer,
            Capability::ImageQuery,
            Capability::DerivativeControl,
            Capability::Geometry,
            Capability::Tessellation,
            Capability::Float16,
            Capability::Float64,
            Capability::Int64,
            Capability::Int64Atomics,
            Capability::Int16,
            Capability::Int8,
            Capability::TessellationPointSize,
            Capability::GeometryPointSize,
            Capability::ImageGatherExtended,
            Capability::StorageImageMultisample,
            Capability::UniformBufferArrayDynamicIndexing,
            Capability::SampledImageArrayDynamicIndexing,
            Capability::StorageBufferArrayDynamicIndexing,
            Capability::StorageImageArrayDynamicIndexing,
            Capability::ClipDistance,
            Capability::CullDistance,
            Capability::ImageCubeArray,
            Capability::SampleRateShading,
            Capability::SparseResidency,
            Capability::MinLod,
            Capability::SampledCubeArray,
            Capability::ImageMSArray,
            Capability::StorageImageExtendedFormats,
            Capability::InterpolationFunction,
            Capability::StorageImageReadWithoutFormat,
            Capability::StorageImageWriteWithoutFormat,
            Capability::MultiViewport,
            Capability::TransformFeedback,
            Capability::GeometryStreams,
        ],
    ),
    (
        (1, 1),
        &[
            Capability::MultiView,
            Capability::DeviceGroup,
            Capability::DrawParameters,
            Capability::GroupNonUniform,
            Capability::GroupNonUniformVote,
            Capability::GroupNonUniformArithmetic,
            Capability::GroupNonUniformBallot,
            Capability::GroupNonUniformShuffle,
            Capability::GroupNonUniformShuffleRelative,
            Capability::GroupNonUniformClustered,
            Capability::GroupNonUniformQuad,
            Capability::StorageBuffer16BitAccess,
            Capability::UniformAndStorageBuffer16BitAccess,
            Capability::StoragePushConstant16,
            Capability::StorageInputOutput16,
            Capability::VariablePointersStorageBuffer,
            Capability::VariablePointers,
        ],
    ),
    (
        (1, 2),
        &[
            Capability::DenormPreserve,
            Capability::DenormFlushToZero,
            Capability::SignedZeroInfNanPreserve,
            Capability::RoundingModeRTE,
            Capability::RoundingModeRTZ,
            Capability::VulkanMemoryModel,
            Capability::VulkanMemoryModelDeviceScope,
            Capability::StorageBuffer8BitAccess,
            Capability::UniformAndStorageBuffer8BitAccess,
            Capability::StoragePushConstant8,
            Capability::ShaderViewportIndex,
            Capability::ShaderLayer,
            Capability::PhysicalStorageBufferAddresses,
            Capability::RuntimeDescriptorArray,
            Capability::UniformTexelBufferArrayDynamicIndexing,
            Capability::StorageTexelBufferArrayDynamicIndexing,
            Capability::UniformBufferArrayNonUniformIndexing,
            Capability::SampledImageArrayNonUniformIndexing,
            Capability::StorageBufferArrayNonUniformIndexing,
            Capability::StorageImageArrayNonUniformIndexing,
            Capability::InputAttachmentArrayDynamicIndexing,
            Capability::InputAttachmentArrayNonUniformIndexing,
            Capability::UniformTexelBufferArrayNonUniformIndexing,
            Capability::StorageTexelBufferArrayNonUniformIndexing,
            Capability::ShaderNonUniform,
        ],
    ),
    (
        (1, 3),
        &[
            Capability::DotProduct,
            Capability::DotProductInputAll,
            Capability::DotProductInput4x8Bit,
            Capability::DotProductInput4x8BitPacked,
            Capability::DemoteToHelperInvocation,
        ],
    ),
    (
        (1, 4),
        &[
            Capability::FloatControls2,
            Capability::GroupNonUniformRotateKHR,
        ],
    ),
];

/// Capabilities that versions of OpenCL know without an extension (OpenCL SPIR-V environment
/// specification, section 3), images and optional features included.
const OPENCL: &[CapabilitySince] = &[
    (
        (1, 2),
        &[
            Capability::Addresses,
            Capability::Float16Buffer,
            Capability::Int16,
            Capability::Int8,
            Capability::Kernel,
            Capability::Linkage,
            Capability::Vector16,
            Capability::Matrix,
            Capability::Int64,
            Capability::Float16,
            Capability::Float64,
            Capability::ImageBasic,
            Capability::LiteralSampler,
            Capability::Sampled1D,
            Capability::Image1D,
            Capability::SampledBuffer,
            Capability::ImageBuffer,
            Capability::ImageReadWrite,
            Capability::Groups,
            Capability::Int64Atomics,
        ],
    ),
    (
        (2, 0),
        &[
            Capability::DeviceEnqueue,
            Capability::GenericPointer,
            Capability::Pipes,
        ],
    ),
    (
        (2, 2),
        &[Capability::SubgroupDispatch, Capability::PipeStorage],
    ),
    (
        (3, 0),
        &[
            Capability::GroupNonUniform,
            Capability::GroupNonUniformVote,
            Capability::GroupNonUniformArithmetic,
            Capability::GroupNonUniformBallot,
            Capability::GroupNonUniformShuffle,
            Capability::GroupNonUniformShuffleRelative,
            Capability::GroupNonUniformClustered,
        ],
    ),
];
