//! Changes of elements that several invocations make at once.

use super::cell::ElementCell;
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::scope::is_simple;
use spirula_kernel::ir::{AtomicOp, AtomicStmt, ExprId, StmtKind, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacLambda, SoacOperand, SoacOperation, SoacType};

/// The atomic operation of each operator.
const ATOMIC_OPERATORS: &[(ScalarOp, AtomicOp)] = &[
    (ScalarOp::Add, AtomicOp::Add),
    (ScalarOp::FAdd, AtomicOp::FAdd),
    (ScalarOp::SMax, AtomicOp::SMax),
    (ScalarOp::SMin, AtomicOp::SMin),
    (ScalarOp::UMax, AtomicOp::UMax),
    (ScalarOp::UMin, AtomicOp::UMin),
    (ScalarOp::And, AtomicOp::And),
    (ScalarOp::Or, AtomicOp::Or),
    (ScalarOp::Xor, AtomicOp::Xor),
];

/// An atomic change of an element by values.
#[derive(Clone, Debug)]
pub(super) enum AtomicChange<'f> {
    /// An operation of devices.
    Operation(AtomicOp),
    /// A function of both, in a loop of compare and exchange of the word that holds the element.
    Function(&'f SoacLambda, ElementCell),
}

impl AtomicChange<'_> {
    /// Whether it is a loop of compare and exchange, in which each rival costs an iteration.
    pub(super) fn is_loop(&self) -> bool {
        matches!(
            self,
            AtomicChange::Operation(AtomicOp::FAdd) | AtomicChange::Function(..)
        )
    }

    /// The words that elements are packed into, if they are none themselves.
    pub(super) fn cell(&self) -> Option<&ElementCell> {
        match self {
            AtomicChange::Function(_, cell) if !cell.is_element() => Some(cell),
            _ => None,
        }
    }
}

/// The atomic operation that a function is, of two scalars.
pub(super) fn find_atomic(function: &SoacLambda) -> Option<AtomicOp> {
    let ([statement], [result], [old, new]) = (
        &function.body.statements[..],
        &function.body.results[..],
        &function.parameters[..],
    ) else {
        return None;
    };
    let SoacOperation::Scalar(operator, operands) = &statement.operation else {
        return None;
    };
    let [left, right] = operands[..] else {
        return None;
    };
    let is_result = statement
        .results
        .first()
        .copied()
        .map(SoacOperand::Variable)
        == Some(*result);
    let (old, new) = (SoacOperand::Variable(*old), SoacOperand::Variable(*new));
    let takes_both = (left, right) == (old, new) || (left, right) == (new, old);
    let has_width = matches!(operator.from.size(), 4 | 8);
    let row = ATOMIC_OPERATORS.iter().find(|(op, _)| *op == operator.op)?;
    (is_result && takes_both && has_width).then_some(row.1)
}

