//! `scatter`: all updates at once, or one index after the other.

use super::dims::merged_shapes;
use super::element::TensorElement;
use super::entry::ScatterWindows;
use super::error::TranslateResult;
use super::gather::GatherDimensions;
use super::movement::select_value;
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::records::ScatterAttributes;
use crate::mlir::{MlirBlock, MlirOp};
use spirula_program::{ScalarOp as Arithmetic, ScalarType};
use spirula_tensor::ir::{
    AxisKind, NodeData, NodeGraph, ScalarCombiner, ScalarNode, StructuredOp, StructuredYield,
    TensorShape, YieldDestination,
};

/// `scatter`
pub(super) fn translate_scatter(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    let count = operands.len() / 2;
    t.ensure_holds(
        op,
        operands.len() == 2 * count + 1 && count > 0,
        "has too few or many operands",
    )?;
    let (inputs, rest) = operands.split_at(count);
    let (indices, updates) = (&rest[0], &rest[1..]);
    let attributes: ScatterAttributes = t.read_attributes(op)?;
    let is_index = matches!(indices.element, TensorElement::Int { .. });
    t.ensure_holds(op, is_index, "has indices that are not integers")?;
    let rank = t.common_shape(op, inputs)?.len();
    let index_sizes = t.tensor_shape(indices);
    let update_sizes = t.common_shape(op, updates)?;
    let written = &attributes.scatter_dimension_numbers.0;
    let result = update_sizes.len();
    let numbers = GatherDimensions::from_numbers(t, op, written, rank, &index_sizes, result)?;
    let mut batch_sizes = index_sizes.to_vec();
    if numbers.vector < batch_sizes.len() {
        batch_sizes.remove(numbers.vector);
    }
    let others = (0..update_sizes.len()).filter(|at| !numbers.offset.contains(at));
    let others: TensorShape = others.map(|at| update_sizes[at]).collect();
    let fits = merged_shapes(&others, &batch_sizes.into_iter().collect());
    t.ensure_holds(op, fits.is_some(), "has updates of another shape")?;
    let scatter = ScatterUpdates {
        op,
        block: t.region_block(op, 0)?,
        numbers,
        indices,
        updates,
        sizes: update_sizes,
        distinct: attributes.unique_indices == Some(true),
    };
    let elements: Vec<TensorElement> = inputs.iter().map(|input| input.element).collect();
    let results = match build_combiners(t, op, scatter.block, &elements)? {
        Some(combiners) => scatter.at_once(t, inputs, combiners)?,
        None => scatter.in_rounds(t, inputs)?,
    };
    t.bind_results(op, results)
}

/// Updates and their positions.
struct ScatterUpdates<'a> {
    op: MlirOp,
    block: MlirBlock,
    numbers: GatherDimensions,
    indices: &'a TypedTensor,
    updates: &'a [TypedTensor],
    /// The shape of the updates.
    sizes: TensorShape,
    /// Whether no two updates go to the same element.
    distinct: bool,
}

/// Combination of the values of a scatter with the elements at their positions.
pub(super) struct ScatterCombination {
    /// A combiner for each part of each operand; `None` where the value replaces the element.
    pub combiners: Vec<Option<ScalarCombiner>>,
    /// Whether no two values have the same position.
    pub distinct: bool,
}

