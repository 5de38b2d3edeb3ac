//! Sums of products over reduced axes, with the type that they are accumulated in.

use super::element::{TensorElement, to_native_type};
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::StablehloTranslator;
use crate::dialect::PrecisionConfig;
use crate::mlir::{MlirFloat, MlirOp};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    ProductPrecision, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction,
};

/// The type that sums of products are accumulated in.
pub(super) fn choose_accumulator_type(
    l: TensorElement,
    r: TensorElement,
    result: TensorElement,
) -> TensorElement {
    let widest = |float: MlirFloat| match to_native_type(float) {
        Some(Ty::F64) => MlirFloat::F64,
        _ => MlirFloat::F32,
    };
    let all = [l, r, result];
    let has_f64 = all
        .iter()
        .any(|e| e.component_element() == TensorElement::Float(MlirFloat::F64));
    match result {
        TensorElement::Float(_) if has_f64 => TensorElement::Float(MlirFloat::F64),
        TensorElement::Float(float) => TensorElement::Float(widest(float)),
        TensorElement::Int { signed, .. } => {
            let width = |e: &TensorElement| match e.stored_element() {
                TensorElement::Int { width, .. } => width,
                _ => 0,
            };
            let width = all.iter().map(width).max().unwrap_or(32);
            TensorElement::Int { width, signed }
        }
        other => other,
    }
}

/// The precision of products of two elements whose operation has precisions. Only products of `f32` have parts.
pub(super) fn choose_precision(
    config: PrecisionConfig,
    elements: [TensorElement; 2],
) -> ProductPrecision {
    let is_single = elements == [TensorElement::Float(MlirFloat::F32); 2];
    if is_single && !config.is_highest {
        ProductPrecision::Reduced
    } else {
        ProductPrecision::Full
    }
}

impl StablehloTranslator<'_> {
    /// The sum of products over the reduced axes, as a result's type.
    pub fn sum_of_products(
        &self,
        op: MlirOp,
        s: &mut StructuredOp,
        l: &ElementValue,
        r: &ElementValue,
        guard: Option<ScalarNode>,
        result: TensorElement,
    ) -> TranslateResult<ElementValue> {
        let sum = choose_accumulator_type(l.element, r.element, result);
        let error = || self.unsupported_error(op, format!("product of {}", l.element));
        let mut c = ScalarBuilder::new(&mut s.body);
        let mut l = c.convert_value(l, sum).ok_or_else(error)?;
        let r = c.convert_value(r, sum).ok_or_else(error)?;
        let ty = sum.storage_type();
        let zero = c.integer_constant(ty, 0);
        // Padding is zeros of the first factor, as the specification defines it. So the reduced
        // value stays a product.
        if let Some(guard) = guard {
            for node in &mut l.nodes {
                *node = c.select(guard, *node, zero);
            }
        }
        let (products, add) = match sum {
            TensorElement::Bool => (vec![c.and(l.node(), r.node())], Scalar::LogOr),
            TensorElement::Complex(_) => {
                let ([a, b], [x, y]) = (l.as_complex(), r.as_complex());
                let (ax, by) = (c.mul(a, x), c.mul(b, y));
                let (ay, bx) = (c.mul(a, y), c.mul(b, x));
                (vec![c.sub(ax, by), c.add(ay, bx)], Scalar::FAdd)
            }
            TensorElement::Float(_) => (vec![c.mul(l.node(), r.node())], Scalar::FAdd),
            _ => (vec![c.mul(l.node(), r.node())], Scalar::Add),
        };
        let mut nodes = Vec::new();
        for product in products {
            nodes.extend(s.add_reduction(TensorReduction {
                initial: vec![zero],
                values: vec![product],
                combiner: ScalarCombiner::from_op(add, ty),
            }));
        }
        let val = ElementValue {
            element: sum,
            nodes: nodes.into(),
        };
        let mut c = ScalarBuilder::new(&mut s.body);
        c.convert_value(&val, result).ok_or_else(error)
    }
}
