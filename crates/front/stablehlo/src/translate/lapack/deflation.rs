//! Deflation of secular equations: small weights are zero, and of two poles that are close a rotation leaves one with a weight
//! (J. J. Dongarra, D. C. Sorensen, "A fully parallel algorithm for the symmetric eigenvalue problem", 1987).
//!
//! One pass over the poles finds the rotations. They are few, and a loop applies them afterwards.

use super::scalar_step::{
    compute_scalars, limit_index, make_integer, read_scalar, repeat_while, replace_elements,
};
use super::schur::reduce_largest_index;
use super::secular::SecularEquation;
use super::{finish_all, list_extents, read_iteration_number};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{AxisKind, DimExtent, ScalarNode, StructuredOp, TensorValue};

/// Equations after deflation, and the rotations that led to them.
pub(super) struct DeflatedPairs {
    real: TensorElement,
    count: u64,
    size: u64,
    pub poles: TypedTensor,
    /// Zero at all poles that are eigenvalues.
    pub weights: TypedTensor,
    /// The number of rotations of each equation.
    rotations: TypedTensor,
    /// Both indices of each rotation.
    indices: TypedTensor,
    /// Cosine and sine of each rotation.
    factors: TypedTensor,
}

/// The results of a step for each equation.
struct DeflationStep {
    /// Poles, and weights, of the iteration's index and of the index before.
    changed: [[TypedTensor; 2]; 2],
    /// The index before, or -1 if it is unchanged.
    partner: TypedTensor,
    /// The last index with a weight.
    last: TypedTensor,
    rotations: TypedTensor,
    /// The number of the rotation, or -1.
    place: TypedTensor,
    /// Cosine and sine.
    factors: [TypedTensor; 2],
}

