//! Split reductions: long reductions in two rounds.
//!
//! A reduction with few results keeps few workgroups busy. Its points are split into chunks that are reduced in
//! parallel, and the results of the chunks are reduced again. Chunks of columns get one invocation each, whose
//! neighbours have the adjacent columns. A product of matrices with few tiles becomes several products of parts of the
//! reduced axis ("split-K"). A product of a row and a matrix is a sum of columns. The epilogue stays with the second
//! round. A sum of the parts by the last workgroup of a tile, in the same launch, is no faster on an NVIDIA H200: fences
//! and reads of the parts take as long as a launch.
//!
//! A normalisation that adds the parts of its rows itself saves that launch, and is slower on the same device where rows are
//! few, because it has one workgroup for each row: 650 us and not 480 for a step of a decoder, 1.96 ms and not 2.01 for 64 rows.

use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    StructuredYield, TensorFunction, TensorOp, TensorReduction, TensorShape, TensorValue,
    YieldDestination, unflatten_index,
};
use crate::schedule::{ScheduleProfile, is_adjacent, match_contraction, plan_reads};
use spirula_program::{ScalarOp, ScalarType};

/// Fewest points of a chunk: with fewer a workgroup costs more than it saves.
const CHUNK: u64 = 4096;

/// Most chunks of a sum that is rounded at each point: shorter chunks lose less accuracy.
const ROUNDED: u64 = 1024;

/// Fewest columns that are reduced in parallel.
const COLUMNS: u64 = 32;
/// Fewest points of a chunk of a column.
const COLUMN_CHUNK: u64 = 128;
/// Fewest points of all columns.
const COLUMN_POINTS: u64 = 1 << 20;

/// The same for products of a row and a matrix on graphics cards.
const ROW_CHUNK: u64 = 32;
const ROW_POINTS: u64 = 1 << 14;
/// Fewest points of a chunk of a product: with fewer its results cost more than its factors.
const PRODUCT_CHUNK: u64 = 128;
/// The multiple of points of such a chunk, so that steps of tiles divide it.
const PRODUCT_STEP: u64 = 16;
/// Workgroups of products that are split, for each that keeps the device busy.
const PRODUCT_WORKGROUPS: u64 = 2;

/// Most lengths of chunks that are tried to find one that divides all points.
const TRIED: usize = 1 << 12;

/// Splits all long reductions.
pub(super) fn split_reductions(function: &mut TensorFunction, profile: &ScheduleProfile) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut split = Vec::with_capacity(ops.len());
        for mut op in ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && let Some(shape) = ReductionSplit::from_op(structured, profile)
            {
                let (values, first) = shape.first_round(function, structured);
                let second = shape.second_round(structured, &values);
                split.push(TensorOp {
                    kind: OpKind::Structured(Box::new(first)),
                    results: values,
                    place: op.place,
                });
                **structured = second;
            }
            split.push(op);
        }
        function.block_mut(block).ops = split;
    }
}

/// Whether a reduction sums floats.
pub(super) fn is_rounded(op: &StructuredOp) -> bool {
    let mut reductions = op.reductions.iter();
    reductions.any(|r| r.combiner.as_operator() == Some(ScalarOp::FAdd))
}

/// The split of a reduction.
pub(super) struct ReductionSplit {
    /// Sizes of the parallel axes.
    pub parallel: TensorShape,
    /// Sizes of the reduced axes, which are split as one. There is one where its size is known only at run time.
    folded: TensorShape,
    /// Number of points of all reduced axes.
    total: DimExtent,
    /// Number of chunks for each result.
    pub chunks: DimExtent,
    /// Number of points of a chunk.
    length: DimExtent,
    /// Whether the chunks are the slowest axis of the first round's results, and not the fastest.
    is_chunk_first: bool,
}

/// The points of one chunk, as axes of an operation.
pub(super) struct SplitChunk {
    /// Indices of the parallel axes, and of the chunk.
    pub results: Vec<ScalarNode>,
    /// Indices along the axes of the operation that is split.
    pub indices: Vec<ScalarNode>,
    /// Whether the point is inside.
    pub inside: ScalarNode,
}

