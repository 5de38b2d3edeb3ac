//! `chlo.ragged_dot`: products of groups of rows, or of steps, whose sizes are an operand.

use super::contraction::{
    DotDimensions, DotPositions, add_pair_axes, check_dimension_pairs, translate_product,
};
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::records::RaggedDotAttributes;
use crate::mlir::MlirOp;
use spirula_program::{ScalarLiteral, ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    AxisKind, DimExtent, ScalarCombiner, ScalarNode, StructuredOp, TensorReduction, TensorShape,
};

/// The sum of integers over the reduced axes.
fn reduce_integer_sum(s: &mut StructuredOp, value: ScalarNode) -> ScalarNode {
    let zero = s.body.intern_literal(ScalarLiteral::from_i64(0));
    let sums = s.add_reduction(TensorReduction {
        initial: vec![zero],
        values: vec![value],
        combiner: ScalarCombiner::from_op(Scalar::Add, Ty::I64),
    });
    sums[0]
}

/// Sizes of groups: the batch that they may have, and how many there are.
struct RaggedGroups {
    batch: TensorShape,
    count: DimExtent,
    /// Start and end of each group.
    bounds: [TypedTensor; 2],
}

fn read_groups(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    pairs: &DotDimensions,
    lhs: &TensorShape,
) -> TranslateResult<RaggedGroups> {
    let sizes = t.tensor_operand(op, 2)?;
    let mut batch = t.tensor_shape(&sizes);
    let of: TensorShape = pairs.batch[0].iter().map(|at| lhs[*at]).collect();
    let last = batch.pop();
    let fits = last.is_some() && (batch.is_empty() || batch == of);
    let count = last.filter(|_| fits);
    let count = count.ok_or_else(|| t.unsupported_error(op, "shape of the sizes of groups"))?;
    let mut shape = batch.clone();
    shape.push(count);
    let mut bound = |is_end: bool| {
        let mut s = StructuredOp::with_parallel_axes(&shape);
        let point = s.axis_indices();
        let (outer, group) = (&point[..point.len() - 1], point[point.len() - 1]);
        let other = s.add_axis(count, AxisKind::Reduction);
        let mut position = outer.to_vec();
        position.push(other);
        let size = t.read_index(&mut s, &sizes, &position);
        let mut c = ScalarBuilder::new(&mut s.body);
        let counts = if is_end {
            c.le(other, group)
        } else {
            c.lt(other, group)
        };
        let zero = c.constant_like(size, 0.0);
        let size = c.select(counts, size, zero);
        let bound = reduce_integer_sum(&mut s, size);
        t.finish_structured(s, &ElementValue::new(TensorElement::I64, bound))
    };
    let bounds = [bound(false), bound(true)];
    Ok(RaggedGroups {
        batch,
        count,
        bounds,
    })
}

impl RaggedGroups {
    /// The number of the group of each index below a size; the number of groups for an index beyond
    /// all of them.
    fn number_indices(&self, t: &mut StablehloTranslator<'_>, size: DimExtent) -> TypedTensor {
        let mut shape = self.batch.clone();
        shape.push(size);
        let mut s = StructuredOp::with_parallel_axes(&shape);
        let mut point = s.axis_indices();
        let group = s.add_axis(self.count, AxisKind::Reduction);
        let index = point.pop().unwrap_or(group);
        point.push(group);
        let end = t.read_element(&mut s, &self.bounds[1], &point).node();
        let mut c = ScalarBuilder::new(&mut s.body);
        let is_beyond = c.le(end, index);
        let beyond = c.resize_truth(is_beyond);
        let number = reduce_integer_sum(&mut s, beyond);
        t.finish_structured(s, &ElementValue::new(TensorElement::I64, number))
    }

    /// A position in a tensor with the batch of the sizes.
    fn batch_position(
        &self,
        pairs: &DotDimensions,
        positions: &[Option<ScalarNode>],
        last: ScalarNode,
    ) -> Vec<ScalarNode> {
        let batch = pairs.batch[0].iter().take(self.batch.len());
        let mut position: Vec<ScalarNode> = batch.filter_map(|at| positions[*at]).collect();
        position.push(last);
        position
    }
}

