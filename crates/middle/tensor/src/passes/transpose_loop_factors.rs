//! Transposed factors of loops within kernels.
//!
//! A team of invocations shares the points of a reduction along one axis, and its lanes read vectors where elements are
//! contiguous along that axis. The product of a matrix and a vector reads the matrix down its columns instead. Where no
//! iteration changes the matrix, its transpose is stored once before the loop.

use crate::ir::{
    DenseTensorType, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp, TensorBlock,
    TensorFunction, TensorOp, TensorShape, TensorValue,
};
use crate::lower::select_kernel_loops;
use crate::schedule::{ScheduleProfile, share_points};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarType;

/// Fewest elements of a factor whose transpose is worth a launch.
const FEWEST_ELEMENTS: u64 = 256;

/// Stores the transposes of the factors of all loops that a team runs.
pub(super) fn transpose_loop_factors(function: &mut TensorFunction, profile: &ScheduleProfile) {
    let loops = select_kernel_loops(function, profile).into_iter();
    let shared = loops.filter(|(_, lanes)| *lanes > 1);
    let mut shared: Vec<((TensorBlock, usize), u64)> = shared.collect();
    // Copies stand before their loop, so the last loop of a block comes first.
    shared.sort_unstable_by_key(|((block, at), _)| (block.index(), std::cmp::Reverse(*at)));
    for ((block, at), lanes) in shared {
        let op = &function.block(block).ops[at];
        let place = op.place;
        let inner = collect_inner_blocks(function, &op.kind);
        let mut unchanged = FxHashMap::default();
        add_unchanged(function, &op.kind, &mut unchanged);
        for op in inner.iter().flat_map(|block| &function.block(*block).ops) {
            add_unchanged(function, &op.kind, &mut unchanged);
        }
        let mut factors = LoopFactors {
            varying: collect_definitions(function, &inner),
            unchanged,
            transposed: FxHashMap::default(),
            copies: Vec::new(),
            lanes,
            profile,
            place,
        };
        for block in inner {
            factors.replace_in_block(function, block);
        }
        let ops = &mut function.block_mut(block).ops;
        ops.splice(at..at, factors.copies);
    }
}

fn collect_inner_blocks(function: &TensorFunction, kind: &OpKind) -> Vec<TensorBlock> {
    let mut found: Vec<TensorBlock> = kind.blocks().collect();
    let mut at = 0;
    while at < found.len() {
        let inner = function.block(found[at]).ops.iter();
        let inner: Vec<TensorBlock> = inner.flat_map(|op| op.kind.blocks()).collect();
        found.extend(inner);
        at += 1;
    }
    found
}

/// The values that blocks define.
fn collect_definitions(
    function: &TensorFunction,
    blocks: &[TensorBlock],
) -> FxHashSet<TensorValue> {
    let mut defined = FxHashSet::default();
    for block in blocks {
        let data = function.block(*block);
        defined.extend(&data.parameters);
        defined.extend(data.ops.iter().flat_map(|op| &op.results));
    }
    defined
}

/// Adds the parameters of a loop's blocks that keep their initial values.
fn add_unchanged(
    function: &TensorFunction,
    kind: &OpKind,
    unchanged: &mut FxHashMap<TensorValue, TensorValue>,
) {
    let OpKind::While {
        initial,
        condition,
        body,
    } = kind
    else {
        return;
    };
    let next = &function.block(*body).results;
    for (at, from) in initial.iter().enumerate() {
        let own = function.block(*body).parameters[at];
        if next[at] == own {
            unchanged.insert(own, *from);
            unchanged.insert(function.block(*condition).parameters[at], *from);
        }
    }
}

/// The factors of a loop.
struct LoopFactors<'p> {
    /// The values that iterations define.
    varying: FxHashSet<TensorValue>,
    /// Parameters that keep their initial values, with these.
    unchanged: FxHashMap<TensorValue, TensorValue>,
    /// Tensors with the dimension that is made the last, and their transposes.
    transposed: FxHashMap<(TensorValue, usize), TensorValue>,
    /// The operations that store these.
    copies: Vec<TensorOp>,
    lanes: u64,
    profile: &'p ScheduleProfile,
    place: SourceLocation,
}

