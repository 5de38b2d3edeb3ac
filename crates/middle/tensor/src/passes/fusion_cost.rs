//! What it costs to compute elements where they are read, beside what it costs to store them.
//!
//! Computed where it is read, an element is computed as often as that: its operators are run again, and
//! what it is made of is read again. Stored, it is computed once, written once and read as often by its
//! reader, for which there is one dispatch more. Both are counted in operators as cheap as an addition;
//! how many of them a byte is worth, and how many a dispatch, is the profile's ([`ScheduleProfile::byte`],
//! [`ScheduleProfile::again`]).
//!
//! How often an element is read depends on the reader. A fold reads at all its points, a map at its own.
//! The factors of a contraction are computed once for each tile that has them; a tile along columns needs
//! each element of the first factor, so that this is read as often as there are such tiles.

use super::use_def::TensorUses;
use crate::ir::{
    AxisKind, DenseTensorType, NodeData, NodeGraph, ScalarNode, StructuredOp, TensorFunction,
    TensorValue, YieldDestination,
};
use crate::schedule::{
    ContractionAxes, ContractionReads, ScheduleProfile, is_in_place, plan_reads,
};
use spirula_program::{ScalarOp, ScalarType};
use std::fmt;

/// Work that is done again for several readers rather than stored.
const TRIVIAL: u64 = 3;
/// Work that is done again where nobody knows how often.
const CHEAP: u64 = 8;
/// What is computed behind folds may be one in so many parts of all that its reader does.
const PART: u64 = 2;
/// Operators that may stand in a body again because it reads several elements. Rounds that read two each, as
/// those of sorts, would double with every round otherwise.
const REPEATED: u64 = 64;
/// What a product by matrices loses where it computes a factor, one operator for so many points: it takes
/// twice its time on an NVIDIA H200, even for a cast.
const BY_MATRICES: u64 = 8;
/// Tensors with so many times fewer elements than what is made of them stay in caches.
const SMALL: u64 = 16;

/// Both costs of a tensor, in operators; what they have in common is in neither.
#[derive(Clone, Copy, Debug)]
pub(super) struct FusionCost {
    /// How often its elements are computed if that happens where they are read.
    pub evaluations: u64,
    /// How many it has.
    pub elements: u64,
    /// What is computed and read again.
    pub again: u64,
    /// The memory that is written and read, and the dispatch.
    pub stored: u64,
}

impl fmt::Display for FusionCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} elements read {} times cost {} operators, {} if computed again",
            self.elements, self.evaluations, self.stored, self.again
        )
    }
}

/// Whether computing the elements of a map where they are read beats storing them.
pub(super) fn is_fusion_profitable(
    function: &TensorFunction,
    uses: &TensorUses,
    (producer, number): (&StructuredOp, usize),
    (consumer, value): (&StructuredOp, TensorValue),
    profile: &ScheduleProfile,
) -> bool {
    let cost = estimate_node_work(&producer.body, producer.yields[number].value);
    let is_alone = uses.use_count(value) == 1;
    if cost > TRIVIAL && !is_alone {
        return false;
    }
    let repeated = read_by(&consumer.body, &consumer.collect_roots(), value).saturating_sub(1);
    if repeated.saturating_mul(cost) > REPEATED {
        return false;
    }
    match estimate_fusion_cost(function, (producer, number), (consumer, value), profile) {
        Some(price) => {
            price.again <= price.stored
                || (is_alone && is_small_part(consumer, value, price.evaluations, cost))
        }
        None => cost <= TRIVIAL || (cost <= CHEAP && !consumer.reductions.is_empty()),
    }
}

/// What the result of a map costs its reader either way, where sizes are known.
pub(super) fn estimate_fusion_cost(
    function: &TensorFunction,
    (producer, number): (&StructuredOp, usize),
    (consumer, value): (&StructuredOp, TensorValue),
    profile: &ScheduleProfile,
) -> Option<FusionCost> {
    let root = producer.yields[number].value;
    let (elements, own) = (
        function.ty(value).element_count()?,
        function.ty(value).element.size(),
    );
    let evaluations = count_evaluations(consumer, value, profile)?;
    let rest = evaluations.saturating_sub(elements);
    let read = estimate_read_bytes(function, &producer.body, root, elements);
    let each =
        estimate_node_work(&producer.body, root).saturating_add(read.saturating_mul(profile.byte));
    let access = own.saturating_mul(profile.byte).saturating_add(1);
    let stored = evaluations.saturating_add(elements).saturating_mul(access);
    Some(FusionCost {
        evaluations,
        elements,
        again: rest
            .saturating_mul(each)
            .saturating_add(estimate_contraction_loss(
                consumer, value, root, producer, profile,
            )),
        stored: stored.saturating_add(profile.again),
    })
}

