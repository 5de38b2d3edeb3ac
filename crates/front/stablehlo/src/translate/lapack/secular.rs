//! Roots of secular equations 1 + ρ Σ zᵢ² / (dᵢ − λ) = 0, and the vectors that belong to them.
//!
//! Each root is between two poles. It is found as its distance from the nearer one by interpolation with both poles (R.-C. Li,
//! "Solving secular equations stably and efficiently", 1993). Weights are then computed again, such that the roots are exact (M. Gu,
//! S. C. Eisenstat, "A stable and efficient algorithm for the rank-one modification of the symmetric eigenproblem", 1994).

use super::scalar_step::{
    choose_limits, compute_scalars, limit_index, make_integer, read_scalar, repeat_while,
};
use super::{finish_all, list_extents, reduce_real_sum};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape,
};

/// Most iterations for a root.
const TRIES: i64 = 80;

/// Equations with their poles in ascending order. Poles whose weight is zero are roots.
pub(super) struct SecularEquation {
    pub real: TensorElement,
    pub count: u64,
    pub size: u64,
    /// ρ of each equation.
    pub factor: TypedTensor,
    pub poles: TypedTensor,
    /// The square roots of the weights, with signs.
    pub weights: TypedTensor,
}

/// Roots of equations.
pub(super) struct SecularRoots {
    equation: SecularEquation,
    /// A pole, and the distance of the root of each index from it.
    origin: TypedTensor,
    distance: TypedTensor,
    pub values: TypedTensor,
}

/// A pole of an equation at a reduced index, as a root sees it.
struct SeenPole {
    index: ScalarNode,
    /// The square root of the weight.
    weight: ScalarNode,
    has_weight: ScalarNode,
    /// The distance of the pole from the root.
    distance: ScalarNode,
}

/// The poles between which a root is, or the last two before it.
struct RootRange {
    is_last: ScalarNode,
    is_inner: ScalarNode,
    indices: [ScalarNode; 2],
    poles: [ScalarNode; 2],
    /// Their weights.
    squares: [ScalarNode; 2],
    /// The distance between the poles.
    gap: ScalarNode,
    /// The length of the range of the root.
    width: ScalarNode,
}

impl RootRange {
    /// The distance from the nearer pole of the root of an equation in which the terms of other poles are constant.
    fn guess_distance(
        &self,
        c: &mut ScalarBuilder<'_>,
        rest: ScalarNode,
        is_low_nearer: ScalarNode,
    ) -> ScalarNode {
        let product = c.mul(rest, self.gap);
        let minus = c.neg(product);
        let signed = c.select(is_low_nearer, product, minus);
        let [low, high] = self.squares;
        let squares = c.add(low, high);
        let a = c.add(signed, squares);
        let square = c.select(is_low_nearer, low, high);
        let b = c.mul(square, self.gap);
        let minus = c.neg(b);
        let b = c.select(is_low_nearer, b, minus);
        solve_quadratic(c, [rest, a, b], self.is_last)
    }
}

impl SecularEquation {
    fn line_shape(&self) -> TensorShape {
        list_extents(&[self.count, self.size])
    }

