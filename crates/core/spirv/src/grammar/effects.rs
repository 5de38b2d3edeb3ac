//! Effects of instructions: what an instruction does besides computing its result. Khronos' grammar lacks these
//! facts.
//!
//! Each chapter of the specification has a default, and instructions that differ from it have a row. Unknown
//! instructions are assumed to have every effect.

use super::{
    ExtInstSet, InstructionClass, Op, all_instructions, glsl_std_450, opencl_std, registry,
};

/// A set of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionEffects(u8);

impl InstructionEffects {
    /// None: the result depends on the operands only.
    pub const PURE: InstructionEffects = InstructionEffects(0);
    /// The result depends on memory, or on anything else that changes.
    pub const READS: InstructionEffects = InstructionEffects(1);
    /// Changes memory, or anything else that others see. Must not be deleted.
    pub const WRITES: InstructionEffects = InstructionEffects(2);
    /// The result depends on the set of active invocations, or on the block. The instruction must not move to
    /// other control flow.
    pub const CONVERGENT: InstructionEffects = InstructionEffects(4);
    /// Behaviour is undefined for some operands: must not be run where it was not.
    pub const TRAPS: InstructionEffects = InstructionEffects(8);
    /// All of them.
    pub const ANY: InstructionEffects = InstructionEffects(15);

    /// These and others.
    pub const fn union(self, other: InstructionEffects) -> InstructionEffects {
        InstructionEffects(self.0 | other.0)
    }

    /// The effects of instructions of a chapter that have no row.
    pub(super) const fn of_class(class: InstructionClass) -> InstructionEffects {
        match class {
            InstructionClass::Arithmetic
            | InstructionClass::Bit
            | InstructionClass::Composite
            | InstructionClass::ConstantCreation
            | InstructionClass::Conversion
            | InstructionClass::RelationalandLogical
            | InstructionClass::TypeDeclaration => PURE,
            InstructionClass::Derivative
            | InstructionClass::NonUniform
            | InstructionClass::Group => CONVERGENT,
            _ => ANY,
        }
    }

    /// Whether all effects of `other` are among these.
    pub const fn contains(self, other: InstructionEffects) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the instruction can be deleted when its result is not used.
    pub const fn is_removable(self) -> bool {
        !self.contains(InstructionEffects::WRITES)
    }

    /// Whether the result depends on the operands only, and the instruction may be run speculatively.
    pub const fn is_pure(self) -> bool {
        self.0 == 0
    }
}

const PURE: InstructionEffects = InstructionEffects::PURE;
const ANY: InstructionEffects = InstructionEffects::ANY;
const TRAPS: InstructionEffects = InstructionEffects::TRAPS;
const CONVERGENT: InstructionEffects = InstructionEffects::CONVERGENT;
const LOAD: InstructionEffects = InstructionEffects::READS.union(TRAPS);
const STORE: InstructionEffects = InstructionEffects::WRITES.union(TRAPS);
/// Reads that all invocations of a group make together.
const GROUP_LOAD: InstructionEffects = LOAD.union(CONVERGENT);

