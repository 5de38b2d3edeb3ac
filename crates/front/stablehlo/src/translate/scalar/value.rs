//! Scalars of StableHLO's types as nodes, and how operations are spread over the types.

use super::calc::Calc;
use crate::translate::element::Element;
use smallvec::{SmallVec, smallvec};
use spirula_program::Op;
use spirula_tensor::ir::Node;

/// A scalar: its type, and a node as it is stored for each part.
#[derive(Clone, Debug)]
pub struct Val {
    /// Type.
    pub element: Element,
    /// Real and imaginary part, or the value.
    pub nodes: SmallVec<[Node; 2]>,
}

impl Val {
    /// A value of one part.
    pub fn new(element: Element, node: Node) -> Val {
        Val {
            element,
            nodes: smallvec![node],
        }
    }

    /// A truth value.
    pub fn truth(node: Node) -> Val {
        Val::new(Element::Bool, node)
    }

    /// The first part.
    pub fn node(&self) -> Node {
        self.nodes[0]
    }

    /// Real and imaginary part.
    pub fn complex(&self) -> Complex {
        [self.nodes[0], self.nodes[self.nodes.len() - 1]]
    }
}

/// Real and imaginary part.
pub type Complex = [Node; 2];

/// A function of a complex number.
pub type Complex1 = fn(&mut Calc<'_>, Complex) -> Complex;
/// A function of two complex numbers.
pub type Complex2 = fn(&mut Calc<'_>, Complex, Complex) -> Complex;

impl Calc<'_> {
    /// A real function: of an IEEE type directly, of others through `f32`.
    pub fn real(
        &mut self,
        v: &[Val],
        function: impl FnOnce(&mut Self, Node) -> Node,
    ) -> Option<Val> {
        let [a] = v else { return None };
        let Element::Float(float) = a.element else {
            return None;
        };
        let value = self.decode_wide(float, a.node());
        let result = function(self, value);
        Some(Val::new(a.element, self.encode(float, result)))
    }

    /// A function of a real or complex number.
    pub fn function(
        &mut self,
        v: &[Val],
        real: impl FnOnce(&mut Self, Node) -> Node,
        complex: Complex1,
    ) -> Option<Val> {
        match v {
            [a] if matches!(a.element, Element::Complex(_)) => {
                let nodes = complex(self, a.complex());
                Some(Val {
                    element: a.element,
                    nodes: nodes.into(),
                })
            }
            _ => self.real(v, real),
        }
    }

    /// A function of two real numbers.
    pub fn real2(
        &mut self,
        v: &[Val],
        function: impl FnOnce(&mut Self, Node, Node) -> Node,
    ) -> Option<Val> {
        let [a, b] = v else { return None };
        let Element::Float(float) = a.element else {
            return None;
        };
        let (x, y) = (
            self.decode_wide(float, a.node()),
            self.decode_wide(float, b.node()),
        );
        let result = function(self, x, y);
        Some(Val::new(a.element, self.encode(float, result)))
    }

    /// A function of two complex numbers.
    pub fn complex2(&mut self, v: &[Val], function: Complex2) -> Option<Val> {
        let [a, b] = v else { return None };
        let Element::Complex(_) = a.element else {
            return None;
        };
        let nodes = function(self, a.complex(), b.complex());
        Some(Val {
            element: a.element,
            nodes: nodes.into(),
        })
    }

    /// A function of integers, brought back into their range.
    pub fn integer(
        &mut self,
        v: &[Val],
        function: impl FnOnce(&mut Self, Element, &[Node]) -> Node,
    ) -> Option<Val> {
        let element = v.first()?.element;
        let Element::Int { .. } = element else {
            return None;
        };
        let nodes: SmallVec<[Node; 3]> = v.iter().map(Val::node).collect();
        let result = function(self, element, &nodes);
        Some(Val::new(element, self.wrap(element, result)))
    }

    /// One operator for each kind of number; floats of 16 bits that the IR has are not widened.
    pub fn basic(&mut self, v: &[Val], truth: Option<Op>, int: Op, float: Op) -> Option<Val> {
        let first = v.first()?;
        match first.element {
            Element::Bool => {
                let nodes: SmallVec<[Node; 3]> = v.iter().map(Val::node).collect();
                Some(Val::truth(self.body.op(truth?, &nodes)))
            }
            Element::Int { .. } => self.integer(v, |c, _, nodes| c.body.op(int, nodes)),
            Element::Float(format) => {
                let operands = v.iter().map(|a| self.decode(format, a.node()));
                let operands: SmallVec<[Node; 3]> = operands.collect();
                let result = self.body.op(float, &operands);
                Some(Val::new(first.element, self.encode(format, result)))
            }
            _ => None,
        }
    }
}