impl LoopFactors<'_> {
    fn replace_in_block(&mut self, function: &mut TensorFunction, block: TensorBlock) {
        let mut ops = std::mem::take(&mut function.block_mut(block).ops);
        for op in &mut ops {
            if let OpKind::Structured(structured) = &mut op.kind
                && !structured.reductions.is_empty()
            {
                self.replace_factors(function, structured);
            }
        }
        function.block_mut(block).ops = ops;
    }

    fn replace_factors(&mut self, function: &mut TensorFunction, op: &mut StructuredOp) {
        let shares = share_points(op, self.profile, self.lanes);
        let Some(axis) = shares.first().and_then(|share| share.axis) else {
            return;
        };
        let mut replaced = FxHashMap::default();
        for node in op.body.node_ids() {
            let NodeData::Element(value, position) = op.body.node(node) else {
                continue;
            };
            let value = self.find_initial(*value);
            if let Some(dimension) = self.find_dimension(function, op, axis, value, position) {
                let transpose = self.store_transpose(function, value, dimension);
                replaced.insert(node, (transpose, dimension));
            }
        }
        if replaced.is_empty() {
            return;
        }
        let mut body = NodeGraph::default();
        let roots = op.collect_roots();
        let nodes = body.import_nodes(&op.body, &roots, |body, node, data| {
            let (transpose, dimension) = replaced.get(&node)?;
            let NodeData::Element(_, position) = data else {
                return None;
            };
            let mut position = position.to_vec();
            let own = position.remove(*dimension);
            position.push(own);
            Some(body.intern_element(*transpose, op.body.ty(node), &position))
        });
        op.body = body;
        let mut nodes = nodes.into_iter();
        op.replace_roots(|_| nodes.next());
    }

    /// The value that a parameter keeps, or the value itself.
    fn find_initial(&self, mut value: TensorValue) -> TensorValue {
        while let Some(initial) = self.unchanged.get(&value) {
            value = *initial;
        }
        value
    }

    /// The dimension along which invocations read a tensor that no iteration changes, where that is not the last one and a
    /// reduction runs along the last one.
    fn find_dimension(
        &self,
        function: &TensorFunction,
        op: &StructuredOp,
        axis: usize,
        value: TensorValue,
        position: &[ScalarNode],
    ) -> Option<usize> {
        let ty = function.ty(value);
        let count = ty.element_count()?;
        // A team shares operations on types with vectors alone; truth values are no factors.
        let is_truth = ty.element == ScalarType::Bool;
        if self.varying.contains(&value) || is_truth || count < FEWEST_ELEMENTS {
            return None;
        }
        let axes = position.iter().map(|node| op.body.as_index(*node));
        let axes: Vec<usize> = axes
            .map(|axis| Some(axis? as usize))
            .collect::<Option<_>>()?;
        let is_folded = *axes.last()? >= op.parallel_rank();
        let mut along = axes.iter().enumerate().filter(|(_, own)| **own == axis);
        let (dimension, _) = along.next().filter(|_| is_folded)?;
        along.next().is_none().then_some(dimension)
    }

    /// The transpose of a tensor whose dimension `dimension` is made the last.
    fn store_transpose(
        &mut self,
        function: &mut TensorFunction,
        value: TensorValue,
        dimension: usize,
    ) -> TensorValue {
        if let Some(known) = self.transposed.get(&(value, dimension)) {
            return *known;
        }
        let DenseTensorType { element, shape } = function.ty(value).clone();
        let mut turned: TensorShape = shape;
        let own = turned.remove(dimension);
        turned.push(own);
        let mut map = StructuredOp::with_parallel_axes(&turned);
        let mut point = map.axis_indices();
        if let Some(last) = point.pop() {
            point.insert(dimension, last);
        }
        let copied = map.body.intern_element(value, element, &point);
        map.add_yield(copied);
        let result = function.new_value(DenseTensorType {
            element,
            shape: turned,
        });
        self.copies.push(TensorOp {
            kind: OpKind::Structured(Box::new(map)),
            results: vec![result],
            place: self.place,
        });
        self.transposed.insert((value, dimension), result);
        result
    }
}
