//! Fourier transforms of real numbers: those of an even length are complex transforms of half the length.
//!
//! With the elements of even index as real parts and those of odd index as imaginary parts, a transform Z of length h has
//! those of both, E and O: E(k) is the mean of Z(k) and conj(Z(h − k)), and i O(k) is half of their difference. The transform of
//! all elements is E(k) + w^k O(k), where w is a root of unity of order 2 h.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::fourier::{make_unity_roots, transform_dimension};
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use super::unity_root::FourierDirection;
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp};

/// The first half of the transform along the last dimension of real numbers, whose length is even and not 0.
pub(super) fn transform_real(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    complex: TensorElement,
    length: u64,
) -> TranslateResult<TypedTensor> {
    let half = length / 2;
    let mut shape = t.tensor_shape(tensor);
    let last = shape.len() - 1;
    let fits = shape[last] == DimExtent::Static(length) && tensor.parts.len() == 1;
    t.ensure_holds(op, fits, "has an operand of another type")?;
    shape[last] = DimExtent::Static(half);
    let pairs = t.map_points(&shape, |t, s, point| {
        let parts = [0.0, 1.0].map(|part| {
            let mut c = ScalarBuilder::new(&mut s.body);
            let twice = c.add(point[last], point[last]);
            let mut position = point.to_vec();
            position[last] = c.add_constant(twice, part);
            t.read_element(s, tensor, &position).node()
        });
        Ok(ElementValue {
            element: complex,
            nodes: parts.into(),
        })
    })?;
    let whole = transform_dimension(t, op, &pairs, last, FourierDirection::Forward)?;
    let turns = 0..half + 1;
    let direction = FourierDirection::Forward;
    let roots = make_unity_roots(t, complex, &[half + 1], length, direction, turns);
    shape[last] = DimExtent::Static(half + 1);
    t.map_points(&shape, |t, s, point| {
        let [own, other] = read_mirrored(
            t,
            s,
            &whole,
            point,
            |c, index| {
                let end = c.body.intern_i64(half as i64);
                let is_end = c.eq(index, end);
                let zero = c.body.intern_i64(0);
                c.select(is_end, zero, index)
            },
            half,
        );
        let root = t.read_element(s, &roots, &point[last..]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let [sum, difference] = halve(&mut c, &own, &other);
        // The transform of the odd elements is the difference by i.
        let [re, im] = difference.as_complex();
        let odd = ElementValue {
            element: complex,
            nodes: [im, c.neg(re)].into(),
        };
        let turned = c.multiply_values(&root, &odd);
        Ok(c.add_values(&sum, &turned))
    })
}

/// The real numbers that have the first half of a transform. The imaginary parts of its first and last element do not count.
pub(super) fn transform_half(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    tensor: &TypedTensor,
    length: u64,
) -> TranslateResult<TypedTensor> {
    let half = length / 2;
    let element = tensor.element;
    let mut shape = t.tensor_shape(tensor);
    let last = shape.len() - 1;
    let fits = shape[last] == DimExtent::Static(half + 1);
    t.ensure_holds(op, fits, "has an operand of another length")?;
    shape[last] = DimExtent::Static(half);
    let direction = FourierDirection::Inverse;
    let roots = make_unity_roots(t, element, &[half], length, direction, 0..half);
    let pairs = t.map_points(&shape, |t, s, point| {
        let [mut own, mut other] = read_mirrored(t, s, tensor, point, |_, index| index, half);
        let root = t.read_element(s, &roots, &point[last..]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.body.intern_i64(0);
        let is_first = c.eq(point[last], zero);
        for value in [&mut own, &mut other] {
            let nothing = c.constant_like(value.nodes[1], 0.0);
            value.nodes[1] = c.select(is_first, nothing, value.nodes[1]);
        }
        let [sum, difference] = halve(&mut c, &own, &other);
        let [re, im] = c.multiply_values(&root, &difference).as_complex();
        let odd = ElementValue {
            element,
            nodes: [c.neg(im), re].into(),
        };
        Ok(c.add_values(&sum, &odd))
    })?;
    let whole = transform_dimension(t, op, &pairs, last, direction)?;
    shape[last] = DimExtent::Static(length);
    t.map_points(&shape, |t, s, point| {
        let mut c = ScalarBuilder::new(&mut s.body);
        let two = c.body.intern_i64(2);
        let zero = c.body.intern_i64(0);
        let rest = c.apply_binary(Scalar::SMod, point[last], two);
        let mut position = point.to_vec();
        position[last] = c.apply_binary(Scalar::SDiv, point[last], two);
        let is_even = c.eq(rest, zero);
        let [re, im] = t.read_element(s, &whole, &position).as_complex();
        let value = ScalarBuilder::new(&mut s.body).select(is_even, re, im);
        Ok(ElementValue::new(element.component_element(), value))
    })
}

/// The elements at an index and, conjugated, at its mirror image. A function maps both indices to those of the tensor.
fn read_mirrored(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    tensor: &TypedTensor,
    point: &[ScalarNode],
    place: impl Fn(&mut ScalarBuilder<'_>, ScalarNode) -> ScalarNode,
    half: u64,
) -> [ElementValue; 2] {
    let last = point.len() - 1;
    let mut c = ScalarBuilder::new(&mut s.body);
    let end = c.body.intern_i64(half as i64);
    let mirrored = c.sub(end, point[last]);
    let [own, other] = [point[last], mirrored].map(|index| {
        let mut position = point.to_vec();
        position[last] = place(&mut ScalarBuilder::new(&mut s.body), index);
        t.read_element(s, tensor, &position)
    });
    let other = ScalarBuilder::new(&mut s.body).conjugate_value(&other);
    [own, other]
}

/// Half of the sum and of the difference.
fn halve(c: &mut ScalarBuilder<'_>, a: &ElementValue, b: &ElementValue) -> [ElementValue; 2] {
    let half = c.constant_like(a.node(), 0.5);
    let (sum, difference) = (c.add_values(a, b), c.subtract_values(a, b));
    [c.scale_value(&sum, half), c.scale_value(&difference, half)]
}