/// Instructions that differ from their chapter.
const BY_OP: &[(Op, InstructionEffects)] = &[
    (Op::UDiv, TRAPS),
    (Op::SDiv, TRAPS),
    (Op::UMod, TRAPS),
    (Op::SRem, TRAPS),
    (Op::SMod, TRAPS),
    (Op::VectorExtractDynamic, TRAPS),
    (Op::VectorInsertDynamic, TRAPS),
    (Op::ConvertFToU, TRAPS),
    (Op::ConvertFToS, TRAPS),
    (Op::CooperativeMatrixMulAddKHR, CONVERGENT),
    (Op::CooperativeMatrixMulAddNV, CONVERGENT),
    (Op::CooperativeMatrixLengthKHR, PURE),
    (Op::CooperativeMatrixLengthNV, PURE),
    (Op::CooperativeMatrixTransposeNV, CONVERGENT),
    (Op::Undef, PURE),
    (Op::Nop, PURE),
    (Op::SizeOf, PURE),
    (Op::ExpectKHR, PURE),
    (Op::PoisonKHR, CONVERGENT),
    (Op::FreezeKHR, CONVERGENT),
    (Op::ArithmeticFenceEXT, PURE),
    (Op::Phi, CONVERGENT),
    (Op::FunctionParameter, CONVERGENT),
    (Op::Variable, CONVERGENT),
    (Op::UntypedVariableKHR, CONVERGENT),
    (Op::Load, LOAD),
    (Op::Store, STORE),
    (Op::AccessChain, PURE),
    (Op::InBoundsAccessChain, PURE),
    (Op::PtrAccessChain, PURE),
    (Op::InBoundsPtrAccessChain, PURE),
    (Op::UntypedAccessChainKHR, PURE),
    (Op::UntypedInBoundsAccessChainKHR, PURE),
    (Op::UntypedPtrAccessChainKHR, PURE),
    (Op::UntypedInBoundsPtrAccessChainKHR, PURE),
    (Op::RawAccessChainNV, PURE),
    (Op::ArrayLength, PURE),
    (Op::UntypedArrayLengthKHR, PURE),
    (Op::ImageTexelPointer, PURE),
    (Op::GenericPtrMemSemantics, PURE),
    (Op::PtrEqual, PURE),
    (Op::PtrNotEqual, PURE),
    (Op::PtrDiff, PURE),
    (Op::CooperativeMatrixLoadKHR, GROUP_LOAD),
    (Op::CooperativeMatrixLoadNV, GROUP_LOAD),
    (Op::CooperativeMatrixLoadTensorNV, GROUP_LOAD),
    (Op::CooperativeVectorLoadNV, GROUP_LOAD),
    (Op::SampledImage, CONVERGENT),
    (Op::Image, CONVERGENT),
    (Op::ImageSampleImplicitLod, GROUP_LOAD),
    (Op::ImageSampleExplicitLod, GROUP_LOAD),
    (Op::ImageSampleDrefImplicitLod, GROUP_LOAD),
    (Op::ImageSampleDrefExplicitLod, GROUP_LOAD),
    (Op::ImageSampleProjImplicitLod, GROUP_LOAD),
    (Op::ImageSampleProjExplicitLod, GROUP_LOAD),
    (Op::ImageSampleProjDrefImplicitLod, GROUP_LOAD),
    (Op::ImageSampleProjDrefExplicitLod, GROUP_LOAD),
    (Op::ImageSparseSampleImplicitLod, GROUP_LOAD),
    (Op::ImageSparseSampleExplicitLod, GROUP_LOAD),
    (Op::ImageSparseSampleDrefImplicitLod, GROUP_LOAD),
    (Op::ImageSparseSampleDrefExplicitLod, GROUP_LOAD),
    (Op::ImageSparseFetch, GROUP_LOAD),
    (Op::ImageSparseGather, GROUP_LOAD),
    (Op::ImageSparseDrefGather, GROUP_LOAD),
    (Op::ImageSparseRead, GROUP_LOAD),
    (Op::ImageSparseTexelsResident, PURE),
    (Op::ImageFetch, GROUP_LOAD),
    (Op::ImageGather, GROUP_LOAD),
    (Op::ImageDrefGather, GROUP_LOAD),
    (Op::ImageRead, GROUP_LOAD),
    (Op::ImageQueryFormat, CONVERGENT),
    (Op::ImageQueryOrder, CONVERGENT),
    (Op::ImageQuerySizeLod, CONVERGENT),
    (Op::ImageQuerySize, CONVERGENT),
    (Op::ImageQueryLod, CONVERGENT),
    (Op::ImageQueryLevels, CONVERGENT),
    (Op::ImageQuerySamples, CONVERGENT),
    (Op::GroupAsyncCopy, ANY),
    (Op::UntypedGroupAsyncCopyKHR, ANY),
    (Op::GroupWaitEvents, ANY),
    (Op::SubgroupBlockReadINTEL, GROUP_LOAD),
    (Op::SubgroupBlockWriteINTEL, ANY),
    (Op::SubgroupImageBlockReadINTEL, GROUP_LOAD),
    (Op::SubgroupImageBlockWriteINTEL, ANY),
    (Op::SubgroupImageMediaBlockReadINTEL, GROUP_LOAD),
    (Op::SubgroupImageMediaBlockWriteINTEL, ANY),
    (Op::SubgroupBlockPrefetchINTEL, ANY),
    (Op::Subgroup2DBlockLoadINTEL, ANY),
    (Op::Subgroup2DBlockLoadTransformINTEL, ANY),
    (Op::Subgroup2DBlockLoadTransposeINTEL, ANY),
    (Op::Subgroup2DBlockPrefetchINTEL, ANY),
    (Op::Subgroup2DBlockStoreINTEL, ANY),
    (Op::ConvertUToAccelerationStructureKHR, CONVERGENT),
    (Op::IsHelperInvocationEXT, GROUP_LOAD),
];