impl FunctionLowering<'_> {
    /// The change that a function is, if that is faster than private copies.
    pub(super) fn find_change<'f>(&self, function: &'f SoacLambda) -> Option<AtomicChange<'f>> {
        let is_graphics = self.profile.runs_in_lockstep();
        match find_atomic(function) {
            // On a processor a sum of floating-point numbers is a loop.
            Some(op) => {
                let is_fast = op != AtomicOp::FAdd || is_graphics;
                is_fast.then_some(AtomicChange::Operation(op))
            }
            None => {
                let values = &function.parameters[..function.parameters.len() / 2];
                let types = values
                    .iter()
                    .map(|&id| &self.function.variables[id].variable_type);
                let scalars: Option<Vec<_>> = types
                    .map(|variable_type| match variable_type {
                        SoacType::Scalar(element) => Some(*element),
                        _ => None,
                    })
                    .collect();
                let cell = ElementCell::find(scalars?)?;
                (is_graphics && is_simple(function))
                    .then_some(AtomicChange::Function(function, cell))
            }
        }
    }

    /// Changes an element by values.
    pub(super) fn push_change(
        &mut self,
        change: &AtomicChange<'_>,
        place: &ArrayView,
        values: &[LoweredValue],
    ) -> Result<(), String> {
        match (change, values) {
            (AtomicChange::Operation(op), [LoweredValue::Scalar(value)]) => {
                self.push_atomic(*op, place, *value);
                Ok(())
            }
            (AtomicChange::Operation(_), _) => Err("an atomic change has no single value".into()),
            (AtomicChange::Function(function, cell), _) => {
                self.push_exchanges(function, cell, place, values)
            }
        }
    }

    /// The stored form of the values of an element.
    pub(super) fn pack_element(
        &mut self,
        change: &AtomicChange<'_>,
        values: &[LoweredValue],
    ) -> Result<ScalarRef, String> {
        match (change.cell(), values) {
            (Some(cell), _) => self.pack_values(cell, values),
            (None, [LoweredValue::Scalar(value)]) => Ok(*value),
            _ => Err("an atomic change has no single value".into()),
        }
    }

    /// The values of a stored element.
    pub(super) fn unpack_element(
        &mut self,
        change: &AtomicChange<'_>,
        stored: ScalarRef,
    ) -> Vec<LoweredValue> {
        match change.cell() {
            Some(cell) => self.unpack_word(cell, stored),
            None => vec![LoweredValue::Scalar(stored)],
        }
    }

    /// Changes an element by an atomic operation.
    pub(super) fn push_atomic(&mut self, op: AtomicOp, place: &ArrayView, value: ScalarRef) {
        let value = self.read(value);
        self.push_atomic_statement(op, place, value, None);
    }

    /// An atomic statement. Returns the element before.
    fn push_atomic_statement(
        &mut self,
        op: AtomicOp,
        place: &ArrayView,
        value: ExprId,
        expected: Option<ExprId>,
    ) -> ScalarRef {
        let element = self.element(place);
        let old = VariableType::Scalar(place.element);
        let old = self.builder.declare_var("old", old, false);
        self.builder
            .push_statement(StmtKind::Atomic(Box::new(AtomicStmt {
                op,
                element,
                value,
                expected,
                old: Some(old),
            })));
        ScalarRef::Var(old)
    }

    /// Exchanges an element for what a function makes of it, until no other invocation has changed it meanwhile.
    fn push_exchanges(
        &mut self,
        function: &SoacLambda,
        cell: &ElementCell,
        place: &ArrayView,
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let first = self.load(place);
        let first = self.read(first);
        let seen = self.assign("seen", place.element, first);
        let yes = self
            .builder
            .make_literal(ScalarLiteral::new(ScalarType::Bool, 1));
        let open = self.assign("open", ScalarType::Bool, yes);
        let condition = self.read(open);
        self.builder.begin_block();
        let mut operands = self.unpack_word(cell, seen);
        operands.extend_from_slice(values);
        for (&parameter, operand) in function.parameters.iter().zip(operands) {
            self.set(parameter, operand);
        }
        let results = self.lower_body(&function.body)?;
        let new = self.pack_values(cell, &results)?;
        let (new, expected) = (self.read(new), self.read(seen));
        let found =
            self.push_atomic_statement(AtomicOp::CompareExchange, place, new, Some(expected));
        let operands = [self.read(found), self.read(seen)];
        let is_same = ScalarOperator::with_type(ScalarOp::Eq, place.element);
        let is_same = self.builder.apply_operator(is_same, &operands);
        let again = self.builder.apply_op(ScalarOp::Not, &[is_same]);
        if let (ScalarRef::Var(open), ScalarRef::Var(seen)) = (open, seen) {
            self.builder.push_assignment(open, again);
            let found = self.read(found);
            self.builder.push_assignment(seen, found);
        }
        let body = self.builder.end_block();
        self.builder
            .push_statement(StmtKind::While { condition, body });
        Ok(())
    }
}
