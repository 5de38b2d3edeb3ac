//! The Schur form of matrices in Hessenberg form by QR iterations with implicit shifts: double shifts of real matrices,
//! single shifts of complex ones (J. G. F. Francis, "The QR transformation", 1961).
//!
//! The matrices of a batch are reduced one after another. An iteration finds the last block that is not yet split, and either
//! ends with its eigenvalues or sends a bulge through it. A test of M. Ahues and F. Tisseur ("A new deflation criterion for
//! the QR algorithm", 1997) decides which elements are negligible.

use super::MatrixBatch;
use super::bulge::BulgeChase;
use super::narrow_reflection::choose_room;
use super::scalar_step::{
    add_sizes, choose_limits, compute_scalars, limit_index, make_integer, read_scalar,
    repeat_while, replace_elements,
};
use super::shift::{compute_complex_shift, compute_real_shift, standardise_pair};
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::linear::{matrix_position, split_matrix_position};
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction,
};

/// Most iterations for one eigenvalue or pair.
const TRIES: f64 = 300.0;
/// Iterations without success after which a shift is unusual.
const UNUSUAL: u64 = 10;

/// Matrices in Schur form.
pub(super) struct SchurForm {
    /// Triangular matrices; real ones have blocks of two for pairs of complex eigenvalues.
    pub matrix: TypedTensor,
    /// The product of the unitary matrix that was given and the unitary matrices of the reduction.
    pub vectors: Option<TypedTensor>,
    /// The number, from 1, of the last eigenvalue that was not found; 0 if all were.
    pub info: TypedTensor,
}

/// Reduces matrices with one dimension of a batch and finite elements. If only eigenvalues are needed, the rest of the
/// result has no meaning.
pub(super) fn reduce_to_schur(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    vectors: Option<&TypedTensor>,
    shape: &MatrixBatch,
    needs_form: bool,
) -> TranslateResult<SchurForm> {
    let (size, count) = (shape.rows, shape.batch[0].as_static().unwrap_or(0));
    let info = t.emit_zeros(TensorElement::I32, &shape.batch);
    let room = choose_room(matrix.element, size);
    let matrix = enlarge_matrices(t, matrix, shape, room)?;
    let adjoint = match vectors {
        Some(vectors) => {
            let adjoint = build_adjoints(t, vectors, shape)?;
            Some(enlarge_matrices(t, &adjoint, shape, room)?)
        }
        None => None,
    };
    let iteration = SchurIteration {
        element: matrix.element,
        size,
        is_whole: needs_form,
    };
    let mut initial = vec![
        make_integer(t, 0),
        make_integer(t, size as i64 - 1),
        make_integer(t, 0),
        info,
        matrix,
    ];
    initial.extend(adjoint);
    let goes_on = |t: &StablehloTranslator<'_>, s: &mut StructuredOp, state: &[TypedTensor]| {
        let number = read_scalar(t, s, &state[0]);
        let mut c = ScalarBuilder::new(&mut s.body);
        let end = c.body.intern_i64(if size == 0 { 0 } else { count as i64 });
        c.lt(number.node(), end)
    };
    let reduced = repeat_while(t, &initial, goes_on, |t, state| iteration.run(t, state))?;
    let vectors = match reduced.get(5) {
        Some(adjoint) => Some(build_adjoints(t, adjoint, shape)?),
        None => None,
    };
    let matrix = t.gather_elements(&reduced[4], &shape.full_shape(), |_, point| point.to_vec())?;
    Ok(SchurForm {
        info: reduced[3].clone(),
        matrix,
        vectors,
    })
}

/// Matrices with further rows and columns of zeros.
fn enlarge_matrices(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
    room: [u64; 2],
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.batch_shape_with(&room), |t, s, point| {
        let (_, row, column) = split_matrix_position(point);
        let own = t.read_element(s, matrix, point);
        let mut c = ScalarBuilder::new(&mut s.body);
        let size = c.body.intern_i64(shape.rows as i64);
        let (has_row, has_column) = (c.lt(row, size), c.lt(column, size));
        let exists = c.and(has_row, has_column);
        let zero = c.make_constant_value(matrix.element, 0.0);
        Ok(c.select_value(exists, &own, &zero))
    })
}

