//! What running an instruction does besides computing its result: facts that Khronos' grammar
//! lacks. A chapter of the specification has a default; instructions that differ have a row by
//! name. What has neither is taken to have every effect.

use super::{Class, ExtInstSet, Op, instructions, registry};
use std::sync::OnceLock;

/// A set of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(u8);

impl Effects {
    /// None: the result depends on the operands only.
    pub const PURE: Effects = Effects(0);
    /// The result depends on memory, or on anything else that changes.
    pub const READS: Effects = Effects(1);
    /// Changes memory, or anything else that others see. Must not be deleted.
    pub const WRITES: Effects = Effects(2);
    /// Who else runs it matters, or in which block it stands: must not go to other control flow.
    pub const CONVERGENT: Effects = Effects(4);
    /// Behaviour is undefined for some operands: must not be run where it was not.
    pub const TRAPS: Effects = Effects(8);
    /// All of them.
    pub const ANY: Effects = Effects(15);

    /// These and others.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// What the instructions of a chapter do that have no row.
    pub(super) fn of_class(class: Class) -> Effects {
        match class {
            Class::Arithmetic
            | Class::Bit
            | Class::Composite
            | Class::ConstantCreation
            | Class::Conversion
            | Class::RelationalandLogical
            | Class::TypeDeclaration => PURE,
            Class::Derivative | Class::NonUniform | Class::Group => CONVERGENT,
            _ => ANY,
        }
    }

    /// Whether all effects of `other` are among these.
    pub const fn contains(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the instruction can be deleted when its result is not used.
    pub const fn is_removable(self) -> bool {
        !self.contains(Effects::WRITES)
    }

    /// Whether the instruction gives the same wherever its operands are the same, and may be run
    /// where it was not.
    pub const fn is_pure(self) -> bool {
        self.0 == 0
    }
}

const PURE: Effects = Effects::PURE;
const ANY: Effects = Effects::ANY;
const TRAPS: Effects = Effects::TRAPS;
const CONVERGENT: Effects = Effects::CONVERGENT;
const LOAD: Effects = Effects::READS.and(TRAPS);
const STORE: Effects = Effects::WRITES.and(TRAPS);
/// Reads that all invocations of a group make together.
const GROUP_LOAD: Effects = LOAD.and(CONVERGENT);

/// Instructions that differ from their chapter.
const BY_OP: &[(Op, Effects)] = &[
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
    /// What running an instruction of this opcode does. Extended instructions: see
    /// [`ExtInstSet::effects`]; calls: what the function does.
    #[inline]
    pub fn effects(self) -> Effects {
        static EFFECTS: OnceLock<Vec<Effects>> = OnceLock::new();
        let effects = EFFECTS.get_or_init(|| {
            let mut rows: Vec<Effects> = instructions()
                .iter()
                .map(|i| Effects::of_class(i.class))
                .collect();
            for (op, effects) in BY_OP {
                if let Some(row) = op.row() {
                    rows[row] = *effects;
                }
            }
            rows
        });
        match self.row() {
            Some(row) => effects[row],
            None => registry::effects(self).unwrap_or(ANY),
        }
    }
}

/// Extended instructions of the sets of functions that are not pure.
const EXT_BY_NAME: &[(&str, &str, Effects)] = &[
    ("GLSL.std.450", "Modf", STORE),
    ("GLSL.std.450", "Frexp", STORE),
    ("GLSL.std.450", "InterpolateAtCentroid", GROUP_LOAD),
    ("GLSL.std.450", "InterpolateAtSample", GROUP_LOAD),
    ("GLSL.std.450", "InterpolateAtOffset", GROUP_LOAD),
    ("OpenCL.std", "fract", STORE),
    ("OpenCL.std", "frexp", STORE),
    ("OpenCL.std", "lgamma_r", STORE),
    ("OpenCL.std", "modf", STORE),
    ("OpenCL.std", "remquo", STORE),
    ("OpenCL.std", "sincos", STORE),
    ("OpenCL.std", "vloadn", LOAD),
    ("OpenCL.std", "vload_half", LOAD),
    ("OpenCL.std", "vload_halfn", LOAD),
    ("OpenCL.std", "vloada_halfn", LOAD),
    ("OpenCL.std", "vstoren", STORE),
    ("OpenCL.std", "vstore_half", STORE),
    ("OpenCL.std", "vstore_half_r", STORE),
    ("OpenCL.std", "vstore_halfn", STORE),
    ("OpenCL.std", "vstore_halfn_r", STORE),
    ("OpenCL.std", "vstorea_halfn", STORE),
    ("OpenCL.std", "vstorea_halfn_r", STORE),
    ("OpenCL.std", "printf", ANY),
    ("OpenCL.std", "prefetch", ANY),
];

impl ExtInstSet {
    /// What running an instruction of this set does. Sets other than those of mathematical
    /// functions are taken to have every effect.
    #[inline]
    pub fn effects(&self, number: u32) -> Effects {
        static EFFECTS: OnceLock<Vec<(&'static str, Vec<Effects>)>> = OnceLock::new();
        let sets = EFFECTS.get_or_init(|| {
            ["GLSL.std.450", "OpenCL.std"]
                .into_iter()
                .map(of_set)
                .collect()
        });
        let set = sets.iter().find(|(name, _)| *name == self.name);
        match set {
            Some((_, rows)) => rows.get(number as usize).copied().unwrap_or(ANY),
            None => registry::effects_of_extended(self.name, number).unwrap_or(ANY),
        }
    }

    /// Whether the set describes the source program for debuggers, and nothing else.
    pub fn is_debug_info(&self) -> bool {
        self.name.contains("DebugInfo")
    }
}

/// The effects of a set's instructions by number; pure but for those that have a row.
fn of_set(name: &'static str) -> (&'static str, Vec<Effects>) {
    let mut rows = Vec::new();
    for row in ExtInstSet::by_name(name).map_or(&[][..], |set| set.instructions) {
        let at = row.number as usize;
        rows.resize(rows.len().max(at + 1), ANY);
        let listed = EXT_BY_NAME.iter().find(|r| r.0 == name && r.1 == row.name);
        rows[at] = listed.map_or(PURE, |r| r.2);
    }
    (name, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_an_instruction() {
        for (set, name, _) in EXT_BY_NAME {
            let set = ExtInstSet::by_name(set).expect("the set is in the grammar");
            assert!(set.instruction_by_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_is_not_known_has_every_effect() {
        assert_eq!(Op(60_000).effects(), Effects::ANY);
        assert_eq!(Op::ControlBarrier.effects(), Effects::ANY);
        assert!(Op::IAdd.effects().is_pure());
        assert!(!Op::Store.effects().is_removable());
        let glsl = ExtInstSet::by_name("GLSL.std.450").expect("the set is in the grammar");
        assert!(
            glsl.instruction_by_name("Sqrt")
                .is_some_and(|i| glsl.effects(i.number).is_pure())
        );
        assert_eq!(glsl.effects(60_000), Effects::ANY);
    }
}
