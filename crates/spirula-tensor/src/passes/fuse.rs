//! Fusion by use and definition, as the document on IREE's code generation describes it for tensors.
//!
//! - *Producer into consumer*: an element that a map computes is computed where it is read, with the
//!   reader's index maps composed with the producer's. Broadcasts, transpositions, slices and the like
//!   always; work that would be done again for several readers only where it is cheap.
//! - *Reshapes* become index maps where these come out without quotients, or where what is reshaped
//!   is fused in turn.
//! - *Consumer into fold*: a map that reads the result of a fold at its own point, and alone, is
//!   computed after the fold.
//!
//! Operations are visited in order, so that what is fused has been fused itself.

use super::uses::{At, Uses};
use crate::ir::{Body, Dim, Function, Node, NodeData, OpKind, Structured, TensorType, Value};
use crate::schedule::Profile;
use spirula_program::Op as ScalarOp;

/// Most nodes of a fused body.
const NODES: usize = 4096;
/// Most tensors that one operation reads.
const OPERANDS: usize = 10;
/// Work that is always done again rather than stored.
const TRIVIAL: u64 = 3;
/// Work that is done again for each reader of a contraction.
const CHEAP: u64 = 8;

/// Fuses all blocks of a function. Operations that are not needed afterwards stay.
pub(super) fn run(function: &mut Function, profile: &Profile) {
    let mut uses = Uses::of(function);
    for block in function.block_ids() {
        for at in 0..function.block(block).ops.len() {
            while let Some(fused) = fuse_reads(function, &uses, (block, at), profile) {
                uses.replace(function, (block, at), OpKind::Structured(Box::new(fused)));
            }
        }
    }
    // What was fused is still there, and would be taken for what follows a fold.
    super::dce::run(function);
    uses = Uses::of(function);
    for block in function.block_ids() {
        for at in 0..function.block(block).ops.len() {
            if let Some(joined) = after_fold(function, &uses, (block, at)) {
                uses.replace(function, (block, at), OpKind::Structured(Box::new(joined)));
            }
        }
    }
}

/// An operation with the producer of a tensor that it reads fused into it, if there is one.
fn fuse_reads(
    function: &Function,
    uses: &Uses,
    (block, at): At,
    profile: &Profile,
) -> Option<Structured> {
    let OpKind::Structured(consumer) = &function.block(block).ops[at].kind else {
        return None;
    };
    let consumer: &Structured = consumer;
    let operands = consumer.operands();
    let most = OPERANDS.max(operands.len());
    let fused = operands
        .into_iter()
        .filter_map(|value| fused(function, uses, consumer, value, profile));
    let mut small = fused.filter(|f| f.body.len() <= NODES && f.operands().len() <= most);
    small.next()
}

/// The consumer without reads of a value, where that pays.
fn fused(
    function: &Function,
    uses: &Uses,
    consumer: &Structured,
    value: Value,
    profile: &Profile,
) -> Option<Structured> {
    let is_read =
        |node| matches!(consumer.body.node(node), NodeData::Element(read, _) if *read == value);
    if !consumer.body.ids().any(is_read) {
        return None;
    }
    match uses.kind(function, value)? {
        (OpKind::Structured(producer), number) if producer.is_map() => {
            let pays = pays(
                function,
                uses,
                (producer, number),
                (consumer, value),
                profile,
            );
            pays.then(|| inlined(consumer, value, producer, number))
        }
        (OpKind::Reshape(source), _) => {
            let through = through_reshape(function, consumer, value, *source)?;
            let is_free = quotients(&through.body, &through.roots())
                <= quotients(&consumer.body, &consumer.roots());
            let source_fuses = || match uses.kind(function, *source) {
                Some((OpKind::Structured(producer), number)) if producer.is_map() => {
                    let alone = uses.count(value) == 1 && uses.count(*source) == 1;
                    alone
                        && pays(
                            function,
                            uses,
                            (producer, number),
                            (consumer, value),
                            profile,
                        )
                }
                _ => false,
            };
            (is_free || source_fuses()).then_some(through)
        }
        _ => None,
    }
}