impl ReductionSplit {
    /// The split of an operation; none where it is short, has enough results, or is not a plain reduction.
    fn from_op(op: &StructuredOp, profile: &ScheduleProfile) -> Option<ReductionSplit> {
        let is_row = |y: &StructuredYield| matches!(y.destination, YieldDestination::Each(_));
        let is_plain = !op.reductions.is_empty() && !op.yields.iter().any(is_row);
        if !is_plain || op.is_scan() {
            return None;
        }
        if let Some(contraction) = match_contraction(op) {
            return if profile.is_processor() {
                None
            } else if contraction.has_single_row(op) {
                ReductionSplit::from_columns(op, profile, ROW_CHUNK, ROW_POINTS)
            } else {
                ReductionSplit::from_contraction(op, profile)
            };
        }
        match ReductionSplit::from_columns(op, profile, COLUMN_CHUNK, COLUMN_POINTS) {
            Some(split) => Some(split),
            None => {
                let most = if is_rounded(op) {
                    profile.chunks.max(ROUNDED)
                } else {
                    profile.chunks
                };
                ReductionSplit::with_chunk_limits(op, most, CHUNK, 1)
            }
        }
    }

    /// The split of adjacent columns with an invocation for each chunk: neighbours read contiguous elements.
    fn from_columns(
        op: &StructuredOp,
        profile: &ScheduleProfile,
        least: u64,
        points: u64,
    ) -> Option<ReductionSplit> {
        let mut values = op.reductions.iter().flat_map(|r| &r.values);
        let is_wide = values.all(|value| op.body.ty(*value).size() >= 4);
        if !is_wide || !is_adjacent(op) {
            return None;
        }
        let results = op.count_static_points(op.axes_of_kind(AxisKind::Parallel))?;
        let chunks = profile.busy_invocations().div_ceil(results.max(1));
        let split = ReductionSplit::with_chunk_limits(op, chunks.checked_mul(results)?, least, 1)?;
        let is_worth = results >= COLUMNS && results * split.total.as_static()? >= points;
        is_worth.then(|| split.chunks_first(true))
    }

    /// The split of a product of matrices whose tiles are too few to keep the device busy.
    fn from_contraction(op: &StructuredOp, profile: &ScheduleProfile) -> Option<ReductionSplit> {
        let large_tiles = ScheduleProfile {
            busy: 1,
            ..*profile
        };
        let reads = plan_reads(op, &large_tiles)?;
        let results = op.count_static_points(op.axes_of_kind(AxisKind::Parallel))?;
        let contraction = &reads.contraction;
        let batches = results / contraction.count_results(op)?.max(1);
        let tiles = batches * reads.tiles[0] * reads.tiles[1];
        // Matrix units are fed faster than parts of their results are stored, unless factors have parts.
        let is_slow = !reads.is_direct && (!reads.is_in_matrices || reads.is_in_parts);
        if !is_slow || tiles == 0 || tiles >= profile.busy {
            return None;
        }
        let most = (PRODUCT_WORKGROUPS * profile.busy / tiles).checked_mul(results)?;
        let split = ReductionSplit::with_chunk_limits(op, most, PRODUCT_CHUNK, PRODUCT_STEP)?;
        let is_whole = reads.contraction.steps.len() == split.folded.len();
        (is_whole && split.is_even()).then(|| split.chunks_first(true))
    }

    /// The same with chunks as the slowest axis of the first round's results, or as the fastest.
    pub fn chunks_first(self, is_chunk_first: bool) -> ReductionSplit {
        ReductionSplit {
            is_chunk_first,
            ..self
        }
    }

    /// The split into at most `most` chunks for all results, each of at least `least` points and a multiple of `step`.
    pub fn with_chunk_limits(
        op: &StructuredOp,
        most: u64,
        least: u64,
        step: u64,
    ) -> Option<ReductionSplit> {
        let sizes = |kind: AxisKind| -> Option<Vec<u64>> {
            let axes = op.axes.iter().filter(|axis| axis.kind == kind);
            axes.map(|axis| axis.extent.as_static()).collect()
        };
        let parallel = sizes(AxisKind::Parallel)?;
        let folded = sizes(AxisKind::Reduction)?;
        let product = |sizes: &[u64]| sizes.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
        let (results, total) = (product(&parallel)?, product(&folded)?);
        let chunks = (most / results.max(1)).min(total / least);
        if chunks < 2 || i64::try_from(total).is_err() {
            return None;
        }
        let length = chunk_length(total, chunks, step);
        let shape = |sizes: Vec<u64>| sizes.into_iter().map(DimExtent::Static).collect();
        Some(ReductionSplit {
            parallel: shape(parallel),
            folded: shape(folded),
            total: DimExtent::Static(total),
            chunks: DimExtent::Static(total.div_ceil(length)),
            length: DimExtent::Static(length),
            is_chunk_first: false,
        })
    }