impl DeflatedPairs {
    /// Deflates equations with a tolerance for each.
    pub fn find(
        t: &mut StablehloTranslator<'_>,
        equation: &SecularEquation,
        tolerance: &TypedTensor,
    ) -> TranslateResult<DeflatedPairs> {
        let (count, size, real) = (equation.count, equation.size, equation.real);
        let outer = list_extents(&[count]);
        let pairs = list_extents(&[count, size, 2]);
        let none = t.map_points(&outer, |_, s, _| {
            Ok(ElementValue::new(TensorElement::I64, s.body.intern_i64(-1)))
        })?;
        let initial = [
            equation.poles.clone(),
            equation.weights.clone(),
            none,
            t.emit_zeros(TensorElement::I64, &outer),
            t.emit_zeros(TensorElement::I64, &pairs),
            t.emit_zeros(real, &pairs),
        ];
        let iterations = DimExtent::Static(size);
        let found = t.iterate_tensors(&initial, iterations, |t, state, round| {
            let step = find_step(t, equation, tolerance, state, round);
            let store =
                |t: &mut StablehloTranslator<'_>, to: &TypedTensor, from: &[TypedTensor; 2]| {
                    replace_elements(t, to, &[count, 2], |t, s, point| {
                        let j = read_iteration_number(s, round);
                        let partner = t.read_element(s, &step.partner, &point[..1]).node();
                        let value = read_side(t, s, from, point);
                        let index = select_side(s, point[1], [j, partner]);
                        (vec![point[0], index], value)
                    })
                };
            let record = |t: &mut StablehloTranslator<'_>, to: &TypedTensor, factors: bool| {
                replace_elements(t, to, &[count, 2], |t, s, point| {
                    let place = t.read_element(s, &step.place, &point[..1]).node();
                    let value = if factors {
                        read_side(t, s, &step.factors, point)
                    } else {
                        let j = read_iteration_number(s, round);
                        let partner = t.read_element(s, &step.partner, &point[..1]).node();
                        let index = select_side(s, point[1], [partner, j]);
                        ElementValue::new(TensorElement::I64, index)
                    };
                    (vec![point[0], place, point[1]], value)
                })
            };
            Ok(vec![
                store(t, &state[0], &step.changed[0]),
                store(t, &state[1], &step.changed[1]),
                step.last.clone(),
                step.rotations.clone(),
                record(t, &state[4], false),
                record(t, &state[5], true),
            ])
        })?;
        Ok(DeflatedPairs {
            real,
            count,
            size,
            poles: found[0].clone(),
            weights: found[1].clone(),
            rotations: found[3].clone(),
            indices: found[4].clone(),
            factors: found[5].clone(),
        })
    }

    /// Rows with the rotations applied.
    pub fn rotate_rows(
        &self,
        t: &mut StablehloTranslator<'_>,
        rows: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let most = compute_scalars(t, |t, s| {
            let i = s.add_axis(DimExtent::Static(self.count), AxisKind::Reduction);
            let own = t.read_element(s, &self.rotations, &[i]).node();
            vec![reduce_largest_index(s, own)]
        });
        let mut initial = vec![make_integer(t, 0)];
        initial.extend(most);
        initial.push(rows.clone());
        let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
            let [at, end] = [0, 1].map(|number| read_scalar(t, s, &state[number]).node());
            ScalarBuilder::new(&mut s.body).lt(at, end)
        };
        let rotated = repeat_while(t, &initial, goes_on, |t, state| {
            let rows = self.rotate_pair(t, &state[2], &state[0])?;
            let mut next = compute_scalars(t, |t, s| {
                let at = read_scalar(t, s, &state[0]).node();
                let next = ScalarBuilder::new(&mut s.body).add_constant(at, 1.0);
                vec![ElementValue::new(TensorElement::I64, next)]
            });
            next.extend([state[1].clone(), rows]);
            Ok(next)
        })?;
        Ok(rotated[2].clone())
    }

    /// Rows with the rotation of a number applied.
    fn rotate_pair(
        &self,
        t: &mut StablehloTranslator<'_>,
        rows: &TypedTensor,
        number: &TypedTensor,
    ) -> TranslateResult<TypedTensor> {
        let sizes = [self.count, 2, self.size];
        let read = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, pair, side: i64| {
            let number = read_scalar(t, s, number).node();
            let number = limit_index(&mut ScalarBuilder::new(&mut s.body), number, self.size);
            let side = s.body.intern_i64(side);
            let position = [pair, number, side];
            let [index, factor] = [&self.indices, &self.factors]
                .map(|tensor| t.read_element(s, tensor, &position).node());
            (
                limit_index(&mut ScalarBuilder::new(&mut s.body), index, self.size),
                factor,
            )
        };
        let changed = t.map_points(&list_extents(&sizes), |t, s, point| {
            let (first, cosine) = read(t, s, point[0], 0);
            let (second, sine) = read(t, s, point[0], 1);
            let [first, second] = [first, second]
                .map(|row| t.read_element(s, rows, &[point[0], row, point[2]]).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            let (a, b) = (c.mul(cosine, first), c.mul(sine, second));
            let upper = c.add(a, b);
            let (a, b) = (c.mul(cosine, second), c.mul(sine, first));
            let lower = c.sub(a, b);
            let value = select_side(s, point[1], [upper, lower]);
            Ok(ElementValue::new(self.real, value))
        })?;
        Ok(replace_elements(t, rows, &sizes, |t, s, point| {
            let value = t.read_element(s, &changed, point);
            let (first, _) = read(t, s, point[0], 0);
            let (second, _) = read(t, s, point[0], 1);
            let row = select_side(s, point[1], [first, second]);
            let own = read_scalar(t, s, number).node();
            let end = t.read_element(s, &self.rotations, &point[..1]).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let exists = c.lt(own, end);
            let outside = c.body.intern_i64(-1);
            let row = c.select(exists, row, outside);
            (vec![point[0], row, point[2]], value)
        }))
    }
}

/// One of two nodes by the number of a side.
fn select_side(
    s: &mut StructuredOp,
    side: ScalarNode,
    [first, second]: [ScalarNode; 2],
) -> ScalarNode {
    let mut c = ScalarBuilder::new(&mut s.body);
    let zero = c.body.intern_i64(0);
    let is_first = c.eq(side, zero);
    c.select(is_first, first, second)
}

