//! Long folds in two rounds.
//!
//! A fold with few results keeps few workgroups busy. Its points are split into chunks that are
//! folded side by side, and what they give is folded once more. Chunks of columns are folded by an
//! invocation each, whose neighbours have the columns beside. Operations that read what a fold
//! gives stay with the second round.

use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    StructuredYield, TensorFunction, TensorOp, TensorReduction, TensorShape, TensorValue,
    YieldDestination, unflatten_index,
};
use crate::schedule::{ScheduleProfile, is_adjacent, match_contraction};
use spirula_program::{ScalarOp, ScalarType};

/// Fewest points of a chunk: below that a workgroup costs more than it saves.
const CHUNK: u64 = 4096;

/// Most chunks of a sum that is rounded at each point: the shorter they are, the less is lost.
const ROUNDED: u64 = 1024;

/// Fewest columns, points of one's chunk, and points of all that are folded side by side.
const COLUMNS: (u64, u64, u64) = (32, 128, 1 << 20);

/// Most lengths of chunks that are tried, so that all have as many points.
const TRIED: usize = 1 << 12;

/// Splits all long folds.
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

/// Whether a fold sums floats.
pub(super) fn is_rounded(op: &StructuredOp) -> bool {
    let mut reductions = op.reductions.iter();
    reductions.any(|r| r.combiner.as_operator() == Some(ScalarOp::FAdd))
}

/// How a fold is split.
pub(super) struct ReductionSplit {
    /// Sizes of the parallel axes.
    pub parallel: TensorShape,
    /// Sizes of the folded axes, which are split as one; of one alone where its size is known only
    /// when run.
    folded: TensorShape,
    /// Points of all folded axes.
    total: DimExtent,
    pub chunks: DimExtent,
    /// Points of a chunk.
    length: DimExtent,
    /// Whether the chunks are the slowest of what the first round gives, and not the fastest.
    is_chunk_first: bool,
}

/// The points of one chunk, as axes of an operation.
pub(super) struct SplitChunk {
    /// Indices of the parallel axes, and of the chunk.
    pub results: Vec<ScalarNode>,
    /// Indices along the axes of what is split.
    pub indices: Vec<ScalarNode>,
    /// Whether the point is one of what is split.
    pub inside: ScalarNode,
}

impl ReductionSplit {
    /// None where a fold is not long, has results enough, or is no plain one.
    fn from_op(op: &StructuredOp, profile: &ScheduleProfile) -> Option<ReductionSplit> {
        let is_row = |y: &StructuredYield| matches!(y.destination, YieldDestination::Each(_));
        let is_plain = !op.reductions.is_empty() && !op.yields.iter().any(is_row);
        if !is_plain || op.is_scan() || match_contraction(op).is_some() {
            return None;
        }
        match ReductionSplit::from_columns(op, profile) {
            Some(split) => Some(split),
            None => {
                let most = match is_rounded(op) {
                    true => profile.chunks.max(ROUNDED),
                    false => profile.chunks,
                };
                ReductionSplit::with_chunk_limits(op, most, CHUNK, 1)
            }
        }
    }

    /// Chunks of columns that lie side by side, an invocation each: neighbours read neighbours.
    fn from_columns(op: &StructuredOp, profile: &ScheduleProfile) -> Option<ReductionSplit> {
        let (least, length, points) = COLUMNS;
        let mut values = op.reductions.iter().flat_map(|r| &r.values);
        let is_wide = values.all(|value| op.body.ty(*value).size() >= 4);
        if !is_wide || !is_adjacent(op) {
            return None;
        }
        let mut results = op.parallel_shape().map(|dim| dim.as_static());
        let results = results.try_fold(1u64, |n, size| n.checked_mul(size?))?;
        let chunks = profile.busy_invocations().div_ceil(results.max(1));
        let split = ReductionSplit::with_chunk_limits(op, chunks.checked_mul(results)?, length, 1)?;
        let is_worth = results >= least && results * split.total.as_static()? >= points;
        is_worth.then(|| split.chunks_first(true))
    }

    /// The same with chunks that are the slowest of what the first round gives, or the fastest.
    pub fn chunks_first(self, is_chunk_first: bool) -> ReductionSplit {
        ReductionSplit {
            is_chunk_first,
            ..self
        }
    }

    /// Into chunks of at least so many points, with at most so many for all results, and multiples of so many points in
    /// each.
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

    /// Into chunks of at least so many points, with about so many for all results, where sizes are
    /// known only when run, and what computes how many chunks there are and how long they are. None
    /// where several axes are folded.
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

    /// What holds the number of chunks and their length where these are known only when run.
    pub fn dynamic_sizes(&self) -> Vec<TensorValue> {
        let sizes = [self.chunks, self.length];
        sizes.into_iter().filter_map(DimExtent::as_value).collect()
    }

    /// The type of what all chunks of all results give.
    pub fn chunk_type(&self, element: ScalarType) -> DenseTensorType {
        let mut shape = self.parallel.clone();
        shape.insert(self.chunk_at(), self.chunks);
        DenseTensorType { element, shape }
    }

    /// Where the chunks stand among the axes of what the first round gives.
    pub fn chunk_at(&self) -> usize {
        match self.is_chunk_first {
            true => 0,
            false => self.parallel.len(),
        }
    }

    /// The parallel axes of an operation, with their indices.
    pub fn over_results(&self) -> (StructuredOp, Vec<ScalarNode>) {
        let mut op = StructuredOp::with_parallel_axes(&self.parallel);
        let point = op.axis_indices();
        (op, point)
    }

    /// An axis for the chunks among those of the results, and one for their points.
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

    /// Folds each chunk by itself, from neutral elements.
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
            let guarded = guarded.map(|(value, initial)| match self.is_even() {
                true => *value,
                false => op
                    .body
                    .apply_op(ScalarOp::Cond, &[inside, *value, *initial]),
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

    /// Folds what the chunks gave.
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
        // The values of the folds are the only roots that have indices of folded axes.
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

/// Points of each of so many chunks, a multiple of a step: where that is not one, so many that all have as many, if less than
/// twice as many do.
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

/// A quotient rounded up.
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
