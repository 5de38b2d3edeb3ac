//! Which function lowers which instruction.

use super::{
    ShaderLowering, access, arithmetic, atomics, barriers, bits, brains, carries, composites,
    control, convert,
};
use super::{extended, fields, groups, images, pointers};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// How an instruction is lowered.
#[derive(Clone, Copy)]
pub enum ShaderLoweringRow {
    /// Not at all: it says nothing that a shader can say.
    Nothing,
    /// To other instructions.
    Effect(fn(&mut ShaderLowering<'_>, InstRef<'_>) -> Result<(), SourceDiagnostic>),
    /// To a value.
    Value(fn(&mut ShaderLowering<'_>, InstRef<'_>) -> Result<Id, SourceDiagnostic>),
}

/// The row of an opcode; none where it is not supported.
pub fn row(op: Op) -> Option<ShaderLoweringRow> {
    let found = TABLE.iter().find(|(ops, _)| ops.contains(&op));
    found.map(|(_, row)| *row)
}

#[rustfmt::skip]
const TABLE: &[(&[Op], ShaderLoweringRow)] = &[
    (&[Op::Load], ShaderLoweringRow::Value(access::load)),
    (&[Op::Store], ShaderLoweringRow::Effect(access::store)),
    (&[Op::AccessChain, Op::InBoundsAccessChain, Op::PtrAccessChain, Op::InBoundsPtrAccessChain], ShaderLoweringRow::Value(pointers::chain)),
    (&[Op::Phi], ShaderLoweringRow::Value(control::phi)),
    (&[Op::IAdd, Op::ISub, Op::IMul, Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::UDiv, Op::SDiv, Op::UMod,
        Op::FRem, Op::FMod, Op::SNegate, Op::FNegate, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor, Op::Not,
        Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic,
        Op::LogicalAnd, Op::LogicalOr, Op::LogicalNot, Op::LogicalEqual, Op::LogicalNotEqual,
        Op::FOrdEqual, Op::FOrdNotEqual, Op::FOrdLessThan, Op::FOrdLessThanEqual, Op::FOrdGreaterThan, Op::FOrdGreaterThanEqual,
        Op::FUnordEqual, Op::FUnordNotEqual, Op::FUnordLessThan, Op::FUnordLessThanEqual, Op::FUnordGreaterThan,
        Op::FUnordGreaterThanEqual, Op::IsNan, Op::IsInf], ShaderLoweringRow::Value(arithmetic::same)),
    (&[Op::SRem, Op::SMod], ShaderLoweringRow::Value(arithmetic::remainder)),
    (&[Op::IEqual, Op::INotEqual, Op::ULessThan, Op::ULessThanEqual, Op::UGreaterThan, Op::UGreaterThanEqual,
        Op::SLessThan, Op::SLessThanEqual, Op::SGreaterThan, Op::SGreaterThanEqual], ShaderLoweringRow::Value(arithmetic::compare)),
    (&[Op::IsFinite, Op::IsNormal, Op::SignBitSet, Op::LessOrGreater, Op::Ordered, Op::Unordered], ShaderLoweringRow::Value(arithmetic::class)),
    (&[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended], ShaderLoweringRow::Value(carries::pair)),
    (&[Op::VectorTimesScalar, Op::Dot], ShaderLoweringRow::Value(arithmetic::vector)),
    (&[Op::Any, Op::All], ShaderLoweringRow::Value(arithmetic::reduce)),
    (&[Op::BitCount], ShaderLoweringRow::Value(bits::count)),
    (&[Op::BitFieldInsert], ShaderLoweringRow::Value(fields::insert)),
    (&[Op::BitFieldSExtract, Op::BitFieldUExtract], ShaderLoweringRow::Value(fields::extract)),
    (&[Op::BitReverse], ShaderLoweringRow::Value(bits::reverse)),
    (&[Op::Select], ShaderLoweringRow::Value(pointers::select)),
    (&[Op::ExtInst], ShaderLoweringRow::Value(extended::call)),
    (&[Op::UConvert, Op::SConvert], ShaderLoweringRow::Value(convert::integers)),
    (&[Op::FConvert, Op::ConvertSToF, Op::ConvertUToF], ShaderLoweringRow::Value(convert::plain)),
    (&[Op::ConvertFToS, Op::ConvertFToU], ShaderLoweringRow::Value(convert::from_float)),
    (&[Op::ConvertBF16ToFINTEL], ShaderLoweringRow::Value(brains::of_bits)),
    (&[Op::ConvertFToBF16INTEL], ShaderLoweringRow::Value(brains::as_bits)),
    (&[Op::SatConvertSToU, Op::SatConvertUToS], ShaderLoweringRow::Value(convert::between)),
    (&[Op::Bitcast], ShaderLoweringRow::Value(pointers::bitcast)),
    (&[Op::CompositeConstruct], ShaderLoweringRow::Value(composites::construct)),
    (&[Op::CompositeExtract], ShaderLoweringRow::Value(composites::extract)),
    (&[Op::CompositeInsert], ShaderLoweringRow::Value(composites::insert)),
    (&[Op::VectorShuffle], ShaderLoweringRow::Value(composites::shuffle)),
    (&[Op::VectorExtractDynamic], ShaderLoweringRow::Value(composites::extract_dynamic)),
    (&[Op::VectorInsertDynamic], ShaderLoweringRow::Value(composites::insert_dynamic)),
    (&[Op::Branch], ShaderLoweringRow::Effect(control::branch)),
    (&[Op::BranchConditional], ShaderLoweringRow::Effect(control::choice)),
    (&[Op::Switch], ShaderLoweringRow::Effect(control::switch)),
    (&[Op::FunctionCall], ShaderLoweringRow::Value(control::call)),
    (&[Op::Return, Op::Unreachable], ShaderLoweringRow::Effect(control::end)),
    (&[Op::ControlBarrier], ShaderLoweringRow::Effect(barriers::control)),
    (&[Op::MemoryBarrier], ShaderLoweringRow::Effect(barriers::memory)),
    (&[Op::AtomicIIncrement, Op::AtomicIDecrement, Op::AtomicIAdd, Op::AtomicISub, Op::AtomicSMin, Op::AtomicUMin,
        Op::AtomicSMax, Op::AtomicUMax, Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor, Op::AtomicExchange, Op::AtomicFAddEXT,
        Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        ShaderLoweringRow::Value(atomics::update)),
    (&[Op::AtomicLoad], ShaderLoweringRow::Value(atomics::load)),
    (&[Op::AtomicStore], ShaderLoweringRow::Effect(atomics::store)),
    (&[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak], ShaderLoweringRow::Value(atomics::exchange)),
    (&[Op::AtomicFlagTestAndSet], ShaderLoweringRow::Value(atomics::test_and_set)),
    (&[Op::AtomicFlagClear], ShaderLoweringRow::Effect(atomics::clear)),
    (&[Op::CopyMemory, Op::CopyMemorySized], ShaderLoweringRow::Effect(access::copy)),
    (&[Op::CopyObject], ShaderLoweringRow::Value(pointers::copy)),
    (&[Op::PtrCastToGeneric, Op::GenericCastToPtr], ShaderLoweringRow::Value(pointers::same)),
    (&[Op::GenericCastToPtrExplicit], ShaderLoweringRow::Value(pointers::explicit)),
    (&[Op::GenericPtrMemSemantics], ShaderLoweringRow::Value(pointers::semantics)),
    (&[Op::ConvertPtrToU], ShaderLoweringRow::Value(pointers::to_number)),
    (&[Op::ConvertUToPtr], ShaderLoweringRow::Value(pointers::from_number)),
    (&[Op::PtrEqual, Op::PtrNotEqual], ShaderLoweringRow::Value(pointers::compare)),
    (&[Op::PtrDiff], ShaderLoweringRow::Value(pointers::difference)),
    (&[Op::GroupIAdd, Op::GroupFAdd, Op::GroupFMin, Op::GroupUMin, Op::GroupSMin, Op::GroupFMax, Op::GroupUMax, Op::GroupSMax,
        Op::GroupIMulKHR, Op::GroupFMulKHR, Op::GroupBitwiseAndKHR, Op::GroupBitwiseOrKHR, Op::GroupBitwiseXorKHR],
        ShaderLoweringRow::Value(groups::reduce)),
    (&[Op::GroupAll, Op::GroupAny], ShaderLoweringRow::Value(groups::vote)),
    (&[Op::GroupBroadcast], ShaderLoweringRow::Value(groups::broadcast)),
    (&[Op::GroupAsyncCopy], ShaderLoweringRow::Value(groups::copy)),
    (&[Op::GroupWaitEvents], ShaderLoweringRow::Effect(groups::wait)),
    (&[Op::GroupNonUniformElect, Op::GroupNonUniformAll, Op::GroupNonUniformAny, Op::GroupNonUniformAllEqual,
        Op::GroupNonUniformBroadcast, Op::GroupNonUniformBroadcastFirst, Op::GroupNonUniformBallot,
        Op::GroupNonUniformInverseBallot, Op::GroupNonUniformBallotBitExtract, Op::GroupNonUniformBallotBitCount,
        Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB, Op::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown,
        Op::GroupNonUniformIAdd, Op::GroupNonUniformFAdd, Op::GroupNonUniformIMul, Op::GroupNonUniformFMul,
        Op::GroupNonUniformSMin, Op::GroupNonUniformUMin, Op::GroupNonUniformFMin, Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax, Op::GroupNonUniformFMax, Op::GroupNonUniformBitwiseAnd, Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor], ShaderLoweringRow::Value(groups::same)),
    (&[Op::SubgroupShuffleINTEL, Op::SubgroupShuffleXorINTEL], ShaderLoweringRow::Value(groups::shuffle)),
    (&[Op::SubgroupShuffleUpINTEL, Op::SubgroupShuffleDownINTEL], ShaderLoweringRow::Value(groups::shifted)),
    (&[Op::ImageSampleExplicitLod, Op::ImageSampleImplicitLod], ShaderLoweringRow::Value(images::sample)),
    (&[Op::ImageRead, Op::ImageFetch], ShaderLoweringRow::Value(images::read)),
    (&[Op::ImageWrite], ShaderLoweringRow::Effect(images::write)),
    (&[Op::ImageQuerySizeLod, Op::ImageQuerySize], ShaderLoweringRow::Value(images::size)),
    (&[Op::ImageQueryLevels], ShaderLoweringRow::Value(images::levels)),
    (&[Op::ImageQueryOrder], ShaderLoweringRow::Value(images::order)),
    (&[Op::ImageQueryFormat], ShaderLoweringRow::Value(images::data_type)),
    (&[Op::Variable, Op::LifetimeStart, Op::LifetimeStop, Op::Line, Op::NoLine, Op::Nop, Op::SelectionMerge, Op::LoopMerge,
        Op::AssumeTrueKHR, Op::Undef, Op::SampledImage], ShaderLoweringRow::Nothing),
    (&[Op::ExpectKHR], ShaderLoweringRow::Value(pointers::copy)),
];