/// The adjoints of matrices. Iterations update them by rows, which are contiguous.
fn build_adjoints(
    t: &mut StablehloTranslator<'_>,
    matrix: &TypedTensor,
    shape: &MatrixBatch,
) -> TranslateResult<TypedTensor> {
    t.map_points(&shape.full_shape(), |t, s, point| {
        let (outer, row, column) = split_matrix_position(point);
        let own = t.read_element(s, matrix, &matrix_position(outer, column, row));
        Ok(ScalarBuilder::new(&mut s.body).conjugate_value(&own))
    })
}

/// An iteration for a matrix of a batch.
struct SchurIteration {
    element: TensorElement,
    size: u64,
    is_whole: bool,
}

/// The place of an iteration: the number of the matrix, and the first and last row of the block.
pub(super) struct ActiveBlock {
    pub number: TypedTensor,
    pub first: TypedTensor,
    pub last: TypedTensor,
}

/// Kinds of iterations, shifts, and the standard form of a block of two.
pub(super) struct IterationPlan {
    /// Whether the block has one row.
    is_single: TypedTensor,
    /// Whether the block has two rows and is real.
    pub is_pair: Option<TypedTensor>,
    /// The shift; real and imaginary part of the first of two for real matrices.
    pub shift: Vec<TypedTensor>,
    /// The reflection of a real block of two, and the block after it, row by row.
    pub pair: Vec<TypedTensor>,
}

impl SchurIteration {
    fn is_complex(&self) -> bool {
        self.element.component_count() == 2
    }

    /// The number of elements of a bulge's reflection.
    fn width(&self) -> u64 {
        if self.is_complex() { 2 } else { 3 }
    }

    /// The state has the number of the matrix, its last row that has no eigenvalue yet, iterations without success, `info`
    /// of all matrices, the matrices, and the adjoints of their unitary matrices.
    fn run(
        &self,
        t: &mut StablehloTranslator<'_>,
        state: &[TypedTensor],
    ) -> TranslateResult<Vec<TypedTensor>> {
        let [number, last, tries, info] = [0, 1, 2, 3].map(|at| &state[at]);
        let first = self.find_first(t, number, last, &state[4]);
        let block = ActiveBlock {
            number: number.clone(),
            first,
            last: last.clone(),
        };
        let matrix = self.split_matrix(t, &block, &state[4]);
        let plan = self.plan_iteration(t, &block, tries, &matrix);
        let chase = BulgeChase {
            element: self.element,
            size: self.size,
            width: self.width(),
            is_whole: self.is_whole,
            block: &block,
            plan: &plan,
        };
        let begin = chase.find_beginning(t, &matrix);
        let column = chase.begin_bulge(t, &begin, &matrix);
        let start = self.choose_start(t, &block, &plan, &begin);
        let mut tensors = vec![matrix];
        tensors.extend(state.get(5).cloned());
        let mut tensors = chase.run(t, &begin, column, start, tensors)?;
        let mut next = self.find_next(t, &block, tries, &plan);
        let failed = next.pop();
        let failed = failed.as_ref().unwrap_or(number);
        let info = replace_elements(t, info, &[1], |t, s, _| {
            let number = read_scalar(t, s, &block.number).node();
            let old = t.read_element(s, info, &[number]);
            let failed = read_scalar(t, s, failed).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let zero = c.constant_like(failed, 0.0);
            let stays = c.eq(failed, zero);
            let value = c.select(stays, old.node(), failed);
            (vec![number], ElementValue::new(TensorElement::I32, value))
        });
        next.push(info);
        next.append(&mut tensors);
        Ok(next)
    }

