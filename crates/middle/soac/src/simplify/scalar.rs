//! Scalar operators: constants, neutral elements, chains of additions, comparisons whose result is known.

use super::FunctionSimplifier;
use crate::build::fold_scalar;
use crate::ir::{SoacOperand, SoacOperation};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The value of a scalar operator in a simpler form.
#[derive(Clone, Debug)]
pub(super) enum ScalarForm {
    /// An operand.
    Operand(SoacOperand),
    /// Another operator.
    Operator(ScalarOperator, Vec<SoacOperand>),
}

/// A truth value.
pub(super) fn make_truth(value: bool) -> SoacOperand {
    SoacOperand::Constant(ScalarLiteral::new(ScalarType::Bool, u64::from(value)))
}

/// The truth value that an operand is.
pub(super) fn read_truth(operand: SoacOperand) -> Option<bool> {
    match operand {
        SoacOperand::Constant(literal) if literal.ty == ScalarType::Bool => Some(literal.bits != 0),
        _ => None,
    }
}

/// Whether the operands of an operator on integers or truth values may change places.
fn is_commutative(op: ScalarOp) -> bool {
    matches!(
        op,
        ScalarOp::Add
            | ScalarOp::Mul
            | ScalarOp::And
            | ScalarOp::Or
            | ScalarOp::Xor
            | ScalarOp::SMin
            | ScalarOp::SMax
            | ScalarOp::UMin
            | ScalarOp::UMax
            | ScalarOp::LogAnd
            | ScalarOp::LogOr
            | ScalarOp::Eq
    )
}

/// Puts the operands of a commutative operator into an order: variables before constants, earlier ones first.
fn order_operands(operator: ScalarOperator, operands: &mut [SoacOperand]) {
    if is_commutative(operator.op) {
        operands.sort_by_key(|operand| match operand {
            SoacOperand::Variable(id) => id.index(),
            SoacOperand::Constant(_) => usize::MAX,
        });
    }
}