    /// The same where sizes are known only at run time, with the operation that computes the number of chunks and their
    /// length. None where several axes are reduced.
    pub fn with_dynamic_sizes(
        function: &mut TensorFunction,
        op: &StructuredOp,
        most: u64,
        least: u64,
    ) -> Option<(ReductionSplit, StructuredOp)> {
        let parallel: TensorShape = op.parallel_shape().collect();
        let [folded] = op.axes[parallel.len()..] else {
            return None;
        };
        let mut sizes = StructuredOp::default();
        let body = &mut sizes.body;
        let one = body.intern_i64(1);
        let (most, least) = (body.intern_i64(most as i64), body.intern_i64(least as i64));
        let mut results = one;
        for dim in &parallel {
            let size = body.intern_size(*dim);
            results = body.apply_op(ScalarOp::Mul, &[results, size]);
        }
        let results = body.apply_op(ScalarOp::SMax, &[results, one]);
        let chunks = body.apply_op(ScalarOp::SDiv, &[most, results]);
        let chunks = body.apply_op(ScalarOp::SMax, &[chunks, one]);
        let total = body.intern_size(folded.extent);
        let length = quotient_up(body, total, chunks);
        let length = body.apply_op(ScalarOp::SMax, &[length, least]);
        let chunks = quotient_up(body, total, length);
        sizes.add_yield(chunks);
        sizes.add_yield(length);
        let mut size = || function.new_value(DenseTensorType::from_scalar(ScalarType::I64));
        let split = ReductionSplit {
            parallel,
            folded: [folded.extent].into_iter().collect(),
            total: folded.extent,
            chunks: DimExtent::Value(size()),
            length: DimExtent::Value(size()),
            is_chunk_first: false,
        };
        Some((split, sizes))
    }

    /// The values of the number of chunks and of their length, where these are known only at run time.
    pub fn dynamic_sizes(&self) -> Vec<TensorValue> {
        let sizes = [self.chunks, self.length];
        sizes.into_iter().filter_map(DimExtent::as_value).collect()
    }

    /// The type of the first round's results.
    pub fn chunk_type(&self, element: ScalarType) -> DenseTensorType {
        let mut shape = self.parallel.clone();
        shape.insert(self.chunk_at(), self.chunks);
        DenseTensorType { element, shape }
    }

    /// The axis of the chunks in the first round's results.
    pub fn chunk_at(&self) -> usize {
        if self.is_chunk_first {
            0
        } else {
            self.parallel.len()
        }
    }

    /// An operation over the parallel axes, with their indices.
    pub fn over_results(&self) -> (StructuredOp, Vec<ScalarNode>) {
        let mut op = StructuredOp::with_parallel_axes(&self.parallel);
        let point = op.axis_indices();
        (op, point)
    }

    /// An operation over the results and the chunks, with a reduced axis for the points of a chunk.
    pub fn over_chunks(&self) -> (StructuredOp, SplitChunk) {
        let mut shape = self.parallel.clone();
        shape.insert(self.chunk_at(), self.chunks);
        let mut op = StructuredOp::with_parallel_axes(&shape);
        let results = op.axis_indices();
        let mut indices = results.clone();
        let chunk = indices.remove(self.chunk_at());
        let round = op.add_axis(self.length, AxisKind::Reduction);
        let length = op.body.intern_size(self.length);
        let first = op.body.apply_op(ScalarOp::Mul, &[chunk, length]);
        let flat = op.body.apply_op(ScalarOp::Add, &[first, round]);
        let limit = op.body.intern_size(self.total);
        let inside = op.body.apply_op(ScalarOp::SLt, &[flat, limit]);
        let folded = self.folded.iter().map(|dim| Some(dim.as_static()? as i64));
        match folded.collect::<Option<Vec<i64>>>() {
            Some(sizes) => indices.extend(unflatten_index(&mut op.body, flat, &sizes)),
            None => indices.push(flat),
        }
        let points = SplitChunk {
            results,
            indices,
            inside,
        };
        (op, points)
    }