/// What it costs to make a tensor of a node, to read it once, and the dispatch.
pub(super) fn estimate_store_cost(
    function: &TensorFunction,
    (body, node): (&NodeGraph, ScalarNode),
    elements: u64,
    profile: &ScheduleProfile,
) -> u64 {
    let moved = estimate_read_bytes(function, body, node, elements) + 2 * body.ty(node).size();
    let each = estimate_node_work(body, node).saturating_add(moved.saturating_mul(profile.byte));
    elements.saturating_mul(each).saturating_add(profile.again)
}

/// What a contraction loses whose factors are no longer elements that are read where they are.
fn estimate_contraction_loss(
    consumer: &StructuredOp,
    value: TensorValue,
    root: ScalarNode,
    producer: &StructuredOp,
    profile: &ScheduleProfile,
) -> u64 {
    let is_factor = |contraction: &ContractionAxes| {
        let factors = contraction.factors.iter();
        let mut read = factors.map(|f| read_by(&consumer.body, &[*f], value));
        read.any(|count| count > 0)
    };
    let stays = is_in_place(&producer.body, root);
    let Some(reading) = plan_reads(consumer, profile) else {
        return 0;
    };
    if stays || !is_factor(&reading.contraction) {
        return 0;
    }
    let all = count_points(consumer).map_or(0, |(_, all)| all);
    match (reading.is_direct, reading.is_in_matrices) {
        (true, _) => all,
        (_, true) => all / BY_MATRICES,
        _ => 0,
    }
}

/// Whether what is computed again for points, not in folds, is a small part of what is done anyway.
fn is_small_part(consumer: &StructuredOp, value: TensorValue, evaluations: u64, cost: u64) -> bool {
    let is_folded = read_by(&consumer.body, &collect_folded_values(consumer), value) > 0;
    let most = own_work(consumer).map(|work| work / PART);
    !is_folded && most.is_some_and(|most| evaluations.saturating_mul(cost) <= most)
}

/// Points of the parallel axes of an operation, and of all, where they are known.
fn count_points(op: &StructuredOp) -> Option<(u64, u64)> {
    let product = |is_counted: &dyn Fn(AxisKind) -> bool| {
        let axes = op.axes.iter().filter(|axis| is_counted(axis.kind));
        let mut extents = axes.map(|axis| axis.extent.as_static());
        extents.try_fold(1u64, |n, extent| n.checked_mul(extent?))
    };
    let all = product(&|_| true)?;
    let is_row = |op: &StructuredOp| {
        let mut yields = op.yields.iter();
        yields.any(|y| !matches!(y.destination, YieldDestination::Point))
    };
    match is_row(op) {
        true => Some((all, all)),
        false => Some((product(&|kind| kind == AxisKind::Parallel)?, all)),
    }
}

/// Values that are folded.
fn collect_folded_values(op: &StructuredOp) -> Vec<ScalarNode> {
    let reductions = op.reductions.iter();
    reductions.flat_map(|r| r.values.iter().copied()).collect()
}

/// How many elements of a tensor some nodes need.
fn read_by(body: &NodeGraph, roots: &[ScalarNode], value: TensorValue) -> u64 {
    let needed = body.mark_reachable(roots);
    let is_read = |node: &ScalarNode| matches!(body.node(*node), NodeData::Element(read, _) if *read == value);
    let nodes = body.node_ids().filter(|n| needed[n.index()]);
    nodes.filter(is_read).count() as u64
}

