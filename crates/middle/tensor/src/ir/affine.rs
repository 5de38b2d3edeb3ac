//! Affine sums: index arithmetic in normal form.
//!
//! A sum of `i64` nodes is one sum of distinct terms with factors, in the order of the nodes, and a constant. Quotients and
//! remainders by constants are split where the bounds of the terms allow it. So a reshape of a reshape, or the place in
//! memory of an index that was taken apart, becomes the form that one would write by hand.

use super::{NodeData, NodeGraph, ScalarNode};
use smallvec::SmallVec;
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A sum of nodes with factors and a constant, modulo 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffineSum {
    /// Nodes that are not sums, each once, ascending, with factors that are not 0.
    pub terms: SmallVec<[(ScalarNode, i64); 4]>,
    /// The constant.
    pub constant: i64,
}

impl AffineSum {
    /// The sum of a node.
    pub fn from_node(body: &NodeGraph, node: ScalarNode) -> AffineSum {
        let mut sum = AffineSum::default();
        sum.add_scaled_node(body, node, 1);
        sum
    }

    /// The sum of one term.
    fn from_term(node: ScalarNode) -> AffineSum {
        let mut sum = AffineSum::default();
        sum.terms.push((node, 1));
        sum
    }

    /// The sum of a constant.
    pub fn from_constant(value: i64) -> AffineSum {
        AffineSum {
            constant: value,
            ..AffineSum::default()
        }
    }

    /// Adds a node times a factor. Sums nest to the left, hence the loop.
    fn add_scaled_node(&mut self, body: &NodeGraph, mut node: ScalarNode, mut factor: i64) {
        loop {
            match body.node(node) {
                NodeData::Literal(literal) => {
                    let value = literal.to_signed().wrapping_mul(factor);
                    self.constant = self.constant.wrapping_add(value);
                    return;
                }
                NodeData::Apply(operator, operands) if operator.from == ScalarType::I64 => {
                    match (operator.op, &operands[..]) {
                        (ScalarOp::Add, [a, b]) => {
                            self.add_scaled_node(body, *b, factor);
                            node = *a;
                        }
                        (ScalarOp::Mul, [a, b]) if body.as_literal(*b).is_some() => {
                            let by = body.as_literal(*b).map_or(1, ScalarLiteral::to_signed);
                            factor = factor.wrapping_mul(by);
                            node = *a;
                        }
                        _ => return self.add_term(node, factor),
                    }
                }
                _ => return self.add_term(node, factor),
            }
        }
    }

    /// Adds a node that is not a sum, times a factor.
    pub fn add_term(&mut self, node: ScalarNode, factor: i64) {
        match self.terms.binary_search_by_key(&node, |(n, _)| *n) {
            Ok(at) => {
                self.terms[at].1 = self.terms[at].1.wrapping_add(factor);
                if self.terms[at].1 == 0 {
                    self.terms.remove(at);
                }
            }
            Err(at) if factor != 0 => self.terms.insert(at, (node, factor)),
            Err(_) => {}
        }
    }

    /// Adds another sum times a factor.
    pub fn add_scaled(&mut self, other: &AffineSum, factor: i64) {
        for (node, by) in &other.terms {
            self.add_term(*node, by.wrapping_mul(factor));
        }
        let constant = other.constant.wrapping_mul(factor);
        self.constant = self.constant.wrapping_add(constant);
    }

    /// The factor of a node.
    pub fn factor(&self, node: ScalarNode) -> i64 {
        let at = self.terms.binary_search_by_key(&node, |(n, _)| *n);
        at.map_or(0, |at| self.terms[at].1)
    }

    /// Bounds, if every term has some and the sum does not overflow.
    fn compute_bounds(&self, body: &NodeGraph) -> Option<(i64, i64)> {
        let mut sum = (self.constant, self.constant);
        for (node, factor) in &self.terms {
            let (low, high) = body.node_bounds(*node)?;
            let (a, b) = (low.checked_mul(*factor)?, high.checked_mul(*factor)?);
            sum = (sum.0.checked_add(a.min(b))?, sum.1.checked_add(a.max(b))?);
        }
        Some(sum)
    }

