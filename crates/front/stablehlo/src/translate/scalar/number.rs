//! Arithmetic that is the same for real and complex values.

use super::calc::ScalarBuilder;
use super::complex;
use super::value::ElementValue;
use crate::translate::element::TensorElement;
use spirula_tensor::ir::ScalarNode;

impl ScalarBuilder<'_> {
    fn by_parts(
        &mut self,
        a: &ElementValue,
        b: &ElementValue,
        mut function: impl FnMut(&mut Self, ScalarNode, ScalarNode) -> ScalarNode,
    ) -> ElementValue {
        let parts = a.nodes.iter().zip(&b.nodes);
        ElementValue {
            element: a.element,
            nodes: parts.map(|(a, b)| function(self, *a, *b)).collect(),
        }
    }

    /// Sum.
    pub fn total(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        self.by_parts(a, b, Self::add)
    }

    /// Difference.
    pub fn difference(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        self.by_parts(a, b, Self::sub)
    }

    /// Product.
    pub fn product(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        match a.element {
            TensorElement::Complex(_) => ElementValue {
                element: a.element,
                nodes: complex::mul(self, a.complex(), b.complex()).into(),
            },
            _ => self.by_parts(a, b, Self::mul),
        }
    }

    /// Quotient.
    pub fn quotient(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        match a.element {
            TensorElement::Complex(_) => ElementValue {
                element: a.element,
                nodes: complex::div(self, a.complex(), b.complex()).into(),
            },
            _ => self.by_parts(a, b, Self::div),
        }
    }

    /// The conjugate; a real number itself.
    pub fn conjugate(&mut self, a: &ElementValue) -> ElementValue {
        let mut val = a.clone();
        if let [_, im] = &mut val.nodes[..] {
            *im = self.neg(*im);
        }
        val
    }

    /// One of two.
    pub fn choice(
        &mut self,
        condition: ScalarNode,
        a: &ElementValue,
        b: &ElementValue,
    ) -> ElementValue {
        self.by_parts(a, b, |c, a, b| c.cond(condition, a, b))
    }

    /// A value times a real number.
    pub fn scaled(&mut self, a: &ElementValue, by: ScalarNode) -> ElementValue {
        ElementValue {
            element: a.element,
            nodes: a.nodes.iter().map(|node| self.mul(*node, by)).collect(),
        }
    }

    /// A real number as a value of a type.
    pub fn of_real(&mut self, element: TensorElement, real: ScalarNode) -> ElementValue {
        let mut nodes = smallvec::smallvec![real];
        if element.parts() == 2 {
            nodes.push(self.like(real, 0.0));
        }
        ElementValue { element, nodes }
    }

    /// A known number as a value of a type.
    pub fn known(&mut self, element: TensorElement, value: f64) -> ElementValue {
        let real = self.number(element.storage(), value);
        self.of_real(element, real)
    }

    /// The square of the absolute value.
    pub fn square_size(&mut self, a: &ElementValue) -> ScalarNode {
        let squares: Vec<ScalarNode> = a.nodes.iter().map(|node| self.square(*node)).collect();
        match squares[..] {
            [re, im] => self.add(re, im),
            _ => squares[0],
        }
    }
}
