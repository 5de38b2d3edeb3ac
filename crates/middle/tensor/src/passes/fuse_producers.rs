//! Producer fusion along uses and definitions, as IREE's documentation of code generation describes it for tensors.
//!
//! - *Producer into consumer*: the elements of a map are computed where they are read, if that costs less than storing
//!   them ([`super::fusion_cost`]). The index maps of the reader are composed with those of the producer.
//! - *Reshapes* become index maps where these need no quotients, or where the operation before the reshape is fused too.
//! - *Consumer into reduction*: [`super::epilogue_fusion`].
//!
//! Operations are visited in order. So producers have been fused themselves before they are fused, and epilogues are
//! part of a reduction before its readers are visited.

use super::epilogue_fusion;
use super::fuse_row_reductions::is_fusible_map;
use super::fusion_cost::{
    FusionConsumer, FusionProducer, estimate_fusion_cost, is_fusion_profitable,
};
use super::updated_tensors::UpdatedTensors;
use super::use_def::{TensorOpPosition, TensorUses};
use crate::ir::{
    DenseTensorType, NodeData, NodeGraph, OpKind, ScalarNode, StructuredOp, TensorFunction,
    TensorValue,
};
use crate::schedule::{ScheduleProfile, match_contraction};
use spirula_program::ScalarOp;

/// Most nodes of a fused body.
const NODES: usize = 4096;
/// Most tensors that one operation reads.
const OPERANDS: usize = 10;

/// Fuses all blocks of a function.
pub(super) fn fuse_producers(function: &mut TensorFunction, profile: &ScheduleProfile) {
    let mut uses = TensorUses::from_function(function);
    let updated = UpdatedTensors::from_function(function);
    for block in function.block_ids() {
        for at in 0..function.block(block).ops.len() {
            // Operations without uses are removed at the end.
            let results = &function.block(block).ops[at].results;
            if results.iter().all(|v| uses.use_count(*v) == 0) {
                continue;
            }
            let next = |function: &TensorFunction, uses: &TensorUses| {
                let fused = fuse_reads(function, uses, &updated, (block, at), profile);
                fused.or_else(|| epilogue_fusion::fuse_epilogue(function, uses, (block, at)))
            };
            while let Some(fused) = next(function, &uses) {
                uses.replace_kind(function, (block, at), OpKind::Structured(Box::new(fused)));
            }
        }
    }
    super::dce::eliminate_dead_code(function);
}

/// Remarks about maps that were not fused into their readers because that costs more.
pub(super) fn note_unfused_results(
    function: &TensorFunction,
    profile: &ScheduleProfile,
) -> Vec<String> {
    let uses = TensorUses::from_function(function);
    let mut notes = Vec::new();
    for block in function.block_ids() {
        for op in &function.block(block).ops {
            let OpKind::Structured(consumer) = &op.kind else {
                continue;
            };
            for value in consumer.collect_operands() {
                let Some((OpKind::Structured(producer), number)) =
                    uses.defining_kind(function, value)
                else {
                    continue;
                };
                let from = FusionProducer {
                    op: producer,
                    result: number,
                };
                let to = FusionConsumer {
                    op: consumer,
                    value,
                };
                let cost = estimate_fusion_cost(function, from, to, profile);
                if let Some(cost) = cost.filter(|c| producer.is_map() && c.again > c.stored) {
                    notes.push(format!(
                        "{value:?} is stored for {:?}: {cost}",
                        op.results[0]
                    ));
                }
            }
        }
    }
    notes
}

/// An operation with the producer of a tensor that it reads fused into it, if there is one.
fn fuse_reads(
    function: &TensorFunction,
    uses: &TensorUses,
    updated: &UpdatedTensors,
    position: TensorOpPosition,
    profile: &ScheduleProfile,
) -> Option<StructuredOp> {
    let (block, at) = position;
    let OpKind::Structured(consumer) = &function.block(block).ops[at].kind else {
        return None;
    };
    let consumer: &StructuredOp = consumer;
    let operands = consumer.collect_operands();
    let most = OPERANDS.max(operands.len());
    let fused = operands.into_iter().filter_map(|value| {
        let fused = fuse_value(function, uses, consumer, value, profile)?;
        let is_allowed = match uses.defining_kind(function, value) {
            Some((OpKind::Structured(producer), _)) => {
                updated.allow_fusion(producer, &fused, position)
            }
            _ => true,
        };
        is_allowed.then_some(fused)
    });
    let was_small = epilogue_fusion::is_small(consumer);
    let mut small = fused.filter(|f| {
        let is_small = f.body.len() <= NODES && (epilogue_fusion::is_small(f) || !was_small);
        is_small && f.collect_operands().len() <= most
    });
    small.next()
}