    /// The first row of the block that ends with a row: the elements beside the diagonal within it are not negligible.
    fn find_first(
        &self,
        t: &mut StablehloTranslator<'_>,
        number: &TypedTensor,
        last: &TypedTensor,
        matrix: &TypedTensor,
    ) -> TypedTensor {
        let found = compute_scalars(t, |t, s| {
            let k = s.add_axis(DimExtent::Static(self.size), AxisKind::Reduction);
            let number = read_scalar(t, s, number).node();
            let last = read_scalar(t, s, last).node();
            let is_negligible = self.is_negligible(t, s, matrix, number, k);
            let mut c = ScalarBuilder::new(&mut s.body);
            let zero = c.body.intern_i64(0);
            let (is_after, is_before) = (c.lt(zero, k), c.le(k, last));
            let is_inside = c.and(is_after, is_before);
            let is_first = c.and(is_inside, is_negligible);
            let candidate = c.select(is_first, k, zero);
            vec![reduce_largest_index(s, candidate)]
        });
        found.into_iter().next().unwrap_or_else(|| number.clone())
    }

    /// Whether the element before the diagonal of a row is negligible.
    fn is_negligible(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        matrix: &TypedTensor,
        number: ScalarNode,
        k: ScalarNode,
    ) -> ScalarNode {
        let mut c = ScalarBuilder::new(&mut s.body);
        let [before, earlier, after] = [-1.0, -2.0, 1.0].map(|by| {
            let index = c.add_constant(k, by);
            limit_index(&mut c, index, self.size)
        });
        let mut read = |row, column| t.read_element(s, matrix, &[number, row, column]);
        let (low, own, diagonal) = (read(k, before), read(k, k), read(before, before));
        let (above, other, next) = (read(before, k), read(before, earlier), read(after, k));
        let mut c = ScalarBuilder::new(&mut s.body);
        let [low, own_size, diagonal_size, above, other, next] =
            [&low, &own, &diagonal, &above, &other, &next].map(|value| add_sizes(&mut c, value));
        let difference = c.subtract_values(&diagonal, &own);
        let difference = add_sizes(&mut c, &difference);
        let [unit, least] = choose_limits(self.element, self.size);
        let zero = c.constant_like(low, 0.0);
        let around = c.add(own_size, diagonal_size);
        let beside = c.add(other, next);
        let is_zero = c.eq(around, zero);
        let around = c.select(is_zero, beside, around);
        let bound = c.mul_constant(around, unit);
        let is_small = c.le(low, bound);
        let mut order = |a, b| {
            let (large, small) = (Scalar::FMax, Scalar::FMin);
            (c.apply_binary(large, a, b), c.apply_binary(small, a, b))
        };
        let (off_large, off_small) = order(low, above);
        let (large, small) = order(own_size, difference);
        let total = c.add(large, off_large);
        let (off_ratio, ratio) = (c.div(off_large, total), c.div(large, total));
        let (product, bound) = (c.mul(off_small, off_ratio), c.mul(small, ratio));
        let bound = c.mul_constant(bound, unit);
        let least = c.constant_like(low, least);
        let bound = c.apply_binary(Scalar::FMax, bound, least);
        let is_negligible = c.le(product, bound);
        let is_small = c.and(is_small, is_negligible);
        let is_tiny = c.le(low, least);
        c.or(is_tiny, is_small)
    }

    /// The matrix with zero before the diagonal of the first row.
    fn split_matrix(
        &self,
        t: &mut StablehloTranslator<'_>,
        block: &ActiveBlock,
        matrix: &TypedTensor,
    ) -> TypedTensor {
        replace_elements(t, matrix, &[1], |t, s, _| {
            let number = read_scalar(t, s, &block.number).node();
            let first = read_scalar(t, s, &block.first).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let before = c.add_constant(first, -1.0);
            let zero = c.make_constant_value(self.element, 0.0);
            (vec![number, first, before], zero)
        })
    }

