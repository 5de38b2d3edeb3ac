//! Split scans: long scans in chunks.
//!
//! An invocation that scans alone keeps one processor busy. Where there are few scans, their points are split into chunks.
//! Each chunk is reduced, the sums of the chunks are scanned, and each chunk is scanned from the sum of those before it.
//! The scan of the sums is split again where it is long. Points are read twice and written once. Scans by workgroups that
//! look back are not split, because they read all points once.

use super::split_reductions::{ReductionSplit, SplitChunk, is_rounded};
use crate::ir::{
    AxisKind, DenseTensorType, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp,
    StructuredYield, TensorFunction, TensorOp, TensorReduction, TensorValue, YieldDestination,
};
use crate::schedule::{ScheduleProfile, is_adjacent, is_look_back_scan, is_workgroup_scan};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;
use spirula_program::{ScalarLiteral, ScalarOp};

/// Fewest points of a chunk.
const CHUNK: u64 = 64;
/// Most points of a chunk whose sums are rounded.
const ROUNDED: u64 = 64;
/// Fewest points of a chunk that a workgroup scans.
const WORKGROUP_CHUNK: u64 = 4096;
/// The points of such a chunk are a multiple of this.
const WORKGROUP_STEP: u64 = 8;
/// Fewest chunks of a scan that are worth reading its points twice.
const FEWEST: u64 = 8;
/// Fewest chunks of a scan whose length is known only at run time.
const FEWEST_SIZED: u64 = 32;
/// Upper bound of the points along any axis.
const LONGEST: u64 = 1 << 32;

/// Splits all long scans.
pub(super) fn split_scans(function: &mut TensorFunction, profile: &ScheduleProfile) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut split = Vec::with_capacity(ops.len());
        for op in ops {
            match op.kind {
                OpKind::Structured(scan) if scan.is_scan() => {
                    let mut scans = ScanSplitter {
                        function,
                        profile,
                        place: op.place,
                        ops: &mut split,
                    };
                    scans.add_scan(*scan, op.results, LONGEST);
                }
                _ => split.push(op),
            }
        }
        function.block_mut(block).ops = split;
    }
}

struct ScanSplitter<'a> {
    function: &'a mut TensorFunction,
    profile: &'a ScheduleProfile,
    place: SourceLocation,
    ops: &'a mut Vec<TensorOp>,
}