/// Whether computing the elements of a map where they are read beats storing them.
fn pays(
    function: &Function,
    uses: &Uses,
    (producer, number): (&Structured, usize),
    (consumer, value): (&Structured, Value),
    profile: &Profile,
) -> bool {
    let root = producer.yields[number].value;
    let cost = cost(&producer.body, root);
    if cost <= TRIVIAL {
        return true;
    }
    if uses.count(value) > 1 {
        return false;
    }
    let evaluations = consumer.axes.iter().try_fold(1u64, |product, axis| {
        product.checked_mul(axis.extent.known()?)
    });
    let positions = consumer.body.ids().filter(
        |node| matches!(consumer.body.node(*node), NodeData::Element(read, _) if *read == value),
    );
    let positions = positions.count() as u64;
    let again = match (evaluations, function.ty(value).elements()) {
        (Some(evaluations), Some(elements)) => evaluations.saturating_mul(positions) > elements,
        _ => true,
    };
    let work = evaluations.map(|n| n.saturating_mul(positions).saturating_mul(cost));
    let is_little = work.is_some_and(|work| work <= profile.again);
    !again || is_little || (cost <= CHEAP && !consumer.reductions.is_empty())
}

/// Work to compute a node: reads and operators outside of index arithmetic.
fn cost(body: &Body, root: Node) -> u64 {
    let needed = body.reachable(&[root]);
    let nodes = body.ids().filter(|n| needed[n.index()]);
    nodes
        .map(|node| match body.node(node) {
            NodeData::Element(..) => 1,
            NodeData::Apply(operator, _) if body.range(node).is_none() => weight(operator.op),
            _ => 0,
        })
        .sum()
}

/// What an operator costs, an addition being 1.
fn weight(op: ScalarOp) -> u64 {
    use ScalarOp::{
        Abs, Add, And, Cond, Eq, FAbs, FAdd, FConv, FLe, FLt, FMax, FMin, FMul, FNeg, FSub, LogAnd,
        LogOr, Mul, Neg, Not, Or, SExt, SLe, SLt, SToF, Sub, ToBool, UToF, Xor, ZExt,
    };
    match op {
        Abs | Add | And | Cond | Eq | FAbs | FAdd | FConv | FLe | FLt | FMax | FMin | FMul
        | FNeg | FSub | LogAnd | LogOr | Mul | Neg | Not | Or | SExt | SLe | SLt | SToF | Sub
        | ToBool | UToF | Xor | ZExt => 1,
        _ => 8,
    }
}

/// Quotients and remainders of index arithmetic.
fn quotients(body: &Body, roots: &[Node]) -> usize {
    let needed = body.reachable(roots);
    let is_quotient = |node: &Node| match body.applied(*node) {
        Some((operator, _)) => matches!(operator.op, ScalarOp::SDiv | ScalarOp::SMod),
        None => false,
    };
    let nodes = body.ids().filter(|n| needed[n.index()]);
    nodes.filter(is_quotient).count()
}

/// The consumer with a producer's computation in place of reads of its result.
fn inlined(
    consumer: &Structured,
    value: Value,
    producer: &Structured,
    number: usize,
) -> Structured {
    let root = producer.yields[number].value;
    rebuilt(consumer, |body, data| {
        let NodeData::Element(read, position) = data else {
            return None;
        };
        if *read != value {
            return None;
        }
        let copy = body.import(&producer.body, &[root], |_, _, data| match data {
            NodeData::Index(axis) => position.get(*axis as usize).copied(),
            _ => None,
        });
        copy.first().copied()
    })
}

/// The consumer reading what was reshaped.
fn through_reshape(
    function: &Function,
    consumer: &Structured,
    value: Value,
    source: Value,
) -> Option<Structured> {
    let (to, from) = (function.ty(value), function.ty(source));
    let sizes = known(to).zip(known(from))?;
    let element = from.element;
    Some(rebuilt(consumer, |body, data| match data {
        NodeData::Element(read, position) if *read == value => {
            let position = reshaped(body, position, &sizes.0, &sizes.1);
            Some(body.element(source, element, &position))
        }
        _ => None,
    }))
}

fn known(ty: &TensorType) -> Option<Vec<i64>> {
    let sizes = ty.shape.iter().map(|dim| dim.known().map(|s| s as i64));
    let sizes: Option<Vec<i64>> = sizes.collect();
    sizes.filter(|sizes| !sizes.contains(&0))
}