impl ScatterUpdates<'_> {
    /// The position that the update at a point goes to.
    fn compute_position(
        &self,
        t: &mut StablehloTranslator<'_>,
        s: &mut StructuredOp,
        shape: &TensorShape,
        point: &[ScalarNode],
    ) -> Vec<ScalarNode> {
        let rank = shape.len();
        let batch = self.numbers.batch_indices(point);
        let mut position =
            self.numbers
                .compute_slice_start(t, s, self.indices, &batch, rank, |_, index, _| index);
        let kept = self.numbers.kept_dimensions(rank);
        let starts: Vec<ScalarNode> = kept.iter().map(|to| position[*to]).collect();
        let mut c = ScalarBuilder::new(&mut s.body);
        for (from, to) in self.numbers.offset.iter().zip(&kept) {
            position[*to] = c.add(position[*to], point[*from]);
        }
        if let (ScatterWindows::Whole, Some(first)) = (t.windows, kept.first()) {
            let sizes: TensorShape = kept.iter().map(|to| shape[*to]).collect();
            let inside = self.test_window(&mut c, &starts, &sizes);
            let outside = c.body.intern_i64(-1);
            position[*first] = c.select(inside, position[*first], outside);
        }
        position
    }

    /// Whether a window that begins at these indices is within dimensions of these sizes.
    fn test_window(
        &self,
        c: &mut ScalarBuilder<'_>,
        starts: &[ScalarNode],
        sizes: &TensorShape,
    ) -> ScalarNode {
        let mut inside = c.truth_constant(true);
        for (from, (start, size)) in self.numbers.offset.iter().zip(starts.iter().zip(sizes)) {
            let (size, window) = (
                c.body.intern_size(*size),
                c.body.intern_size(self.sizes[*from]),
            );
            let end = c.add(*start, window);
            let first = c.body.intern_i64(0);
            let (begins, ends) = (c.le(first, *start), c.le(end, size));
            let is_inside = c.and(begins, ends);
            inside = c.and(inside, is_inside);
        }
        inside
    }

    /// The updates at a point, as elements of the inputs.
    fn read_updates(
        &self,
        t: &mut StablehloTranslator<'_>,
        s: &mut StructuredOp,
        inputs: &[TypedTensor],
        point: &[ScalarNode],
    ) -> TranslateResult<Vec<ElementValue>> {
        let updates = inputs.iter().zip(self.updates);
        let values = updates.map(|(input, update)| {
            let value = t.read_element(s, update, point);
            let value = ScalarBuilder::new(&mut s.body).convert_value(&value, input.element);
            value.ok_or_else(|| t.unsupported_error(self.op, "type of updates"))
        });
        values.collect()
    }

    /// Applies all updates at once; each part is combined on its own.
    fn at_once(
        &self,
        t: &mut StablehloTranslator<'_>,
        inputs: &[TypedTensor],
        combiners: Vec<Option<ScalarCombiner>>,
    ) -> TranslateResult<Vec<TypedTensor>> {
        let mut s = StructuredOp::with_parallel_axes(&self.sizes);
        let point = s.axis_indices();
        let position = self.compute_position(t, &mut s, &t.tensor_shape(&inputs[0]), &point);
        let values = self.read_updates(t, &mut s, inputs, &point)?;
        let combination = ScatterCombination {
            combiners,
            distinct: self.distinct,
        };
        Ok(emit_scatter(t, s, inputs, &values, &position, combination))
    }

    /// Applies one index after the other, for parts that depend on each other. The updates of one
    /// index go to different elements.
    fn in_rounds(
        &self,
        t: &mut StablehloTranslator<'_>,
        inputs: &[TypedTensor],
    ) -> TranslateResult<Vec<TypedTensor>> {
        let is_batch = |at: &usize| !self.numbers.offset.contains(at);
        let batch: Vec<usize> = (0..self.sizes.len()).filter(is_batch).collect();
        let batch_sizes: TensorShape = batch.iter().map(|at| self.sizes[*at]).collect();
        let count = t.compute_dim(&batch_sizes, |c, sizes| {
            let one = c.body.intern_i64(1);
            sizes.iter().fold(one, |all, size| c.mul(all, *size))
        });
        let shape = t.tensor_shape(&inputs[0]);
        t.iterate_tensors(inputs, count, |t, before, round| {
            let mut s = StructuredOp::default();
            let mut rest = s.body.intern_element(round, ScalarType::I64, &[]);
            let mut point = vec![rest; self.sizes.len()];
            for at in batch.iter().rev() {
                let size = s.body.intern_size(self.sizes[*at]);
                point[*at] = s.body.apply_op(Arithmetic::SMod, &[rest, size]);
                rest = s.body.apply_op(Arithmetic::SDiv, &[rest, size]);
            }
            for at in &self.numbers.offset {
                point[*at] = s.add_axis(self.sizes[*at], AxisKind::Parallel);
            }
            let position = self.compute_position(t, &mut s, &shape, &point);
            let inside = test_within_shape(&mut s, &position, &shape);
            let mut values = Vec::new();
            for tensor in before {
                let value = t.read_element(&mut s, tensor, &position);
                let zero = ScalarBuilder::new(&mut s.body).make_constant_value(tensor.element, 0.0);
                values.push(select_value(&mut s, inside, &value, &zero));
            }
            values.extend(self.read_updates(t, &mut s, before, &point)?);
            let combined =
                scalar_region::translate_scalar_region(t, &mut s.body, self.block, values, None)?;
            let replacement = ScatterCombination {
                combiners: Vec::new(),
                distinct: true,
            };
            Ok(emit_scatter(
                t,
                s,
                before,
                &combined,
                &position,
                replacement,
            ))
        })
    }
}

