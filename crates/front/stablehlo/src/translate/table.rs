//! Translation table: one row for each operation. Those that compute element by element are rows of
//! [`super::scalar`].

use super::error::TranslateResult;
use super::translator::StablehloTranslator;
use super::{
    bitcast, constant, contraction, control, elementwise, expectation, fourier, gather, linear,
    manual, movement, normalization, quantized, ragged, random, reduction, scalar, scan, scatter,
    select_and_scatter, slice, sort, symbolic_dims, window,
};
use crate::dialect::{MlirOpcode, OpcodeTable};
use crate::mlir::MlirOp;

type TranslateFn = fn(&mut StablehloTranslator<'_>, MlirOp) -> TranslateResult<()>;

/// Operations that take elements as they are stored.
const ON_ELEMENTS: &[(MlirOpcode, TranslateFn)] = &[
    (MlirOpcode::Constant, constant::translate_constant),
    (MlirOpcode::Reshape, movement::translate_reshape),
    (MlirOpcode::BroadcastInDim, movement::broadcast_in_dim),
    (MlirOpcode::Broadcast, movement::translate_broadcast),
    (MlirOpcode::Transpose, movement::translate_transpose),
    (MlirOpcode::Reverse, movement::translate_reverse),
    (MlirOpcode::Iota, movement::translate_iota),
    (MlirOpcode::Slice, slice::translate_slice),
    (MlirOpcode::Pad, movement::translate_pad),
    (MlirOpcode::DynamicReshape, movement::dynamic_reshape),
    (MlirOpcode::ChloDynamicReshape, movement::dynamic_reshape),
    (
        MlirOpcode::DynamicBroadcastInDim,
        movement::dynamic_broadcast_in_dim,
    ),
    (MlirOpcode::DynamicIota, movement::dynamic_iota),
    (MlirOpcode::RealDynamicSlice, slice::real_dynamic_slice),
    (MlirOpcode::DynamicPad, movement::dynamic_pad),
    (
        MlirOpcode::GetDimensionSize,
        symbolic_dims::get_dimension_size,
    ),
    (MlirOpcode::Concatenate, movement::translate_concatenate),
    (MlirOpcode::DynamicSlice, slice::dynamic_slice),
    (MlirOpcode::DynamicUpdateSlice, slice::dynamic_update_slice),
    (MlirOpcode::Gather, gather::translate_gather),
    (MlirOpcode::DynamicGather, gather::dynamic_gather),
    (MlirOpcode::Scatter, scatter::translate_scatter),
    (MlirOpcode::BitcastConvert, bitcast::bitcast_convert),
    (MlirOpcode::RngBitGenerator, random::rng_bit_generator),
    (MlirOpcode::Sort, sort::translate_sort),
    (MlirOpcode::ChloScan, scan::translate_scan),
    (MlirOpcode::ChloConstant, constant::translate_constant),
    (MlirOpcode::AllReduce, scan::translate_trivial_collective),
    (MlirOpcode::AllGather, scan::translate_trivial_collective),
    (MlirOpcode::AllToAll, scan::translate_trivial_collective),
    (
        MlirOpcode::ReduceScatter,
        scan::translate_trivial_collective,
    ),
    (
        MlirOpcode::CollectiveBroadcast,
        scan::translate_trivial_collective,
    ),
    (MlirOpcode::CollectivePermute, scan::permuted_alone),
    (
        MlirOpcode::SdyManualComputation,
        manual::translate_manual_computation,
    ),
    (MlirOpcode::SdyShardingGroup, control::ignore_operands),
    (MlirOpcode::SdyShardingConstraint, control::forward_operands),
    (
        MlirOpcode::UnrealizedConversionCast,
        control::forward_operands,
    ),
    (MlirOpcode::FuncCall, control::translate_call),
    (MlirOpcode::Composite, control::translate_composite),
    (MlirOpcode::CustomCall, control::custom_call),
    (MlirOpcode::While, control::translate_while),
    (MlirOpcode::If, control::translate_if),
    (MlirOpcode::Case, control::translate_case),
    (MlirOpcode::OptimizationBarrier, control::forward_operands),
    (MlirOpcode::Tuple, control::translate_tuple),
    (MlirOpcode::GetTupleElement, control::get_tuple_element),
    (MlirOpcode::AfterAll, control::translate_token),
    (MlirOpcode::CreateToken, control::translate_token),
    (MlirOpcode::ReplicaId, control::first_id),
    (MlirOpcode::PartitionId, control::first_id),
    (MlirOpcode::CheckExpectEq, expectation::translate_expect),
    (
        MlirOpcode::CheckExpectEqConst,
        expectation::translate_expect,
    ),
    (
        MlirOpcode::CheckExpectAlmostEq,
        expectation::translate_expect,
    ),
    (
        MlirOpcode::CheckExpectAlmostEqConst,
        expectation::translate_expect,
    ),
    (MlirOpcode::CheckExpectClose, expectation::translate_expect),
    (MlirOpcode::UniformQuantize, quantized::uniform_quantize),
    (MlirOpcode::UniformDequantize, quantized::uniform_dequantize),
];

/// Operations that compute with the numbers that elements represent.
const ON_VALUES: &[(MlirOpcode, TranslateFn)] = &[
    (MlirOpcode::Map, scan::translate_map),
    (MlirOpcode::Reduce, reduction::translate_reduce),
    (MlirOpcode::ReduceWindow, window::reduce_window),
    (
        MlirOpcode::SelectAndScatter,
        select_and_scatter::select_and_scatter,
    ),
    (MlirOpcode::DotGeneral, contraction::dot_general),
    (MlirOpcode::Dot, contraction::translate_dot),
    (MlirOpcode::ChloRaggedDot, ragged::ragged_dot),
    (MlirOpcode::Convolution, contraction::translate_convolution),
    (MlirOpcode::DynamicConv, contraction::dynamic_convolution),
    (
        MlirOpcode::BatchNormInference,
        normalization::translate_inference,
    ),
    (
        MlirOpcode::BatchNormTraining,
        normalization::translate_training,
    ),
    (MlirOpcode::BatchNormGrad, normalization::translate_gradient),
    (MlirOpcode::Cholesky, linear::translate_cholesky),
    (MlirOpcode::TriangularSolve, linear::triangular_solve),
    (MlirOpcode::Fft, fourier::translate_fft),
    (MlirOpcode::ChloTopK, sort::top_k),
];

static ELEMENT_TRANSLATIONS: OpcodeTable<TranslateFn> = OpcodeTable::from_rows(ON_ELEMENTS);
static VALUE_TRANSLATIONS: OpcodeTable<TranslateFn> = OpcodeTable::from_rows(ON_VALUES);

/// Whether an operation has a translation.
pub(crate) fn has_translation(opcode: MlirOpcode) -> bool {
    ELEMENT_TRANSLATIONS.get(opcode).is_some()
        || VALUE_TRANSLATIONS.get(opcode).is_some()
        || scalar::find_elementwise_function(opcode).is_some()
}

/// Translates an operation.
pub(super) fn translate_operation(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let opcode = t.module.opcode(op);
    if let Some(translate) = opcode.and_then(|opcode| ELEMENT_TRANSLATIONS.get(opcode)) {
        return translate(t, op);
    }
    if let Some(translate) = opcode.and_then(|opcode| VALUE_TRANSLATIONS.get(opcode)) {
        return t.on_values(op, |t| translate(t, op));
    }
    match opcode.and_then(scalar::find_elementwise_function) {
        Some(function) => t.on_values(op, |t| elementwise::translate_elementwise(t, op, function)),
        None => {
            let name = t.module.op_name(op);
            Err(t.unsupported_error(op, format!("operation {name}")))
        }
    }
}