    /// The node of the sum.
    pub fn into_node(mut self, body: &mut NodeGraph) -> ScalarNode {
        self.merge_quotient_terms(body);
        let mut sum: Option<ScalarNode> = None;
        for (node, factor) in self.terms {
            let term = match factor {
                1 => node,
                _ => {
                    let factor = body.intern_i64(factor);
                    body.apply_unsimplified(
                        ScalarOperator::with_type(ScalarOp::Mul, ScalarType::I64),
                        &[node, factor],
                    )
                }
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => body.apply_unsimplified(
                    ScalarOperator::with_type(ScalarOp::Add, ScalarType::I64),
                    &[sum, term],
                ),
            });
        }
        match (sum, self.constant) {
            (None, constant) => body.intern_i64(constant),
            (Some(sum), 0) => sum,
            (Some(sum), constant) => {
                let constant = body.intern_i64(constant);
                body.apply_unsimplified(
                    ScalarOperator::with_type(ScalarOp::Add, ScalarType::I64),
                    &[sum, constant],
                )
            }
        }
    }

    /// `(x div n)·n·c + (x mod n)·c` is `x·c`.
    fn merge_quotient_terms(&mut self, body: &mut NodeGraph) {
        let mut at = 0;
        while let Some((rest, factor)) = self.terms.get(at).copied() {
            at += 1;
            let Some((whole, by)) = match_division(body, rest, ScalarOp::SMod) else {
                continue;
            };
            let quotient = AffineSum::from_node(body, whole).divide_by(body, by);
            let ([(quotient, 1)], 0) = (&quotient.terms[..], quotient.constant) else {
                continue;
            };
            let quotient = *quotient;
            if self.factor(quotient) == factor.wrapping_mul(by) {
                self.add_term(rest, factor.wrapping_neg());
                self.add_term(quotient, factor.wrapping_mul(by).wrapping_neg());
                let whole = AffineSum::from_node(body, whole);
                self.add_scaled(&whole, factor);
                at = 0;
            }
        }
    }

    /// The quotient by a positive constant, rounded down.
    pub fn divide_by(&self, body: &mut NodeGraph, by: i64) -> AffineSum {
        if by == 1 {
            return self.clone();
        }
        if self.compute_bounds(body).is_none() {
            let whole = self.clone().into_node(body);
            return Self::from_term(apply_division(body, ScalarOp::SDiv, whole, by));
        }
        let (mut quotient, rest) = self.split_quotient(by);
        match rest.compute_bounds(body) {
            Some((low, high)) if low >= 0 && high < by => return quotient,
            _ => {}
        }
        let common = rest.step_above_the_rest(body, by);
        let by = by / common;
        let rest = rest.scaled_down(common);
        if by == 1 {
            quotient.add_scaled(&rest, 1);
            return quotient;
        }
        let whole = rest.into_node(body);
        let (whole, by) = match match_division(body, whole, ScalarOp::SDiv) {
            Some((whole, first)) if first.checked_mul(by).is_some() => (whole, first * by),
            _ => (whole, by),
        };
        quotient.add_scaled(
            &Self::from_term(apply_division(body, ScalarOp::SDiv, whole, by)),
            1,
        );
        quotient
    }

    /// The remainder by a positive constant, not negative.
    pub fn reduce_modulo(&self, body: &mut NodeGraph, by: i64) -> AffineSum {
        if by == 1 {
            return Self::from_constant(0);
        }
        if self.compute_bounds(body).is_none() {
            let whole = self.clone().into_node(body);
            return Self::from_term(apply_division(body, ScalarOp::SMod, whole, by));
        }
        let (_, rest) = self.split_quotient(by);
        match rest.compute_bounds(body) {
            Some((low, high)) if low >= 0 && high < by => return rest,
            _ => {}
        }
        let common = rest.step_above_the_rest(body, by);
        let mut small = rest.clone();
        let large = rest.scaled_down(common);
        small.add_scaled(&large, common.wrapping_neg());
        let mut remainder = match by / common {
            1 => Self::from_constant(0),
            by => {
                let whole = large.into_node(body);
                Self::from_term(apply_division(body, ScalarOp::SMod, whole, by))
            }
        };
        let mut scaled = AffineSum::default();
        scaled.add_scaled(&remainder, common);
        remainder = scaled;
        remainder.add_scaled(&small, 1);
        remainder
    }

    /// The largest divisor `g` of `by` such that the sum of the terms that it does not divide is between 0 and `g`:
    /// `(g·x + r) div (g·m)` is `x div m`, `(g·x + r) mod (g·m)` is `g·(x mod m) + r`.
    fn step_above_the_rest(&self, body: &NodeGraph, by: i64) -> i64 {
        let mut best = 1;
        for (_, factor) in &self.terms {
            let step = gcd(*factor, by);
            let mut small = self.clone();
            small.terms.retain(|(_, f)| *f % step != 0);
            small.constant = self.constant.rem_euclid(step);
            let fits = small
                .compute_bounds(body)
                .is_some_and(|(low, high)| low >= 0 && high < step);
            if fits && step > best {
                best = step;
            }
        }
        best
    }

    /// `quotient·by + rest`; factors and constant of the rest are not negative and below `by`.
    fn split_quotient(&self, by: i64) -> (AffineSum, AffineSum) {
        let (mut quotient, mut rest) = (AffineSum::default(), AffineSum::default());
        for (node, factor) in &self.terms {
            quotient.add_term(*node, factor.div_euclid(by));
            rest.add_term(*node, factor.rem_euclid(by));
        }
        quotient.constant = self.constant.div_euclid(by);
        rest.constant = self.constant.rem_euclid(by);
        (quotient, rest)
    }

    /// The terms whose factors a number divides, divided by it; the constant is rounded down.
    fn scaled_down(mut self, by: i64) -> AffineSum {
        self.terms.retain(|(_, factor)| *factor % by == 0);
        for (_, factor) in &mut self.terms {
            *factor /= by;
        }
        self.constant = self.constant.div_euclid(by);
        self
    }

    /// The normal form of an operator on `i64`s, if it has one.
    pub(super) fn simplify_operator(
        body: &mut NodeGraph,
        op: ScalarOp,
        operands: &[ScalarNode],
    ) -> Option<ScalarNode> {
        let known = |body: &NodeGraph, at: usize| {
            let node: &ScalarNode = operands.get(at)?;
            body.as_literal(*node).map(ScalarLiteral::to_signed)
        };
        let sum = match op {
            ScalarOp::Add | ScalarOp::Sub => {
                let mut sum = AffineSum::from_node(body, operands[0]);
                let factor = if op == ScalarOp::Add { 1 } else { -1 };
                sum.add_scaled(&AffineSum::from_node(body, operands[1]), factor);
                sum
            }
            ScalarOp::Neg => {
                let mut sum = AffineSum::default();
                sum.add_scaled(&AffineSum::from_node(body, operands[0]), -1);
                sum
            }
            ScalarOp::Mul => {
                let (node, by) = match (known(body, 0), known(body, 1)) {
                    (Some(by), _) => (operands[1], by),
                    (_, Some(by)) => (operands[0], by),
                    _ => return None,
                };
                let mut sum = AffineSum::default();
                sum.add_scaled(&AffineSum::from_node(body, node), by);
                sum
            }
            ScalarOp::SDiv | ScalarOp::SMod => {
                let by = known(body, 1).filter(|by| *by > 0)?;
                let sum = AffineSum::from_node(body, operands[0]);
                match op {
                    ScalarOp::SDiv => sum.divide_by(body, by),
                    _ => sum.reduce_modulo(body, by),
                }
            }
            ScalarOp::SMin | ScalarOp::SMax => return choose_extreme(body, op, operands),
            _ => return None,
        };
        Some(sum.into_node(body))
    }
}

