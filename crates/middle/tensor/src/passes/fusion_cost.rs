//! Fusion cost: computing elements where they are read, compared with storing them.
//!
//! An element that is computed where it is read is computed once for each read: its operators run again, and its operands
//! are read again. An element that is stored is computed once, written once, and read once for each read; there is one
//! dispatch more. Both costs are in operators as cheap as an addition. The profile has the cost of a byte and that of a
//! dispatch ([`ScheduleProfile::byte`], [`ScheduleProfile::again`]).
//!
//! The number of reads depends on the reader. A reduction reads at all its points, a map at its own. The factors of a
//! contraction are computed once for each tile that has them. A tile along columns needs each element of the first
//! factor, so this is read as often as there are such tiles.

use super::use_def::TensorUses;
use crate::ir::{
    AxisKind, DenseTensorType, NodeData, NodeGraph, ScalarNode, StructuredOp, TensorFunction,
    TensorValue, YieldDestination,
};
use crate::schedule::{
    ContractionAxes, ContractionReads, ScheduleProfile, find_alternative_axes, is_in_place,
    plan_reads,
};
use spirula_program::{ScalarOp, ScalarType};
use std::fmt;

/// Most work that is repeated for several readers rather than stored.
const TRIVIAL: u64 = 3;
/// Most work that is repeated where the number of reads is not known.
const CHEAP: u64 = 8;
/// Repeated work at points may be the reader's own work divided by this number.
const PART: u64 = 2;
/// Most operators that a body repeats because it reads several elements. Without it, steps that read two elements each,
/// such as those of sorts, would double with each step.
const REPEATED: u64 = 64;
/// Loss of a product by matrices that computes a factor: one operator for this number of points. It takes twice the time on an
/// NVIDIA H200, even for a cast.
const BY_MATRICES: u64 = 8;
/// Tensors stay in caches if the result has at least this number of elements for each of theirs.
const SMALL: u64 = 16;

/// Both costs of a tensor, in operators. Common parts are in neither.
#[derive(Clone, Copy, Debug)]
pub(super) struct FusionCost {
    /// Number of computations of elements, if they are computed where they are read.
    pub evaluations: u64,
    /// Number of elements.
    pub elements: u64,
    /// Cost of repeated computations and reads.
    pub again: u64,
    /// Cost of writes and reads of memory, and of the dispatch.
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

/// A map and one of its results.
#[derive(Clone, Copy)]
pub(super) struct FusionProducer<'a> {
    pub op: &'a StructuredOp,
    pub result: usize,
}

impl FusionProducer<'_> {
    /// The node of the result.
    fn root(self) -> ScalarNode {
        self.op.yields[self.result].value
    }
}

/// An operation and a tensor that it reads.
#[derive(Clone, Copy)]
pub(super) struct FusionConsumer<'a> {
    pub op: &'a StructuredOp,
    pub value: TensorValue,
}

/// Whether computing the elements of a map where they are read costs less than storing them.
pub(super) fn is_fusion_profitable(
    function: &TensorFunction,
    uses: &TensorUses,
    producer: FusionProducer<'_>,
    consumer: FusionConsumer<'_>,
    profile: &ScheduleProfile,
) -> bool {
    let cost = estimate_node_work(&producer.op.body, producer.root());
    let reader = consumer.op;
    let is_alone = uses.use_count(consumer.value) == 1;
    if cost > TRIVIAL && !is_alone {
        return false;
    }
    let reads = count_reads(&reader.body, &reader.collect_roots(), consumer.value);
    let alternatives = find_alternative_axes(producer.op);
    if cost > CHEAP && !alternatives.is_empty() {
        // Elsewhere each point would compute all of them.
        let shape = function.ty(consumer.value).shape.iter().copied();
        let is_reshaped = !producer.op.parallel_shape().eq(shape);
        return is_alone
            && reads == 1
            && !is_reshaped
            && keeps_axes(consumer, producer.op, &alternatives);
    }
    let repeated = (reads / count_shared_points(reader)).saturating_sub(1);
    if repeated.saturating_mul(cost) > REPEATED {
        return false;
    }
    match estimate_fusion_cost(function, producer, consumer, profile) {
        Some(both) => {
            both.again <= both.stored
                || (is_alone && is_small_part(consumer, both.evaluations, cost))
        }
        None => cost <= TRIVIAL || (cost <= CHEAP && !reader.reductions.is_empty()),
    }
}

