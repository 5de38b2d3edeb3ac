//! Which function lowers which instruction.

use super::{
    Lower, access, arithmetic, atomics, barriers, bits, brains, carries, composites, control,
    convert,
};
use super::{extended, fields, groups, images, pointers};
use spirula_diagnostics::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// How an instruction is lowered.
#[derive(Clone, Copy)]
pub enum Row {
    /// Not at all: it says nothing that a shader can say.
    Nothing,
    /// To other instructions.
    Effect(fn(&mut Lower<'_>, InstRef<'_>) -> Result<(), Diagnostic>),
    /// To a value.
    Value(fn(&mut Lower<'_>, InstRef<'_>) -> Result<Id, Diagnostic>),
}

/// The row of an opcode; none where it is not supported.
pub fn row(op: Op) -> Option<Row> {
    let found = TABLE.iter().find(|(ops, _)| ops.contains(&op));
    found.map(|(_, row)| *row)
}

#[rustfmt::skip]
const TABLE: &[(&[Op], Row)] = &[
    (&[Op::Load], Row::Value(access::load)),
    (&[Op::Store], Row::Effect(access::store)),
    (&[Op::AccessChain, Op::InBoundsAccessChain, Op::PtrAccessChain, Op::InBoundsPtrAccessChain], Row::Value(pointers::chain)),
    (&[Op::Phi], Row::Value(control::phi)),
    (&[Op::IAdd, Op::ISub, Op::IMul, Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::UDiv, Op::SDiv, Op::UMod,
        Op::FRem, Op::FMod, Op::SNegate, Op::FNegate, Op::BitwiseAnd, Op::BitwiseOr, Op::BitwiseXor, Op::Not,
        Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::ShiftRightArithmetic,
        Op::LogicalAnd, Op::LogicalOr, Op::LogicalNot, Op::LogicalEqual, Op::LogicalNotEqual,
        Op::FOrdEqual, Op::FOrdNotEqual, Op::FOrdLessThan, Op::FOrdLessThanEqual, Op::FOrdGreaterThan, Op::FOrdGreaterThanEqual,
        Op::FUnordEqual, Op::FUnordNotEqual, Op::FUnordLessThan, Op::FUnordLessThanEqual, Op::FUnordGreaterThan,
        Op::FUnordGreaterThanEqual, Op::IsNan, Op::IsInf], Row::Value(arithmetic::same)),
    (&[Op::SRem, Op::SMod], Row::Value(arithmetic::remainder)),
    (&[Op::IEqual, Op::INotEqual, Op::ULessThan, Op::ULessThanEqual, Op::UGreaterThan, Op::UGreaterThanEqual,
        Op::SLessThan, Op::SLessThanEqual, Op::SGreaterThan, Op::SGreaterThanEqual], Row::Value(arithmetic::compare)),
    (&[Op::IsFinite, Op::IsNormal, Op::SignBitSet, Op::LessOrGreater, Op::Ordered, Op::Unordered], Row::Value(arithmetic::class)),
    (&[Op::IAddCarry, Op::ISubBorrow, Op::UMulExtended, Op::SMulExtended], Row::Value(carries::pair)),
    (&[Op::VectorTimesScalar, Op::Dot], Row::Value(arithmetic::vector)),
    (&[Op::Any, Op::All], Row::Value(arithmetic::reduce)),
    (&[Op::BitCount], Row::Value(bits::count)),
    (&[Op::BitFieldInsert], Row::Value(fields::insert)),
    (&[Op::BitFieldSExtract, Op::BitFieldUExtract], Row::Value(fields::extract)),
    (&[Op::BitReverse], Row::Value(bits::reverse)),
    (&[Op::Select], Row::Value(pointers::select)),
    (&[Op::ExtInst], Row::Value(extended::call)),
    (&[Op::UConvert, Op::SConvert], Row::Value(convert::integers)),
    (&[Op::FConvert, Op::ConvertSToF, Op::ConvertUToF], Row::Value(convert::plain)),
    (&[Op::ConvertFToS, Op::ConvertFToU], Row::Value(convert::from_float)),
    (&[Op::ConvertBF16ToFINTEL], Row::Value(brains::of_bits)),
    (&[Op::ConvertFToBF16INTEL], Row::Value(brains::as_bits)),
    (&[Op::SatConvertSToU, Op::SatConvertUToS], Row::Value(convert::between)),
    (&[Op::Bitcast], Row::Value(pointers::bitcast)),
    (&[Op::CompositeConstruct], Row::Value(composites::construct)),
    (&[Op::CompositeExtract], Row::Value(composites::extract)),
    (&[Op::CompositeInsert], Row::Value(composites::insert)),
    (&[Op::VectorShuffle], Row::Value(composites::shuffle)),
    (&[Op::VectorExtractDynamic], Row::Value(composites::extract_dynamic)),
    (&[Op::VectorInsertDynamic], Row::Value(composites::insert_dynamic)),
    (&[Op::Branch], Row::Effect(control::branch)),
    (&[Op::BranchConditional], Row::Effect(control::choice)),
    (&[Op::Switch], Row::Effect(control::switch)),
    (&[Op::FunctionCall], Row::Value(control::call)),
    (&[Op::Return, Op::Unreachable], Row::Effect(control::end)),
    (&[Op::ControlBarrier], Row::Effect(barriers::control)),
    (&[Op::MemoryBarrier], Row::Effect(barriers::memory)),
    (&[Op::AtomicIIncrement, Op::AtomicIDecrement, Op::AtomicIAdd, Op::AtomicISub, Op::AtomicSMin, Op::AtomicUMin,
        Op::AtomicSMax, Op::AtomicUMax, Op::AtomicAnd, Op::AtomicOr, Op::AtomicXor, Op::AtomicExchange, Op::AtomicFAddEXT,
        Op::AtomicFMinEXT, Op::AtomicFMaxEXT],
        Row::Value(atomics::update)),
    (&[Op::AtomicLoad], Row::Value(atomics::load)),
    (&[Op::AtomicStore], Row::Effect(atomics::store)),
    (&[Op::AtomicCompareExchange, Op::AtomicCompareExchangeWeak], Row::Value(atomics::exchange)),
    (&[Op::AtomicFlagTestAndSet], Row::Value(atomics::test_and_set)),
    (&[Op::AtomicFlagClear], Row::Effect(atomics::clear)),
    (&[Op::CopyMemory, Op::CopyMemorySized], Row::Effect(access::copy)),
    (&[Op::CopyObject], Row::Value(pointers::copy)),
    (&[Op::PtrCastToGeneric, Op::GenericCastToPtr], Row::Value(pointers::same)),
    (&[Op::GenericCastToPtrExplicit], Row::Value(pointers::explicit)),
    (&[Op::GenericPtrMemSemantics], Row::Value(pointers::semantics)),
    (&[Op::ConvertPtrToU], Row::Value(pointers::to_number)),
    (&[Op::ConvertUToPtr], Row::Value(pointers::from_number)),
    (&[Op::PtrEqual, Op::PtrNotEqual], Row::Value(pointers::compare)),
    (&[Op::PtrDiff], Row::Value(pointers::difference)),
    (&[Op::GroupIAdd, Op::GroupFAdd, Op::GroupFMin, Op::GroupUMin, Op::GroupSMin, Op::GroupFMax, Op::GroupUMax, Op::GroupSMax,
        Op::GroupIMulKHR, Op::GroupFMulKHR, Op::GroupBitwiseAndKHR, Op::GroupBitwiseOrKHR, Op::GroupBitwiseXorKHR],
        Row::Value(groups::reduce)),
    (&[Op::GroupAll, Op::GroupAny], Row::Value(groups::vote)),
    (&[Op::GroupBroadcast], Row::Value(groups::broadcast)),
    (&[Op::GroupAsyncCopy], Row::Value(groups::copy)),
    (&[Op::GroupWaitEvents], Row::Effect(groups::wait)),
    (&[Op::GroupNonUniformElect, Op::GroupNonUniformAll, Op::GroupNonUniformAny, Op::GroupNonUniformAllEqual,
        Op::GroupNonUniformBroadcast, Op::GroupNonUniformBroadcastFirst, Op::GroupNonUniformBallot,
        Op::GroupNonUniformInverseBallot, Op::GroupNonUniformBallotBitExtract, Op::GroupNonUniformBallotBitCount,
        Op::GroupNonUniformBallotFindLSB, Op::GroupNonUniformBallotFindMSB, Op::GroupNonUniformShuffle,
        Op::GroupNonUniformShuffleXor, Op::GroupNonUniformShuffleUp, Op::GroupNonUniformShuffleDown,
        Op::GroupNonUniformIAdd, Op::GroupNonUniformFAdd, Op::GroupNonUniformIMul, Op::GroupNonUniformFMul,
        Op::GroupNonUniformSMin, Op::GroupNonUniformUMin, Op::GroupNonUniformFMin, Op::GroupNonUniformSMax,
        Op::GroupNonUniformUMax, Op::GroupNonUniformFMax, Op::GroupNonUniformBitwiseAnd, Op::GroupNonUniformBitwiseOr,
        Op::GroupNonUniformBitwiseXor], Row::Value(groups::same)),
    (&[Op::SubgroupShuffleINTEL, Op::SubgroupShuffleXorINTEL], Row::Value(groups::shuffle)),
    (&[Op::SubgroupShuffleUpINTEL, Op::SubgroupShuffleDownINTEL], Row::Value(groups::shifted)),
    (&[Op::ImageSampleExplicitLod, Op::ImageSampleImplicitLod], Row::Value(images::sample)),
    (&[Op::ImageRead, Op::ImageFetch], Row::Value(images::read)),
    (&[Op::ImageWrite], Row::Effect(images::write)),
    (&[Op::ImageQuerySizeLod, Op::ImageQuerySize], Row::Value(images::size)),
    (&[Op::ImageQueryLevels], Row::Value(images::levels)),
    (&[Op::ImageQueryOrder], Row::Value(images::order)),
    (&[Op::ImageQueryFormat], Row::Value(images::data_type)),
    (&[Op::Variable, Op::LifetimeStart, Op::LifetimeStop, Op::Line, Op::NoLine, Op::Nop, Op::SelectionMerge, Op::LoopMerge,
        Op::AssumeTrueKHR, Op::Undef, Op::SampledImage], Row::Nothing),
    (&[Op::ExpectKHR], Row::Value(pointers::copy)),
];