impl ScanSplitter<'_> {
    fn push_structured(&mut self, op: StructuredOp, results: Vec<TensorValue>) {
        self.ops.push(TensorOp {
            kind: OpKind::Structured(Box::new(op)),
            results,
            place: self.place,
        });
    }

    /// Adds a scan of at most `longest` points for each result, in chunks where that is worth it.
    fn add_scan(&mut self, scan: StructuredOp, results: Vec<TensorValue>, longest: u64) {
        let Some((split, longest)) = self.choose_split(&scan, longest) else {
            return self.push_structured(scan, results);
        };
        let (sums, first) = split.first_round(self.function, &scan);
        self.push_structured(first, sums.clone());
        let types = sums.iter().map(|sum| self.function.ty(*sum).clone());
        let types: Vec<DenseTensorType> = types.collect();
        let types = types.into_iter();
        let ends: Vec<TensorValue> = types.map(|ty| self.function.new_value(ty)).collect();
        let across = self.scan_across_chunks(&split, &scan, &sums);
        self.add_scan(across, ends.clone(), longest);
        let within = self.scan_within_chunks(&split, &scan, &ends);
        self.push_structured(within, results);
    }

    /// The split of a scan where it is worth it, and the most chunks for each result.
    fn choose_split(&mut self, scan: &StructuredOp, longest: u64) -> Option<(ReductionSplit, u64)> {
        let most = self.profile.chunks.saturating_mul(self.profile.flat);
        if is_look_back_scan(scan, self.profile) {
            return None;
        }
        if scan.dynamic_sizes().next().is_none() {
            let split = if is_workgroup_scan(scan, self.profile) {
                ReductionSplit::with_chunk_limits(
                    scan,
                    self.profile.chunks,
                    WORKGROUP_CHUNK,
                    WORKGROUP_STEP,
                )?
            } else {
                // Neighbouring invocations that scan adjacent columns continue to do so.
                Self::choose_chunks(scan, most)?.chunks_first(is_adjacent(scan))
            };
            let chunks = split.chunks.as_static()?;
            return (chunks >= FEWEST).then_some((split, chunks));
        }
        let known = scan.axes.last()?.extent.as_static().unwrap_or(LONGEST);
        let longest = known.min(longest) / CHUNK;
        if longest < FEWEST_SIZED {
            return None;
        }
        let (split, sizes) = ReductionSplit::with_dynamic_sizes(self.function, scan, most, CHUNK)?;
        self.push_structured(sizes, split.dynamic_sizes());
        Some((split, longest.min(most)))
    }

    /// The split of a scan into about `most` chunks for all results. Sums of floats have more chunks where those would be
    /// long, because a sum within a chunk is rounded once for each of its points.
    fn choose_chunks(scan: &StructuredOp, most: u64) -> Option<ReductionSplit> {
        let split = ReductionSplit::with_chunk_limits(scan, most, CHUNK, 1)?;
        let rounds = is_rounded(scan);
        let sizes = scan.axes.iter().map(|axis| axis.extent.as_static());
        let points = sizes.fold(1u64, |n, size| n.saturating_mul(size.unwrap_or(1)));
        let is_worth = rounds && split.chunks.as_static()? >= FEWEST;
        let finer = is_worth
            .then(|| ReductionSplit::with_chunk_limits(scan, most.max(points / ROUNDED), CHUNK, 1));
        Some(finer.flatten().unwrap_or(split))
    }

    /// The scan of the chunks' sums.
    fn scan_across_chunks(
        &self,
        split: &ReductionSplit,
        scan: &StructuredOp,
        sums: &[TensorValue],
    ) -> StructuredOp {
        let (mut op, mut position) = split.over_results();
        let mut shape = split.parallel.clone();
        shape.insert(split.chunk_at(), split.chunks);
        let axis = op.add_axis(split.chunks, AxisKind::Reduction);
        position.insert(split.chunk_at(), axis);
        let mut sums = sums.iter();
        for reduction in &scan.reductions {
            let initial = op
                .body
                .import_nodes(&scan.body, &reduction.initial, |_, _, _| None);
            let sums = sums.by_ref().take(initial.len());
            let types = initial.iter().map(|n| op.body.ty(*n)).collect::<Vec<_>>();
            let values = sums.zip(types);
            let values = values.map(|(sum, ty)| op.body.intern_element(*sum, ty, &position));
            let values = values.collect();
            let folded = op.add_reduction(TensorReduction {
                initial,
                values,
                combiner: reduction.combiner.clone(),
            });
            op.yields
                .extend(folded.into_iter().map(|value| StructuredYield {
                    value,
                    destination: YieldDestination::Prefix {
                        indices: position.clone(),
                        shape: shape.clone(),
                    },
                }));
        }
        op
    }

    /// The scan of each chunk, from where the one before it ends.
    fn scan_within_chunks(
        &self,
        split: &ReductionSplit,
        scan: &StructuredOp,
        ends: &[TensorValue],
    ) -> StructuredOp {
        let (mut op, chunk) = split.over_chunks();
        let roots = scan.collect_roots();
        let copies = op
            .body
            .import_nodes(&scan.body, &roots, |_, _, data| match data {
                NodeData::Index(axis) => chunk.indices.get(*axis as usize).copied(),
                _ => None,
            });
        let mut copies = copies.into_iter();
        let mut copy = scan.clone();
        copy.replace_roots(|_| copies.next());
        op.yields = copy.yields;
        let mut ends = ends.iter();
        let mut whole = FxHashMap::default();
        let mut first = 0;
        for mut reduction in copy.reductions {
            for (initial, value) in reduction.initial.iter_mut().zip(&mut reduction.values) {
                if !split.is_even() {
                    // Nothing is read outside, and results there are not written.
                    *value = op
                        .body
                        .apply_op(ScalarOp::Cond, &[chunk.inside, *value, *initial]);
                }
                if let Some(end) = ends.next() {
                    *initial = emit_chunk_initial(&mut op, split, &chunk, *end, *initial);
                }
            }
            if let Some(nothing) = rounded_sum(&op.body, &reduction) {
                let before = reduction.initial[0];
                reduction.initial[0] = op.body.intern_literal(nothing);
                let own = op.body.intern_accumulator(first, nothing.ty);
                whole.insert(first, op.body.apply_op(ScalarOp::FAdd, &[before, own]));
            }
            first += reduction.initial.len() as u32;
            op.reductions.push(reduction);
        }
        let values: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
        let own = op.body.clone();
        let values = op
            .body
            .import_nodes(&own, &values, |_, _, data| match data {
                NodeData::Reduced(number) => whole.get(number).copied(),
                _ => None,
            });
        for (given, value) in op.yields.iter_mut().zip(values) {
            given.value = value;
        }
        op
    }
}

/// The neutral element of a sum of floats. Its chunks are summed by themselves, and the sum before a chunk is added to
/// each result. So a result is rounded once where it is large, not once for each point of the chunk.
fn rounded_sum(body: &NodeGraph, reduction: &TensorReduction) -> Option<ScalarLiteral> {
    let is_sum = reduction.combiner.as_operator() == Some(ScalarOp::FAdd);
    let ty = body.ty(*reduction.initial.first()?);
    reduction.combiner.neutral_element(ty).filter(|_| is_sum)
}

/// The initial value of a chunk: that of the scan for the first, otherwise the sum up to the chunk.
fn emit_chunk_initial(
    op: &mut StructuredOp,
    split: &ReductionSplit,
    chunk: &SplitChunk,
    end: TensorValue,
    initial: ScalarNode,
) -> ScalarNode {
    let own = chunk.results[split.chunk_at()];
    let body = &mut op.body;
    let (zero, one) = (body.intern_i64(0), body.intern_i64(1));
    let mut position = chunk.results.clone();
    position[split.chunk_at()] = body.apply_op(ScalarOp::Sub, &[own, one]);
    let ty = body.ty(initial);
    let end = body.intern_element(end, ty, &position);
    let is_first = body.apply_op(ScalarOp::Eq, &[own, zero]);
    body.apply_op(ScalarOp::Cond, &[is_first, initial, end])
}
