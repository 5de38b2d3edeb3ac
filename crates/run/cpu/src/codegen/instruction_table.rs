//! Instruction table: the function that lowers each instruction, one row an instruction.

use super::lanes::{self, LaneDomain, LaneFn};
use super::lowering::ClifLowering;
use super::{
    ClifResult, arithmetic, atomic, bits, call, compare, composite, control, convert, cooperative,
    enqueue, exchange, ext, generic_pointer, image, integer, matrix, memory, pipe, pointer,
};
use crate::analysis::suspension;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;
use std::sync::OnceLock;

/// The rule by which an instruction is lowered.
#[derive(Clone, Copy)]
enum ClifLoweringRule {
    /// Component by component, on the bits.
    Bits(LaneFn),
    /// Component by component; halves are computed in `f32`.
    Real(LaneFn),
    /// By its own function.
    With(fn(&mut ClifLowering, InstRef) -> ClifResult),
    /// The instruction changes nothing.
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
    (Op::Undef, With(composite::lower_undef)),
    (Op::ExtInst, With(ext::lower_ext_inst)),
    // Memory.
    (Op::Variable, With(memory::lower_variable)),
    (Op::UntypedVariableKHR, With(memory::lower_variable)),
    (Op::Load, With(memory::lower_load)),
    (Op::Store, With(memory::lower_store)),
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
    (Op::PtrEqual, With(pointer::lower_pointer_compare)),
    (Op::PtrNotEqual, With(pointer::lower_pointer_compare)),
    (Op::PtrDiff, With(pointer::lower_pointer_difference)),
    (Op::PtrCastToGeneric, With(pointer::lower_pointer_copy)),
    (Op::GenericCastToPtr, With(pointer::lower_pointer_copy)),
    (
        Op::GenericPtrMemSemantics,
        With(generic_pointer::lower_memory_semantics),
    ),
    (
        Op::GenericCastToPtrExplicit,
        With(generic_pointer::cast_explicit),
    ),
    (
        Op::CrossWorkgroupCastToPtrINTEL,
        With(pointer::lower_pointer_copy),
    ),
    (
        Op::PtrCastToCrossWorkgroupINTEL,
        With(pointer::lower_pointer_copy),
    ),
    (Op::ConvertPtrToU, With(pointer::lower_pointer_conversion)),
    (Op::ConvertUToPtr, With(pointer::lower_pointer_conversion)),
    (Op::CopyObject, With(pointer::lower_pointer_copy)),
    (Op::CopyLogical, With(composite::copy_logical)),
    (Op::ArithmeticFenceEXT, With(pointer::lower_pointer_copy)),
    (Op::ExpectKHR, With(pointer::lower_pointer_copy)),
    (Op::FreezeKHR, With(pointer::lower_pointer_copy)),
    // Functions and control flow.
    (Op::FunctionCall, With(call::lower_call)),
    (Op::FunctionPointerCallINTEL, With(call::call_pointer)),
    (Op::Phi, With(control::lower_phi)),
    (Op::Branch, With(control::lower_branch)),
    (Op::BranchConditional, With(control::branch_conditional)),
    (Op::Switch, With(control::lower_switch)),
    (Op::Return, With(control::lower_return)),
    (Op::ReturnValue, With(control::return_value)),
    (Op::Kill, With(control::lower_return)),
    (Op::TerminateInvocation, With(control::lower_return)),
    (Op::AbortKHR, With(control::lower_return)),
    (Op::Unreachable, With(control::lower_unreachable)),
    // Composites.
    (
        Op::CompositeConstruct,
        With(composite::lower_composite_construct),
    ),
    (
        Op::CompositeConstructReplicateEXT,
        With(composite::lower_composite_construct),
    ),
    (
        Op::CompositeExtract,
        With(composite::lower_composite_extract),
    ),
    (Op::CompositeInsert, With(composite::lower_composite_insert)),
    (Op::VectorShuffle, With(composite::lower_vector_shuffle)),
    (Op::VectorExtractDynamic, With(composite::extract_dynamic)),
    (Op::VectorInsertDynamic, With(composite::insert_dynamic)),
    // Arithmetic.
    (Op::SNegate, Bits(integer::emit_ineg)),
    (Op::FNegate, Bits(arithmetic::emit_fneg)),
    (Op::IAdd, Bits(integer::emit_iadd)),
    (Op::FAdd, Real(arithmetic::emit_fadd)),
    (Op::ISub, Bits(integer::emit_isub)),
    (Op::FSub, Real(arithmetic::emit_fsub)),
    (Op::IMul, Bits(integer::emit_imul)),
    (Op::FMul, Real(arithmetic::emit_fmul)),
    (Op::UDiv, Bits(integer::emit_udiv)),
    (Op::SDiv, Bits(integer::emit_sdiv)),
    (Op::FDiv, Real(arithmetic::emit_fdiv)),
    (Op::UMod, Bits(integer::emit_urem)),
    (Op::SRem, Bits(integer::emit_srem)),
    (Op::SMod, Bits(integer::emit_smod)),
    (Op::FRem, Real(arithmetic::emit_frem)),
    (Op::FMod, Real(arithmetic::emit_fmod)),
    (Op::FmaKHR, Real(arithmetic::emit_fma)),
    (Op::Dot, With(arithmetic::lower_dot)),
    (
        Op::VectorTimesScalar,
        With(arithmetic::lower_scalar_product),
    ),
    (
        Op::MatrixTimesScalar,
        With(arithmetic::lower_scalar_product),
    ),
    (Op::VectorTimesMatrix, With(matrix::lower_matrix_product)),
    (Op::MatrixTimesVector, With(matrix::lower_matrix_product)),
    (Op::MatrixTimesMatrix, With(matrix::lower_matrix_product)),
    (Op::OuterProduct, With(matrix::lower_matrix_product)),
    (Op::Transpose, With(matrix::lower_transpose)),
    (Op::IAddCarry, With(integer::lower_extended_arithmetic)),
    (Op::ISubBorrow, With(integer::lower_extended_arithmetic)),
    (Op::UMulExtended, With(integer::lower_extended_arithmetic)),
    (Op::SMulExtended, With(integer::lower_extended_arithmetic)),
    (Op::SDot, With(integer::integer_dot)),
    (Op::UDot, With(integer::integer_dot)),
    (Op::SUDot, With(integer::integer_dot)),
    (Op::SDotAccSat, With(integer::integer_dot)),
    (Op::UDotAccSat, With(integer::integer_dot)),
    (Op::SUDotAccSat, With(integer::integer_dot)),
    // Bits.
    (Op::ShiftLeftLogical, Bits(bits::emit_shl)),
    (Op::ShiftRightLogical, Bits(bits::emit_lshr)),
    (Op::ShiftRightArithmetic, Bits(bits::emit_ashr)),
    (Op::BitwiseAnd, Bits(bits::emit_and)),
    (Op::BitwiseOr, Bits(bits::emit_or)),
    (Op::BitwiseXor, Bits(bits::emit_xor)),
    (Op::Not, Bits(bits::emit_not)),
    (Op::BitFieldInsert, Bits(bits::emit_bitfield_insert)),
    (Op::BitFieldSExtract, Bits(bits::extract_signed)),
    (Op::BitFieldUExtract, Bits(bits::extract_unsigned)),
    (Op::BitReverse, Bits(bits::emit_bit_reverse)),
    (Op::BitCount, Bits(bits::emit_bit_count)),
    // Logic and comparisons.
    (Op::Any, With(compare::lower_any_all)),
    (Op::All, With(compare::lower_any_all)),
    (Op::Select, With(compare::lower_select)),
    (Op::LogicalAnd, Bits(bits::emit_and)),
    (Op::LogicalOr, Bits(bits::emit_or)),
    (Op::LogicalNot, Bits(bits::logical_not)),
    (Op::LogicalEqual, Bits(bits::logical_equal)),
    (Op::LogicalNotEqual, Bits(bits::emit_xor)),
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
    (Op::ConvertFToU, With(convert::lower_conversion)),
    (Op::ConvertFToS, With(convert::lower_conversion)),
    (Op::ConvertSToF, With(convert::lower_conversion)),
    (Op::ConvertUToF, With(convert::lower_conversion)),
    (Op::UConvert, With(convert::lower_conversion)),
    (Op::SConvert, With(convert::lower_conversion)),
    (Op::FConvert, With(convert::lower_conversion)),
    (Op::SatConvertSToU, With(convert::lower_conversion)),
    (Op::SatConvertUToS, With(convert::lower_conversion)),
    (Op::QuantizeToF16, With(convert::lower_quantize_to_f16)),
    (Op::Bitcast, With(convert::lower_bitcast)),
    // Atomics.
    (Op::AtomicLoad, With(atomic::lower_atomic_load)),
    (Op::AtomicStore, With(atomic::lower_atomic_store)),
    (Op::AtomicExchange, With(atomic::lower_atomic_modify)),
    (Op::AtomicCompareExchange, With(atomic::compare_exchange)),
    (
        Op::AtomicCompareExchangeWeak,
        With(atomic::compare_exchange),
    ),
    (Op::AtomicIIncrement, With(atomic::lower_atomic_modify)),
    (Op::AtomicIDecrement, With(atomic::lower_atomic_modify)),
    (Op::AtomicIAdd, With(atomic::lower_atomic_modify)),
    (Op::AtomicISub, With(atomic::lower_atomic_modify)),
    (Op::AtomicSMin, With(atomic::lower_atomic_modify)),
    (Op::AtomicUMin, With(atomic::lower_atomic_modify)),
    (Op::AtomicSMax, With(atomic::lower_atomic_modify)),
    (Op::AtomicUMax, With(atomic::lower_atomic_modify)),
    (Op::AtomicAnd, With(atomic::lower_atomic_modify)),
    (Op::AtomicOr, With(atomic::lower_atomic_modify)),
    (Op::AtomicXor, With(atomic::lower_atomic_modify)),
    (Op::AtomicFlagTestAndSet, With(atomic::test_and_set)),
    (Op::AtomicFlagClear, With(atomic::lower_flag_clear)),
    (Op::AtomicFAddEXT, With(atomic::modify_float)),
    (Op::AtomicFMinEXT, With(atomic::modify_float)),
    (Op::AtomicFMaxEXT, With(atomic::modify_float)),
    (Op::MemoryBarrier, With(atomic::memory_barrier)),
    // Cooperative matrices; their product is a suspension point.
    (
        Op::CooperativeMatrixLoadKHR,
        With(cooperative::lower_cooperative_load),
    ),
    (
        Op::CooperativeMatrixStoreKHR,
        With(cooperative::lower_cooperative_store),
    ),
    (
        Op::CooperativeMatrixLengthKHR,
        With(cooperative::lower_cooperative_length),
    ),
    // Images.
    (Op::SampledImage, With(image::lower_sampled_image)),
    (Op::Image, With(image::lower_image)),
    (Op::ImageSampleExplicitLod, With(image::lower_image_sample)),
    (
        Op::ImageSampleDrefExplicitLod,
        With(image::lower_image_sample),
    ),
    (
        Op::ImageSampleProjExplicitLod,
        With(image::lower_image_sample),
    ),
    (
        Op::ImageSampleProjDrefExplicitLod,
        With(image::lower_image_sample),
    ),
    (Op::ImageFetch, With(image::lower_image_read)),
    (Op::ImageGather, With(image::lower_image_gather)),
    (Op::ImageDrefGather, With(image::lower_image_gather)),
    (Op::ImageRead, With(image::lower_image_read)),
    (Op::ImageWrite, With(image::lower_image_write)),
    (Op::ImageTexelPointer, With(image::lower_texel_pointer)),
    (Op::ImageQuerySizeLod, With(image::lower_image_query)),
    (Op::ImageQuerySize, With(image::lower_image_query)),
    (Op::ImageQueryLevels, With(image::lower_image_query)),
    (Op::ImageQueryFormat, With(image::lower_image_query)),
    (Op::ImageQueryOrder, With(image::lower_image_query)),
    // Pipes.
    (Op::IsValidReserveId, With(pipe::is_valid)),
    (
        Op::CreatePipeFromPipeStorage,
        With(pointer::lower_pointer_copy),
    ),
    // Device-side enqueue.
    (Op::GetDefaultQueue, With(enqueue::default_queue)),
    (Op::BuildNDRange, With(enqueue::lower_ndrange)),
    (Op::EnqueueKernel, With(enqueue::lower_enqueue_kernel)),
    (Op::EnqueueMarker, With(enqueue::lower_enqueue_marker)),
    (Op::CreateUserEvent, With(enqueue::lower_user_event)),
    (Op::SetUserEventStatus, With(enqueue::lower_user_event)),
    (Op::IsValidEvent, With(enqueue::is_valid)),
    (Op::UntypedPrefetchKHR, Nothing),
    (Op::RetainEvent, Nothing),
    (Op::ReleaseEvent, Nothing),
    (
        Op::CaptureEventProfilingInfo,
        With(enqueue::lower_event_profiling),
    ),
    (
        Op::GetKernelWorkGroupSize,
        With(enqueue::lower_kernel_query),
    ),
    (
        Op::GetKernelPreferredWorkGroupSizeMultiple,
        With(enqueue::lower_kernel_query),
    ),
    (
        Op::GetKernelNDrangeSubGroupCount,
        With(enqueue::lower_kernel_query),
    ),
    (
        Op::GetKernelNDrangeMaxSubGroupSize,
        With(enqueue::lower_kernel_query),
    ),
    (
        Op::GetKernelMaxNumSubgroups,
        With(enqueue::lower_kernel_query),
    ),
    // Ballots that the invocation has already.
    (
        Op::GroupNonUniformInverseBallot,
        With(exchange::lower_ballot_query),
    ),
    (
        Op::GroupNonUniformBallotBitExtract,
        With(exchange::lower_ballot_query),
    ),
    (
        Op::GroupNonUniformBallotBitCount,
        With(exchange::lower_ballot_query),
    ),
    (
        Op::GroupNonUniformBallotFindLSB,
        With(exchange::lower_ballot_query),
    ),
    (
        Op::GroupNonUniformBallotFindMSB,
        With(exchange::lower_ballot_query),
    ),
];

/// The row of an opcode; suspension points have theirs in [`lower_suspension`].
fn find_rule(op: Op) -> Option<ClifLoweringRule> {
    static INDEX: OnceLock<Vec<Option<ClifLoweringRule>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let points =
            suspension::list_suspension_ops().map(|op| (op, With(exchange::lower_suspension)));
        let pipes = pipe::list_pipe_ops().map(|op| (op, With(pipe::lower_pipe_operation)));
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
    find_rule(op).is_some()
}

/// Lowers one instruction.
pub(crate) fn lower_instruction(lower: &mut ClifLowering, inst: InstRef) -> ClifResult {
    match find_rule(inst.op()) {
        Some(Bits(f)) => lanes::lower_lanewise(lower, inst, LaneDomain::Bits, f),
        Some(Real(f)) => lanes::lower_lanewise(lower, inst, LaneDomain::Real, f),
        Some(With(f)) => f(lower, inst),
        Some(Nothing) => Ok(()),
        None => lower.fail_unsupported("this instruction"),
    }
}
