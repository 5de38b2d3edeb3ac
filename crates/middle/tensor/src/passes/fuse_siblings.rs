//! Sibling fusion: operations over equal spaces become one if they read each other at their own points at most.
//!
//! Common operands are then read once, and there is one launch for all. Only operations whose elements lie as their
//! points do are fused, so that none spoils the schedule of another. A map may also join any reduction whose results it
//! and others read. An operation moves up to an earlier one if its other operands are defined before that. Otherwise the
//! earlier one moves down to the later one, if no operation in between needs it.

use super::epilogue_fusion;
use crate::ir::{
    NodeData, NodeGraph, OpKind, ProductPrecision, ScalarNode, StructuredOp, StructuredYield,
    TensorFunction, TensorOp, TensorValue, YieldDestination,
};
use crate::schedule::match_contraction;
use spirula_program::ScalarType;

/// Most tensors that a fused operation reads and defines.
const TENSORS: usize = 12;
/// Most nodes of a fused body.
const NODES: usize = 2048;
/// Number of earlier operations that one is compared with.
const RECENT: usize = 8;

/// Fuses siblings in all blocks.
pub(super) fn fuse_siblings(function: &mut TensorFunction) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut joiner = SiblingFusion {
            made: vec![None; function.value_count()],
            used: vec![None; function.value_count()],
            ops: Vec::with_capacity(ops.len()),
            open: Vec::new(),
        };
        for (at, op) in ops.iter().enumerate() {
            joiner.note_op(function, op, at);
        }
        for op in ops {
            joiner.add_op(op);
        }
        function.block_mut(block).ops = joiner.ops.into_iter().flatten().collect();
    }
}

struct SiblingFusion {
    /// The operation of the block that defines each value.
    made: Vec<Option<usize>>,
    /// The first operation of the block that uses each value.
    used: Vec<Option<usize>>,
    ops: Vec<Option<TensorOp>>,
    /// Operations that others may join, the newest last.
    open: Vec<usize>,
}

/// An earlier operation that one can be fused with.
struct FoundSibling {
    /// Its number in the block.
    other: usize,
    /// Whether the later operation moves up to it.
    goes_up: bool,
    /// Both together.
    fused: StructuredOp,
}

impl SiblingFusion {
    fn note_op(&mut self, function: &TensorFunction, op: &TensorOp, at: usize) {
        for value in collect_used_values(function, op) {
            self.used[value.index()].get_or_insert(at);
        }
        for result in &op.results {
            self.made[result.index()] = Some(at);
        }
    }

    fn add_op(&mut self, op: TensorOp) {
        let at = self.ops.len();
        let OpKind::Structured(own) = &op.kind else {
            self.ops.push(Some(op));
            return;
        };
        let sibling = if is_plain(own) {
            self.find_sibling(own, at)
        } else {
            None
        };
        let Some(FoundSibling {
            other,
            goes_up,
            fused,
        }) = sibling
        else {
            if is_joined_by_others(own) {
                self.open.push(at);
            }
            self.ops.push(Some(op));
            return;
        };
        let Some(mut joined) = self.ops[other].take() else {
            return;
        };
        joined.kind = OpKind::Structured(Box::new(fused));
        joined.results.extend(op.results);
        let stays = if goes_up { other } else { at };
        for result in &joined.results {
            self.made[result.index()] = Some(stays);
        }
        self.ops.push(None);
        self.ops[stays] = Some(joined);
        if !goes_up {
            self.open.retain(|at| *at != other);
            self.open.push(at);
        }
    }

    /// An earlier operation that one can be fused with.
    fn find_sibling(&self, own: &StructuredOp, at: usize) -> Option<FoundSibling> {
        let operands = own.collect_operands();
        let makers = operands.iter().filter_map(|v| self.made[v.index()]);
        let mut candidates: Vec<usize> = makers.filter(|other| *other < at).collect();
        candidates.extend(self.open.iter().rev().take(RECENT));
        candidates.into_iter().find_map(|other| {
            let earlier = self.ops[other].as_ref()?;
            let OpKind::Structured(before) = &earlier.kind else {
                return None;
            };
            let given = &earlier.results;
            let is_there = |v: &TensorValue| given.contains(v) || self.is_before(*v, other);
            let goes_up = operands.iter().all(is_there);
            let comes_down = given.iter().all(|v| self.is_unused(*v, at));
            let fused = if goes_up || comes_down {
                join_ops(before, own, given)?
            } else {
                return None;
            };
            Some(FoundSibling {
                other,
                goes_up,
                fused,
            })
        })
    }

