//! Choices and loops.

use super::scalar::{make_truth, read_truth};
use super::{BodyKind, FunctionSimplifier, ReplacementValue};
use crate::ir::{
    SoacBody, SoacLoopForm, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A loop, apart from its statement.
struct LoopParts {
    parameters: Vec<(SoacVariableId, SoacOperand)>,
    form: SoacLoopForm,
    body: SoacBody,
}

impl FunctionSimplifier<'_> {
    pub(super) fn simplify_if(&mut self, statement: SoacStatement) {
        let SoacStatement {
            results,
            certificates,
            operation,
        } = statement;
        let SoacOperation::If(condition, accept, reject) = operation else {
            return;
        };
        if let Some(truth) = read_truth(condition) {
            let taken = if truth { accept } else { reject };
            self.inline_body(taken, &results, &certificates);
            return;
        }
        let accept = self.simplify_branch(accept, condition, true);
        let reject = self.simplify_branch(reject, condition, false);
        self.finish_if(SoacStatement {
            results,
            certificates,
            operation: SoacOperation::If(condition, accept, reject),
        });
    }

    /// Adds the statements of a body to the one that is made. Variables are its results.
    fn inline_body(
        &mut self,
        body: SoacBody,
        results: &[SoacVariableId],
        certificates: &[SoacVariableId],
    ) {
        for mut statement in body.statements {
            statement.certificates.extend(certificates);
            self.simplify_statement(statement);
        }
        for (&id, &value) in results.iter().zip(&body.results) {
            let mut needed = certificates.to_vec();
            let value = self.substitute(value, &mut needed);
            self.resolve_certificates(&mut needed);
            self.replace(id, value, &needed);
        }
    }

    /// Simplifies a branch, in which the value of the condition is known.
    fn simplify_branch(
        &mut self,
        branch: SoacBody,
        condition: SoacOperand,
        truth: bool,
    ) -> SoacBody {
        let known = self.list_known(condition, truth);
        for &(id, truth) in &known {
            let value = ReplacementValue {
                operand: make_truth(truth),
                certificates: Vec::new(),
            };
            self.replacements.insert(id, value);
        }
        let branch = self.simplify_body(branch, BodyKind::Branch);
        for (id, _) in known {
            self.replacements.remove(&id);
        }
        branch
    }

    /// The truth values that variables have where a condition has one.
    fn list_known(&self, condition: SoacOperand, truth: bool) -> Vec<(SoacVariableId, bool)> {
        let mut known = Vec::new();
        let mut pending = vec![(condition, truth)];
        while let Some((operand, truth)) = pending.pop() {
            let SoacOperand::Variable(id) = operand else {
                continue;
            };
            if self.replacements.contains_key(&id) {
                continue;
            }
            known.push((id, truth));
            let Some(definition) = self.definition(operand) else {
                continue;
            };
            let SoacOperation::Scalar(operator, operands) = &definition.operation else {
                continue;
            };
            match operator.op {
                ScalarOp::Not => pending.push((operands[0], !truth)),
                ScalarOp::LogAnd if truth => {
                    pending.extend(operands.iter().map(|&part| (part, true)));
                }
                ScalarOp::LogOr if !truth => {
                    pending.extend(operands.iter().map(|&part| (part, false)));
                }
                _ => {}
            }
        }
        known
    }

    /// Removes the results of a choice that are the same in both branches, and a choice of scalars without statements.
    fn finish_if(&mut self, mut statement: SoacStatement) {
        let SoacOperation::If(condition, accept, reject) = &mut statement.operation else {
            return;
        };
        let depth = self.frames.len();
        let is_empty = accept.statements.is_empty() && reject.statements.is_empty();
        let mut index = 0;
        let mut choices = Vec::new();
        while let Some(&id) = statement.results.get(index) {
            let (left, right) = (accept.results[index], reject.results[index]);
            let is_scalar = matches!(self.variables[id].variable_type, SoacType::Scalar(_));
            if left == right && self.is_outside(left, depth) {
                self.replace(id, left, &statement.certificates);
            } else if is_scalar && is_empty {
                choices.push((id, vec![*condition, left, right]));
            } else {
                index += 1;
                continue;
            }
            statement.results.remove(index);
            accept.results.remove(index);
            reject.results.remove(index);
        }
        for (id, operands) in choices {
            let element = self.variables[id].variable_type.element();
            let operator = ScalarOperator::with_type(ScalarOp::Cond, element);
            self.simplify_statement(SoacStatement {
                results: vec![id],
                certificates: statement.certificates.clone(),
                operation: SoacOperation::Scalar(operator, operands),
            });
        }
        self.place_rest(statement);
    }

    /// Adds a statement of which some results are gone, unless all are.
    pub(super) fn place_rest(&mut self, statement: SoacStatement) {
        if statement.results.is_empty() && !statement.operation.writes_accumulator() {
            return;
        }
        for &id in &statement.results {
            self.substitute_type(id);
        }
        self.place(statement);
    }

    pub(super) fn simplify_loop(&mut self, statement: SoacStatement) {
        let SoacStatement {
            mut results,
            certificates,
            operation,
        } = statement;
        let SoacOperation::Loop(parameters, form, body) = operation else {
            return;
        };
        let mut parts = LoopParts {
            parameters,
            form,
            body,
        };
        self.remove_invariants(&mut parts, &mut results, &certificates);
        let trips = match parts.form {
            SoacLoopForm::For(_, bound) => bound.to_int64(),
            SoacLoopForm::While(_) => None,
        };
        match trips {
            Some(..=0) => {
                for (&id, (_, initial)) in results.iter().zip(&parts.parameters) {
                    self.replace(id, *initial, &certificates);
                }
            }
            Some(1) => {
                self.inline_iteration(parts, &results, &certificates);
            }
            _ => {
                let operation = self.repeat_loop(parts);
                self.place_rest(SoacStatement {
                    results,
                    certificates,
                    operation,
                });
            }
        }
    }

    /// Uses the first values of parameters that each iteration passes on.
    fn remove_invariants(
        &mut self,
        parts: &mut LoopParts,
        results: &mut Vec<SoacVariableId>,
        certificates: &[SoacVariableId],
    ) {
        let mut index = 0;
        while let Some(&(id, initial)) = parts.parameters.get(index) {
            let value = parts.body.results[index];
            let is_passed_on = value == SoacOperand::Variable(id)
                || self.substitute_size(value) == initial && !self.is_consumed(initial);
            let is_condition =
                matches!(parts.form, SoacLoopForm::While(position) if position == index);
            if !is_passed_on || is_condition {
                index += 1;
                continue;
            }
            self.replace(id, initial, &[]);
            self.replace(results[index], initial, certificates);
            parts.parameters.remove(index);
            parts.body.results.remove(index);
            results.remove(index);
            if let SoacLoopForm::While(position) = &mut parts.form {
                *position -= usize::from(*position > index);
            }
            // Sizes of parameters before it may be results of the loop as well.
            index = 0;
        }
    }

    /// Adds the only iteration of a loop to the body that is made.
    fn inline_iteration(
        &mut self,
        parts: LoopParts,
        results: &[SoacVariableId],
        certificates: &[SoacVariableId],
    ) {
        for &(id, initial) in &parts.parameters {
            self.replace(id, initial, &[]);
        }
        if let SoacLoopForm::For(counter, bound) = parts.form {
            let zero = ScalarLiteral::new(self.type_of(bound).element(), 0);
            self.replace(counter, SoacOperand::Constant(zero), &[]);
        }
        self.inline_body(parts.body, results, certificates);
    }

    /// A loop with its body simplified.
    fn repeat_loop(&mut self, parts: LoopParts) -> SoacOperation {
        for &(id, _) in &parts.parameters {
            self.bind_parameter(id);
        }
        if let SoacLoopForm::For(counter, bound) = parts.form {
            self.bind_counter(counter, bound);
        }
        let before: Vec<_> = parts.body.results.clone();
        let trips = match parts.form {
            SoacLoopForm::For(_, bound) if self.type_of(bound).element() == ScalarType::I64 => {
                Some(bound)
            }
            _ => None,
        };
        let body = self.simplify_body(parts.body, BodyKind::Repeated(trips));
        let passes_on = |(index, &value): (usize, &SoacOperand)| {
            let (id, initial) = parts.parameters[index];
            value != before[index] && (value == SoacOperand::Variable(id) || value == initial)
        };
        self.needs_again |= body.results.iter().enumerate().any(passes_on);
        SoacOperation::Loop(parts.parameters, parts.form, body)
    }
}
