//! Sort keys: the numbers that a comparator compares, the most significant first.
//!
//! A comparator has keys if it compares the results of one function of both elements, and perhaps others where these
//! are equal. An example is `f(a) < f(b) || f(a) == f(b) && g(a) < g(b)`.

use crate::ir::{NodeData, NodeGraph, ScalarCombiner, ScalarNode};
use spirula_program::ScalarOp;

/// A number that elements are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortKey {
    /// The number, in the comparator's body. It depends on one of both elements alone.
    pub node: ScalarNode,
    /// The comparison of numbers.
    pub order: KeyOrder,
    /// Whether the largest number comes first.
    pub is_descending: bool,
}

/// The comparison of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrder {
    /// As signed integers.
    Signed,
    /// As unsigned integers.
    Unsigned,
    /// As floating-point numbers; zeros of both signs are equal.
    Float,
}

impl KeyOrder {
    fn from_op(op: ScalarOp) -> Option<KeyOrder> {
        match op {
            ScalarOp::SLt => Some(KeyOrder::Signed),
            ScalarOp::ULt => Some(KeyOrder::Unsigned),
            ScalarOp::FLt => Some(KeyOrder::Float),
            _ => None,
        }
    }
}

/// The keys of a comparator, or nothing if it compares in another way.
pub(super) fn find_sort_keys(comparator: &ScalarCombiner) -> Option<Vec<SortKey>> {
    let mut keys = Vec::new();
    let mut rest = Some(*comparator.results.first()?);
    while let Some(node) = rest {
        let (key, next) = find_first_key(&comparator.body, node)?;
        keys.push(key);
        rest = next;
    }
    Some(keys)
}

/// The first key, and the comparison where those of both elements are equal.
fn find_first_key(body: &NodeGraph, node: ScalarNode) -> Option<(SortKey, Option<ScalarNode>)> {
    let Some((equality, rest, comparison)) = split_comparison(body, node) else {
        return Some((find_compared_key(body, node)?, None));
    };
    let key = find_compared_key(body, comparison)?;
    let (_, sides) = body.as_apply(equality)?;
    let (_, compared) = body.as_apply(comparison)?;
    let is_of_key = sides == compared || sides.iter().rev().eq(compared);
    is_of_key.then_some((key, Some(rest)))
}

/// A comparison of several keys: the test of the first ones for equality, the comparison of the others, and that of the
/// first ones.
fn split_comparison(
    body: &NodeGraph,
    node: ScalarNode,
) -> Option<(ScalarNode, ScalarNode, ScalarNode)> {
    let is_op = |node: ScalarNode, op: ScalarOp| {
        body.as_apply(node)
            .is_some_and(|(operator, _)| operator.op == op)
    };
    let (operator, operands) = body.as_apply(node)?;
    match (operator.op, operands) {
        (ScalarOp::Cond, &[condition, then, otherwise]) => {
            if is_op(condition, ScalarOp::Eq) {
                return Some((condition, then, otherwise));
            }
            let (negation, negated) = body.as_apply(condition)?;
            let is_unequal = negation.op == ScalarOp::Not && is_op(negated[0], ScalarOp::Eq);
            is_unequal.then(|| (negated[0], otherwise, then))
        }
        (ScalarOp::LogOr, &[one, other]) => {
            let is_both = is_op(other, ScalarOp::LogAnd);
            let [comparison, both] = if is_both { [one, other] } else { [other, one] };
            let (and, sides) = body.as_apply(both)?;
            let &[left, right] = sides else { return None };
            let is_first = is_op(left, ScalarOp::Eq);
            let [equality, rest] = if is_first {
                [left, right]
            } else {
                [right, left]
            };
            let is_split = and.op == ScalarOp::LogAnd && is_op(equality, ScalarOp::Eq);
            is_split.then_some((equality, rest, comparison))
        }
        _ => None,
    }
}

/// The key of a comparison of equal functions of both elements.
fn find_compared_key(body: &NodeGraph, node: ScalarNode) -> Option<SortKey> {
    let (operator, operands) = body.as_apply(node)?;
    let &[one, other] = operands else {
        return None;
    };
    let order = KeyOrder::from_op(operator.op)?;
    let is_descending = depends_on_side(body, one, 1);
    let [first, second] = if is_descending {
        [other, one]
    } else {
        [one, other]
    };
    let is_key = depends_on_side(body, first, 0)
        && !depends_on_side(body, first, 1)
        && is_mirrored(body, first, second);
    is_key.then_some(SortKey {
        node: first,
        order,
        is_descending,
    })
}

/// Whether a node depends on the first element (side 0) or on the second (side 1).
fn depends_on_side(body: &NodeGraph, node: ScalarNode, side: u32) -> bool {
    let reached = body.mark_reachable(&[node]);
    let mut arguments = body.node_ids().filter(|n| reached[n.index()]);
    arguments.any(|n| body.as_argument(n).is_some_and(|number| number % 2 == side))
}

/// Whether two nodes are the same function, one of the first element and one of the second.
fn is_mirrored(body: &NodeGraph, first: ScalarNode, second: ScalarNode) -> bool {
    let mut mirrors: Vec<Option<ScalarNode>> = vec![None; body.len()];
    let mut open = vec![(first, second)];
    while let Some((one, other)) = open.pop() {
        match mirrors[one.index()] {
            Some(known) if known == other => continue,
            Some(_) => return false,
            None => mirrors[one.index()] = Some(other),
        }
        let is_equal = match (body.node(one), body.node(other)) {
            (NodeData::Argument(a), NodeData::Argument(b)) => a % 2 == 0 && a + 1 == *b,
            (NodeData::Apply(a, _), NodeData::Apply(b, _)) => a == b,
            (NodeData::Literal(a), NodeData::Literal(b)) => a == b,
            _ => false,
        };
        let operands = (body.operands(one), body.operands(other));
        if !is_equal || operands.0.len() != operands.1.len() {
            return false;
        }
        open.extend(operands.0.iter().copied().zip(operands.1.iter().copied()));
    }
    true
}
