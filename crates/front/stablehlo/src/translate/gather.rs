//! `gather` and `dynamic_gather`, and the dimensions that they share with `scatter`.

use super::element::TensorElement;
use super::error::TranslateResult;
use super::scalar::ScalarBuilder;
use super::slice::{clamp_index, static_sizes};
use super::translator::{StablehloTranslator, TypedTensor};
use crate::dialect::IndexingNumbers;
use crate::dialect::records::{DynamicGatherAttributes, GatherAttributes};
use crate::mlir::MlirOp;
use spirula_tensor::ir::{DimExtent, ScalarNode, StructuredOp, TensorShape};

/// Correspondence between the dimensions of the operand, of the indices, and of the slices. The
/// names are those of `gather`, which `scatter` mirrors.
pub(super) struct GatherDimensions {
    /// Dimensions of the slices in the result.
    pub offset: Vec<usize>,
    /// Dimensions of the operand that the slices lack.
    pub collapsed: Vec<usize>,
    /// Dimensions of the operand that correspond to dimensions of the indices.
    pub batching: Vec<usize>,
    /// Those dimensions of the indices.
    pub indices_batching: Vec<usize>,
    /// The dimension of the operand for each element of an index.
    pub index_map: Vec<usize>,
    /// The dimension of the indices that has an index's elements; the rank, if they have one.
    pub vector: usize,
}

impl GatherDimensions {
    /// Checks dimension numbers against the rank of the operand, the shape of the indices, and the
    /// rank of the result.
    pub fn from_numbers(
        t: &StablehloTranslator<'_>,
        op: MlirOp,
        written: &IndexingNumbers,
        operand: usize,
        indices: &TensorShape,
        result: usize,
    ) -> TranslateResult<GatherDimensions> {
        let rank = indices.len();
        let vector = usize::try_from(written.index_vector_dim).unwrap_or(usize::MAX);
        t.ensure_holds(op, vector <= rank, "has a wrong index_vector_dim")?;
        let numbers = GatherDimensions {
            offset: t.check_dimensions(op, &written.offset_dims, result)?,
            collapsed: t.check_dimensions(op, &written.collapsed_dims, operand)?,
            batching: t.check_dimensions(op, &written.operand_batching_dims, operand)?,
            indices_batching: t.check_dimensions(op, &written.indices_batching_dims, rank)?,
            index_map: t.check_dimensions(op, &written.index_map, operand)?,
            vector,
        };
        let components = indices.get(vector).copied().unwrap_or(DimExtent::Static(1));
        let batch_rank = rank - usize::from(vector < rank);
        let overlaps = numbers
            .collapsed
            .iter()
            .any(|at| numbers.batching.contains(at));
        let fits = components == DimExtent::Static(numbers.index_map.len() as u64)
            && numbers.batching.len() == numbers.indices_batching.len()
            && !numbers.indices_batching.contains(&vector)
            && !overlaps
            && operand == numbers.offset.len() + numbers.collapsed.len() + numbers.batching.len()
            && result == numbers.offset.len() + batch_rank;
        t.ensure_holds(op, fits, "has dimension numbers that do not fit")?;
        Ok(numbers)
    }

    /// Dimensions of the operand that slices have, in order.
    pub fn kept_dimensions(&self, rank: usize) -> Vec<usize> {
        let dropped = |at: &usize| self.collapsed.contains(at) || self.batching.contains(at);
        (0..rank).filter(|at| !dropped(at)).collect()
    }

    /// The indices of the point of a result that do not belong to the slice.
    pub fn batch_indices(&self, point: &[ScalarNode]) -> Vec<ScalarNode> {
        let all = point.iter().enumerate();
        all.filter(|(at, _)| !self.offset.contains(at))
            .map(|(_, node)| *node)
            .collect()
    }

    /// The position of an element of an index.
    fn index_position(
        &self,
        s: &mut StructuredOp,
        batch: &[ScalarNode],
        rank: usize,
        at: usize,
    ) -> Vec<ScalarNode> {
        let mut position = batch.to_vec();
        if self.vector < rank {
            position.insert(self.vector, s.body.intern_i64(at as i64));
        }
        position
    }

