//! Slices: with static bounds, with bounds and positions that are operands, and their update.

use super::assertion;
use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::ScalarBuilder;
use super::scatter::{self, ScatterCombination};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::records::{DynamicSliceAttributes, SliceAttributes};
use crate::mlir::MlirOp;
use spirula_program::ScalarOp as Scalar;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape};

/// `slice`
pub(super) fn translate_slice(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let own = t.tensor_shape(&operand);
    let attributes: SliceAttributes = t.read_attributes(op)?;
    let starts = attributes.start_indices.values;
    let limits = attributes.limit_indices.values;
    let strides = attributes.strides.values;
    let rank = own.len();
    let complete = [&starts, &limits, &strides]
        .iter()
        .all(|list| list.len() == rank);
    t.ensure_holds(op, complete, "has too few or many bounds")?;
    for at in 0..rank {
        let (start, limit) = (starts[at], limits[at]);
        let inside = own[at].as_static().is_none_or(|size| limit as u64 <= size);
        let fits = 0 <= start && start <= limit && inside && strides[at] > 0;
        t.ensure_holds(op, fits, "has bounds outside of its operand")?;
    }
    let [starts, limits, strides] = [starts, limits, strides].map(|list| t.number_nodes(&list));
    slice_tensor(t, op, &operand, [&starts, &limits, &strides])
}

/// `real_dynamic_slice`: bounds are operands. A slice that would leave the operand is moved back
/// into it, as in `dynamic_slice`. One that is larger than the operand fails.
pub(super) fn real_dynamic_slice(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operand = t.tensor_operand(op, 0)?;
    let (mut starts, mut limits) = (
        t.find_tracked_operand(op, 1)?.to_vec(),
        t.find_tracked_operand(op, 2)?.to_vec(),
    );
    let strides = t.find_tracked_operand(op, 3)?;
    let rank = t.tensor_shape(&operand).len();
    let complete = [starts.len(), limits.len(), strides.len()] == [rank; 3];
    t.ensure_holds(op, complete, "has too few or many bounds")?;
    for (at, dim) in t.tensor_shape(&operand).iter().enumerate() {
        let size = t.node_from_dim(*dim);
        let (start, limit, stride) = (starts[at], limits[at], strides[at]);
        let fits = t.compute_node(|c| {
            let (zero, one) = (c.body.intern_i64(0), c.body.intern_i64(1));
            let span = c.sub(limit, start);
            let pairs = [(zero, span), (span, size), (one, stride)];
            let all = pairs.map(|(low, high)| c.le(low, high));
            all.into_iter().reduce(|all, fits| c.and(all, fits))
        });
        let shown = [
            ("a slice from ", start),
            (" to ", limit),
            (" in steps of ", stride),
            (" does not fit into a dimension of ", size),
        ];
        if let Some(fits) = fits {
            assertion::emit_assertion(t, op, fits, &shown)?;
        }
        starts[at] = t.compute_node(|c| {
            let span = c.sub(limit, start);
            let last = c.sub(size, span);
            let start = c.apply_binary(Scalar::SMin, start, last);
            let zero = c.body.intern_i64(0);
            c.apply_binary(Scalar::SMax, start, zero)
        });
        limits[at] = t.compute_node(|c| {
            let span = c.sub(limit, start);
            c.add(starts[at], span)
        });
    }
    slice_tensor(t, op, &operand, [&starts, &limits, &strides])
}

/// Emits a slice whose bounds are nodes of the sizes' body.
fn slice_tensor(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    operand: &TypedTensor,
    [starts, limits, strides]: [&[ScalarNode]; 3],
) -> TranslateResult<()> {
    let mut shape = TensorShape::new();
    for ((start, limit), stride) in starts.iter().zip(limits).zip(strides) {
        let size = t.compute_node(|c| {
            let span = c.sub(*limit, *start);
            let span = c.add(span, *stride);
            let span = c.add_constant(span, -1.0);
            c.apply_binary(Scalar::SDiv, span, *stride)
        });
        shape.push(t.dim_from_node(size));
    }
    let result = t.map_points(&shape, |t, s, point| {
        let mut position = Vec::new();
        for (at, index) in point.iter().enumerate() {
            let (start, stride) = (t.import_node(s, starts[at]), t.import_node(s, strides[at]));
            let mut c = ScalarBuilder::new(&mut s.body);
            let index = c.mul(*index, stride);
            position.push(c.add(index, start));
        }
        Ok(t.read_element(s, operand, &position))
    })?;
    t.bind_result(op, result)
}