    /// Finds all roots.
    pub fn solve(self, t: &mut StablehloTranslator<'_>) -> TranslateResult<SecularRoots> {
        let neighbours = self.find_neighbours(t);
        let plan = self.plan_roots(t, &neighbours);
        let [origin, first, second, split, last] =
            [0, 1, 2, 3, 4].map(|at: usize| plan[at].clone());
        let mut initial = vec![make_integer(t, 0)];
        initial.extend_from_slice(&plan[5..]);
        let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
            let axes = [self.count, self.size]
                .map(|size| s.add_axis(DimExtent::Static(size), AxisKind::Reduction));
            let is_open = t.read_element(s, &state[4], &axes).node();
            let no = ScalarBuilder::new(&mut s.body).truth_constant(false);
            let any = s.add_reduction(TensorReduction {
                initial: vec![no],
                values: vec![is_open],
                combiner: ScalarCombiner::from_op(Scalar::LogOr, Ty::Bool),
            })[0];
            let number = read_scalar(t, s, &state[0]).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let end = c.body.intern_i64(TRIES);
            let is_tried = c.lt(number, end);
            c.and(any, is_tried)
        };
        let found = repeat_while(t, &initial, goes_on, |t, state| {
            let mut next = compute_scalars(t, |t, s| {
                let number = read_scalar(t, s, &state[0]).node();
                let next = ScalarBuilder::new(&mut s.body).add_constant(number, 1.0);
                vec![ElementValue::new(TensorElement::I64, next)]
            });
            let places = [&origin, &first, &second, &split, &last];
            next.extend(self.improve_roots(t, places, &state[1..]));
            Ok(next)
        })?;
        let distance = found[1].clone();
        let values = t.map_points(&self.line_shape(), |t, s, point| {
            let [origin, distance] =
                [&origin, &distance].map(|tensor| t.read_element(s, tensor, point));
            Ok(ScalarBuilder::new(&mut s.body).add_values(&origin, &distance))
        })?;
        Ok(SecularRoots {
            equation: self,
            origin,
            distance,
            values,
        })
    }

    /// The indices of the poles with weights before and after each one; -1 and the number of poles where there is none.
    fn find_neighbours(&self, t: &mut StablehloTranslator<'_>) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
        let weight = t.read_element(&mut s, &self.weights, &[point[0], i]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(weight, 0.0);
        let is_root = c.eq(weight, zero);
        let has_weight = c.not(is_root);
        let [none, end] = [-1, self.size as i64].map(|value| c.body.intern_i64(value));
        let (is_before, is_after) = (c.lt(i, point[1]), c.lt(point[1], i));
        let (is_before, is_after) = (c.and(is_before, has_weight), c.and(is_after, has_weight));
        let (before, after) = (c.select(is_before, i, none), c.select(is_after, i, end));
        let found = [(before, none, Scalar::SMax), (after, end, Scalar::SMin)].map(
            |(value, initial, op)| {
                let found = s.add_reduction(TensorReduction {
                    initial: vec![initial],
                    values: vec![value],
                    combiner: ScalarCombiner::from_op(op, Ty::I64),
                });
                ElementValue::new(TensorElement::I64, found[0])
            },
        );
        finish_all(t, s, &found)
    }

    /// A pole at an index as a root at a distance from an origin sees it.
    fn see_pole(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        equation: ScalarNode,
        index: ScalarNode,
        [origin, distance]: [ScalarNode; 2],
    ) -> SeenPole {
        let [pole, weight] = [&self.poles, &self.weights]
            .map(|tensor| t.read_element(s, tensor, &[equation, index]).node());
        let mut c = ScalarBuilder::new(&mut s.body);
        let offset = c.sub(pole, origin);
        let zero = c.constant_like(weight, 0.0);
        let is_root = c.eq(weight, zero);
        SeenPole {
            index,
            weight,
            has_weight: c.not(is_root),
            distance: c.sub(offset, distance),
        }
    }

    /// The poles around the root of a point.
    fn read_root_range(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        neighbours: &[TypedTensor],
        point: &[ScalarNode],
    ) -> RootRange {
        let (pair, k) = (point[0], point[1]);
        let [before, after] =
            [0, 1].map(|at: usize| t.read_element(s, &neighbours[at], point).node());
        let factor = t.read_element(s, &self.factor, &[pair]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let end = c.body.intern_i64(self.size as i64);
        let none = c.body.intern_i64(0);
        let is_last = c.eq(after, end);
        let has_before = c.le(none, before);
        let is_inner = c.not(is_last);
        let has_first = c.or(is_inner, has_before);
        let (first, second) = (c.select(is_last, before, k), c.select(is_last, k, after));
        let places = [first, second].map(|index| limit_index(&mut c, index, self.size));
        let mut read = |tensor, index| t.read_element(s, tensor, &[pair, index]).node();
        let [low, high] = places.map(|place| read(&self.poles, place));
        let weights = places.map(|place| read(&self.weights, place));
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(low, 0.0);
        let [low_square, high_square] = weights.map(|weight| c.square(weight));
        // The last root is at most ρ after its pole, since the vector has norm 1.
        let width = c.mul_constant(factor, 1.0 + 64.0 * choose_limits(self.real, 1)[0]);
        let below = c.sub(high, width);
        let low = c.select(has_first, low, below);
        let gap = c.sub(high, low);
        RootRange {
            is_last,
            is_inner,
            indices: [first, second],
            poles: [low, high],
            squares: [c.select(has_first, low_square, zero), high_square],
            gap,
            width: c.select(is_last, width, gap),
        }
    }

    /// For each root the origin, both poles and the first index after the root, whether it is the last one; and then
    /// the first distance, its bounds, and whether there is a root to be found.
    fn plan_roots(
        &self,
        t: &mut StablehloTranslator<'_>,
        neighbours: &[TypedTensor],
    ) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
        let range = self.read_root_range(t, &mut s, neighbours, &point);
        let [low, high] = range.poles;
        let [own, own_pole, factor] = [
            t.read_element(&mut s, &self.weights, &point),
            t.read_element(&mut s, &self.poles, &point),
            t.read_element(&mut s, &self.factor, &point[..1]),
        ]
        .map(|value| value.node());
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(own, 0.0);
        let origin = c.select(range.is_last, high, low);
        let middle = c.mul_constant(range.width, 0.5);
        let seen = self.see_pole(t, &mut s, point[0], i, [origin, middle]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let [is_low, is_high] = range.indices.map(|index| c.eq(i, index));
        let is_pole = c.or(is_low, is_high);
        let is_other = c.not(is_pole);
        let counts = c.and(is_other, seen.has_weight);
        let square = c.square(seen.weight);
        let term = c.div(square, seen.distance);
        let term = c.select(counts, term, zero);
        let rest = reduce_real_sum(&mut s, term);
        let mut c = ScalarBuilder::new(&mut s.body);
        let inverse = c.reciprocal(factor);
        let rest = c.add(inverse, rest);
        let mut value = rest;
        for (pole, square) in range.poles.into_iter().zip(range.squares) {
            let offset = c.sub(pole, origin);
            let distance = c.sub(offset, middle);
            let term = c.div(square, distance);
            value = c.add(value, term);
        }
        let is_early = c.le(zero, value);
        // The origin is the nearer pole; that of the last root has none after it.
        let is_low_nearer = c.and(range.is_inner, is_early);
        let origin = c.select(is_low_nearer, low, high);
        let minus = c.neg(middle);
        let late_start = c.select(range.is_last, middle, minus);
        let late_end = c.select(range.is_last, range.width, zero);
        let bounds = [
            c.select(is_early, zero, late_start),
            c.select(is_early, middle, late_end),
        ];
        let distance = range.guess_distance(&mut c, rest, is_low_nearer);
        let distance = keep_inside(&mut c, distance, bounds);
        let is_root = c.eq(own, zero);
        let real = |node| ElementValue::new(self.real, node);
        let values = [
            real(c.select(is_root, own_pole, origin)),
            real(c.sub(low, origin)),
            real(c.sub(high, origin)),
            ElementValue::new(TensorElement::I64, range.indices[1]),
            ElementValue::from_truth(range.is_last),
            real(c.select(is_root, zero, distance)),
            real(bounds[0]),
            real(bounds[1]),
            ElementValue::from_truth(c.not(is_root)),
        ];
        finish_all(t, s, &values)
    }

    /// A bound of the rounding error of the function, by the sizes of its two sums and of the distance, its constant, and its slope.
    fn bound_error(
        &self,
        c: &mut ScalarBuilder<'_>,
        [low, high, distance]: [ScalarNode; 3],
        [inverse, slope]: [ScalarNode; 2],
    ) -> ScalarNode {
        let sizes = c.add(low, high);
        let sizes = c.mul_constant(sizes, 8.0);
        let sizes = c.add(sizes, inverse);
        let change = c.mul(distance, slope);
        let error = c.add(sizes, change);
        c.mul_constant(error, 0.5 * choose_limits(self.real, 1)[0])
    }

    /// A step for each root that is not yet found: its distance, bounds, and whether it is still to be found.
    fn improve_roots(
        &self,
        t: &mut StablehloTranslator<'_>,
        [origin, first, second, split, last]: [&TypedTensor; 5],
        state: &[TypedTensor],
    ) -> Vec<TypedTensor> {
        let mut s = StructuredOp::with_parallel_axes(&self.line_shape());
        let point = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
        let mut read = |tensor: &TypedTensor| t.read_element(&mut s, tensor, &point).node();
        let [distance, start, end, is_open] = [0, 1, 2, 3].map(|at: usize| read(&state[at]));
        let [origin, first, second, split, is_last] =
            [origin, first, second, split, last].map(read);
        let factor = t.read_element(&mut s, &self.factor, &point[..1]).node();
        let seen = self.see_pole(t, &mut s, point[0], i, [origin, distance]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(distance, 0.0);
        let is_low = c.lt(seen.index, split);
        let ratio = c.div(seen.weight, seen.distance);
        let ratio = c.select(seen.has_weight, ratio, zero);
        let (term, slope) = (c.mul(ratio, seen.weight), c.square(ratio));
        let terms = [
            c.select(is_low, term, zero),
            c.select(is_low, slope, zero),
            c.select(is_low, zero, term),
            c.select(is_low, zero, slope),
        ];
        let [low, low_slope, high, high_slope] = terms.map(|term| reduce_real_sum(&mut s, term));
        let mut c = ScalarBuilder::new(&mut s.body);
        let inverse = c.reciprocal(factor);
        let sum = c.add(low, high);
        let value = c.add(inverse, sum);
        let slope = c.add(low_slope, high_slope);
        let is_found = {
            let sizes = [low, high, distance].map(|node| c.abs(node));
            let error = self.bound_error(&mut c, sizes, [inverse, slope]);
            let size = c.abs(value);
            c.le(size, error)
        };
        let is_before = c.lt(value, zero);
        let start = c.select(is_before, distance, start);
        let end = c.select(is_before, end, distance);
        let [first, second] = [first, second].map(|offset| c.sub(offset, distance));
        let slopes = [low_slope, high_slope, slope];
        let step = step_to_root(&mut c, [first, second], slopes, value, is_last);
        let next = c.add(distance, step);
        let next = keep_inside(&mut c, next, [start, end]);
        let is_same = c.eq(next, distance);
        let is_found = c.or(is_found, is_same);
        let (is_start, is_end) = (c.eq(next, start), c.eq(next, end));
        let is_narrow = c.or(is_start, is_end);
        let is_stuck = c.or(is_found, is_narrow);
        let goes_on = c.not(is_stuck);
        let moves = c.and(is_open, goes_on);
        let real = |node| ElementValue::new(self.real, node);
        let values = [
            real(c.select(moves, next, distance)),
            real(start),
            real(end),
            ElementValue::from_truth(moves),
        ];
        finish_all(t, s, &values)
    }
}

/// The step from a place to the root, by the function that has the poles at these distances, its value, and its slopes below, above,
/// and in all.
fn step_to_root(
    c: &mut ScalarBuilder<'_>,
    [first, second]: [ScalarNode; 2],
    [low_slope, high_slope, slope]: [ScalarNode; 3],
    value: ScalarNode,
    is_last: ScalarNode,
) -> ScalarNode {
    let (a, b) = (c.mul(first, low_slope), c.mul(second, high_slope));
    let rest = c.sub(value, a);
    let rest = c.sub(rest, b);
    let both = c.mul(first, second);
    let (sum, change) = (c.add(first, second), c.mul(both, slope));
    let sum = c.mul(sum, value);
    let (a, b) = (c.sub(sum, change), c.mul(both, value));
    let step = solve_quadratic(c, [rest, a, b], is_last);
    // The function increases.
    let newton = c.div(value, slope);
    let newton = c.neg(newton);
    let product = c.mul(step, value);
    let zero = c.constant_like(value, 0.0);
    let is_right = c.le(product, zero);
    c.select(is_right, step, newton)
}

/// The root of c x² − a x + b that is between two poles, or that is after both.
fn solve_quadratic(
    c: &mut ScalarBuilder<'_>,
    [square, a, b]: [ScalarNode; 3],
    is_after: ScalarNode,
) -> ScalarNode {
    let zero = c.constant_like(a, 0.0);
    let product = c.mul(square, b);
    let product = c.mul_constant(product, 4.0);
    let own = c.square(a);
    let discriminant = c.sub(own, product);
    let discriminant = c.abs(discriminant);
    let root = c.apply_unary(Scalar::Sqrt, discriminant);
    let minus = c.neg(root);
    // Neither quotient subtracts what is almost equal.
    let root = c.select(is_after, root, minus);
    let sum = c.add(a, root);
    let other = c.sub(a, root);
    let (twice, double) = (c.add(square, square), c.add(b, b));
    let (upper, lower) = (c.div(sum, twice), c.div(double, other));
    let (is_positive, is_negative) = (c.le(zero, a), c.le(a, zero));
    let takes_upper = c.select(is_after, is_positive, is_negative);
    c.select(takes_upper, upper, lower)
}

/// A number, or the middle of a range if it is not inside.
fn keep_inside(
    c: &mut ScalarBuilder<'_>,
    number: ScalarNode,
    [start, end]: [ScalarNode; 2],
) -> ScalarNode {
    let sum = c.add(start, end);
    let middle = c.mul_constant(sum, 0.5);
    let (is_after, is_before) = (c.lt(start, number), c.lt(number, end));
    let is_inside = c.and(is_after, is_before);
    c.select(is_inside, number, middle)
}

impl SecularRoots {
    /// Vectors of length 1 as rows, in an order of the roots.
    pub fn build_vectors(
        &self,
        t: &mut StablehloTranslator<'_>,
        order: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let weights = self.compute_weights(t);
        let lines = self.equation.line_shape();
        let mut s = StructuredOp::with_parallel_axes(&lines);
        let point = s.axis_indices();
        let i = s.add_axis(DimExtent::Static(self.equation.size), AxisKind::Reduction);
        let element = self.read_component(t, &mut s, &weights, point[0], i, point[1]);
        let square = ScalarBuilder::new(&mut s.body).square(element);
        let total = reduce_real_sum(&mut s, square);
        let mut c = ScalarBuilder::new(&mut s.body);
        let norm = c.apply_unary(Scalar::Sqrt, total);
        let inverse = c.reciprocal(norm);
        let inverse = t.finish_structured(s, &ElementValue::new(self.equation.real, inverse));
        let whole = list_extents(&[self.equation.count, self.equation.size, self.equation.size]);
        t.map_points(&whole, |t, s, point| {
            let root = t.read_element(s, order, &point[..2]).node();
            let element = self.read_component(t, s, &weights, point[0], point[2], root);
            let own = [point[0], root];
            let inverse = t.read_element(s, &inverse, &own).node();
            let weight = t.read_element(s, &self.equation.weights, &own).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let value = c.mul(element, inverse);
            let [zero, one] = [0.0, 1.0].map(|value| c.constant_like(weight, value));
            let is_pole = c.eq(weight, zero);
            let is_own = c.eq(root, point[2]);
            let unit = c.select(is_own, one, zero);
            let value = c.select(is_pole, unit, value);
            Ok(ElementValue::new(self.equation.real, value))
        })
    }

    /// An element of a vector that has no length 1 yet: the weight over the distance of the pole from the root.
    fn read_component(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        weights: &TypedTensor,
        pair: ScalarNode,
        pole: ScalarNode,
        root: ScalarNode,
    ) -> ScalarNode {
        let place = [&self.origin, &self.distance]
            .map(|tensor| t.read_element(s, tensor, &[pair, root]).node());
        let seen = self.equation.see_pole(t, s, pair, pole, place);
        let weight = t.read_element(s, weights, &[pair, pole]).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.constant_like(weight, 0.0);
        let ratio = c.div(weight, seen.distance);
        c.select(seen.has_weight, ratio, zero)
    }

    /// The square roots of weights, up to a common factor, for which the computed roots are exact.
    fn compute_weights(&self, t: &mut StablehloTranslator<'_>) -> TypedTensor {
        let mut s = StructuredOp::with_parallel_axes(&self.equation.line_shape());
        let point = s.axis_indices();
        let (pair, own) = (point[0], point[1]);
        let j = s.add_axis(DimExtent::Static(self.equation.size), AxisKind::Reduction);
        let mut distances = [j, own].map(|root| {
            let place = [&self.origin, &self.distance]
                .map(|tensor| t.read_element(&mut s, tensor, &[pair, root]).node());
            self.equation.see_pole(t, &mut s, pair, own, place).distance
        });
        let [pole, other] = [own, j].map(|index| {
            t.read_element(&mut s, &self.equation.poles, &[pair, index])
                .node()
        });
        let [weight, other_weight] = [own, j].map(|index| {
            t.read_element(&mut s, &self.equation.weights, &[pair, index])
                .node()
        });
        let mut c = ScalarBuilder::new(&mut s.body);
        let [zero, one] = [0.0, 1.0].map(|value| c.constant_like(weight, value));
        let gap = c.sub(pole, other);
        let ratio = c.div(distances[0], gap);
        let (is_own, is_root) = (c.eq(own, j), c.eq(other_weight, zero));
        let is_left_out = c.or(is_own, is_root);
        let ratio = c.select(is_left_out, one, ratio);
        let product = s.add_reduction(TensorReduction {
            initial: vec![one],
            values: vec![ratio],
            combiner: ScalarCombiner::from_op(Scalar::FMul, s.body.ty(one)),
        })[0];
        let mut c = ScalarBuilder::new(&mut s.body);
        distances[0] = c.mul(product, distances[1]);
        let size = c.abs(distances[0]);
        let size = c.apply_unary(Scalar::Sqrt, size);
        let value = c.copy_sign(size, weight);
        let is_pole = c.eq(weight, zero);
        let value = c.select(is_pole, zero, value);
        t.finish_structured(s, &ElementValue::new(self.equation.real, value))
    }
}