/// The position of the element at a row-major place, in a shape of known sizes.
pub fn unflatten_index(body: &mut NodeGraph, flat: ScalarNode, sizes: &[i64]) -> Vec<ScalarNode> {
    let mut rest = AffineSum::from_node(body, flat);
    let mut position = Vec::with_capacity(sizes.len());
    for (at, size) in sizes.iter().enumerate().rev() {
        let is_first = at == 0;
        let index = if is_first {
            rest.clone()
        } else {
            rest.reduce_modulo(body, *size)
        };
        position.push(index.into_node(body));
        if !is_first {
            rest = rest.divide_by(body, *size);
        }
    }
    position.reverse();
    position
}

/// The extreme of two nodes, if the bounds decide it.
fn choose_extreme(body: &NodeGraph, op: ScalarOp, operands: &[ScalarNode]) -> Option<ScalarNode> {
    let [a, b] = *operands else { return None };
    let ((a_low, a_high), (b_low, b_high)) = (body.node_bounds(a)?, body.node_bounds(b)?);
    let (low, high) = if a_high <= b_low {
        (a, b)
    } else if b_high <= a_low {
        (b, a)
    } else {
        return None;
    };
    Some(if op == ScalarOp::SMin { low } else { high })
}

fn apply_division(body: &mut NodeGraph, op: ScalarOp, whole: ScalarNode, by: i64) -> ScalarNode {
    let by = body.intern_i64(by);
    body.apply_unsimplified(ScalarOperator::with_type(op, ScalarType::I64), &[whole, by])
}

