//! `custom_call @mhlo.…`: operations that StableHLO does not have.
//!
//! XLA writes them so when it converts its own programs, as for PyTorch/XLA. Their attributes are the fields of
//! `mhlo.attributes`.

use super::elementwise;
use super::error::TranslateResult;
use super::scalar;
use super::sort;
use super::translator::StablehloTranslator;
use crate::dialect::MlirOpcode;
use crate::dialect::records::MhloCallAttributes;
use crate::mlir::MlirOp;

/// Functions of one element, with the operations of CHLO that they are.
const FUNCTIONS: &[(&str, MlirOpcode)] = &[
    ("acos", MlirOpcode::ChloAcos),
    ("acosh", MlirOpcode::ChloAcosh),
    ("asin", MlirOpcode::ChloAsin),
    ("asinh", MlirOpcode::ChloAsinh),
    ("atanh", MlirOpcode::ChloAtanh),
    ("cosh", MlirOpcode::ChloCosh),
    ("erf", MlirOpcode::ChloErf),
    ("sinh", MlirOpcode::ChloSinh),
    ("tan", MlirOpcode::ChloTan),
];

/// The target without its dialect, if it is one of these operations.
pub(super) fn find_operation(target: &str) -> Option<&str> {
    let name = target.strip_prefix("mhlo.")?;
    let is_function = FUNCTIONS.iter().any(|(function, _)| *function == name);
    (is_function || name == "topk").then_some(name)
}

/// Translates an operation that [`find_operation`] has found.
pub(super) fn translate_mhlo_call(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    name: &str,
) -> TranslateResult<()> {
    let row = FUNCTIONS.iter().find(|(function, _)| *function == name);
    let function = row.and_then(|(_, opcode)| scalar::find_elementwise_function(*opcode));
    match function {
        Some(function) => elementwise::translate_elementwise(t, op, function),
        None => translate_top_k(t, op),
    }
}

/// `mhlo.topk`: the greatest or least elements of the last dimension, and their indices.
fn translate_top_k(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes: MhloCallAttributes = t.read_attributes(op)?;
    let field = |name| t.module.find_field(attributes.attributes?, name);
    let count = field("k").and_then(|attr| t.module.as_integer(attr));
    let largest = field("largest").and_then(|attr| t.module.as_integer(attr));
    let count = count.ok_or_else(|| t.invalid_error(op, "has no k"))?;
    sort::take_extremes(t, op, count, largest != Some(0))
}