/// Whether a map reads a tensor, which has the shape of its producer, at plain indices along some axes of this.
fn keeps_axes(consumer: FusionConsumer<'_>, producer: &StructuredOp, axes: &[usize]) -> bool {
    let FusionConsumer { op, value } = consumer;
    let is_kept = |position: &[ScalarNode], at: usize| {
        let axis = op.body.as_index(position[at]).map(|axis| axis as usize);
        axis.is_some_and(|axis| op.axes[axis].extent == producer.axes[at].extent)
    };
    op.is_map()
        && op.body.node_ids().all(|node| match op.body.node(node) {
            NodeData::Element(read, position) if *read == value => {
                axes.iter().all(|at| is_kept(position, *at))
            }
            _ => true,
        })
}

/// Number of points of a map that share what they read.
fn count_shared_points(op: &StructuredOp) -> u64 {
    op.count_static_points(find_alternative_axes(op))
        .unwrap_or(1)
}

/// Both costs of the result of a map for its reader, where sizes are known.
pub(super) fn estimate_fusion_cost(
    function: &TensorFunction,
    producer: FusionProducer<'_>,
    consumer: FusionConsumer<'_>,
    profile: &ScheduleProfile,
) -> Option<FusionCost> {
    let (body, root) = (&producer.op.body, producer.root());
    let ty = function.ty(consumer.value);
    let (elements, own) = (ty.element_count()?, ty.element.size());
    let evaluations = count_evaluations(consumer, profile)?;
    let rest = evaluations.saturating_sub(elements);
    let read = estimate_read_bytes(function, body, root, elements);
    let each = estimate_node_work(body, root).saturating_add(read.saturating_mul(profile.byte));
    let access = own.saturating_mul(profile.byte).saturating_add(1);
    let stored = evaluations.saturating_add(elements).saturating_mul(access);
    Some(FusionCost {
        evaluations,
        elements,
        again: rest
            .saturating_mul(each)
            .saturating_add(estimate_contraction_loss(producer, consumer, profile)),
        stored: stored.saturating_add(profile.again),
    })
}

/// The cost of storing a node in a tensor, of reading it once, and of the dispatch.
pub(super) fn estimate_store_cost(
    function: &TensorFunction,
    body: &NodeGraph,
    node: ScalarNode,
    elements: u64,
    profile: &ScheduleProfile,
) -> u64 {
    let moved = estimate_read_bytes(function, body, node, elements) + 2 * body.ty(node).size();
    let each = estimate_node_work(body, node).saturating_add(moved.saturating_mul(profile.byte));
    elements.saturating_mul(each).saturating_add(profile.again)
}

/// The loss of a contraction whose factors are not read in place any more.
fn estimate_contraction_loss(
    producer: FusionProducer<'_>,
    consumer: FusionConsumer<'_>,
    profile: &ScheduleProfile,
) -> u64 {
    let FusionConsumer { op, value } = consumer;
    let is_factor = |contraction: &ContractionAxes| {
        let factors = contraction.factors.iter();
        let mut read = factors.map(|f| count_reads(&op.body, &[*f], value));
        read.any(|count| count > 0)
    };
    let stays = is_in_place(&producer.op.body, producer.root());
    let Some(reading) = plan_reads(op, profile) else {
        return 0;
    };
    if stays || !is_factor(&reading.contraction) {
        return 0;
    }
    let all = count_points(op).map_or(0, |points| points.all);
    if reading.is_direct {
        all
    } else if reading.is_in_matrices {
        all / BY_MATRICES
    } else {
        0
    }
}

