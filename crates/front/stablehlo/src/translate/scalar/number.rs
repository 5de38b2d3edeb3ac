//! Arithmetic that is the same for real and complex values.

use super::calc::ScalarBuilder;
use super::complex;
use super::value::ElementValue;
use crate::translate::element::TensorElement;
use spirula_program::ScalarOp;
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
    pub fn add_values(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        self.by_parts(a, b, Self::add)
    }

    /// Difference.
    pub fn subtract_values(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        self.by_parts(a, b, Self::sub)
    }

    /// Product.
    pub fn multiply_values(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        match a.element {
            TensorElement::Complex(_) => ElementValue {
                element: a.element,
                nodes: complex::mul(self, a.as_complex(), b.as_complex()).into(),
            },
            _ => self.by_parts(a, b, Self::mul),
        }
    }

    /// Quotient.
    pub fn divide_values(&mut self, a: &ElementValue, b: &ElementValue) -> ElementValue {
        match a.element {
            TensorElement::Complex(_) => ElementValue {
                element: a.element,
                nodes: complex::div(self, a.as_complex(), b.as_complex()).into(),
            },
            _ => self.by_parts(a, b, Self::div),
        }
    }

    /// Square root.
    pub fn sqrt_value(&mut self, a: &ElementValue) -> ElementValue {
        let nodes = match a.element {
            TensorElement::Complex(_) => complex::sqrt(self, a.as_complex()).into(),
            _ => smallvec::smallvec![self.apply_unary(ScalarOp::Sqrt, a.node())],
        };
        ElementValue {
            element: a.element,
            nodes,
        }
    }

    /// The conjugate; a real number is returned as it is.
    pub fn conjugate_value(&mut self, a: &ElementValue) -> ElementValue {
        let mut val = a.clone();
        if let [_, im] = &mut val.nodes[..] {
            *im = self.neg(*im);
        }
        val
    }

    /// One of two values, by a condition.
    pub fn select_value(
        &mut self,
        condition: ScalarNode,
        a: &ElementValue,
        b: &ElementValue,
    ) -> ElementValue {
        self.by_parts(a, b, |c, a, b| c.select(condition, a, b))
    }

    /// A value times a real number.
    pub fn scale_value(&mut self, a: &ElementValue, by: ScalarNode) -> ElementValue {
        ElementValue {
            element: a.element,
            nodes: a.nodes.iter().map(|node| self.mul(*node, by)).collect(),
        }
    }

    /// A real number as a value of a type.
    pub fn of_real(&mut self, element: TensorElement, real: ScalarNode) -> ElementValue {
        let mut nodes = smallvec::smallvec![real];
        if element.component_count() == 2 {
            nodes.push(self.constant_like(real, 0.0));
        }
        ElementValue { element, nodes }
    }

    /// A known number as a value of a type.
    pub fn make_constant_value(&mut self, element: TensorElement, value: f64) -> ElementValue {
        let real = self.make_constant(element.storage_type(), value);
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