/// A position in one shape as the position of the same element in another.
fn reshaped(body: &mut Body, position: &[Node], from: &[i64], to: &[i64]) -> Vec<Node> {
    let mut flat = body.i64(0);
    for (index, size) in position.iter().zip(from) {
        let size = body.i64(*size);
        flat = body.op(ScalarOp::Mul, &[flat, size]);
        flat = body.op(ScalarOp::Add, &[flat, *index]);
    }
    crate::ir::unflatten(body, flat, to)
}

/// A structured operation over a copy of its body in which some nodes are replaced. The `replace`
/// function sees nodes whose operands are those of the copy.
fn rebuilt(
    op: &Structured,
    mut replace: impl FnMut(&mut Body, &NodeData) -> Option<Node>,
) -> Structured {
    let roots = op.roots();
    let mut body = Body::default();
    let copies = body.import(&op.body, &roots, |body, _, data| replace(body, data));
    let mut copies = copies.into_iter();
    let mut copy = op.clone();
    copy.replace_roots(|_| copies.next());
    copy.body = body;
    copy
}

/// A map computed after the fold whose results it alone reads.
fn after_fold(function: &Function, uses: &Uses, (block, at): At) -> Option<Structured> {
    let OpKind::Structured(map) = &function.block(block).ops[at].kind else {
        return None;
    };
    let map: &Structured = map;
    let folds = map.operands().into_iter().filter_map(|value| {
        let ((maker_block, fold_at), _) = uses.maker(value)?;
        let op = &function.block(block).ops.get(fold_at)?;
        let OpKind::Structured(fold) = &op.kind else {
            return None;
        };
        (maker_block == block).then_some((&**fold, &op.results[..]))
    });
    let mut joined = folds.filter_map(|(fold, results)| joined(uses, map, fold, results));
    joined.next()
}

/// A fold and the map that follows it as one operation, if they can be one.
fn joined(
    uses: &Uses,
    map: &Structured,
    fold: &Structured,
    results: &[Value],
) -> Option<Structured> {
    let read: Vec<Value> = map.operands();
    let alone = results
        .iter()
        .all(|v| uses.count(*v) == u32::from(read.contains(v)));
    let same_shape = fold.parallel_shape().eq(map.axes.iter().map(|a| a.extent));
    let at_point = results.iter().all(|v| reads_at_point(map, *v));
    if !map.is_map() || fold.reductions.is_empty() || !(alone && same_shape && at_point) {
        return None;
    }
    let mut joined = fold.clone();
    let yields: Vec<Node> = map.yields.iter().map(|y| y.value).collect();
    let copies = joined.body.import(&map.body, &yields, |_, _, data| {
        let NodeData::Element(read, _) = data else {
            return None;
        };
        let number = results.iter().position(|v| v == read)?;
        Some(fold.yields[number].value)
    });
    joined.yields = map.yields.clone();
    for (result, copy) in joined.yields.iter_mut().zip(copies) {
        result.value = copy;
    }
    Some(joined)
}

/// Whether a map reads a tensor only at its own point.
fn reads_at_point(map: &Structured, value: Value) -> bool {
    map.body.ids().all(|node| match map.body.node(node) {
        NodeData::Element(read, position) if *read == value => {
            let indices = position.iter().map(|n| map.body.as_index(*n));
            let axes = (0..map.axes.len() as u32).map(Some);
            let extents = map.axes.iter().map(|a| a.extent);
            indices.eq(axes) || unit_axes(&map.body, position, extents)
        }
        _ => true,
    })
}

/// Whether a position is the point, where axes of size 1 are written as 0.
fn unit_axes(body: &Body, position: &[Node], extents: impl ExactSizeIterator<Item = Dim>) -> bool {
    position.len() == extents.len()
        && position
            .iter()
            .zip(extents)
            .enumerate()
            .all(|(at, (node, extent))| {
                let is_index = body.as_index(*node) == Some(at as u32);
                let is_zero = body.as_literal(*node).is_some_and(|l| l.bits == 0);
                is_index || (is_zero && extent == Dim::Static(1))
            })
}