impl StablehloTranslator<'_> {
    /// Indices of rank 0, clamped to the positions of a slice within an operand.
    fn clamp_indices(
        &self,
        op: MlirOp,
        s: &mut StructuredOp,
        indices: &[TypedTensor],
        sizes: &TensorShape,
        slice: &TensorShape,
    ) -> TranslateResult<Vec<ScalarNode>> {
        self.ensure_holds(
            op,
            indices.len() == sizes.len(),
            "has too few or many indices",
        )?;
        let mut nodes = Vec::new();
        for (at, index) in indices.iter().enumerate() {
            let is_index = matches!(index.element, TensorElement::Int { .. });
            let fits = is_index && self.tensor_shape(index).is_empty();
            self.ensure_holds(op, fits, "has an index of rank above 0")?;
            let index = self.read_index(s, index, &[]);
            nodes.push(clamp_index(
                &mut ScalarBuilder::new(&mut s.body),
                index,
                sizes[at],
                slice[at],
            ));
        }
        Ok(nodes)
    }

    /// Checks that a slice fits into an operand, as far as sizes are known.
    pub fn check_slice(
        &self,
        op: MlirOp,
        sizes: &TensorShape,
        slice: &TensorShape,
    ) -> TranslateResult<()> {
        let fits = sizes.iter().zip(slice).all(|pair| match pair {
            (DimExtent::Static(size), DimExtent::Static(slice)) => slice <= size,
            _ => true,
        });
        let same = sizes.len() == slice.len();
        self.ensure_holds(op, fits && same, "has a slice larger than its operand")
    }
}

/// An index clamped to the positions of a slice within a dimension.
pub(super) fn clamp_index(
    c: &mut ScalarBuilder<'_>,
    index: ScalarNode,
    size: DimExtent,
    slice: DimExtent,
) -> ScalarNode {
    let zero = c.body.intern_i64(0);
    let (size, slice) = (c.body.intern_size(size), c.body.intern_size(slice));
    let greatest = c.sub(size, slice);
    if greatest == zero {
        return zero;
    }
    let index = c.apply_binary(Scalar::SMax, index, zero);
    c.apply_binary(Scalar::SMin, index, greatest)
}

/// Sizes of an attribute as static dimensions.
pub(super) fn static_sizes(
    t: &StablehloTranslator<'_>,
    op: MlirOp,
    sizes: &[i64],
) -> TranslateResult<TensorShape> {
    t.ensure_holds(
        op,
        sizes.iter().all(|size| *size >= 0),
        "has a negative size",
    )?;
    Ok(sizes
        .iter()
        .map(|size| DimExtent::Static(*size as u64))
        .collect())
}

/// `dynamic_slice`
pub(super) fn dynamic_slice(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let DynamicSliceAttributes { slice_sizes } = t.read_attributes(op)?;
    let slice = static_sizes(t, op, &slice_sizes.values)?;
    let operands = t.tensor_operands(op)?;
    let operand = t.tensor_operand(op, 0)?;
    let sizes = t.tensor_shape(&operand);
    t.check_slice(op, &sizes, &slice)?;
    let result = t.map_points(&slice, |t, s, point| {
        let starts = t.clamp_indices(op, s, &operands[1..], &sizes, &slice)?;
        let mut c = ScalarBuilder::new(&mut s.body);
        let pairs = point.iter().zip(starts);
        let position: Vec<ScalarNode> = pairs.map(|(index, start)| c.add(*index, start)).collect();
        Ok(t.read_element(s, &operand, &position))
    })?;
    t.bind_result(op, result)
}

/// `dynamic_update_slice`
pub(super) fn dynamic_update_slice(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let (operand, update) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let (sizes, slice) = (t.tensor_shape(&operand), t.tensor_shape(&update));
    t.check_slice(op, &sizes, &slice)?;
    t.ensure_holds(
        op,
        operand.element == update.element,
        "has an update of another type",
    )?;
    let mut s = StructuredOp::with_parallel_axes(&slice);
    let point = s.axis_indices();
    let starts = t.clamp_indices(op, &mut s, &operands[2..], &sizes, &slice)?;
    if slice == sizes {
        return t.bind_result(op, update);
    }
    let value = t.read_element(&mut s, &update, &point);
    let mut c = ScalarBuilder::new(&mut s.body);
    let pairs = point.iter().zip(starts);
    let position: Vec<ScalarNode> = pairs.map(|(index, start)| c.add(*index, start)).collect();
    let combination = ScatterCombination {
        combiners: Vec::new(),
        distinct: true,
    };
    let results = scatter::emit_scatter(t, s, &[operand], &[value], &position, combination);
    let result = results.into_iter().next();
    let result = result.ok_or_else(|| t.invalid_error(op, "has no operand"))?;
    t.bind_result(op, result)
}