/// The element of one of two tensors at the first index of a point; the second is the number of the tensor.
fn read_side(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    tensors: &[TypedTensor; 2],
    point: &[ScalarNode],
) -> ElementValue {
    let nodes = [0, 1].map(|at: usize| t.read_element(s, &tensors[at], &point[..1]).node());
    ElementValue::new(tensors[0].element, select_side(s, point[1], nodes))
}

/// Two poles after the rotation that removes the weight of the first.
fn rotate_poles(
    c: &mut ScalarBuilder<'_>,
    [old, new]: [ScalarNode; 2],
    rotation: [ScalarNode; 2],
) -> [ScalarNode; 2] {
    let [cosine, sine] = rotation.map(|node| c.square(node));
    let mut mix = |a, b| {
        let (a, b) = (c.mul(old, a), c.mul(new, b));
        c.add(a, b)
    };
    [mix(cosine, sine), mix(sine, cosine)]
}

/// Compares the pole of an iteration with the last one that has a weight.
fn find_step(
    t: &mut StablehloTranslator<'_>,
    equation: &SecularEquation,
    tolerance: &TypedTensor,
    state: &[TypedTensor],
    round: TensorValue,
) -> DeflationStep {
    let mut s = StructuredOp::with_parallel_axes(&list_extents(&[equation.count]));
    let point = s.axis_indices();
    let j = read_iteration_number(&mut s, round);
    let [last, rotations] =
        [2, 3].map(|at: usize| t.read_element(&mut s, &state[at], &point).node());
    let before = limit_index(&mut ScalarBuilder::new(&mut s.body), last, equation.size);
    let [[pole, weight], [old_pole, old_weight]] = [j, before].map(|index| {
        [0, 1].map(|at: usize| {
            t.read_element(&mut s, &state[at], &[point[0], index])
                .node()
        })
    });
    let [factor, tolerance] =
        [&equation.factor, tolerance].map(|tensor| t.read_element(&mut s, tensor, &point).node());
    let mut c = ScalarBuilder::new(&mut s.body);
    let size = c.abs(weight);
    let size = c.mul(factor, size);
    let is_small = c.le(size, tolerance);
    let norm = c.apply_binary(Scalar::Hypot, weight, old_weight);
    let (cosine, sine) = (c.div(weight, norm), c.div(old_weight, norm));
    let sine = c.neg(sine);
    let gap = c.sub(pole, old_pole);
    let error = c.mul(gap, cosine);
    let error = c.mul(error, sine);
    let error = c.abs(error);
    let is_near = c.le(error, tolerance);
    let [none, zero] = [-1, 0].map(|value| c.body.intern_i64(value));
    let has_last = c.le(zero, last);
    let is_large = c.not(is_small);
    let is_close = c.and(has_last, is_large);
    let is_close = c.and(is_close, is_near);
    let [low, high] = rotate_poles(&mut c, [old_pole, pole], [cosine, sine]);
    let nothing = c.constant_like(weight, 0.0);
    let new_weight = c.select(is_close, norm, weight);
    let more = c.add_constant(rotations, 1.0);
    let nodes = [
        c.select(is_close, high, pole),
        low,
        c.select(is_small, nothing, new_weight),
        nothing,
        cosine,
        sine,
        c.select(is_close, before, none),
        c.select(is_small, last, j),
        c.select(is_close, more, rotations),
        c.select(is_close, rotations, none),
    ];
    let element = |at: usize| {
        if at < 6 {
            equation.real
        } else {
            TensorElement::I64
        }
    };
    let values: Vec<ElementValue> = nodes
        .into_iter()
        .enumerate()
        .map(|(at, node)| ElementValue::new(element(at), node))
        .collect();
    let found = finish_all(t, s, &values);
    let pair = |at: usize| [found[at].clone(), found[at + 1].clone()];
    DeflationStep {
        changed: [pair(0), pair(2)],
        factors: pair(4),
        partner: found[6].clone(),
        last: found[7].clone(),
        rotations: found[8].clone(),
        place: found[9].clone(),
    }
}
