//! Arithmetic that is the same for real and complex values.

use super::calc::Calc;
use super::complex;
use super::value::Val;
use crate::translate::element::Element;
use spirula_tensor::ir::Node;

impl Calc<'_> {
    fn by_parts(
        &mut self,
        a: &Val,
        b: &Val,
        mut function: impl FnMut(&mut Self, Node, Node) -> Node,
    ) -> Val {
        let parts = a.nodes.iter().zip(&b.nodes);
        Val {
            element: a.element,
            nodes: parts.map(|(a, b)| function(self, *a, *b)).collect(),
        }
    }

    /// Sum.
    pub fn total(&mut self, a: &Val, b: &Val) -> Val {
        self.by_parts(a, b, Self::add)
    }

    /// Difference.
    pub fn difference(&mut self, a: &Val, b: &Val) -> Val {
        self.by_parts(a, b, Self::sub)
    }

    /// Product.
    pub fn product(&mut self, a: &Val, b: &Val) -> Val {
        match a.element {
            Element::Complex(_) => Val {
                element: a.element,
                nodes: complex::mul(self, a.complex(), b.complex()).into(),
            },
            _ => self.by_parts(a, b, Self::mul),
        }
    }

    /// Quotient.
    pub fn quotient(&mut self, a: &Val, b: &Val) -> Val {
        match a.element {
            Element::Complex(_) => Val {
                element: a.element,
                nodes: complex::div(self, a.complex(), b.complex()).into(),
            },
            _ => self.by_parts(a, b, Self::div),
        }
    }

    /// The conjugate; a real number itself.
    pub fn conjugate(&mut self, a: &Val) -> Val {
        let mut val = a.clone();
        if let [_, im] = &mut val.nodes[..] {
            *im = self.neg(*im);
        }
        val
    }

    /// One of two.
    pub fn choice(&mut self, condition: Node, a: &Val, b: &Val) -> Val {
        self.by_parts(a, b, |c, a, b| c.cond(condition, a, b))
    }

    /// A value times a real number.
    pub fn scaled(&mut self, a: &Val, by: Node) -> Val {
        Val {
            element: a.element,
            nodes: a.nodes.iter().map(|node| self.mul(*node, by)).collect(),
        }
    }

    /// A real number as a value of a type.
    pub fn of_real(&mut self, element: Element, real: Node) -> Val {
        let mut nodes = smallvec::smallvec![real];
        if element.parts() == 2 {
            nodes.push(self.like(real, 0.0));
        }
        Val { element, nodes }
    }

    /// A known number as a value of a type.
    pub fn known(&mut self, element: Element, value: f64) -> Val {
        let real = self.number(element.storage(), value);
        self.of_real(element, real)
    }

    /// The square of the absolute value.
    pub fn square_size(&mut self, a: &Val) -> Node {
        let squares: Vec<Node> = a.nodes.iter().map(|node| self.square(*node)).collect();
        match squares[..] {
            [re, im] => self.add(re, im),
            _ => squares[0],
        }
    }
}