/// The consumer with the producer of a value fused into it, where that pays.
fn fuse_value(
    function: &TensorFunction,
    uses: &TensorUses,
    consumer: &StructuredOp,
    value: TensorValue,
    profile: &ScheduleProfile,
) -> Option<StructuredOp> {
    let is_read =
        |node| matches!(consumer.body.node(node), NodeData::Element(read, _) if *read == value);
    if !consumer.body.node_ids().any(is_read) {
        return None;
    }
    let to = FusionConsumer {
        op: consumer,
        value,
    };
    let pays = |op: &StructuredOp, result: usize| {
        is_fusion_profitable(function, uses, FusionProducer { op, result }, to, profile)
    };
    match uses.defining_kind(function, value)? {
        (OpKind::Structured(producer), number) if producer.is_map() => {
            let is_fused =
                pays(producer, number) && !is_normalised_factor(function, uses, to, profile);
            is_fused.then(|| inline_producer(consumer, value, producer, number))
        }
        (OpKind::Reshape(source), _) => {
            let through = through_reshape(function, consumer, value, *source)?;
            let is_free = count_divisions(&through.body, &through.collect_roots())
                <= count_divisions(&consumer.body, &consumer.collect_roots());
            let source_fuses = || match uses.defining_kind(function, *source) {
                Some((OpKind::Structured(producer), number)) if producer.is_map() => {
                    let alone = uses.use_count(value) == 1 && uses.use_count(*source) == 1;
                    alone && pays(producer, number)
                }
                _ => false,
            };
            (is_free || source_fuses()).then_some(through)
        }
        _ => None,
    }
}

/// Whether a value is a factor of a contraction whose rows are normalised. Row fusion makes one kernel of the normalisation, while
/// a product that computes the factor needs the results of each reduction from a kernel of its own. Processors store such factors
/// later, where that pays.
fn is_normalised_factor(
    function: &TensorFunction,
    uses: &TensorUses,
    consumer: FusionConsumer<'_>,
    profile: &ScheduleProfile,
) -> bool {
    let maker = uses.defining_op(consumer.value);
    !profile.is_processor()
        && match_contraction(consumer.op).is_some()
        && maker.is_some_and(|(at, _)| is_fusible_map(function, uses, at, profile))
}

/// Number of quotients and remainders of index arithmetic.
fn count_divisions(body: &NodeGraph, roots: &[ScalarNode]) -> usize {
    let needed = body.mark_reachable(roots);
    let is_quotient = |node: &ScalarNode| match body.as_apply(*node) {
        Some((operator, _)) => matches!(operator.op, ScalarOp::SDiv | ScalarOp::SMod),
        None => false,
    };
    let nodes = body.node_ids().filter(|n| needed[n.index()]);
    nodes.filter(is_quotient).count()
}

/// The consumer with a copy of a producer in place of reads of its result.
fn inline_producer(
    consumer: &StructuredOp,
    value: TensorValue,
    producer: &StructuredOp,
    number: usize,
) -> StructuredOp {
    let root = producer.yields[number].value;
    rebuild_op(consumer, |body, data| {
        let NodeData::Element(read, position) = data else {
            return None;
        };
        if *read != value {
            return None;
        }
        let copy = body.import_nodes(&producer.body, &[root], |_, _, data| match data {
            NodeData::Index(axis) => position.get(*axis as usize).copied(),
            _ => None,
        });
        copy.first().copied()
    })
}

/// The consumer with reads of a reshaped tensor in place of reads of the reshape.
fn through_reshape(
    function: &TensorFunction,
    consumer: &StructuredOp,
    value: TensorValue,
    source: TensorValue,
) -> Option<StructuredOp> {
    let (to, from) = (function.ty(value), function.ty(source));
    let sizes = static_shape(to).zip(static_shape(from))?;
    let element = from.element;
    Some(rebuild_op(consumer, |body, data| match data {
        NodeData::Element(read, position) if *read == value => {
            let position = reshape_position(body, position, &sizes.0, &sizes.1);
            Some(body.intern_element(source, element, &position))
        }
        _ => None,
    }))
}

pub(super) fn static_shape(ty: &DenseTensorType) -> Option<Vec<i64>> {
    let sizes = ty.shape.iter().map(|dim| dim.as_static().map(|s| s as i64));
    let sizes: Option<Vec<i64>> = sizes.collect();
    sizes.filter(|sizes| !sizes.contains(&0))
}

/// A position in one shape as the position of the same element in another.
pub(super) fn reshape_position(
    body: &mut NodeGraph,
    position: &[ScalarNode],
    from: &[i64],
    to: &[i64],
) -> Vec<ScalarNode> {
    let mut flat = body.intern_i64(0);
    for (index, size) in position.iter().zip(from) {
        let size = body.intern_i64(*size);
        flat = body.apply_op(ScalarOp::Mul, &[flat, size]);
        flat = body.apply_op(ScalarOp::Add, &[flat, *index]);
    }
    crate::ir::unflatten_index(body, flat, to)
}

/// A structured operation over a copy of its body in which some nodes are replaced. `replace` is given nodes whose
/// operands are those of the copy.
fn rebuild_op(
    op: &StructuredOp,
    mut replace: impl FnMut(&mut NodeGraph, &NodeData) -> Option<ScalarNode>,
) -> StructuredOp {
    let roots = op.collect_roots();
    let mut body = NodeGraph::default();
    let copies = body.import_nodes(&op.body, &roots, |body, _, data| replace(body, data));
    let mut copies = copies.into_iter();
    let mut copy = op.clone();
    copy.replace_roots(|_| copies.next());
    copy.body = body;
    copy
}