impl Op {
    /// The effects of an instruction of this opcode. Extended instructions: see
    /// [`ExtInstSet::instruction_effects`]. The effects of a call are those of the function.
    #[inline]
    pub fn effects(self) -> InstructionEffects {
        match self.row_index() {
            Some(row) => EFFECTS[row],
            None => registry::find_effects(self).unwrap_or(ANY),
        }
    }
}

/// Effects by row of the grammar, computed when the crate is compiled.
static EFFECTS: [InstructionEffects; all_instructions().len()] = {
    let rows = all_instructions();
    let mut effects = [ANY; all_instructions().len()];
    let mut at = 0;
    while at < rows.len() {
        effects[at] = InstructionEffects::of_class(rows[at].class);
        at += 1;
    }
    let mut at = 0;
    while at < BY_OP.len() {
        let (op, differing) = BY_OP[at];
        if let Some(row) = op.row_index() {
            effects[row] = differing;
        }
        at += 1;
    }
    effects
};

/// Functions of `GLSL.std.450` that are not pure.
const GLSL: &[(u32, InstructionEffects)] = &[
    (glsl_std_450::MODF, STORE),
    (glsl_std_450::FREXP, STORE),
    (glsl_std_450::INTERPOLATE_AT_CENTROID, GROUP_LOAD),
    (glsl_std_450::INTERPOLATE_AT_SAMPLE, GROUP_LOAD),
    (glsl_std_450::INTERPOLATE_AT_OFFSET, GROUP_LOAD),
];

/// Functions of `OpenCL.std` that are not pure.
const OPENCL: &[(u32, InstructionEffects)] = &[
    (opencl_std::FRACT, STORE),
    (opencl_std::FREXP, STORE),
    (opencl_std::LGAMMA_R, STORE),
    (opencl_std::MODF, STORE),
    (opencl_std::REMQUO, STORE),
    (opencl_std::SINCOS, STORE),
    (opencl_std::VLOADN, LOAD),
    (opencl_std::VLOAD_HALF, LOAD),
    (opencl_std::VLOAD_HALFN, LOAD),
    (opencl_std::VLOADA_HALFN, LOAD),
    (opencl_std::VSTOREN, STORE),
    (opencl_std::VSTORE_HALF, STORE),
    (opencl_std::VSTORE_HALF_R, STORE),
    (opencl_std::VSTORE_HALFN, STORE),
    (opencl_std::VSTORE_HALFN_R, STORE),
    (opencl_std::VSTOREA_HALFN, STORE),
    (opencl_std::VSTOREA_HALFN_R, STORE),
    (opencl_std::PRINTF, ANY),
    (opencl_std::PREFETCH, ANY),
];

impl ExtInstSet {
    /// The effects of an instruction of this set. Sets other than those of mathematical functions are assumed to
    /// have every effect.
    pub fn instruction_effects(&self, number: u32) -> InstructionEffects {
        let rows = match self.name {
            "GLSL.std.450" => GLSL,
            "OpenCL.std" => OPENCL,
            _ => return registry::effects_of_extended(self.name, number).unwrap_or(ANY),
        };
        match rows.iter().find(|row| row.0 == number) {
            Some((_, effects)) => *effects,
            None if self.instruction_by_number(number).is_some() => PURE,
            None => ANY,
        }
    }

    /// Whether the set describes the source program for debuggers, and nothing else.
    pub fn is_debug_info(&self) -> bool {
        self.name.contains("DebugInfo")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_has_every_effect() {
        assert_eq!(Op(60_000).effects(), InstructionEffects::ANY);
        assert_eq!(Op::ControlBarrier.effects(), InstructionEffects::ANY);
        assert!(Op::IAdd.effects().is_pure());
        assert!(!Op::Store.effects().is_removable());
        let glsl = ExtInstSet::by_name("GLSL.std.450").expect("the set is in the grammar");
        assert!(
            glsl.instruction_by_name("Sqrt")
                .is_some_and(|i| glsl.instruction_effects(i.number).is_pure())
        );
        assert_eq!(glsl.instruction_effects(60_000), InstructionEffects::ANY);
    }
}
