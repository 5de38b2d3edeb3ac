//! The operations, one row each; those that compute element by element are rows of
//! [`super::scalar`].

use super::error::TranslateResult;
use super::translator::StablehloTranslator;
use super::{
    bits, constant, contraction, control, dims, elementwise, fourier, gather, linear, movement,
    normalization, quantized, ragged, random, reduction, scalar, scan, scatter, sort,
};
use crate::mlir::MlirOp;

type TranslateFn = fn(&mut StablehloTranslator<'_>, MlirOp) -> TranslateResult<()>;

/// Operations that take elements as they are stored. Names of StableHLO's operations stand without
/// their dialect.
static ON_ELEMENTS: &[(&str, TranslateFn)] = &[
    ("constant", constant::translate_constant),
    ("reshape", movement::translate_reshape),
    ("broadcast_in_dim", movement::broadcast_in_dim),
    ("broadcast", movement::translate_broadcast),
    ("transpose", movement::translate_transpose),
    ("reverse", movement::translate_reverse),
    ("iota", movement::translate_iota),
    ("slice", movement::translate_slice),
    ("pad", movement::translate_pad),
    ("dynamic_reshape", movement::dynamic_reshape),
    ("chlo.dynamic_reshape", movement::dynamic_reshape),
    (
        "dynamic_broadcast_in_dim",
        movement::dynamic_broadcast_in_dim,
    ),
    ("dynamic_iota", movement::dynamic_iota),
    ("real_dynamic_slice", movement::real_dynamic_slice),
    ("dynamic_pad", movement::dynamic_pad),
    ("get_dimension_size", dims::get_dimension_size),
    ("concatenate", movement::translate_concatenate),
    ("dynamic_slice", movement::dynamic_slice),
    ("dynamic_update_slice", movement::dynamic_update_slice),
    ("gather", gather::translate_gather),
    ("dynamic_gather", gather::dynamic_gather),
    ("scatter", scatter::translate_scatter),
    ("bitcast_convert", bits::bitcast_convert),
    ("rng_bit_generator", random::rng_bit_generator),
    ("sort", sort::translate_sort),
    ("chlo.scan", scan::translate_scan),
    ("chlo.constant", constant::translate_constant),
    ("all_reduce", scan::translate_trivial_collective),
    ("all_gather", scan::translate_trivial_collective),
    ("all_to_all", scan::translate_trivial_collective),
    ("reduce_scatter", scan::translate_trivial_collective),
    ("collective_broadcast", scan::translate_trivial_collective),
    ("collective_permute", scan::permuted_alone),
    ("sdy.sharding_constraint", control::forward_operands),
    (
        "builtin.unrealized_conversion_cast",
        control::forward_operands,
    ),
    ("func.call", control::translate_call),
    ("composite", control::translate_composite),
    ("custom_call", control::custom_call),
    ("while", control::translate_while),
    ("if", control::translate_if),
    ("case", control::translate_case),
    ("optimization_barrier", control::forward_operands),
    ("tuple", control::translate_tuple),
    ("get_tuple_element", control::get_tuple_element),
    ("after_all", control::translate_token),
    ("create_token", control::translate_token),
    ("replica_id", control::first_id),
    ("partition_id", control::first_id),
    ("check.expect_eq", control::translate_expect),
    ("check.expect_eq_const", control::translate_expect),
    ("check.expect_almost_eq", control::translate_expect),
    ("check.expect_almost_eq_const", control::translate_expect),
    ("check.expect_close", control::translate_expect),
    ("uniform_quantize", quantized::uniform_quantize),
    ("uniform_dequantize", quantized::uniform_dequantize),
];

/// Operations that compute with the numbers that elements stand for.
static ON_VALUES: &[(&str, TranslateFn)] = &[
    ("map", scan::translate_map),
    ("reduce", reduction::translate_reduce),
    ("reduce_window", reduction::reduce_window),
    ("select_and_scatter", reduction::select_and_scatter),
    ("dot_general", contraction::dot_general),
    ("dot", contraction::translate_dot),
    ("chlo.ragged_dot", ragged::ragged_dot),
    ("convolution", contraction::translate_convolution),
    ("dynamic_conv", contraction::dynamic_convolution),
    ("batch_norm_inference", normalization::translate_inference),
    ("batch_norm_training", normalization::translate_training),
    ("batch_norm_grad", normalization::translate_gradient),
    ("cholesky", linear::translate_cholesky),
    ("triangular_solve", linear::triangular_solve),
    ("fft", fourier::translate_fft),
    ("chlo.top_k", sort::top_k),
];

/// A name without its dialect, if that is StableHLO.
pub(super) fn plain_name(name: &str) -> &str {
    name.strip_prefix("stablehlo.").unwrap_or(name)
}

fn find_row(rows: &[(&str, TranslateFn)], name: &str) -> Option<TranslateFn> {
    let row = rows.iter().find(|(row, _)| *row == name);
    row.map(|(_, translate)| *translate)
}

/// Translates an operation.
pub(super) fn translate_operation(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let name = t.module.op_name(op);
    let plain = plain_name(name);
    if let Some(translate) = find_row(ON_ELEMENTS, plain) {
        return translate(t, op);
    }
    if let Some(translate) = find_row(ON_VALUES, plain) {
        return t.on_values(op, |t| translate(t, op));
    }
    match scalar::find_elementwise_function(plain) {
        Some((arity, function)) => t.on_values(op, |t| {
            elementwise::translate_elementwise(t, op, arity, function)
        }),
        None => Err(t.unsupported_error(op, format!("operation {name}"))),
    }
}
