//! Comparisons of scalars.

use super::calc::ScalarBuilder;
use super::value::ElementValue;
use crate::dialect::ComparisonDirection;
use crate::translate::element::TensorElement;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// `compare`: a direction such as `LT`, and whether floats are compared by their total order.
    pub fn compare_values(
        &mut self,
        direction: ComparisonDirection,
        total: bool,
        v: &[ElementValue],
    ) -> Option<ElementValue> {
        let [a, b] = v else { return None };
        let (a, b) = match direction {
            ComparisonDirection::Greater | ComparisonDirection::GreaterEqual => (b, a),
            _ => (a, b),
        };
        let result = match direction {
            ComparisonDirection::Equal => self.test_equality(total, a, b),
            ComparisonDirection::NotEqual => {
                let equal = self.test_equality(total, a, b);
                self.not(equal)
            }
            ComparisonDirection::Less | ComparisonDirection::Greater => {
                self.test_order(total, false, a, b)?
            }
            ComparisonDirection::LessEqual | ComparisonDirection::GreaterEqual => {
                self.test_order(total, true, a, b)?
            }
        };
        Some(ElementValue::from_truth(result))
    }

    fn test_equality(&mut self, total: bool, a: &ElementValue, b: &ElementValue) -> ScalarNode {
        let mut parts = a.nodes.iter().zip(&b.nodes).map(|(a, b)| (*a, *b));
        let mut all = None;
        for (x, y) in parts.by_ref() {
            let equal = match a.element.component_element() {
                TensorElement::Float(_) if total => {
                    let (x, y) = (
                        self.total_order_key(a.element, x),
                        self.total_order_key(b.element, y),
                    );
                    self.eq(x, y)
                }
                TensorElement::Float(float) => {
                    let (x, y) = (self.decode_float(float, x), self.decode_float(float, y));
                    self.eq(x, y)
                }
                _ => self.eq(x, y),
            };
            all = Some(match all {
                None => equal,
                Some(before) => self.and(before, equal),
            });
        }
        all.unwrap_or_else(|| self.truth_constant(true))
    }

    /// Whether a value is less than another, or less than or equal to it. Complex numbers are
    /// compared by their real parts first, then by their imaginary parts.
    fn test_order(
        &mut self,
        total: bool,
        or_equal: bool,
        a: &ElementValue,
        b: &ElementValue,
    ) -> Option<ScalarNode> {
        let (x, y) = (a.node(), b.node());
        let operator = |less, less_equal| if or_equal { less_equal } else { less };
        Some(match a.element {
            TensorElement::Bool => self.apply_binary(operator(ScalarOp::BLt, ScalarOp::BLe), x, y),
            TensorElement::Int { signed: false, .. } => {
                self.apply_binary(operator(ScalarOp::ULt, ScalarOp::ULe), x, y)
            }
            TensorElement::Int { .. } => {
                self.apply_binary(operator(ScalarOp::SLt, ScalarOp::SLe), x, y)
            }
            TensorElement::Float(_) if total => {
                let (x, y) = (
                    self.total_order_key(a.element, x),
                    self.total_order_key(b.element, y),
                );
                self.apply_binary(operator(ScalarOp::SLt, ScalarOp::SLe), x, y)
            }
            TensorElement::Float(float) => {
                let (x, y) = (self.decode_float(float, x), self.decode_float(float, y));
                self.apply_binary(operator(ScalarOp::FLt, ScalarOp::FLe), x, y)
            }
            TensorElement::Complex(_) => {
                let ([a, b], [c, d]) = (a.as_complex(), b.as_complex());
                let first = self.apply_binary(ScalarOp::FLt, a, c);
                let equal = self.eq(a, c);
                let second = self.apply_binary(operator(ScalarOp::FLt, ScalarOp::FLe), b, d);
                let second = self.and(equal, second);
                self.or(first, second)
            }
            TensorElement::Quantized { .. } => return None,
        })
    }

    /// An integer whose order is the total order of floats. Negative ones come first, in reverse
    /// order of their magnitude.
    fn total_order_key(&mut self, element: TensorElement, stored: ScalarNode) -> ScalarNode {
        let TensorElement::Float(float) = element.component_element() else {
            return stored;
        };
        let wide = self.decode_wide(float, stored);
        let ty = match self.node_type(wide) {
            ScalarType::F64 => ScalarType::I64,
            _ => ScalarType::I32,
        };
        let bits = self.cast_bits(ty, wide);
        let sign = self.apply_with_constant(ScalarOp::AShr, bits, u64::from(ty.width() - 1));
        let rest = self.apply_with_constant(ScalarOp::And, sign, (1 << (ty.width() - 1)) - 1);
        self.apply_binary(ScalarOp::Xor, bits, rest)
    }
}
