//! Operations over equal spaces that do not need each other, as one.
//!
//! What several operations read is then read once, and there is one launch for all. Only operations whose
//! elements lie as their points do are joined, so that none spoils how another is run: an operation goes
//! up to an earlier one where what it reads is there already, or an earlier one comes down to where the
//! later one is if nothing between needs it.

use crate::ir::{
    Body, Destination, Function, Node, NodeData, Op, OpKind, Structured, Value, Yield,
};
use crate::schedule::contraction;
use spirula_program::Scalar;

/// Most tensors that a joined operation reads or gives.
const TENSORS: usize = 12;
/// Most nodes of a joined body.
const NODES: usize = 2048;
/// Earlier operations that one is compared with.
const RECENT: usize = 8;

/// Joins siblings in all blocks.
pub(super) fn run(function: &mut Function) {
    for block in function.block_ids() {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut joiner = Joiner {
            made: vec![None; function.value_count()],
            used: vec![None; function.value_count()],
            ops: Vec::with_capacity(ops.len()),
            open: Vec::new(),
        };
        for (at, op) in ops.iter().enumerate() {
            joiner.note(function, op, at);
        }
        for op in ops {
            joiner.add(op);
        }
        function.block_mut(block).ops = joiner.ops.into_iter().flatten().collect();
    }
}

struct Joiner {
    /// The operation of the block that makes each value, and the first one that uses it.
    made: Vec<Option<usize>>,
    used: Vec<Option<usize>>,
    ops: Vec<Option<Op>>,
    /// Operations that others may join, the last the newest.
    open: Vec<usize>,
}

impl Joiner {
    fn note(&mut self, function: &Function, op: &Op, at: usize) {
        for value in uses(function, op) {
            self.used[value.index()].get_or_insert(at);
        }
        for result in &op.results {
            self.made[result.index()] = Some(at);
        }
    }

    fn add(&mut self, op: Op) {
        let at = self.ops.len();
        let OpKind::Structured(own) = &op.kind else {
            self.ops.push(Some(op));
            return;
        };
        if !is_plain(own) {
            self.ops.push(Some(op));
            return;
        }
        let recent = self.open.iter().rev().take(RECENT).copied();
        let sibling = recent.collect::<Vec<_>>().into_iter().find_map(|other| {
            let earlier = self.ops[other].as_ref()?;
            let OpKind::Structured(before) = &earlier.kind else {
                return None;
            };
            let goes_up = own.operands().iter().all(|v| self.is_before(*v, other));
            let comes_down = earlier.results.iter().all(|v| self.is_unused(*v, at));
            match (goes_up, comes_down) {
                (true, _) => Some((other, true, joined(before, own)?)),
                (_, true) => Some((other, false, joined(own, before)?)),
                _ => None,
            }
        });
        let Some((other, goes_up, kind)) = sibling else {
            self.ops.push(Some(op));
            self.open.push(at);
            return;
        };
        let kind = OpKind::Structured(Box::new(kind));
        let Some(earlier) = self.ops[other].take() else {
            return;
        };
        let (stays, mut first, second) = match goes_up {
            true => (other, earlier, op),
            false => (at, op, earlier),
        };
        first.kind = kind;
        for result in &second.results {
            self.made[result.index()] = Some(stays);
        }
        first.results.extend(second.results);
        self.ops.push(None);
        self.ops[stays] = Some(first);
        if !goes_up {
            self.open.retain(|at| *at != other);
            self.open.push(at);
        }
    }

    /// Whether a value is there before an operation of the block.
    fn is_before(&self, value: Value, at: usize) -> bool {
        self.made[value.index()].is_none_or(|made| made < at)
    }

    /// Whether nothing up to an operation uses a value.
    fn is_unused(&self, value: Value, until: usize) -> bool {
        self.used[value.index()].is_none_or(|used| used > until)
    }
}

/// Everything that an operation uses, also in its blocks and as sizes of what it gives.
fn uses(function: &Function, op: &Op) -> Vec<Value> {
    let mut values = op.kind.operands();
    let sizes = op.results.iter().flat_map(|v| function.ty(*v).sizes());
    values.extend(sizes);
    let mut open: Vec<_> = op.kind.blocks().collect();
    while let Some(block) = open.pop() {
        let data = function.block(block);
        values.extend(&data.results);
        for op in &data.ops {
            values.extend(op.kind.operands());
            values.extend(op.results.iter().flat_map(|v| function.ty(*v).sizes()));
            open.extend(op.kind.blocks());
        }
    }
    values
}

/// Whether elements lie as the points do, and results are written at them.
fn is_plain(op: &Structured) -> bool {
    let at_point = |y: &Yield| matches!(y.destination, Destination::Point);
    let in_order = |position: &[Node]| {
        let axes = position.iter().map(|node| match op.body.as_literal(*node) {
            Some(_) => Ok(None),
            None => op.body.as_index(*node).map(Some).ok_or(()),
        });
        let axes: Result<Vec<Option<u32>>, ()> = axes.collect();
        axes.is_ok_and(|axes| axes.into_iter().flatten().is_sorted())
    };
    let reads = op.body.ids().all(|node| match op.body.node(node) {
        NodeData::Element(_, position) => in_order(position),
        _ => true,
    });
    !op.axes.is_empty() && op.yields.iter().all(at_point) && reads && contraction(op).is_none()
}

/// Two operations over one space as one, whose results are those of the first, then those of the second.
fn joined(first: &Structured, second: &Structured) -> Option<Structured> {
    let is_fold = |op: &Structured| !op.reductions.is_empty();
    if first.axes != second.axes || is_fold(first) != is_fold(second) {
        return None;
    }
    let mut joined = first.clone();
    let count: usize = first.reductions.iter().map(|r| r.values.len()).sum();
    let ty = |node: Node| -> Scalar { second.body.ty(node) };
    let body: &mut Body = &mut joined.body;
    let nodes = body.import(
        &second.body,
        &second.roots(),
        |body, node, data| match data {
            NodeData::Reduced(number) => Some(body.reduced(count as u32 + number, ty(node))),
            _ => None,
        },
    );
    let mut nodes = nodes.into_iter();
    let mut other = second.clone();
    other.replace_roots(|_| nodes.next());
    joined.reductions.extend(other.reductions);
    joined.yields.extend(other.yields);
    let tensors = joined.operands().len() + joined.yields.len();
    (tensors <= TENSORS && joined.body.len() <= NODES).then_some(joined)
}