    /// Start of a batch's slice in the operand: an index for each of its dimensions. `adjust` is
    /// applied to each component of an index with its dimension.
    pub fn compute_slice_start(
        &self,
        t: &StablehloTranslator<'_>,
        s: &mut StructuredOp,
        indices: &TypedTensor,
        batch: &[ScalarNode],
        rank: usize,
        mut adjust: impl FnMut(&mut ScalarBuilder<'_>, ScalarNode, usize) -> ScalarNode,
    ) -> Vec<ScalarNode> {
        let mut start = vec![s.body.intern_i64(0); rank];
        let indices_rank = t.tensor_shape(indices).len();
        for (at, dimension) in self.index_map.iter().enumerate() {
            let position = self.index_position(s, batch, indices_rank, at);
            let index = t.read_index(s, indices, &position);
            start[*dimension] = adjust(&mut ScalarBuilder::new(&mut s.body), index, *dimension);
        }
        for (dimension, at) in self.batching.iter().zip(&self.indices_batching) {
            let at = at - usize::from(self.vector < *at);
            start[*dimension] = batch[at];
        }
        start
    }
}

/// `gather`
pub(super) fn translate_gather(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let GatherAttributes {
        dimension_numbers,
        slice_sizes,
    } = t.read_attributes(op)?;
    let slice = static_sizes(t, op, &slice_sizes.values)?;
    gather_slices(t, op, &dimension_numbers.0, &slice)
}

/// `dynamic_gather`: sizes are an operand.
pub(super) fn dynamic_gather(t: &mut StablehloTranslator<'_>, op: MlirOp) -> TranslateResult<()> {
    let DynamicGatherAttributes { dimension_numbers } = t.read_attributes(op)?;
    let slice = t.shape_operand(op, 2)?;
    gather_slices(t, op, &dimension_numbers.0, &slice)
}

fn gather_slices(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    written: &IndexingNumbers,
    slice: &TensorShape,
) -> TranslateResult<()> {
    let (operand, indices) = (t.tensor_operand(op, 0)?, t.tensor_operand(op, 1)?);
    let result = t.declared_result(op, 0)?.1.len();
    let (sizes, index_sizes) = (t.tensor_shape(&operand), t.tensor_shape(&indices));
    let is_index = matches!(indices.element, TensorElement::Int { .. });
    t.ensure_holds(op, is_index, "has indices that are not integers")?;
    let rank = sizes.len();
    let numbers = GatherDimensions::from_numbers(t, op, written, rank, &index_sizes, result)?;
    t.check_slice(op, &sizes, slice)?;
    let kept = numbers.kept_dimensions(rank);
    let shape = gather_shape(&numbers, &kept, slice, &index_sizes, result);
    let tensor = t.map_points(&shape, |t, s, point| {
        let batch = numbers.batch_indices(point);
        let mut position =
            numbers.compute_slice_start(t, s, &indices, &batch, rank, |c, index, at| {
                clamp_index(c, index, sizes[at], slice[at])
            });
        let mut c = ScalarBuilder::new(&mut s.body);
        for (from, to) in numbers.offset.iter().zip(&kept) {
            position[*to] = c.add(position[*to], point[*from]);
        }
        Ok(t.read_element(s, &operand, &position))
    })?;
    t.bind_result(op, tensor)
}

fn gather_shape(
    numbers: &GatherDimensions,
    kept: &[usize],
    slice: &TensorShape,
    indices: &TensorShape,
    rank: usize,
) -> TensorShape {
    let mut batch = indices.to_vec();
    if numbers.vector < batch.len() {
        batch.remove(numbers.vector);
    }
    let mut batch = batch.into_iter();
    let size = |at: usize| match numbers.offset.iter().position(|offset| *offset == at) {
        Some(offset) => slice[kept[offset]],
        None => batch.next().unwrap_or(DimExtent::Static(0)),
    };
    (0..rank).map(size).collect()
}
