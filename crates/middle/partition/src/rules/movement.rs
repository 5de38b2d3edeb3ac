//! Rules of operations that move elements.

use super::context::{RuleContext, RuleRow};
use super::halo::{WindowGeometry, greatest_divisor};
use crate::rule::{PropagationStage, ShardingRule, WindowHalo, WindowProperty};
use spirula_stablehlo::MlirOpcode as Op;

pub(super) const RULES: &[RuleRow] = &[
    (&[Op::Transpose], transpose_dimensions),
    (&[Op::BroadcastInDim], broadcast_dimensions),
    (&[Op::Broadcast], prefix_dimensions),
    (&[Op::Reshape], reshape_dimensions),
    (&[Op::Concatenate], concatenate_dimensions),
    (&[Op::Pad], pad_dimensions),
    (&[Op::Reverse], reverse_dimensions),
];

fn transpose_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let sizes = context.result(0)?;
    for (to, from) in context.positions("permutation")?.into_iter().enumerate() {
        rule.join_dimensions(*sizes.get(to)?, &[(0, from), (1, to)]);
    }
    Some(rule)
}

/// Dimensions of the result that the operand lacks, or of which it has one element, are split freely.
fn broadcast_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    rule.stage = PropagationStage::Expansion;
    let from = context.operand(0)?;
    let order = context.positions("broadcast_dimensions")?;
    for (to, size) in context.result(0)?.iter().enumerate() {
        let source = order.iter().position(|dimension| *dimension == to);
        match source.filter(|at| from.get(*at) == Some(size)) {
            Some(at) => rule.join_dimensions(*size, &[(0, at), (1, to)]),
            None => rule.join_dimensions(*size, &[(1, to)]),
        }
    }
    Some(rule)
}

/// The operand's dimensions are the last ones of the result.
fn prefix_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    rule.stage = PropagationStage::Expansion;
    let (from, to) = (context.operand(0)?.len(), context.result(0)?);
    let first = to.len().checked_sub(from)?;
    for (at, size) in to.iter().enumerate() {
        match at.checked_sub(first) {
            Some(own) => rule.join_dimensions(*size, &[(0, own), (1, at)]),
            None => rule.join_dimensions(*size, &[(1, at)]),
        }
    }
    Some(rule)
}

/// The dimensions of two shapes from the outermost on, with what is left of the current one of each.
#[derive(Debug)]
struct ShapeCursor<'s> {
    shape: &'s [u64],
    at: usize,
    rest: u64,
}

impl<'s> ShapeCursor<'s> {
    fn new(shape: &'s [u64]) -> Self {
        let rest = shape.first().copied().unwrap_or(1);
        ShapeCursor { shape, at: 0, rest }
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.shape.len()
    }

    /// Goes on to the next dimension.
    fn step(&mut self) {
        self.at += 1;
        self.rest = self.shape.get(self.at).copied().unwrap_or(1);
    }
}

/// Common divisors of the dimensions are factors, from the outermost on. Dimensions without one are whole until the products of
/// both sides are equal again.
fn reshape_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let (from, to) = (context.operand(0)?, context.result(0)?);
    if from.contains(&0) || to.contains(&0) {
        return Some(rule);
    }
    let (mut a, mut b) = (ShapeCursor::new(from), ShapeCursor::new(to));
    while !a.is_at_end() && !b.is_at_end() {
        if a.rest == 1 {
            a.step();
            continue;
        }
        if b.rest == 1 {
            b.step();
            continue;
        }
        let common = greatest_divisor(a.rest, b.rest);
        if common > 1 {
            rule.join_dimensions(common, &[(0, a.at), (1, b.at)]);
            a.rest /= common;
            b.rest /= common;
            continue;
        }
        let (mut before, mut after) = (a.rest, b.rest);
        while before != after {
            let shorter = if before < after {
                (&mut a, &mut before)
            } else {
                (&mut b, &mut after)
            };
            shorter.0.step();
            if shorter.0.is_at_end() {
                return Some(rule);
            }
            *shorter.1 = shorter.1.checked_mul(shorter.0.rest)?;
        }
        a.step();
        b.step();
    }
    Some(rule)
}

fn concatenate_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let joined = context.position("dimension")?;
    for (at, size) in context.result(0)?.iter().enumerate() {
        if at != joined {
            let dimensions: Vec<(usize, usize)> = (0..context.shapes.len())
                .map(|tensor| (tensor, at))
                .collect();
            rule.join_dimensions(*size, &dimensions);
        }
    }
    Some(rule)
}

/// Dimensions without padding, and those whose result has as many elements for each part as it has on the whole: a shift, or
/// elements that are spread.
fn pad_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let shape = context.operand(0)?;
    let [low, high, interior] = ["edge_padding_low", "edge_padding_high", "interior_padding"]
        .map(|name| context.integers_or(name, 0, shape.len()));
    for (at, size) in shape.iter().enumerate() {
        let amounts = [&low, &high, &interior].map(|list| list.get(at).copied());
        if amounts == [Some(0); 3] {
            rule.join_dimensions(*size, &[(0, at), (2, at)]);
            continue;
        }
        let geometry = WindowGeometry {
            input: *size,
            output: *context.result(0)?.get(at)?,
            extent: 1,
            step: 1,
            base: interior.get(at)?.checked_add(1)?,
            low: *low.get(at)?,
            row: at,
            rows: shape.len(),
        };
        let Some(parts) = geometry.find_parts() else {
            continue;
        };
        let factor = rule.add_factor(parts);
        if let Some(halo) = geometry.find_halo(factor, 1, at) {
            rule.halos.push(WindowHalo {
                property: WindowProperty::Edges,
                has_fill: true,
                ..halo
            });
            rule.set_factor(0, at, factor);
            rule.set_factor(2, at, factor);
        }
    }
    Some(rule)
}

fn reverse_dimensions(context: &RuleContext<'_>) -> Option<ShardingRule> {
    let mut rule = context.cheap_rule();
    let reversed = context.positions("dimensions")?;
    for (at, size) in context.operand(0)?.iter().enumerate() {
        if !reversed.contains(&at) {
            rule.join_dimensions(*size, &[(0, at), (1, at)]);
        }
    }
    Some(rule)
}
