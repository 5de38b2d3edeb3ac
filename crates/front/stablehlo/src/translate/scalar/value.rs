//! Scalars of StableHLO's types as nodes, and the application of operations by type.

use super::calc::ScalarBuilder;
use crate::translate::element::TensorElement;
use smallvec::{SmallVec, smallvec};
use spirula_program::ScalarOp;
use spirula_tensor::ir::ScalarNode;

/// A scalar: its type, and a node as it is stored for each part.
#[derive(Clone, Debug)]
pub struct ElementValue {
    /// Type.
    pub element: TensorElement,
    /// Real and imaginary part, or the value.
    pub nodes: SmallVec<[ScalarNode; 2]>,
}

impl ElementValue {
    /// A value of one part.
    pub fn new(element: TensorElement, node: ScalarNode) -> ElementValue {
        ElementValue {
            element,
            nodes: smallvec![node],
        }
    }

    /// A Boolean value.
    pub fn from_truth(node: ScalarNode) -> ElementValue {
        ElementValue::new(TensorElement::Bool, node)
    }

    /// The first part.
    pub fn node(&self) -> ScalarNode {
        self.nodes[0]
    }

    /// Real and imaginary part.
    pub fn as_complex(&self) -> ComplexNodes {
        [self.nodes[0], self.nodes[self.nodes.len() - 1]]
    }
}

/// Real and imaginary part.
pub type ComplexNodes = [ScalarNode; 2];

/// A function of a complex number.
pub type UnaryComplexFn = fn(&mut ScalarBuilder<'_>, ComplexNodes) -> ComplexNodes;
/// A function of two complex numbers.
pub type BinaryComplexFn = fn(&mut ScalarBuilder<'_>, ComplexNodes, ComplexNodes) -> ComplexNodes;

impl ScalarBuilder<'_> {
    /// A real function: of an IEEE type directly, of others through `f32`.
    pub fn map_real(
        &mut self,
        v: &[ElementValue],
        function: impl FnOnce(&mut Self, ScalarNode) -> ScalarNode,
    ) -> Option<ElementValue> {
        let [a] = v else { return None };
        let TensorElement::Float(float) = a.element else {
            return None;
        };
        let value = self.decode_wide(float, a.node());
        let result = function(self, value);
        Some(ElementValue::new(
            a.element,
            self.encode_float(float, result),
        ))
    }

    /// A function of a real or complex number.
    pub fn map_real_or_complex(
        &mut self,
        v: &[ElementValue],
        real: impl FnOnce(&mut Self, ScalarNode) -> ScalarNode,
        complex: UnaryComplexFn,
    ) -> Option<ElementValue> {
        match v {
            [a] if matches!(a.element, TensorElement::Complex(_)) => {
                let nodes = complex(self, a.as_complex());
                Some(ElementValue {
                    element: a.element,
                    nodes: nodes.into(),
                })
            }
            _ => self.map_real(v, real),
        }
    }

    /// A function of two real numbers.
    pub fn map_real_pair(
        &mut self,
        v: &[ElementValue],
        function: impl FnOnce(&mut Self, ScalarNode, ScalarNode) -> ScalarNode,
    ) -> Option<ElementValue> {
        let [a, b] = v else { return None };
        let TensorElement::Float(float) = a.element else {
            return None;
        };
        let (x, y) = (
            self.decode_wide(float, a.node()),
            self.decode_wide(float, b.node()),
        );
        let result = function(self, x, y);
        Some(ElementValue::new(
            a.element,
            self.encode_float(float, result),
        ))
    }

    /// A function of two complex numbers.
    pub fn map_complex_pair(
        &mut self,
        v: &[ElementValue],
        function: BinaryComplexFn,
    ) -> Option<ElementValue> {
        let [a, b] = v else { return None };
        let TensorElement::Complex(_) = a.element else {
            return None;
        };
        let nodes = function(self, a.as_complex(), b.as_complex());
        Some(ElementValue {
            element: a.element,
            nodes: nodes.into(),
        })
    }

    /// A function of integers, whose result is wrapped to the range of their type.
    pub fn map_integers(
        &mut self,
        v: &[ElementValue],
        function: impl FnOnce(&mut Self, TensorElement, &[ScalarNode]) -> ScalarNode,
    ) -> Option<ElementValue> {
        let element = v.first()?.element;
        let TensorElement::Int { .. } = element else {
            return None;
        };
        let nodes: SmallVec<[ScalarNode; 3]> = v.iter().map(ElementValue::node).collect();
        let result = function(self, element, &nodes);
        Some(ElementValue::new(
            element,
            self.wrap_integer(element, result),
        ))
    }

    /// One operator for each kind of number; floats of 16 bits that the IR has are not widened.
    pub fn apply_operator(
        &mut self,
        v: &[ElementValue],
        truth: Option<ScalarOp>,
        int: ScalarOp,
        float: ScalarOp,
    ) -> Option<ElementValue> {
        let first = v.first()?;
        match first.element {
            TensorElement::Bool => {
                let nodes: SmallVec<[ScalarNode; 3]> = v.iter().map(ElementValue::node).collect();
                Some(ElementValue::from_truth(self.body.apply_op(truth?, &nodes)))
            }
            TensorElement::Int { .. } => {
                self.map_integers(v, |c, _, nodes| c.body.apply_op(int, nodes))
            }
            TensorElement::Float(format) => {
                let operands = v.iter().map(|a| self.decode_float(format, a.node()));
                let operands: SmallVec<[ScalarNode; 3]> = operands.collect();
                let result = self.body.apply_op(float, &operands);
                Some(ElementValue::new(
                    first.element,
                    self.encode_float(format, result),
                ))
            }
            _ => None,
        }
    }
}
