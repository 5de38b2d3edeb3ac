//! What each instruction is lowered by: one row an instruction.

use super::lanes::{self, LaneDomain, LaneFn};
use super::scope::ClifLowering;
use super::{
    ClifResult, arithmetic, atomic, bits, call, compare, composite, control, convert, cooperative,
    enqueue, exchange, ext, generic, image, integer, matrix, memory, pipe, pointer,
};
use crate::suspend;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::sync::OnceLock;

/// How an instruction is lowered.
#[derive(Clone, Copy)]
enum ClifLoweringRule {
    /// Component by component, on the bits.
    Bits(LaneFn),
    /// Component by component; halves are computed in `f32`.
    Real(LaneFn),
    /// By a function of its own.
    With(fn(&mut ClifLowering, InstRef) -> ClifResult),
    /// It changes nothing.
    Nothing,
}

use ClifLoweringRule::{Bits, Nothing, Real, With};

const ROWS: &[(Op, ClifLoweringRule)] = &[
    (Op::Nop, Nothing),
    (Op::Line, Nothing),
    (Op::NoLine, Nothing),
    (Op::LoopMerge, Nothing),
    (Op::SelectionMerge, Nothing),
    (Op::LoopControlINTEL, Nothing),
    (Op::LifetimeStart, Nothing),
    (Op::LifetimeStop, Nothing),
    (Op::AssumeTrueKHR, Nothing),
    (Op::Undef, With(composite::undef)),
    (Op::ExtInst, With(ext::lower)),
    // Memory.
    (Op::Variable, With(memory::variable)),
    (Op::UntypedVariableKHR, With(memory::variable)),
    (Op::Load, With(memory::load)),
    (Op::Store, With(memory::store)),
    (Op::CopyMemory, With(memory::copy_memory)),
    (Op::CopyMemorySized, With(memory::copy_memory_sized)),
    (Op::AccessChain, With(pointer::access_chain)),
    (Op::InBoundsAccessChain, With(pointer::access_chain)),
    (Op::PtrAccessChain, With(pointer::access_chain)),
    (Op::InBoundsPtrAccessChain, With(pointer::access_chain)),
    (Op::UntypedAccessChainKHR, With(pointer::access_chain)),
    (
        Op::UntypedInBoundsAccessChainKHR,
        With(pointer::access_chain),
    ),
    (Op::UntypedPtrAccessChainKHR, With(pointer::access_chain)),
    (
        Op::UntypedInBoundsPtrAccessChainKHR,
        With(pointer::access_chain),
    ),
    (Op::ArrayLength, With(pointer::array_length)),
    (Op::UntypedArrayLengthKHR, With(pointer::array_length)),
    (Op::PtrEqual, With(pointer::compare)),
    (Op::PtrNotEqual, With(pointer::compare)),
    (Op::PtrDiff, With(pointer::difference)),
    (Op::PtrCastToGeneric, With(pointer::same)),
    (Op::GenericCastToPtr, With(pointer::same)),
    (Op::GenericPtrMemSemantics, With(generic::semantics)),
    (Op::GenericCastToPtrExplicit, With(generic::cast_explicit)),
    (Op::CrossWorkgroupCastToPtrINTEL, With(pointer::same)),
    (Op::PtrCastToCrossWorkgroupINTEL, With(pointer::same)),
    (Op::ConvertPtrToU, With(pointer::convert)),
    (Op::ConvertUToPtr, With(pointer::convert)),
    (Op::CopyObject, With(pointer::same)),
    (Op::CopyLogical, With(composite::copy_logical)),
    (Op::ArithmeticFenceEXT, With(pointer::same)),
    (Op::ExpectKHR, With(pointer::same)),
    (Op::FreezeKHR, With(pointer::same)),
    // Functions and control flow.
    (Op::FunctionCall, With(call::call)),
    (Op::FunctionPointerCallINTEL, With(call::call_pointer)),
    (Op::Phi, With(control::phi)),
    (Op::Branch, With(control::branch)),
    (Op::BranchConditional, With(control::branch_conditional)),
    (Op::Switch, With(control::switch)),
    (Op::Return, With(control::return_)),
    (Op::ReturnValue, With(control::return_value)),
    (Op::Kill, With(control::return_)),
    (Op::TerminateInvocation, With(control::return_)),
    (Op::AbortKHR, With(control::return_)),
    (Op::Unreachable, With(control::unreachable)),
    // Composites.
    (Op::CompositeConstruct, With(composite::construct)),
    (
        Op::CompositeConstructReplicateEXT,
        With(composite::construct),
    ),
    (Op::CompositeExtract, With(composite::extract)),
    (Op::CompositeInsert, With(composite::insert)),
    (Op::VectorShuffle, With(composite::shuffle)),
    (Op::VectorExtractDynamic, With(composite::extract_dynamic)),
    (Op::VectorInsertDynamic, With(composite::insert_dynamic)),
    // Arithmetic.
    (Op::SNegate, Bits(integer::negate)),
    (Op::FNegate, Bits(arithmetic::negate)),
    (Op::IAdd, Bits(integer::add)),
    (Op::FAdd, Real(arithmetic::add)),
    (Op::ISub, Bits(integer::sub)),
    (Op::FSub, Real(arithmetic::sub)),
    (Op::IMul, Bits(integer::mul)),
    (Op::FMul, Real(arithmetic::mul)),
    (Op::UDiv, Bits(integer::udiv)),
    (Op::SDiv, Bits(integer::sdiv)),
    (Op::FDiv, Real(arithmetic::div)),
    (Op::UMod, Bits(integer::urem)),
    (Op::SRem, Bits(integer::srem)),
    (Op::SMod, Bits(integer::smod)),
    (Op::FRem, Real(arithmetic::rem)),
    (Op::FMod, Real(arithmetic::modulo)),
    (Op::FmaKHR, Real(arithmetic::fma)),
    (Op::Dot, With(arithmetic::dot)),
    (Op::VectorTimesScalar, With(arithmetic::times_scalar)),
    (Op::MatrixTimesScalar, With(arithmetic::times_scalar)),
    (Op::VectorTimesMatrix, With(matrix::product)),
    (Op::MatrixTimesVector, With(matrix::product)),
    (Op::MatrixTimesMatrix, With(matrix::product)),
    (Op::OuterProduct, With(matrix::product)),
    (Op::Transpose, With(matrix::transpose)),
    (Op::IAddCarry, With(integer::extended)),
    (Op::ISubBorrow, With(integer::extended)),
    (Op::UMulExtended, With(integer::extended)),
    (Op::SMulExtended, With(integer::extended)),
    (Op::SDot, With(integer::integer_dot)),
    (Op::UDot, With(integer::integer_dot)),
    (Op::SUDot, With(integer::integer_dot)),
    (Op::SDotAccSat, With(integer::integer_dot)),
    (Op::UDotAccSat, With(integer::integer_dot)),
    (Op::SUDotAccSat, With(integer::integer_dot)),
    // Bits.
    (Op::ShiftLeftLogical, Bits(bits::shl)),
    (Op::ShiftRightLogical, Bits(bits::lshr)),
    (Op::ShiftRightArithmetic, Bits(bits::ashr)),
    (Op::BitwiseAnd, Bits(bits::and)),
    (Op::BitwiseOr, Bits(bits::or)),
    (Op::BitwiseXor, Bits(bits::xor)),
    (Op::Not, Bits(bits::not)),
    (Op::BitFieldInsert, Bits(bits::insert)),
    (Op::BitFieldSExtract, Bits(bits::extract_signed)),
    (Op::BitFieldUExtract, Bits(bits::extract_unsigned)),
    (Op::BitReverse, Bits(bits::reverse)),
    (Op::BitCount, Bits(bits::count)),
    // Logic and comparisons.
    (Op::Any, With(compare::any_all)),
    (Op::All, With(compare::any_all)),
    (Op::Select, With(compare::select)),
    (Op::LogicalAnd, Bits(bits::and)),
    (Op::LogicalOr, Bits(bits::or)),
    (Op::LogicalNot, Bits(bits::logical_not)),
    (Op::LogicalEqual, Bits(bits::logical_equal)),
    (Op::LogicalNotEqual, Bits(bits::xor)),
    (Op::IEqual, Bits(compare::equal)),
    (Op::INotEqual, Bits(compare::not_equal)),
    (Op::UGreaterThan, Bits(compare::unsigned_greater)),
    (Op::SGreaterThan, Bits(compare::signed_greater)),
    (Op::UGreaterThanEqual, Bits(compare::unsigned_greater_equal)),
    (Op::SGreaterThanEqual, Bits(compare::signed_greater_equal)),
    (Op::ULessThan, Bits(compare::unsigned_less)),
    (Op::SLessThan, Bits(compare::signed_less)),
    (Op::ULessThanEqual, Bits(compare::unsigned_less_equal)),
    (Op::SLessThanEqual, Bits(compare::signed_less_equal)),
    (Op::FOrdEqual, Real(compare::ord_equal)),
    (Op::FUnordEqual, Real(compare::unord_equal)),
    (Op::FOrdNotEqual, Real(compare::ord_not_equal)),
    (Op::LessOrGreater, Real(compare::ord_not_equal)),
    (Op::FUnordNotEqual, Real(compare::unord_not_equal)),
    (Op::FOrdLessThan, Real(compare::ord_less)),
    (Op::FUnordLessThan, Real(compare::unord_less)),
    (Op::FOrdGreaterThan, Real(compare::ord_greater)),
    (Op::FUnordGreaterThan, Real(compare::unord_greater)),
    (Op::FOrdLessThanEqual, Real(compare::ord_less_equal)),
    (Op::FUnordLessThanEqual, Real(compare::unord_less_equal)),
    (Op::FOrdGreaterThanEqual, Real(compare::ord_greater_equal)),
    (
        Op::FUnordGreaterThanEqual,
        Real(compare::unord_greater_equal),
    ),
    (Op::Ordered, Real(compare::ordered)),
    (Op::Unordered, Real(compare::unordered)),
    (Op::IsNan, Real(compare::is_nan)),
    (Op::IsInf, Real(compare::is_infinite)),
    (Op::IsFinite, Real(compare::is_finite)),
    (Op::IsNormal, Bits(compare::is_normal)),
    (Op::SignBitSet, Bits(compare::sign_bit)),
    // Conversions.
    (Op::ConvertFToU, With(convert::convert)),
    (Op::ConvertFToS, With(convert::convert)),
    (Op::ConvertSToF, With(convert::convert)),
    (Op::ConvertUToF, With(convert::convert)),
    (Op::UConvert, With(convert::convert)),
    (Op::SConvert, With(convert::convert)),
    (Op::FConvert, With(convert::convert)),
    (Op::SatConvertSToU, With(convert::convert)),
    (Op::SatConvertUToS, With(convert::convert)),
    (Op::QuantizeToF16, With(convert::quantize)),
    (Op::Bitcast, With(convert::bitcast)),
    // Atomics.
    (Op::AtomicLoad, With(atomic::load)),
    (Op::AtomicStore, With(atomic::store)),
    (Op::AtomicExchange, With(atomic::modify)),
    (Op::AtomicCompareExchange, With(atomic::compare_exchange)),
    (
        Op::AtomicCompareExchangeWeak,
        With(atomic::compare_exchange),
    ),
    (Op::AtomicIIncrement, With(atomic::modify)),
    (Op::AtomicIDecrement, With(atomic::modify)),
    (Op::AtomicIAdd, With(atomic::modify)),
    (Op::AtomicISub, With(atomic::modify)),
    (Op::AtomicSMin, With(atomic::modify)),
    (Op::AtomicUMin, With(atomic::modify)),
    (Op::AtomicSMax, With(atomic::modify)),
    (Op::AtomicUMax, With(atomic::modify)),
    (Op::AtomicAnd, With(atomic::modify)),
    (Op::AtomicOr, With(atomic::modify)),
    (Op::AtomicXor, With(atomic::modify)),
    (Op::AtomicFlagTestAndSet, With(atomic::test_and_set)),
    (Op::AtomicFlagClear, With(atomic::clear)),
    (Op::AtomicFAddEXT, With(atomic::modify_float)),
    (Op::AtomicFMinEXT, With(atomic::modify_float)),
    (Op::AtomicFMaxEXT, With(atomic::modify_float)),
    (Op::MemoryBarrier, With(atomic::memory_barrier)),
    // Cooperative matrices; their product is a suspension point.
    (Op::CooperativeMatrixLoadKHR, With(cooperative::load)),
    (Op::CooperativeMatrixStoreKHR, With(cooperative::store)),
    (Op::CooperativeMatrixLengthKHR, With(cooperative::length)),
    // Images.
    (Op::SampledImage, With(image::combine)),
    (Op::Image, With(image::image_of)),
    (Op::ImageSampleExplicitLod, With(image::sample)),
    (Op::ImageSampleDrefExplicitLod, With(image::sample)),
    (Op::ImageSampleProjExplicitLod, With(image::sample)),
    (Op::ImageSampleProjDrefExplicitLod, With(image::sample)),
    (Op::ImageFetch, With(image::read)),
    (Op::ImageGather, With(image::gather)),
    (Op::ImageDrefGather, With(image::gather)),
    (Op::ImageRead, With(image::read)),
    (Op::ImageWrite, With(image::write)),
    (Op::ImageTexelPointer, With(image::texel_pointer)),
    (Op::ImageQuerySizeLod, With(image::query)),
    (Op::ImageQuerySize, With(image::query)),
    (Op::ImageQueryLevels, With(image::query)),
    (Op::ImageQueryFormat, With(image::query)),
    (Op::ImageQueryOrder, With(image::query)),
    // Pipes.
    (Op::IsValidReserveId, With(pipe::is_valid)),
    (Op::CreatePipeFromPipeStorage, With(pointer::same)),
    // Device-side enqueue.
    (Op::GetDefaultQueue, With(enqueue::default_queue)),
    (Op::BuildNDRange, With(enqueue::range)),
    (Op::EnqueueKernel, With(enqueue::kernel)),
    (Op::EnqueueMarker, With(enqueue::marker)),
    (Op::CreateUserEvent, With(enqueue::event)),
    (Op::SetUserEventStatus, With(enqueue::event)),
    (Op::IsValidEvent, With(enqueue::is_valid)),
    (Op::UntypedPrefetchKHR, Nothing),
    (Op::RetainEvent, Nothing),
    (Op::ReleaseEvent, Nothing),
    (Op::CaptureEventProfilingInfo, With(enqueue::profile)),
    (Op::GetKernelWorkGroupSize, With(enqueue::query)),
    (
        Op::GetKernelPreferredWorkGroupSizeMultiple,
        With(enqueue::query),
    ),
    (Op::GetKernelNDrangeSubGroupCount, With(enqueue::query)),
    (Op::GetKernelNDrangeMaxSubGroupSize, With(enqueue::query)),
    (Op::GetKernelMaxNumSubgroups, With(enqueue::query)),
    // Ballots that the invocation has already.
    (Op::GroupNonUniformInverseBallot, With(exchange::ballot)),
    (Op::GroupNonUniformBallotBitExtract, With(exchange::ballot)),
    (Op::GroupNonUniformBallotBitCount, With(exchange::ballot)),
    (Op::GroupNonUniformBallotFindLSB, With(exchange::ballot)),
    (Op::GroupNonUniformBallotFindMSB, With(exchange::ballot)),
];