/// Dividend and divisor of a quotient or remainder by a positive constant.
fn match_division(body: &NodeGraph, node: ScalarNode, op: ScalarOp) -> Option<(ScalarNode, i64)> {
    let (operator, operands) = body.as_apply(node)?;
    let [whole, by] = *operands else { return None };
    let by = body.as_literal(by)?.to_signed();
    let fits = operator == ScalarOperator::with_type(op, ScalarType::I64) && by > 0;
    fits.then_some((whole, by))
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::DimExtent;

    /// A position is taken apart and composed again.
    #[test]
    fn a_flattened_index_is_itself_again() {
        let mut body = NodeGraph::default();
        let flat = body.intern_counter(0, DimExtent::Static(2 * 3 * 5));
        let (two, three, five) = (body.intern_i64(2), body.intern_i64(3), body.intern_i64(5));
        let rest = body.apply_op(ScalarOp::SMod, &[flat, five]);
        let whole = body.apply_op(ScalarOp::SDiv, &[flat, five]);
        let middle = body.apply_op(ScalarOp::SMod, &[whole, three]);
        let outer = body.apply_op(ScalarOp::SDiv, &[whole, three]);
        let outer = body.apply_op(ScalarOp::SMod, &[outer, two]);
        let sum = body.apply_op(ScalarOp::Mul, &[outer, three]);
        let sum = body.apply_op(ScalarOp::Add, &[sum, middle]);
        let sum = body.apply_op(ScalarOp::Mul, &[sum, five]);
        let sum = body.apply_op(ScalarOp::Add, &[sum, rest]);
        assert_eq!(sum, flat);
    }

    #[test]
    fn what_the_bounds_decide_is_dropped() {
        let mut body = NodeGraph::default();
        let i = body.intern_index(0, DimExtent::Static(10));
        let j = body.intern_index(1, DimExtent::Static(15));
        let fifteen = body.intern_i64(15);
        let flat = body.apply_op(ScalarOp::Mul, &[i, fifteen]);
        let flat = body.apply_op(ScalarOp::Add, &[flat, j]);
        assert_eq!(body.apply_op(ScalarOp::SDiv, &[flat, fifteen]), i);
        assert_eq!(body.apply_op(ScalarOp::SMod, &[flat, fifteen]), j);
        let below = body.apply_op(ScalarOp::SLt, &[j, fifteen]);
        assert_eq!(body.as_literal(below).map(|l| l.bits), Some(1));
    }

    #[test]
    fn what_fits_within_a_step_is_left_out_of_quotients() {
        let mut body = NodeGraph::default();
        let i = body.intern_index(0, DimExtent::Static(40));
        let c = body.intern_index(1, DimExtent::Static(16));
        let (sixteen, by, four) = (body.intern_i64(16), body.intern_i64(64), body.intern_i64(4));
        let flat = body.apply_op(ScalarOp::Mul, &[i, sixteen]);
        let flat = body.apply_op(ScalarOp::Add, &[flat, c]);
        let whole = body.apply_op(ScalarOp::SDiv, &[i, four]);
        assert_eq!(body.apply_op(ScalarOp::SDiv, &[flat, by]), whole);
        let rest = body.apply_op(ScalarOp::SMod, &[i, four]);
        let rest = body.apply_op(ScalarOp::Mul, &[rest, sixteen]);
        let rest = body.apply_op(ScalarOp::Add, &[rest, c]);
        assert_eq!(body.apply_op(ScalarOp::SMod, &[flat, by]), rest);
    }

    #[test]
    fn sums_that_may_overflow_are_not_split() {
        let mut body = NodeGraph::default();
        let x = body.intern_argument(0, ScalarType::I64);
        let two = body.intern_i64(2);
        let double = body.apply_op(ScalarOp::Mul, &[x, two]);
        let half = body.apply_op(ScalarOp::SDiv, &[double, two]);
        assert_ne!(half, x);
    }
}