impl FunctionSimplifier<'_> {
    /// A simpler form of a scalar operator. `None` if there is none.
    pub(super) fn simplify_scalar(
        &self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
    ) -> Option<ScalarForm> {
        if let Some(folded) = fold_scalar(operator, operands) {
            return Some(ScalarForm::Operand(folded));
        }
        if operands.len() < operator.arity() {
            return None;
        }
        let mut ordered = operands.to_vec();
        order_operands(operator, &mut ordered);
        let simpler = match operator.op {
            ScalarOp::Add | ScalarOp::Sub => self.simplify_sum(operator, &ordered),
            ScalarOp::Not => self.simplify_not(operands[0]),
            ScalarOp::SLt | ScalarOp::ULt | ScalarOp::SLe => {
                self.compare_bounds(operator.op, operands)
            }
            ScalarOp::LogAnd | ScalarOp::LogOr => simplify_logic(operator.op, &ordered),
            ScalarOp::Cond => simplify_choice(operands),
            ScalarOp::SDiv | ScalarOp::SMod | ScalarOp::SQuot | ScalarOp::SRem => {
                self.simplify_division(operator, operands)
            }
            ScalarOp::Pow | ScalarOp::FPow => simplify_power(operator, operands),
            ScalarOp::Eq => simplify_equality(operator, &ordered),
            ScalarOp::SMin | ScalarOp::SMax | ScalarOp::UMin | ScalarOp::UMax
                if operands[0] == operands[1] =>
            {
                Some(ScalarForm::Operand(operands[0]))
            }
            _ => None,
        };
        simpler.or_else(|| (ordered != operands).then_some(ScalarForm::Operator(operator, ordered)))
    }

    /// The operator and operands that a variable is the result of. Certificates are not needed: operators are total.
    fn scalar_definition(&self, operand: SoacOperand) -> Option<(ScalarOperator, &[SoacOperand])> {
        match &self.definition(operand)?.operation {
            SoacOperation::Scalar(operator, operands) => Some((*operator, operands)),
            _ => None,
        }
    }

    /// `(a + c) + d`, `(a + b) - a` and `a - c`.
    fn simplify_sum(
        &self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
    ) -> Option<ScalarForm> {
        let [left, right] = *operands else {
            return None;
        };
        let add = ScalarOperator::with_type(ScalarOp::Add, operator.from);
        let negate = |literal: ScalarLiteral| {
            SoacOperand::Constant(ScalarLiteral::new(literal.ty, literal.bits.wrapping_neg()))
        };
        if let (ScalarOp::Sub, SoacOperand::Constant(literal)) = (operator.op, right) {
            return Some(ScalarForm::Operator(add, vec![left, negate(literal)]));
        }
        let definition = self.scalar_definition(left);
        if let Some((inner, parts)) = definition
            && inner.op == ScalarOp::Add
        {
            if let (SoacOperand::Constant(a), SoacOperand::Constant(b)) = (parts[1], right)
                && operator.op == ScalarOp::Add
            {
                let sum = ScalarLiteral::new(a.ty, a.bits.wrapping_add(b.bits));
                let operands = vec![parts[0], SoacOperand::Constant(sum)];
                return Some(ScalarForm::Operator(add, operands));
            }
            if operator.op == ScalarOp::Sub && parts.contains(&right) {
                let other = usize::from(parts[0] == right);
                return Some(ScalarForm::Operand(parts[other]));
            }
        }
        let subtrahend = |operand, other| match self.scalar_definition(operand) {
            Some((inner, parts)) if inner.op == ScalarOp::Sub && parts[1] == other => {
                Some(ScalarForm::Operand(parts[0]))
            }
            _ => None,
        };
        if operator.op == ScalarOp::Add {
            return subtrahend(left, right).or_else(|| subtrahend(right, left));
        }
        match self.scalar_definition(right) {
            Some((inner, parts)) if inner.op == ScalarOp::Sub && parts[0] == left => {
                Some(ScalarForm::Operand(parts[1]))
            }
            _ => None,
        }
    }

    fn simplify_not(&self, operand: SoacOperand) -> Option<ScalarForm> {
        let (inner, parts) = self.scalar_definition(operand)?;
        (inner.op == ScalarOp::Not).then(|| ScalarForm::Operand(parts[0]))
    }

    /// Comparisons with the bounds of counters and positions.
    fn compare_bounds(&self, op: ScalarOp, operands: &[SoacOperand]) -> Option<ScalarForm> {
        let [left, right] = *operands else {
            return None;
        };
        let holds = match op {
            ScalarOp::SLe => left.to_int64() == Some(0) && self.is_natural(right),
            _ => self.is_below(left, right),
        };
        holds.then(|| ScalarForm::Operand(make_truth(true)))
    }

    /// A division that rounds down by a power of two, as a shift or a mask; a division of numbers that are not negative, as one
    /// without signs.
    fn simplify_division(
        &self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
    ) -> Option<ScalarForm> {
        let [dividend, divisor] = *operands else {
            return None;
        };
        let is_natural = self.is_natural(dividend);
        let rounds_down = matches!(operator.op, ScalarOp::SDiv | ScalarOp::SMod);
        let is_quotient = matches!(operator.op, ScalarOp::SDiv | ScalarOp::SQuot);
        let power = divisor
            .to_int64()
            .filter(|&value| value > 0 && value & (value - 1) == 0);
        let (op, right) = match power {
            Some(value) if rounds_down || is_natural => {
                let (op, right) = if is_quotient {
                    (ScalarOp::AShr, u64::from(value.trailing_zeros()))
                } else {
                    (ScalarOp::And, value as u64 - 1)
                };
                (
                    op,
                    SoacOperand::Constant(ScalarLiteral::new(operator.from, right)),
                )
            }
            _ if is_natural && self.is_natural(divisor) => {
                let op = if is_quotient {
                    ScalarOp::UDiv
                } else {
                    ScalarOp::UMod
                };
                (op, divisor)
            }
            _ => return None,
        };
        let operator = ScalarOperator::with_type(op, operator.from);
        Some(ScalarForm::Operator(operator, vec![dividend, right]))
    }

    /// Whether an operand is known not to be negative.
    pub(super) fn is_natural(&self, operand: SoacOperand) -> bool {
        match operand {
            SoacOperand::Constant(literal) => literal.to_signed() >= 0,
            SoacOperand::Variable(id) => {
                self.naturals.contains(id)
                    || self.upper_bounds.contains_key(&id)
                    || match self.scalar_definition(operand) {
                        Some((operator, parts)) => match operator.op {
                            ScalarOp::SExt => self.is_natural(parts[0]),
                            ScalarOp::ZExt => operator.from.width() < operator.to.width(),
                            ScalarOp::SMin => parts.iter().all(|&part| self.is_natural(part)),
                            ScalarOp::UDiv | ScalarOp::AShr => self.is_natural(parts[0]),
                            ScalarOp::UMod => parts.iter().all(|&part| self.is_natural(part)),
                            ScalarOp::And => parts.iter().any(|&part| self.is_natural(part)),
                            ScalarOp::SMax => parts.iter().any(|&part| self.is_natural(part)),
                            _ => false,
                        },
                        None => false,
                    }
            }
        }
    }

    /// Whether an operand is known to be at least zero and less than another.
    fn is_below(&self, operand: SoacOperand, bound: SoacOperand) -> bool {
        let SoacOperand::Variable(id) = operand else {
            return false;
        };
        if let Some(&upper) = self.upper_bounds.get(&id)
            && is_at_most(upper, bound)
        {
            return true;
        }
        match self.scalar_definition(operand) {
            Some((operator, parts)) if operator.op == ScalarOp::SExt => {
                let SoacOperand::Variable(narrow) = parts[0] else {
                    return false;
                };
                let Some(&upper) = self.upper_bounds.get(&narrow) else {
                    return false;
                };
                is_at_most(upper, bound)
                    || self.scalar_definition(bound).is_some_and(|(other, parts)| {
                        other == operator && is_at_most(upper, parts[0])
                    })
            }
            _ => false,
        }
    }
}