    /// The first round: reduces each chunk by itself, from neutral elements.
    pub fn first_round(
        &self,
        function: &mut TensorFunction,
        from: &StructuredOp,
    ) -> (Vec<TensorValue>, StructuredOp) {
        let (
            mut op,
            SplitChunk {
                indices, inside, ..
            },
        ) = self.over_chunks();
        op.precision = from.precision;
        let mut values = Vec::new();
        for reduction in &from.reductions {
            let types: Vec<ScalarType> =
                reduction.values.iter().map(|n| from.body.ty(*n)).collect();
            let roots = [&reduction.values[..], &reduction.initial].concat();
            let copies = op
                .body
                .import_nodes(&from.body, &roots, |_, _, data| match data {
                    NodeData::Index(axis) => indices.get(*axis as usize).copied(),
                    _ => None,
                });
            let (folded, begun) = copies.split_at(types.len());
            let neutral = reduction.combiner.neutral_element(types[0]);
            let neutral = neutral.map(|literal| vec![op.body.intern_literal(literal)]);
            let initial = neutral.unwrap_or_else(|| begun.to_vec());
            let guarded = folded.iter().zip(&initial);
            let guarded = guarded.map(|(value, initial)| {
                if self.is_even() {
                    *value
                } else {
                    op.body
                        .apply_op(ScalarOp::Cond, &[inside, *value, *initial])
                }
            });
            let guarded = guarded.collect();
            let results = op.add_reduction(TensorReduction {
                initial,
                values: guarded,
                combiner: reduction.combiner.clone(),
            });
            for (result, ty) in results.into_iter().zip(types) {
                op.add_yield(result);
                values.push(function.new_value(self.chunk_type(ty)));
            }
        }
        (values, op)
    }

    /// Whether all points of all chunks are known to be inside.
    pub fn is_even(&self) -> bool {
        match (self.chunks, self.length, self.total) {
            (DimExtent::Static(chunks), DimExtent::Static(length), DimExtent::Static(total)) => {
                chunks * length == total
            }
            _ => false,
        }
    }

    /// The second round: reduces the results of the chunks.
    fn second_round(&self, from: &StructuredOp, values: &[TensorValue]) -> StructuredOp {
        let (mut op, mut position) = self.over_results();
        let chunk = op.add_axis(self.chunks, AxisKind::Reduction);
        position.insert(self.chunk_at(), chunk);
        let mut elements = Vec::new();
        let types = from.reductions.iter().flat_map(|r| &r.values);
        for (value, node) in values.iter().zip(types) {
            elements.push(
                op.body
                    .intern_element(*value, from.body.ty(*node), &position),
            );
        }
        let mut roots = from.collect_roots();
        let mut at = 0;
        // Only the values of reductions have indices of reduced axes.
        let mut elements = elements.into_iter();
        let mut fixed = Vec::new();
        for reduction in &from.reductions {
            let count = reduction.values.len();
            fixed.extend_from_slice(&roots[at..at + count]);
            at += 2 * count;
        }
        fixed.extend(roots.drain(at..));
        let copies = op.body.import_nodes(&from.body, &fixed, |_, _, _| None);
        let mut copies = copies.into_iter();
        op.yields = from.yields.clone();
        for reduction in &from.reductions {
            let count = reduction.values.len();
            op.reductions.push(TensorReduction {
                initial: copies.by_ref().take(count).collect(),
                values: elements.by_ref().take(count).collect(),
                combiner: reduction.combiner.clone(),
            });
        }
        let mut replaced = StructuredOp {
            yields: std::mem::take(&mut op.yields),
            ..StructuredOp::default()
        };
        replaced.replace_roots(|_| copies.next());
        op.yields = replaced.yields;
        op
    }
}

/// Number of points of each of `chunks` chunks, a multiple of `step`. For a step above 1, the number divides `total` if
/// such a number below twice as many is found.
fn chunk_length(total: u64, chunks: u64, step: u64) -> u64 {
    let length = total.div_ceil(chunks).next_multiple_of(step);
    if step == 1 {
        return length;
    }
    let longer = (length..2 * length).step_by(step as usize);
    let even = longer
        .take(TRIED)
        .find(|length| total.is_multiple_of(*length));
    even.unwrap_or(length)
}

/// The quotient, rounded up.
fn quotient_up(body: &mut NodeGraph, whole: ScalarNode, by: ScalarNode) -> ScalarNode {
    let one = body.intern_i64(1);
    let less = body.apply_op(ScalarOp::Sub, &[by, one]);
    let above = body.apply_op(ScalarOp::Add, &[whole, less]);
    body.apply_op(ScalarOp::SDiv, &[above, by])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_equal_where_a_length_is_found_soon() {
        assert_eq!(chunk_length(1 << 24, 2048, 8), 8192);
        assert_eq!(chunk_length(10_000_000, 2048, 8), 5000);
        assert_eq!(chunk_length(40_009, 9, 8), 4448);
        // A prime, of which no length is a divisor: the search ends.
        assert_eq!(chunk_length((1 << 61) - 1, 2048, 8), 1 << 50);
    }
}
