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
    ("constant", constant::constant),
    ("reshape", movement::reshape),
    ("broadcast_in_dim", movement::broadcast_in_dim),
    ("broadcast", movement::broadcast),
    ("transpose", movement::transpose),
    ("reverse", movement::reverse),
    ("iota", movement::iota),
    ("slice", movement::slice),
    ("pad", movement::pad),
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
    ("concatenate", movement::concatenate),
    ("dynamic_slice", movement::dynamic_slice),
    ("dynamic_update_slice", movement::dynamic_update_slice),
    ("gather", gather::gather),
    ("dynamic_gather", gather::dynamic_gather),
    ("scatter", scatter::scatter),
    ("bitcast_convert", bits::bitcast_convert),
    ("rng_bit_generator", random::rng_bit_generator),
    ("sort", sort::sort),
    ("chlo.scan", scan::scan),
    ("chlo.constant", constant::constant),
    ("all_reduce", scan::alone),
    ("all_gather", scan::alone),
    ("all_to_all", scan::alone),
    ("reduce_scatter", scan::alone),
    ("collective_broadcast", scan::alone),
    ("collective_permute", scan::permuted_alone),
    ("sdy.sharding_constraint", control::identity),
    ("builtin.unrealized_conversion_cast", control::identity),
    ("func.call", control::call),
    ("composite", control::composite),
    ("custom_call", control::custom_call),
    ("while", control::repeat),
    ("if", control::choose),
    ("case", control::case),
    ("optimization_barrier", control::identity),
    ("tuple", control::tuple),
    ("get_tuple_element", control::get_tuple_element),
    ("after_all", control::token),
    ("create_token", control::token),
    ("replica_id", control::first_id),
    ("partition_id", control::first_id),
    ("check.expect_eq", control::expect),
    ("check.expect_eq_const", control::expect),
    ("check.expect_almost_eq", control::expect),
    ("check.expect_almost_eq_const", control::expect),
    ("check.expect_close", control::expect),
    ("uniform_quantize", quantized::uniform_quantize),
    ("uniform_dequantize", quantized::uniform_dequantize),
];

/// Operations that compute with the numbers that elements stand for.
static ON_VALUES: &[(&str, TranslateFn)] = &[
    ("map", scan::map),
    ("reduce", reduction::reduce),
    ("reduce_window", reduction::reduce_window),
    ("select_and_scatter", reduction::select_and_scatter),
    ("dot_general", contraction::dot_general),
    ("dot", contraction::dot),
    ("chlo.ragged_dot", ragged::ragged_dot),
    ("convolution", contraction::convolution),
    ("dynamic_conv", contraction::dynamic_convolution),
    ("batch_norm_inference", normalization::inference),
    ("batch_norm_training", normalization::training),
    ("batch_norm_grad", normalization::gradient),
    ("cholesky", linear::cholesky),
    ("triangular_solve", linear::triangular_solve),
    ("fft", fourier::fft),
    ("chlo.top_k", sort::top_k),
];

/// A name without its dialect, if that is StableHLO.
pub(super) fn plain_name(name: &str) -> &str {
    name.strip_prefix("stablehlo.").unwrap_or(name)
}

fn row(rows: &[(&str, TranslateFn)], name: &str) -> Option<TranslateFn> {
    let row = rows.iter().find(|(row, _)| *row == name);
    row.map(|(_, translate)| *translate)
}

/// Translates an operation.
pub(super) fn operation(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let name = t.module.name(op);
    let plain = plain_name(name);
    if let Some(translate) = row(ON_ELEMENTS, plain) {
        return translate(t, op);
    }
    if let Some(translate) = row(ON_VALUES, plain) {
        return t.on_values(op, |t| translate(t, op));
    }
    match scalar::function(plain) {
        Some((arity, function)) => {
            t.on_values(op, |t| elementwise::elementwise(t, op, arity, function))
        }
        None => Err(t.unsupported(op, format!("operation {name}"))),
    }
}
