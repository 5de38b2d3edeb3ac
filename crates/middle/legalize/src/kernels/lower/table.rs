//! The table of instructions and the functions that lower them.

use super::{
    ShaderLowering, arithmetic, atomics, barriers, bfloat16, bit_fields, bits, composites,
    control_flow, conversions, dot_products, extended, extended_arithmetic, group_operations,
    images, load_store, pointers, subgroup_operations,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Ways to lower an instruction.
#[derive(Clone, Copy)]
pub enum ShaderLoweringRow {
    /// It is dropped: it has no meaning for a shader.
    Nothing,
    /// It becomes instructions without a result.
    Effect(fn(&mut ShaderLowering<'_>, InstRef<'_>) -> Result<(), SourceDiagnostic>),
    /// It becomes a value.
    Value(fn(&mut ShaderLowering<'_>, InstRef<'_>) -> Result<Id, SourceDiagnostic>),
}

/// Finds the row of an opcode; `None` where it is not supported.
pub fn find_row(op: Op) -> Option<ShaderLoweringRow> {
    let found = TABLE.iter().find(|(ops, _)| ops.contains(&op));
    found.map(|(_, row)| *row)
}

#[rustfmt::skip]
const TABLE: &[(&[Op], ShaderLoweringRow)] = &[
    (&[Op::Load], ShaderLoweringRow::Value(load_store::lower_load)),
    (&[Op::Store], ShaderLoweringRow::Effect(load_store::lower_store)),
    (&[Op::AccessChain, Op::InBoundsAccessChain, Op::PtrAccessChain, Op::InBoundsPtrAccessChain], ShaderLoweringRow::Value(pointers::lower_access_chain)),
    (&[Op::Phi], ShaderLoweringRow::Value(control_flow::lower_phi)),
    (&[Op::IAdd, Op::ISub, Op::IMul, Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::UDiv, Op::SDiv, Op::UMod,
        Op::FRem, Op::FMod, Op::SNegate, Op::FNegate, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor, Op::Not,
        Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic,
        Op::LogicalAnd, Op::LogicalOr, Op::LogicalNot, Op::LogicalEqual, Op::LogicalNotEqual,
        Op::FOrdEqual, Op::FOrdNotEqual, Op::FOrdLessThan, Op::FOrdLessThanEqual, Op::FOrdGreaterThan, Op::FOrdGreaterThanEqual,
        Op::FUnordEqual, Op::FUnordNotEqual, Op::FUnordLessThan, Op::FUnordLessThanEqual, Op::FUnordGreaterThan,
        Op::FUnordGreaterThanEqual, Op::IsNan, Op::IsInf], ShaderLoweringRow::Value(arithmetic::lower_componentwise)),
    (&[Op::SRem, Op::SMod], ShaderLoweringRow::Value(arithmetic::lower_signed_remainder)),
    (&[Op::IEqual, Op::INotEqual, Op::ULessThan, Op::ULessThanEqual, Op::UGreaterThan, Op::UGreaterThanEqual,
        Op::SLessThan, Op::SLessThanEqual, Op::SGreaterThan, Op::SGreaterThanEqual], ShaderLoweringRow::Value(arithmetic::lower_integer_comparison)),
    (&[Op::IsFinite, Op::IsNormal, Op::SignBitSet, Op::LessOrGreater, Op::Ordered, Op::Unordered], ShaderLoweringRow::Value(arithmetic::lower_float_test)),
    (&[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended], ShaderLoweringRow::Value(extended_arithmetic::lower_extended_arithmetic)),
    (&[Op::VectorTimesScalar, Op::Dot], ShaderLoweringRow::Value(arithmetic::lower_vector_product)),
    (&[Op::SDot, Op::UDot, Op::SUDot, Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat], ShaderLoweringRow::Value(dot_products::lower_dot_product)),
    (&[Op::Any, Op::All], ShaderLoweringRow::Value(arithmetic::lower_any_all)),
    (&[Op::BitCount], ShaderLoweringRow::Value(bits::lower_bit_count)),
    (&[Op::BitFieldInsert], ShaderLoweringRow::Value(bit_fields::lower_bit_field_insert)),
    (&[Op::BitFieldSExtract, Op::BitFieldUExtract], ShaderLoweringRow::Value(bit_fields::lower_bit_field_extract)),
    (&[Op::BitReverse], ShaderLoweringRow::Value(bits::lower_bit_reverse)),
    (&[Op::Select], ShaderLoweringRow::Value(pointers::lower_select)),
    (&[Op::ExtInst], ShaderLoweringRow::Value(extended::lower_extended_instruction)),
    (&[Op::UConvert, Op::SConvert], ShaderLoweringRow::Value(conversions::lower_integer_conversion)),
    (&[Op::FConvert, Op::ConvertSToF, Op::ConvertUToF], ShaderLoweringRow::Value(conversions::lower_conversion)),
    (&[Op::ConvertFToS, Op::ConvertFToU], ShaderLoweringRow::Value(conversions::from_float)),
    (&[Op::ConvertBF16ToFINTEL], ShaderLoweringRow::Value(bfloat16::of_bits)),
    (&[Op::ConvertFToBF16INTEL], ShaderLoweringRow::Value(bfloat16::as_bits)),
    (&[Op::SatConvertSToU, Op::SatConvertUToS], ShaderLoweringRow::Value(conversions::lower_saturated_conversion)),
    (&[Op::Bitcast], ShaderLoweringRow::Value(pointers::lower_bitcast)),
    (&[Op::CompositeConstruct], ShaderLoweringRow::Value(composites::lower_composite_construct)),
    (&[Op::CompositeExtract], ShaderLoweringRow::Value(composites::lower_composite_extract)),
    (&[Op::CompositeInsert], ShaderLoweringRow::Value(composites::lower_composite_insert)),
    (&[Op::VectorShuffle], ShaderLoweringRow::Value(composites::lower_vector_shuffle)),
    (&[Op::VectorExtractDynamic], ShaderLoweringRow::Value(composites::extract_dynamic)),
    (&[Op::VectorInsertDynamic], ShaderLoweringRow::Value(composites::insert_dynamic)),
    (&[Op::Branch], ShaderLoweringRow::Effect(control_flow::lower_branch)),
    (&[Op::BranchConditional], ShaderLoweringRow::Effect(control_flow::lower_conditional_branch)),
    (&[Op::Switch], ShaderLoweringRow::Effect(control_flow::lower_switch)),
    (&[Op::FunctionCall], ShaderLoweringRow::Value(control_flow::lower_function_call)),
    (&[Op::Return, Op::Unreachable], ShaderLoweringRow::Effect(control_flow::lower_return)),
    (&[Op::ControlBarrier], ShaderLoweringRow::Effect(barriers::lower_control_barrier)),
    (&[Op::MemoryBarrier], ShaderLoweringRow::Effect(barriers::lower_memory_barrier)),
    (&[Op::AtomicIIncrement, Op::AtomicIDecrement, Op::AtomicIAdd, Op::AtomicISub, Op::AtomicSMin, Op::AtomicUMin,
        Op::AtomicSMax, Op::AtomicUMax, Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor, Op::AtomicExchange, Op::AtomicFAddEXT,
        Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        ShaderLoweringRow::Value(atomics::lower_atomic_update)),
    (&[Op::AtomicLoad], ShaderLoweringRow::Value(atomics::lower_atomic_load)),
    (&[Op::AtomicStore], ShaderLoweringRow::Effect(atomics::lower_atomic_store)),
    (&[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak], ShaderLoweringRow::Value(atomics::lower_compare_exchange)),
    (&[Op::AtomicFlagTestAndSet], ShaderLoweringRow::Value(atomics::test_and_set)),
    (&[Op::AtomicFlagClear], ShaderLoweringRow::Effect(atomics::lower_flag_clear)),
    (&[Op::CopyMemory, Op::CopyMemorySized], ShaderLoweringRow::Effect(load_store::lower_copy_memory)),
    (&[Op::CopyObject], ShaderLoweringRow::Value(pointers::lower_copy_object)),
    (&[Op::PtrCastToGeneric, Op::GenericCastToPtr], ShaderLoweringRow::Value(pointers::lower_pointer_cast)),
    (&[Op::GenericCastToPtrExplicit], ShaderLoweringRow::Value(pointers::lower_explicit_cast)),
    (&[Op::GenericPtrMemSemantics], ShaderLoweringRow::Value(pointers::lower_pointer_semantics)),
    (&[Op::ConvertPtrToU], ShaderLoweringRow::Value(pointers::to_number)),
    (&[Op::ConvertUToPtr], ShaderLoweringRow::Value(pointers::from_number)),
    (&[Op::PtrEqual, Op::PtrNotEqual], ShaderLoweringRow::Value(pointers::lower_pointer_comparison)),
    (&[Op::PtrDiff], ShaderLoweringRow::Value(pointers::lower_pointer_difference)),
    (&[Op::GroupIAdd, Op::GroupFAdd, Op::GroupFMin, Op::GroupUMin, Op::GroupSMin, Op::GroupFMax, Op::GroupUMax, Op::GroupSMax,
        Op::GroupIMulKHR, Op::GroupFMulKHR, Op::GroupBitwiseAndKHR, Op::GroupBitwiseOrKHR, Op::GroupBitwiseXorKHR],
        ShaderLoweringRow::Value(group_operations::lower_group_reduction)),
    (&[Op::GroupAll, Op::GroupAny], ShaderLoweringRow::Value(group_operations::lower_group_vote)),
    (&[Op::GroupBroadcast], ShaderLoweringRow::Value(group_operations::lower_group_broadcast)),
    (&[Op::GroupAsyncCopy], ShaderLoweringRow::Value(group_operations::lower_async_copy)),
    (&[Op::GroupWaitEvents], ShaderLoweringRow::Effect(group_operations::lower_wait_events)),
    (&[Op::GroupNonUniformElect, Op::GroupNonUniformAll, Op::GroupNonUniformAny,
        Op::GroupNonUniformBroadcast, Op::GroupNonUniformBroadcastFirst, Op::GroupNonUniformBallot,
        Op::GroupNonUniformInverseBallot, Op::GroupNonUniformBallotBitExtract, Op::GroupNonUniformBallotBitCount,
        Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB, Op::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown,
        Op::GroupNonUniformIAdd, Op::GroupNonUniformFAdd, Op::GroupNonUniformIMul, Op::GroupNonUniformFMul,
        Op::GroupNonUniformSMin, Op::GroupNonUniformUMin, Op::GroupNonUniformFMin, Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax, Op::GroupNonUniformFMax, Op::GroupNonUniformBitwiseAnd, Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor, Op::GroupNonUniformLogicalAnd, Op::GroupNonUniformLogicalOr, Op::GroupNonUniformLogicalXor],
        ShaderLoweringRow::Value(subgroup_operations::lower_subgroup_operation)),
    (&[Op::GroupNonUniformAllEqual], ShaderLoweringRow::Value(subgroup_operations::lower_equality_vote)),
    (&[Op::GroupNonUniformRotateKHR], ShaderLoweringRow::Value(subgroup_operations::lower_subgroup_rotation)),
    (&[Op::SubgroupShuffleINTEL, Op::SubgroupShuffleXorINTEL], ShaderLoweringRow::Value(subgroup_operations::lower_subgroup_shuffle)),
    (&[Op::SubgroupShuffleUpINTEL, Op::SubgroupShuffleDownINTEL], ShaderLoweringRow::Value(subgroup_operations::lower_subgroup_shift)),
    (&[Op::ImageSampleExplicitLod, Op::ImageSampleImplicitLod], ShaderLoweringRow::Value(images::lower_image_sample)),
    (&[Op::ImageRead, Op::ImageFetch], ShaderLoweringRow::Value(images::lower_image_read)),
    (&[Op::ImageWrite], ShaderLoweringRow::Effect(images::lower_image_write)),
    (&[Op::ImageQuerySizeLod, Op::ImageQuerySize], ShaderLoweringRow::Value(images::lower_image_size)),
    (&[Op::ImageQueryLevels], ShaderLoweringRow::Value(images::lower_image_levels)),
    (&[Op::ImageQueryOrder], ShaderLoweringRow::Value(images::lower_image_order)),
    (&[Op::ImageQueryFormat], ShaderLoweringRow::Value(images::data_type)),
    (&[Op::Variable, Op::LifetimeStart, Op::LifetimeStop, Op::Line, Op::NoLine, Op::Nop, Op::SelectionMerge, Op::LoopMerge,
        Op::AssumeTrueKHR, Op::Undef, Op::SampledImage], ShaderLoweringRow::Nothing),
    (&[Op::ExpectKHR], ShaderLoweringRow::Value(pointers::lower_copy_object)),
];