impl ScalarBuilder<'_> {
    /// 1 for true, 0 for false.
    fn resize_truth(&mut self, truth: ScalarNode) -> ScalarNode {
        let (one, zero) = (
            self.integer_constant(Ty::I64, 1),
            self.integer_constant(Ty::I64, 0),
        );
        self.select(truth, one, zero)
    }
}

/// `chlo.ragged_dot`: groups of rows of the first factor, each with its own second factor; or
/// groups of steps, each with its own result. A ragged batch is an ordinary batch.
pub(super) fn ragged_dot(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let attributes: RaggedDotAttributes = t.read_attributes(op)?;
    let numbers = &attributes.ragged_dot_dimension_numbers;
    let pairs = check_dimension_pairs(t, op, &numbers.dot)?;
    let (lhs, rhs) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let shapes = [t.tensor_shape(&lhs), t.tensor_shape(&rhs)];
    let ragged = t.check_dimensions(op, &numbers.ragged, shapes[0].len())?;
    let group = t.check_dimensions(op, &numbers.group, shapes[1].len())?;
    let [ragged] = ragged[..] else {
        return Err(t.invalid_error(
            op,
            "chlo.ragged_dot does not have exactly one ragged dimension",
        ));
    };
    if pairs.batch[0].contains(&ragged) {
        let config = attributes.precision_config.unwrap_or_default();
        return translate_product(t, op, &pairs, config);
    }
    let groups = read_groups(t, op, &pairs, &shapes[0])?;
    let is_step = pairs.contracting[0].contains(&ragged);
    let fits = group.len() == usize::from(!is_step);
    t.ensure_holds(op, fits, "has wrong dimensions of groups")?;
    let mut s = StructuredOp::default();
    let of_result = is_step.then(|| s.add_axis(groups.count, AxisKind::Parallel));
    let mut sides = DotPositions::new(&shapes);
    add_pair_axes(t, op, &mut s, &mut sides, &pairs.batch, AxisKind::Parallel)?;
    if let [group] = group[..] {
        // The group is known once the row is.
        sides.positions[1][group] = Some(s.body.intern_i64(0));
    }
    sides.add_free_axes(&mut s, &pairs);
    add_pair_axes(
        t,
        op,
        &mut s,
        &mut sides,
        &pairs.contracting,
        AxisKind::Reduction,
    )?;
    let index = sides.positions[0][ragged];
    let index =
        index.ok_or_else(|| t.invalid_error(op, "chlo.ragged_dot has a wrong dimension"))?;
    let guard = match of_result {
        Some(group) => {
            let at = groups.batch_position(&pairs, &sides.positions[0], group);
            let bounds = &groups.bounds;
            let range = [0, 1].map(|side| t.read_element(&mut s, &bounds[side], &at).node());
            ScalarBuilder::new(&mut s.body).is_between(index, range)
        }
        None => {
            let numbers = groups.number_indices(t, shapes[0][ragged]);
            let at = groups.batch_position(&pairs, &sides.positions[0], index);
            let number = t.read_element(&mut s, &numbers, &at).node();
            let mut c = ScalarBuilder::new(&mut s.body);
            let count = c.body.intern_size(groups.count);
            let exists = c.lt(number, count);
            let first = c.constant_like(number, 0.0);
            let number = c.select(exists, number, first);
            if let [group] = group[..] {
                sides.positions[1][group] = Some(number);
            }
            exists
        }
    };
    let result = t.result_element(op, 0)?;
    let [l_at, r_at] = sides.into_positions();
    let values = (
        t.read_element(&mut s, &lhs, &l_at),
        t.read_element(&mut s, &rhs, &r_at),
    );
    let value = t.sum_of_products(op, &mut s, &values.0, &values.1, Some(guard), result)?;
    let tensor = t.finish_structured(s, &value);
    t.bind_result(op, tensor)
}