/// Whether a bound is the other, or a constant that is not greater.
fn is_at_most(upper: SoacOperand, bound: SoacOperand) -> bool {
    upper == bound
        || match (upper.to_int64(), bound.to_int64()) {
            (Some(upper), Some(bound)) => upper <= bound,
            _ => false,
        }
}

fn simplify_logic(op: ScalarOp, operands: &[SoacOperand]) -> Option<ScalarForm> {
    if operands[0] == operands[1] {
        return Some(ScalarForm::Operand(operands[0]));
    }
    let truth = read_truth(operands[1])?;
    let is_neutral = truth == (op == ScalarOp::LogAnd);
    Some(ScalarForm::Operand(operands[usize::from(!is_neutral)]))
}

/// A power with the exponent 0, 1 or 2, without the power: the result is exact in both forms, and exceptional values are the same.
fn simplify_power(operator: ScalarOperator, operands: &[SoacOperand]) -> Option<ScalarForm> {
    let [base, SoacOperand::Constant(exponent)] = *operands else {
        return None;
    };
    let (product, [one, two]) = match operator.from {
        ScalarType::F16 => (ScalarOp::FMul, [0x3c00, 0x4000]),
        ScalarType::F32 => (ScalarOp::FMul, [1f32, 2f32].map(|n| n.to_bits().into())),
        ScalarType::F64 => (ScalarOp::FMul, [1f64, 2f64].map(f64::to_bits)),
        _ => (ScalarOp::Mul, [1, 2]),
    };
    let bits = exponent.bits;
    if bits == 0 {
        let one = ScalarLiteral::new(operator.from, one);
        return Some(ScalarForm::Operand(SoacOperand::Constant(one)));
    }
    if bits == one {
        return Some(ScalarForm::Operand(base));
    }
    let product = ScalarOperator::with_type(product, operator.from);
    (bits == two).then(|| ScalarForm::Operator(product, vec![base, base]))
}

fn simplify_choice(operands: &[SoacOperand]) -> Option<ScalarForm> {
    let [condition, accept, reject] = *operands else {
        return None;
    };
    if accept == reject {
        return Some(ScalarForm::Operand(accept));
    }
    let logic = |op, operands| {
        let operator = ScalarOperator::with_type(op, ScalarType::Bool);
        Some(ScalarForm::Operator(operator, operands))
    };
    match (
        read_truth(condition),
        read_truth(accept),
        read_truth(reject),
    ) {
        (Some(true), ..) => Some(ScalarForm::Operand(accept)),
        (Some(false), ..) => Some(ScalarForm::Operand(reject)),
        (None, Some(true), Some(false)) => Some(ScalarForm::Operand(condition)),
        (None, Some(false), Some(true)) => logic(ScalarOp::Not, vec![condition]),
        (None, Some(true), None) => logic(ScalarOp::LogOr, vec![condition, reject]),
        (None, None, Some(false)) => logic(ScalarOp::LogAnd, vec![condition, accept]),
        _ => None,
    }
}

/// Comparisons of truth values with constants.
fn simplify_equality(operator: ScalarOperator, operands: &[SoacOperand]) -> Option<ScalarForm> {
    if operator.from == ScalarType::Bool {
        let not = ScalarOperator::with_type(ScalarOp::Not, ScalarType::Bool);
        return Some(if read_truth(operands[1])? {
            ScalarForm::Operand(operands[0])
        } else {
            ScalarForm::Operator(not, vec![operands[0]])
        });
    }
    None
}