/// How often elements of a tensor are read: once for each tile of a contraction that has them, else in
/// each round of the folds, or once for each point.
fn count_evaluations(
    op: &StructuredOp,
    value: TensorValue,
    profile: &ScheduleProfile,
) -> Option<u64> {
    let (parallel, all) = count_points(op)?;
    let all_reads = read_by(&op.body, &op.collect_roots(), value);
    let in_rounds = read_by(&op.body, &collect_folded_values(op), value);
    let at_points = (all_reads - in_rounds).saturating_mul(parallel);
    let in_rounds = match plan_reads(op, profile) {
        None => in_rounds.saturating_mul(all),
        Some(ContractionReads {
            contraction, tiles, ..
        }) => {
            let size = |axes: &[usize]| -> Option<u64> {
                axes.iter()
                    .map(|at| op.axes[*at].extent.as_static())
                    .product()
            };
            let others = [size(&contraction.columns)?, size(&contraction.rows)?];
            let tiles = [tiles[1], tiles[0]];
            let factors = contraction.factors.iter().zip(others.iter().zip(tiles));
            let reads = factors.map(|(factor, (others, tiles))| {
                let reads = read_by(&op.body, &[*factor], value);
                reads
                    .saturating_mul(all / (*others).max(1))
                    .saturating_mul(tiles)
            });
            reads.fold(0u64, u64::saturating_add)
        }
    };
    Some(at_points.saturating_add(in_rounds))
}

/// Work of all points of an operation.
fn own_work(op: &StructuredOp) -> Option<u64> {
    let (parallel, all) = count_points(op)?;
    let in_rounds = match op.reductions.is_empty() {
        true => 0,
        false => 1 + cost_of(&op.body, &collect_folded_values(op)),
    };
    let yields: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
    let at_points = cost_of(&op.body, &yields).saturating_mul(parallel);
    Some(in_rounds.saturating_mul(all).saturating_add(at_points))
}

/// Bytes that are read for an element of a result with so many, but for those that stay in caches.
fn estimate_read_bytes(
    function: &TensorFunction,
    body: &NodeGraph,
    root: ScalarNode,
    elements: u64,
) -> u64 {
    let needed = body.mark_reachable(&[root]);
    let nodes = body.node_ids().filter(|n| needed[n.index()]);
    let read = nodes.filter_map(|node| match body.node(node) {
        NodeData::Element(value, _) => Some(function.ty(*value)),
        _ => None,
    });
    let is_large = |ty: &&DenseTensorType| {
        let count = ty.element_count().unwrap_or(u64::MAX);
        count.saturating_mul(SMALL) > elements
    };
    read.filter(is_large).map(|ty| ty.element.size()).sum()
}

/// Work to compute a node: reads, and operators outside of index arithmetic and of what compares indices.
fn estimate_node_work(body: &NodeGraph, root: ScalarNode) -> u64 {
    cost_of(body, &[root])
}

/// The same of several, what they share once.
fn cost_of(body: &NodeGraph, roots: &[ScalarNode]) -> u64 {
    let needed = body.mark_reachable(roots);
    let mut is_of_indices = vec![false; body.len()];
    let mut sum = 0;
    for node in body.node_ids() {
        let own = match body.node(node) {
            NodeData::Element(..) => 1,
            NodeData::Apply(operator, _) => operator_weight(operator.op),
            _ => 0,
        };
        let mut operands = body.operands(node).iter();
        let is_of_bool =
            body.ty(node) == ScalarType::Bool && operands.all(|n| is_of_indices[n.index()]);
        let is_read = matches!(body.node(node), NodeData::Element(..));
        is_of_indices[node.index()] = body.node_bounds(node).is_some() || (is_of_bool && !is_read);
        if needed[node.index()] && !is_of_indices[node.index()] {
            sum += own;
        }
    }
    sum
}

/// What an operator costs, an addition being 1.
fn operator_weight(op: ScalarOp) -> u64 {
    use ScalarOp::{
        Abs, Add, And, Cond, Eq, FAbs, FAdd, FConv, FDiv, FLe, FLt, FMax, FMin, FMul, FNeg, FSub,
        IsNan, LogAnd, LogOr, Mul, Neg, Not, Or, Rsqrt, SExt, SLe, SLt, SToF, Sqrt, Sub, ToBool,
        UToF, Xor, ZExt,
    };
    match op {
        Abs | Add | And | Cond | Eq | FAbs | FAdd | FConv | FLe | FLt | FMax | FMin | FMul
        | FNeg | FSub | IsNan | LogAnd | LogOr | Mul | Neg | Not | Or | SExt | SLe | SLt | SToF
        | Sub | ToBool | UToF | Xor | ZExt => 1,
        FDiv | Rsqrt | Sqrt => 4,
        _ => 8,
    }
}
