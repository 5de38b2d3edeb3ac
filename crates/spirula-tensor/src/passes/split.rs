//! Long folds in two rounds.
//!
//! A fold with few results keeps few workgroups busy. Its points are split into chunks that are
//! folded side by side, and what they give is folded once more. Operations that read what a fold
//! gives stay with the second round.

use crate::ir::{
    AxisKind, Destination, Dim, Function, Node, NodeData, Op, OpKind, Reduction, Structured,
    TensorType, Value, Yield, unflatten,
};
use crate::schedule::{Profile, contraction};
use spirula_program::{Op as ScalarOp, Scalar};

/// Fewest points of a chunk: below that a workgroup costs more than it saves.
const CHUNK: u64 = 4096;

/// Splits all long folds.
pub(super) fn run(function: &mut Function, profile: &Profile) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut split = Vec::with_capacity(ops.len());
        for mut op in ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && let Some(shape) = Split::of(structured, profile)
            {
                let (values, first) = shape.first_round(function, structured);
                let second = shape.second_round(structured, &values);
                split.push(Op {
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

/// How a fold is split.
pub(super) struct Split {
    /// Sizes of the parallel axes.
    pub parallel: Vec<u64>,
    /// Sizes of the folded axes, which are split as one.
    folded: Vec<i64>,
    /// Points of all folded axes.
    total: u64,
    pub chunks: u64,
    /// Points of a chunk.
    length: u64,
}

/// The points of one chunk, as axes of an operation.
pub(super) struct Chunk {
    /// Indices of the parallel axes, and of the chunk.
    pub results: Vec<Node>,
    /// Indices along the axes of what is split.
    pub indices: Vec<Node>,
    /// Whether the point is one of what is split.
    pub inside: Node,
}

impl Split {
    /// None where a fold is not long, has results enough, or is no plain one.
    fn of(op: &Structured, profile: &Profile) -> Option<Split> {
        let is_row = |y: &Yield| matches!(y.destination, Destination::Each(_));
        let is_plain = !op.reductions.is_empty() && !op.yields.iter().any(is_row);
        if !is_plain || op.is_scan() || contraction(op).is_some() {
            return None;
        }
        Split::into(op, profile.chunks, CHUNK)
    }

    /// Into chunks of at least so many points, with at most so many for all results.
    pub fn into(op: &Structured, most: u64, least: u64) -> Option<Split> {
        let sizes = |kind: AxisKind| -> Option<Vec<u64>> {
            let axes = op.axes.iter().filter(|axis| axis.kind == kind);
            axes.map(|axis| axis.extent.known()).collect()
        };
        let parallel = sizes(AxisKind::Parallel)?;
        let folded = sizes(AxisKind::Reduction)?;
        let product = |sizes: &[u64]| sizes.iter().try_fold(1u64, |n, size| n.checked_mul(*size));
        let (results, total) = (product(&parallel)?, product(&folded)?);
        let chunks = (most / results.max(1)).min(total / least);
        if chunks < 2 || i64::try_from(total).is_err() {
            return None;
        }
        let length = total.div_ceil(chunks);
        Some(Split {
            parallel,
            folded: folded.into_iter().map(|size| size as i64).collect(),
            total,
            chunks: total.div_ceil(length),
            length,
        })
    }

    /// The parallel axes of an operation, with their indices.
    pub fn over_results(&self) -> (Structured, Vec<Node>) {
        let shape: Vec<Dim> = self.parallel.iter().map(|n| Dim::Static(*n)).collect();
        let mut op = Structured::parallel(&shape);
        let point = op.point();
        (op, point)
    }

    /// An axis for the chunks behind those of the results, and one for their points.
    pub fn over_chunks(&self) -> (Structured, Chunk) {
        let (mut op, mut indices) = self.over_results();
        let chunk = op.axis(Dim::Static(self.chunks), AxisKind::Parallel);
        let round = op.axis(Dim::Static(self.length), AxisKind::Reduction);
        let length = op.body.i64(self.length as i64);
        let first = op.body.op(ScalarOp::Mul, &[chunk, length]);
        let flat = op.body.op(ScalarOp::Add, &[first, round]);
        let limit = op.body.i64(self.total as i64);
        let inside = op.body.op(ScalarOp::SLt, &[flat, limit]);
        let results = [&indices[..], &[chunk]].concat();
        indices.extend(unflatten(&mut op.body, flat, &self.folded));
        let points = Chunk {
            results,
            indices,
            inside,
        };
        (op, points)
    }

    /// Folds each chunk by itself, from neutral elements.
    pub fn first_round(
        &self,
        function: &mut Function,
        from: &Structured,
    ) -> (Vec<Value>, Structured) {
        let (
            mut op,
            Chunk {
                indices, inside, ..
            },
        ) = self.over_chunks();
        let mut values = Vec::new();
        for reduction in &from.reductions {
            let types: Vec<Scalar> = reduction.values.iter().map(|n| from.body.ty(*n)).collect();
            let roots = [&reduction.values[..], &reduction.initial].concat();
            let copies = op.body.import(&from.body, &roots, |_, _, data| match data {
                NodeData::Index(axis) => indices.get(*axis as usize).copied(),
                _ => None,
            });
            let (folded, begun) = copies.split_at(types.len());
            let neutral = reduction.combiner.neutral(types[0]);
            let neutral = neutral.map(|literal| vec![op.body.literal(literal)]);
            let initial = neutral.unwrap_or_else(|| begun.to_vec());
            let guarded = folded.iter().zip(&initial);
            let guarded = guarded.map(|(value, initial)| match self.is_even() {
                true => *value,
                false => op.body.op(ScalarOp::Cond, &[inside, *value, *initial]),
            });
            let guarded = guarded.collect();
            let results = op.fold(Reduction {
                initial,
                values: guarded,
                combiner: reduction.combiner.clone(),
            });
            let shape = [&self.parallel[..], &[self.chunks]].concat();
            for (result, ty) in results.into_iter().zip(types) {
                op.give(result);
                values.push(function.new_value(TensorType::new(ty, &shape)));
            }
        }
        (values, op)
    }

    /// Whether all points of all chunks are inside.
    pub fn is_even(&self) -> bool {
        self.chunks * self.length == self.total
    }

    /// Folds what the chunks gave.
    fn second_round(&self, from: &Structured, values: &[Value]) -> Structured {
        let (mut op, mut position) = self.over_results();
        let chunk = op.axis(Dim::Static(self.chunks), AxisKind::Reduction);
        position.push(chunk);
        let mut elements = Vec::new();
        let types = from.reductions.iter().flat_map(|r| &r.values);
        for (value, node) in values.iter().zip(types) {
            elements.push(op.body.element(*value, from.body.ty(*node), &position));
        }
        let mut roots = from.roots();
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
        let copies = op.body.import(&from.body, &fixed, |_, _, _| None);
        let mut copies = copies.into_iter();
        op.yields = from.yields.clone();
        for reduction in &from.reductions {
            let count = reduction.values.len();
            op.reductions.push(Reduction {
                initial: copies.by_ref().take(count).collect(),
                values: elements.by_ref().take(count).collect(),
                combiner: reduction.combiner.clone(),
            });
        }
        let mut replaced = Structured {
            yields: std::mem::take(&mut op.yields),
            ..Structured::default()
        };
        replaced.replace_roots(|_| copies.next());
        op.yields = replaced.yields;
        op
    }
}