    fn plan_iteration(
        &self,
        t: &mut StablehloTranslator<'_>,
        block: &ActiveBlock,
        tries: &TypedTensor,
        matrix: &TypedTensor,
    ) -> IterationPlan {
        let [unit, _] = choose_limits(self.element, self.size);
        let values = compute_scalars(t, |t, s| {
            let [number, first, last] = block.read(t, s);
            let mut c = ScalarBuilder::new(&mut s.body);
            let before = c.add_constant(last, -1.0);
            let before = limit_index(&mut c, before, self.size);
            let mut read = |row, column| t.read_element(s, matrix, &[number, row, column]);
            let corner = [
                read(before, before),
                read(before, last),
                read(last, before),
                read(last, last),
            ];
            let tries = read_scalar(t, s, tries).node();
            let (is_unusual, unusual) =
                self.compute_unusual_block(t, s, matrix, [number, first, last], tries);
            let mut c = ScalarBuilder::new(&mut s.body);
            let shifted =
                [0, 1, 2, 3].map(|at| c.select_value(is_unusual, &unusual[at], &corner[at]));
            let is_single = c.eq(first, last);
            let mut values = vec![ElementValue::from_truth(is_single)];
            if self.is_complex() {
                values.push(compute_complex_shift(&mut c, shifted));
                return values;
            }
            let second = c.add_constant(first, 1.0);
            let is_pair = c.eq(second, last);
            let shift = compute_real_shift(&mut c, shifted.map(|value| value.node()));
            let pair = standardise_pair(&mut c, corner.map(|value| value.node()), unit);
            let mut nodes = shift.to_vec();
            nodes.extend(pair.as_reflection(&mut c));
            nodes.extend(pair.reflected_block(&mut c));
            values.push(ElementValue::from_truth(is_pair));
            let nodes = nodes.into_iter();
            values.extend(nodes.map(|node| ElementValue::new(self.element, node)));
            values
        });
        let (is_single, rest) = values.split_at(1);
        let (is_pair, rest) = rest.split_at(usize::from(!self.is_complex()));
        let (shift, pair) = rest.split_at(if self.is_complex() { 1 } else { 2 });
        IterationPlan {
            is_single: is_single[0].clone(),
            is_pair: is_pair.first().cloned(),
            shift: shift.to_vec(),
            pair: pair.to_vec(),
        }
    }

    /// Whether an iteration needs an unusual shift, and the block that has it: an element of the diagonal, moved by the size of
    /// elements beside it, at the end or the beginning in turn.
    fn compute_unusual_block(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        matrix: &TypedTensor,
        [number, first, last]: [ScalarNode; 3],
        tries: ScalarNode,
    ) -> (ScalarNode, [ElementValue; 4]) {
        let mut c = ScalarBuilder::new(&mut s.body);
        let zero = c.body.intern_i64(0);
        let rest = c.apply_with_constant(Scalar::SMod, tries, UNUSUAL);
        let (is_due, is_later) = (c.eq(rest, zero), c.lt(zero, tries));
        let is_unusual = c.and(is_due, is_later);
        let rest = c.apply_with_constant(Scalar::SMod, tries, 2 * UNUSUAL);
        let is_last = c.eq(rest, zero);
        let own = c.select(is_last, last, first);
        let mut choose = |from_last: f64, from_first: f64| {
            let (low, high) = (
                c.add_constant(last, from_last),
                c.add_constant(first, from_first),
            );
            let index = c.select(is_last, low, high);
            limit_index(&mut c, index, self.size)
        };
        let positions = [
            [choose(0.0, 1.0), choose(-1.0, 0.0)],
            [choose(-1.0, 2.0), choose(-2.0, 1.0)],
        ];
        let mut read = |row, column| t.read_element(s, matrix, &[number, row, column]);
        let own = read(own, own);
        let beside = positions.map(|[row, column]| read(row, column));
        let mut c = ScalarBuilder::new(&mut s.body);
        let sizes = beside.map(|value| add_sizes(&mut c, &value));
        let nothing = c.make_constant_value(self.element, 0.0);
        let size = if self.is_complex() {
            sizes[0]
        } else {
            c.add(sizes[0], sizes[1])
        };
        let change = c.mul_constant(size, 0.75);
        let change = c.of_real(self.element, change);
        let moved = c.add_values(&own, &change);
        if self.is_complex() {
            return (is_unusual, [own, nothing.clone(), nothing, moved]);
        }
        let above = c.mul_constant(size, -0.4375);
        let [above, low] = [above, size].map(|node| ElementValue::new(self.element, node));
        (is_unusual, [moved.clone(), above, low, moved])
    }