    /// Whether a value is defined before an operation of the block.
    fn is_before(&self, value: TensorValue, at: usize) -> bool {
        self.made[value.index()].is_none_or(|made| made < at)
    }

    /// Whether nothing before an operation uses a value.
    fn is_unused(&self, value: TensorValue, until: usize) -> bool {
        self.used[value.index()].is_none_or(|used| used >= until)
    }
}

/// All values that an operation uses, also in its blocks and as sizes of its results.
fn collect_used_values(function: &TensorFunction, op: &TensorOp) -> Vec<TensorValue> {
    let mut values = op.kind.collect_operands();
    let sizes = op
        .results
        .iter()
        .flat_map(|v| function.ty(*v).dynamic_sizes());
    values.extend(sizes);
    let mut open: Vec<_> = op.kind.blocks().collect();
    while let Some(block) = open.pop() {
        let data = function.block(block);
        values.extend(&data.results);
        for op in &data.ops {
            values.extend(op.kind.collect_operands());
            values.extend(
                op.results
                    .iter()
                    .flat_map(|v| function.ty(*v).dynamic_sizes()),
            );
            open.extend(op.kind.blocks());
        }
    }
    values
}

/// Whether other operations may join this one.
fn is_joined_by_others(op: &StructuredOp) -> bool {
    let is_fold = !op.reductions.is_empty() && op.yields.iter().all(at_point);
    !op.axes.is_empty() && (is_fold || is_plain(op))
}

fn at_point(result: &StructuredYield) -> bool {
    matches!(result.destination, YieldDestination::Point)
}

/// Whether elements lie as the points do, and results are written at them.
fn is_plain(op: &StructuredOp) -> bool {
    let in_order = |position: &[ScalarNode]| {
        let axes = position.iter().map(|node| match op.body.as_literal(*node) {
            Some(_) => Ok(None),
            None => op.body.as_index(*node).map(Some).ok_or(()),
        });
        let axes: Result<Vec<Option<u32>>, ()> = axes.collect();
        axes.is_ok_and(|axes| axes.into_iter().flatten().is_sorted())
    };
    let reads = op.body.node_ids().all(|node| match op.body.node(node) {
        NodeData::Element(_, position) => in_order(position),
        _ => true,
    });
    !op.axes.is_empty()
        && op.yields.iter().all(at_point)
        && reads
        && match_contraction(op).is_none()
}

/// Two operations over one space as one. Its results are those of the first, then those of the second.
fn join_ops(
    first: &StructuredOp,
    second: &StructuredOp,
    given: &[TensorValue],
) -> Option<StructuredOp> {
    let reads_first = second
        .body
        .values_read()
        .any(|value| given.contains(&value));
    let fits = if reads_first {
        // A map after a map or a reduction.
        second.reductions.is_empty()
            && is_joined_by_others(first)
            && first.parallel_shape().eq(second.parallel_shape())
    } else {
        let are_alike = first.reductions.is_empty() == second.reductions.is_empty();
        are_alike && first.axes == second.axes && is_plain(first)
    };
    if !fits {
        return None;
    }
    let mut joined = first.clone();
    let count = first.accumulator_count();
    let ty = |node: ScalarNode| -> ScalarType { second.body.ty(node) };
    let body: &mut NodeGraph = &mut joined.body;
    let mut is_at_point = true;
    let nodes =
        body.import_nodes(
            &second.body,
            &second.collect_roots(),
            |body, node, data| match data {
                NodeData::Reduced(number) => {
                    Some(body.intern_accumulator(count as u32 + number, ty(node)))
                }
                NodeData::Element(value, position) => {
                    let number = given.iter().position(|v| v == value)?;
                    let axes = position.iter().map(|index| body.as_index(*index));
                    is_at_point &= axes.eq((0..second.axes.len() as u32).map(Some));
                    Some(first.yields[number].value)
                }
                _ => None,
            },
        );
    if !is_at_point {
        return None;
    }
    let mut nodes = nodes.into_iter();
    let mut other = second.clone();
    other.replace_roots(|_| nodes.next());
    if other.precision != joined.precision {
        joined.precision = ProductPrecision::Full;
    }
    joined.reductions.extend(other.reductions);
    joined.yields.extend(other.yields);
    let tensors = joined.collect_operands().len() + joined.yields.len();
    let is_small = joined.body.len() <= NODES && epilogue_fusion::is_small(&joined);
    (tensors <= TENSORS && is_small).then_some(joined)
}
