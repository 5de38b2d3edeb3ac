//! The operations, one row each; those that compute element by element are rows of
//! [`super::scalar`].

use super::error::Result;
use super::translator::Translator;
use super::{
    bits, constant, contraction, control, elementwise, fourier, gather, linear, movement,
    normalization, reduction, scalar, scatter, sort,
};
use crate::mlir::Op;

type Translate = fn(&mut Translator<'_>, Op) -> Result<()>;

/// Names of StableHLO's operations stand without their dialect.
static ROWS: &[(&str, Translate)] = &[
    ("constant", constant::constant),
    ("reshape", movement::reshape),
    ("broadcast_in_dim", movement::broadcast_in_dim),
    ("broadcast", movement::broadcast),
    ("transpose", movement::transpose),
    ("reverse", movement::reverse),
    ("iota", movement::iota),
    ("slice", movement::slice),
    ("pad", movement::pad),
    ("concatenate", movement::concatenate),
    ("dynamic_slice", movement::dynamic_slice),
    ("dynamic_update_slice", movement::dynamic_update_slice),
    ("reduce", reduction::reduce),
    ("reduce_window", reduction::reduce_window),
    ("select_and_scatter", reduction::select_and_scatter),
    ("dot_general", contraction::dot_general),
    ("dot", contraction::dot),
    ("convolution", contraction::convolution),
    ("gather", gather::gather),
    ("dynamic_gather", gather::dynamic_gather),
    ("scatter", scatter::scatter),
    ("bitcast_convert", bits::bitcast_convert),
    ("batch_norm_inference", normalization::inference),
    ("batch_norm_training", normalization::training),
    ("batch_norm_grad", normalization::gradient),
    ("cholesky", linear::cholesky),
    ("triangular_solve", linear::triangular_solve),
    ("fft", fourier::fft),
    ("sort", sort::sort),
    ("chlo.top_k", sort::top_k),
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
];

/// A name without its dialect, if that is StableHLO.
pub(super) fn plain_name(name: &str) -> &str {
    name.strip_prefix("stablehlo.").unwrap_or(name)
}

/// Translates an operation.
pub(super) fn operation(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let name = t.module.name(op);
    let plain = plain_name(name);
    if let Some((_, translate)) = ROWS.iter().find(|(row, _)| *row == plain) {
        return translate(t, op);
    }
    match scalar::function(plain) {
        Some((arity, function)) => elementwise::elementwise(t, op, arity, function),
        None => Err(t.unsupported(op, format!("operation {name}"))),
    }
}