/// Whether a position is within a shape.
fn test_within_shape(
    s: &mut StructuredOp,
    position: &[ScalarNode],
    shape: &TensorShape,
) -> ScalarNode {
    let mut c = ScalarBuilder::new(&mut s.body);
    let mut inside = c.truth_constant(true);
    for (index, dim) in position.iter().zip(shape) {
        let range = [c.body.intern_i64(0), c.body.intern_size(*dim)];
        let is_between = c.is_between(*index, range);
        inside = c.and(inside, is_between);
    }
    inside
}

/// Emits a scatter: tensors with values at a position, combined with the elements there.
pub(super) fn emit_scatter(
    t: &mut StablehloTranslator<'_>,
    mut s: StructuredOp,
    inputs: &[TypedTensor],
    values: &[ElementValue],
    position: &[ScalarNode],
    combination: ScatterCombination,
) -> Vec<TypedTensor> {
    let mut combiners = combination.combiners.into_iter();
    let bases = inputs.iter().flat_map(|input| &input.parts);
    let nodes = values.iter().flat_map(|value| &value.nodes);
    for (base, value) in bases.zip(nodes) {
        s.yields.push(StructuredYield {
            value: *value,
            destination: YieldDestination::Scatter {
                base: *base,
                indices: position.to_vec(),
                combiner: combiners.next().flatten(),
                distinct: combination.distinct,
            },
        });
    }
    let mut parts = t.builder.add_structured(s).into_iter();
    let results = inputs.iter().map(|input| TypedTensor {
        element: input.element,
        parts: parts.by_ref().take(input.parts.len()).collect(),
        tracked: None,
    });
    results.collect()
}

/// The combiner of each part of a region of one operand.
pub(super) fn part_combiners(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    block: MlirBlock,
    element: TensorElement,
) -> TranslateResult<Vec<Option<ScalarCombiner>>> {
    let combiners = build_combiners(t, op, block, &[element])?;
    combiners.ok_or_else(|| t.unsupported_error(op, "scatter of values that depend on each other"))
}

/// For each part of each operand, the combiner of an element and an update; `None` where the update
/// replaces the element. The result is `None` if parts depend on each other.
fn build_combiners(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    block: MlirBlock,
    elements: &[TensorElement],
) -> TranslateResult<Option<Vec<Option<ScalarCombiner>>>> {
    let twice: Vec<TensorElement> = elements.iter().chain(elements).copied().collect();
    let (whole, results) = scalar_region::build_combiner(t, op, block, &twice, None)?;
    let types = results.iter().map(|val: &ElementValue| val.element);
    t.ensure_holds(
        op,
        types.eq(elements.iter().copied()),
        "has a region of another type",
    )?;
    let count = whole.results.len() as u32;
    let mut combiners = Vec::new();
    for (at, result) in (0..count).zip(&whole.results) {
        if whole.body.as_argument(*result) == Some(count + at) {
            combiners.push(None);
            continue;
        }
        let mut body = NodeGraph::default();
        let mut is_alone = true;
        let results = body.import_nodes(&whole.body, &[*result], |body, _, data| match data {
            NodeData::Argument(number) => {
                is_alone &= number % count == at;
                let element = part_type(elements, number % count);
                Some(body.intern_argument(number / count, element))
            }
            _ => None,
        });
        if !is_alone {
            return Ok(None);
        }
        combiners.push(Some(ScalarCombiner { body, results }));
    }
    Ok(Some(combiners))
}

/// Type of a part, counted over all operands.
fn part_type(elements: &[TensorElement], part: u32) -> ScalarType {
    let parts = elements
        .iter()
        .flat_map(|e| std::iter::repeat_n(e.storage_type(), e.component_count()));
    parts
        .into_iter()
        .nth(part as usize)
        .unwrap_or(ScalarType::I32)
}