/// The row of an opcode; suspension points have theirs in [`suspend`].
fn row(op: Op) -> Option<ClifLoweringRule> {
    static INDEX: OnceLock<Vec<Option<ClifLoweringRule>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let points = suspend::ops().map(|op| (op, With(exchange::suspend)));
        let pipes = pipe::ops().map(|op| (op, With(pipe::operate)));
        let rows = ROWS.iter().copied().chain(points).chain(pipes);
        let rows: Vec<(Op, ClifLoweringRule)> = rows.collect();
        let length = rows.iter().map(|row| usize::from(row.0.0) + 1).max();
        let mut index = vec![None; length.unwrap_or(0)];
        for (op, row) in rows {
            index[usize::from(op.0)] = Some(row);
        }
        index
    });
    index.get(usize::from(op.0)).copied().flatten()
}

/// Whether an instruction can be lowered at all.
pub(crate) fn is_supported(op: Op) -> bool {
    row(op).is_some()
}

/// Lowers one instruction.
pub(crate) fn lower(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    match row(inst.op()) {
        Some(Bits(f)) => lanes::lower(lower, inst, LaneDomain::Bits, f),
        Some(Real(f)) => lanes::lower(lower, inst, LaneDomain::Real, f),
        Some(With(f)) => f(lower, inst),
        Some(Nothing) => Ok(()),
        None => lower.unsupported("this instruction"),
    }
}