/// Whether repeated work at points, outside of reductions, is a small part of the reader's own work.
fn is_small_part(consumer: FusionConsumer<'_>, evaluations: u64, cost: u64) -> bool {
    let FusionConsumer { op, value } = consumer;
    let is_folded = count_reads(&op.body, &collect_folded_values(op), value) > 0;
    let most = estimate_op_work(op).map(|work| work / PART);
    !is_folded && most.is_some_and(|most| evaluations.saturating_mul(cost) <= most)
}

/// Numbers of points of an operation.
struct PointCounts {
    /// Points at which results are written.
    written: u64,
    /// Points of all axes.
    all: u64,
}

/// The numbers of points of an operation, where they are known.
fn count_points(op: &StructuredOp) -> Option<PointCounts> {
    let all = op.count_static_points(0..op.axes.len())?;
    let is_row = |op: &StructuredOp| {
        let mut yields = op.yields.iter();
        yields.any(|y| !matches!(y.destination, YieldDestination::Point))
    };
    if is_row(op) {
        Some(PointCounts { written: all, all })
    } else {
        let written = op.count_static_points(op.axes_of_kind(AxisKind::Parallel))?;
        Some(PointCounts { written, all })
    }
}

/// Values that are reduced.
fn collect_folded_values(op: &StructuredOp) -> Vec<ScalarNode> {
    let reductions = op.reductions.iter();
    reductions.flat_map(|r| r.values.iter().copied()).collect()
}

/// Number of elements of a tensor that some nodes need.
pub(super) fn count_reads(body: &NodeGraph, roots: &[ScalarNode], value: TensorValue) -> u64 {
    let needed = body.mark_reachable(roots);
    let is_read = |node: &ScalarNode| matches!(body.node(*node), NodeData::Element(read, _) if *read == value);
    let nodes = body.node_ids().filter(|n| needed[n.index()]);
    nodes.filter(is_read).count() as u64
}

/// Number of reads of a tensor's elements. They are read once for each tile of a contraction that has them, otherwise
/// in each iteration of the reductions, or once for each point.
fn count_evaluations(consumer: FusionConsumer<'_>, profile: &ScheduleProfile) -> Option<u64> {
    let FusionConsumer { op, value } = consumer;
    let PointCounts { written, all } = count_points(op)?;
    let all_reads = count_reads(&op.body, &op.collect_roots(), value);
    let in_rounds = count_reads(&op.body, &collect_folded_values(op), value);
    let at_points = (all_reads - in_rounds).saturating_mul(written / count_shared_points(op));
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
                let reads = count_reads(&op.body, &[*factor], value);
                reads
                    .saturating_mul(all / (*others).max(1))
                    .saturating_mul(tiles)
            });
            reads.fold(0u64, u64::saturating_add)
        }
    };
    Some(at_points.saturating_add(in_rounds))
}

/// The work of all points of an operation.
fn estimate_op_work(op: &StructuredOp) -> Option<u64> {
    let PointCounts { written, all } = count_points(op)?;
    let in_rounds = if op.reductions.is_empty() {
        0
    } else {
        1 + estimate_work(&op.body, &collect_folded_values(op))
    };
    let yields: Vec<ScalarNode> = op.yields.iter().map(|y| y.value).collect();
    let at_points = estimate_work(&op.body, &yields).saturating_mul(written);
    Some(in_rounds.saturating_mul(all).saturating_add(at_points))
}

/// Bytes that are read for each element of a result of `elements`, without those that stay in caches.
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

/// The work of a node: reads, and operators other than index arithmetic and comparisons of indices.
fn estimate_node_work(body: &NodeGraph, root: ScalarNode) -> u64 {
    estimate_work(body, &[root])
}

/// The same of several nodes; shared operands count once.
fn estimate_work(body: &NodeGraph, roots: &[ScalarNode]) -> u64 {
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

/// The cost of an operator; that of an addition is 1.
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