    /// The row at which the reflections of an iteration begin; the last one if there are none.
    fn choose_start(
        &self,
        t: &mut StablehloTranslator<'_>,
        block: &ActiveBlock,
        plan: &IterationPlan,
        begin: &TypedTensor,
    ) -> TypedTensor {
        let values = compute_scalars(t, |t, s| {
            let [_, _, last] = block.read(t, s);
            let is_single = read_scalar(t, s, &plan.is_single).node();
            let mut start = read_scalar(t, s, begin).node();
            let is_pair = plan
                .is_pair
                .as_ref()
                .map(|pair| read_scalar(t, s, pair).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            if let Some(is_pair) = is_pair {
                let before = c.add_constant(last, -1.0);
                start = c.select(is_pair, before, start);
            }
            let start = c.select(is_single, last, start);
            vec![ElementValue::new(TensorElement::I64, start)]
        });
        values.into_iter().next().unwrap_or_else(|| begin.clone())
    }

    /// The matrix, the last row and the iterations without success of the next iteration, and `info` if this one failed.
    fn find_next(
        &self,
        t: &mut StablehloTranslator<'_>,
        block: &ActiveBlock,
        tries: &TypedTensor,
        plan: &IterationPlan,
    ) -> Vec<TypedTensor> {
        compute_scalars(t, |t, s| {
            let [number, first, last] = block.read(t, s);
            let tries = read_scalar(t, s, tries).node();
            let mut is_found = read_scalar(t, s, &plan.is_single).node();
            let is_pair = plan
                .is_pair
                .as_ref()
                .map(|pair| read_scalar(t, s, pair).node());
            let mut c = ScalarBuilder::new(&mut s.body);
            if let Some(is_pair) = is_pair {
                is_found = c.or(is_found, is_pair);
            }
            let zero = c.body.intern_i64(0);
            let before = c.add_constant(first, -1.0);
            let more = c.add_constant(tries, 1.0);
            let next_last = c.select(is_found, before, last);
            let next_tries = c.select(is_found, zero, more);
            let is_tried = c.lt_constant(next_tries, TRIES);
            let has_failed = c.not(is_tried);
            let is_ready = c.lt(next_last, zero);
            let is_over = c.or(is_ready, has_failed);
            let next_number = c.add_constant(number, 1.0);
            let end = c.body.intern_i64(self.size as i64 - 1);
            let indices = [
                c.select(is_over, next_number, number),
                c.select(is_over, end, next_last),
                c.select(is_over, zero, next_tries),
            ];
            let row = c.add_constant(next_last, 1.0);
            let failed = c.select(has_failed, row, zero);
            let failed = c.resize_integer(Ty::I32, true, failed);
            let mut values = indices
                .map(|node| ElementValue::new(TensorElement::I64, node))
                .to_vec();
            values.push(ElementValue::new(TensorElement::I32, failed));
            values
        })
    }
}

impl ActiveBlock {
    /// The number of the matrix, the first and the last row.
    pub fn read(&self, t: &StablehloTranslator<'_>, s: &mut StructuredOp) -> [ScalarNode; 3] {
        [&self.number, &self.first, &self.last].map(|tensor| read_scalar(t, s, tensor).node())
    }
}

/// The largest of the indices at all points.
pub(super) fn reduce_largest_index(s: &mut StructuredOp, index: ScalarNode) -> ElementValue {
    let least = s.body.intern_i64(0);
    let found = s.add_reduction(TensorReduction {
        initial: vec![least],
        values: vec![index],
        combiner: ScalarCombiner::from_op(Scalar::SMax, Ty::I64),
    });
    ElementValue::new(TensorElement::I64, found[0])
}
