//! Comparisons.

use super::calc::ScalarBuilder;
use super::value::ElementValue;
use crate::translate::element::TensorElement;
use spirula_program::{ScalarOp, ScalarType};
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    /// `compare`: a direction such as `LT`, and whether floats are compared by their total order.
    pub fn compare(
        &mut self,
        direction: &str,
        total: bool,
        v: &[ElementValue],
    ) -> Option<ElementValue> {
        let [a, b] = v else { return None };
        let (a, b) = match direction {
            "GT" | "GE" => (b, a),
            _ => (a, b),
        };
        let result = match direction {
            "EQ" => self.equal(total, a, b),
            "NE" => {
                let equal = self.equal(total, a, b);
                self.not(equal)
            }
            "LT" | "GT" => self.ordered(total, false, a, b)?,
            "LE" | "GE" => self.ordered(total, true, a, b)?,
            _ => return None,
        };
        Some(ElementValue::truth(result))
    }

    fn equal(&mut self, total: bool, a: &ElementValue, b: &ElementValue) -> ScalarNode {
        let mut parts = a.nodes.iter().zip(&b.nodes).map(|(a, b)| (*a, *b));
        let mut all = None;
        for (x, y) in parts.by_ref() {
            let equal = match a.element.part() {
                TensorElement::Float(_) if total => {
                    let (x, y) = (self.rank(a.element, x), self.rank(b.element, y));
                    self.eq(x, y)
                }
                TensorElement::Float(float) => {
                    let (x, y) = (self.decode(float, x), self.decode(float, y));
                    self.eq(x, y)
                }
                _ => self.eq(x, y),
            };
            all = Some(match all {
                None => equal,
                Some(before) => self.and(before, equal),
            });
        }
        all.unwrap_or_else(|| self.truth(true))
    }

    fn ordered(
        &mut self,
        total: bool,
        or_equal: bool,
        a: &ElementValue,
        b: &ElementValue,
    ) -> Option<ScalarNode> {
        let (x, y) = (a.node(), b.node());
        Some(match a.element {
            TensorElement::Bool => self.op2(
                if or_equal {
                    ScalarOp::BLe
                } else {
                    ScalarOp::BLt
                },
                x,
                y,
            ),
            TensorElement::Int { signed: false, .. } => self.op2(
                if or_equal {
                    ScalarOp::ULe
                } else {
                    ScalarOp::ULt
                },
                x,
                y,
            ),
            TensorElement::Int { .. } => self.op2(
                if or_equal {
                    ScalarOp::SLe
                } else {
                    ScalarOp::SLt
                },
                x,
                y,
            ),
            TensorElement::Float(_) if total => {
                let (x, y) = (self.rank(a.element, x), self.rank(b.element, y));
                self.op2(
                    if or_equal {
                        ScalarOp::SLe
                    } else {
                        ScalarOp::SLt
                    },
                    x,
                    y,
                )
            }
            TensorElement::Float(float) => {
                let (x, y) = (self.decode(float, x), self.decode(float, y));
                self.op2(
                    if or_equal {
                        ScalarOp::FLe
                    } else {
                        ScalarOp::FLt
                    },
                    x,
                    y,
                )
            }
            // By real parts, then by imaginary parts.
            TensorElement::Complex(_) => {
                let ([a, b], [c, d]) = (a.complex(), b.complex());
                let first = self.op2(ScalarOp::FLt, a, c);
                let equal = self.eq(a, c);
                let second = self.op2(
                    if or_equal {
                        ScalarOp::FLe
                    } else {
                        ScalarOp::FLt
                    },
                    b,
                    d,
                );
                let second = self.and(equal, second);
                self.or(first, second)
            }
            TensorElement::Quantized { .. } => return None,
        })
    }

    /// An integer whose order is the total order of floats: those with a sign below, the larger
    /// the lower.
    fn rank(&mut self, element: TensorElement, stored: ScalarNode) -> ScalarNode {
        let TensorElement::Float(float) = element.part() else {
            return stored;
        };
        let wide = self.decode_wide(float, stored);
        let ty = match self.ty(wide) {
            ScalarType::F64 => ScalarType::I64,
            _ => ScalarType::I32,
        };
        let bits = self.cast_bits(ty, wide);
        let sign = self.with(ScalarOp::AShr, bits, u64::from(ty.width() - 1));
        let rest = self.with(ScalarOp::And, sign, (1 << (ty.width() - 1)) - 1);
        self.op2(ScalarOp::Xor, bits, rest)
    }
}
