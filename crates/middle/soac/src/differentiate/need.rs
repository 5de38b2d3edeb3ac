//! Which primal values the reverse sweep reads.

use super::activity::ActivitySet;
use super::arithmetic::is_sum;
use super::custom::CustomRules;
use super::scalar_rule::{PartialDerivative, find_partials};
use crate::build::SoacBuilder;
use crate::ir::{
    SliceSelector, SoacBody, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation, SoacStatement,
    SoacVariableId,
};
use rustc_hash::FxHashSet;
use spirula_program::{ScalarOp, ScalarOperator};

/// The analysis, with the variables that it found.
pub(super) struct NeedAnalysis<'a> {
    pub(super) builder: &'a SoacBuilder,
    pub(super) active: &'a ActivitySet,
    pub(super) rules: &'a CustomRules,
    /// The variables whose values are read.
    pub(super) needed: FxHashSet<SoacVariableId>,
}

impl NeedAnalysis<'_> {
    /// Needs an operand.
    pub(super) fn need(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            self.needed.insert(id);
        }
    }

    fn need_all(&mut self, operands: &[SoacOperand]) {
        operands.iter().for_each(|&operand| self.need(operand));
    }

    /// Needs the sizes of an operand.
    fn need_sizes(&mut self, operand: SoacOperand) {
        let sizes = self.builder.type_of(operand);
        self.need_all(sizes.shape());
    }

    fn need_selectors(&mut self, selectors: &[SliceSelector]) {
        for selector in selectors {
            match *selector {
                SliceSelector::Point(point) => self.need(point),
                SliceSelector::Stride {
                    start,
                    count,
                    stride,
                } => self.need_all(&[start, count, stride]),
            }
        }
    }

    /// Needs all that a statement reads.
    pub(super) fn need_statement(&mut self, statement: &SoacStatement) {
        visit_reads(statement, &mut |operand| self.need(operand));
        for &result in &statement.results {
            self.need_sizes(SoacOperand::Variable(result));
        }
    }

    /// Needs what the reverse of a statement reads.
    pub(super) fn need_reverse(&mut self, statement: &SoacStatement) {
        if let Some(rule) = statement
            .results
            .first()
            .and_then(|&id| self.rules.find(id))
        {
            let results: Vec<_> = rule
                .results
                .iter()
                .map(|&id| SoacOperand::Variable(id))
                .collect();
            self.need_all(&results);
            let gradient = rule.gradient.clone();
            visit_body_reads(&gradient.body, &mut |operand| self.need(operand));
            return;
        }
        let mut results = statement.results.iter();
        let is_active = results.any(|&result| self.active.contains(result));
        if !is_active && !statement.operation.writes_accumulator() {
            return;
        }
        for &result in &statement.results {
            self.need_sizes(SoacOperand::Variable(result));
        }
        statement.certificates.iter().for_each(|&certificate| {
            self.needed.insert(certificate);
        });
        statement
            .operation
            .for_each_operand(|operand| self.need_sizes(operand));
        match &statement.operation {
            SoacOperation::Scalar(operator, operands) => {
                self.need_scalar(*operator, operands, statement.results[0]);
            }
            SoacOperation::Slice(_, selectors) | SoacOperation::Update(_, selectors, _) => {
                self.need_selectors(selectors);
            }
            SoacOperation::Replicate(sizes, _) | SoacOperation::Reshape(_, sizes) => {
                self.need_all(sizes);
            }
            SoacOperation::Scatter(_, positions, _)
            | SoacOperation::Accumulate(_, positions, _) => {
                self.need(*positions);
            }
            SoacOperation::WithAccumulators(accumulation) => self.need_body(&accumulation.body),
            SoacOperation::If(condition, accept, reject) => {
                self.need(*condition);
                self.need_body(accept);
                self.need_body(reject);
            }
            SoacOperation::Map(width, arrays, function) => {
                self.need(*width);
                self.need_body(&function.body);
                for (parameter, &array) in function.parameters.iter().zip(arrays) {
                    if self.needed.contains(parameter) {
                        self.need(array);
                    }
                }
            }
            SoacOperation::Reduce(width, _, _, function, _)
            | SoacOperation::Scan(width, _, _, function)
                if is_sum(function) =>
            {
                self.need(*width);
            }
            SoacOperation::Histogram(histogram) if is_sum(&histogram.function) => {
                self.need(histogram.positions);
            }
            SoacOperation::Scan(..) | SoacOperation::Histogram(..) => {
                self.need_statement(statement);
                statement.results.iter().for_each(|&result| {
                    self.needed.insert(result);
                });
            }
            SoacOperation::Reduce(..) | SoacOperation::Loop(..) => self.need_statement(statement),
            _ => {}
        }
    }

    fn need_scalar(
        &mut self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
        result: SoacVariableId,
    ) {
        match operator.op {
            ScalarOp::FMul | ScalarOp::Mul => {
                for (index, &operand) in operands.iter().enumerate() {
                    if self.active.has_operand(operands[1 - index]) {
                        self.need(operand);
                    }
                }
            }
            ScalarOp::Cond => self.need(operands[0]),
            _ => {
                let unknown = vec![(); operands.len()];
                let mut algebra = super::activity::UnknownAlgebra;
                let partials = find_partials(&mut algebra, operator, &unknown, &());
                let is_fixed = |partial: &PartialDerivative<()>| {
                    matches!(
                        partial,
                        PartialDerivative::Zero
                            | PartialDerivative::One
                            | PartialDerivative::MinusOne
                            | PartialDerivative::Conversion
                    )
                };
                if !partials.iter().all(is_fixed) {
                    self.need_all(operands);
                    self.needed.insert(result);
                }
            }
        }
    }

    /// Needs what the reverse of a body reads, and what its statements need to compute that.
    pub(super) fn need_body(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            self.need_reverse(statement);
        }
        self.need_definitions(body, |_, _| false);
    }

    /// Needs what the statements of a body read whose results are needed, from the last to the first. Results that
    /// `is_kept` accepts are not computed.
    pub(super) fn need_definitions(
        &mut self,
        body: &SoacBody,
        is_kept: impl Fn(&mut Self, SoacVariableId) -> bool,
    ) {
        for statement in body.statements.iter().rev() {
            let mut is_needed = false;
            for &result in &statement.results {
                is_needed |= self.needed.contains(&result) && !is_kept(self, result);
            }
            if is_needed {
                self.need_statement(statement);
            }
        }
    }
}

/// Calls a function with each operand that a statement reads, in its bodies too, and with its certificates.
pub(super) fn visit_reads(statement: &SoacStatement, visit: &mut impl FnMut(SoacOperand)) {
    statement.operation.for_each_operand(&mut *visit);
    for &certificate in &statement.certificates {
        visit(SoacOperand::Variable(certificate));
    }
    for body in statement.operation.bodies() {
        visit_body_reads(body, visit);
    }
}

/// Calls a function with each operand that a body reads.
pub(super) fn visit_body_reads(body: &SoacBody, visit: &mut impl FnMut(SoacOperand)) {
    for statement in &body.statements {
        visit_reads(statement, visit);
    }
    body.results.iter().for_each(|&result| visit(result));
}

/// Calls a function with each variable that a statement binds, in its bodies too.
pub(super) fn visit_bound(statement: &SoacStatement, visit: &mut impl FnMut(SoacVariableId)) {
    statement.results.iter().for_each(|&id| visit(id));
    match &statement.operation {
        SoacOperation::Loop(parameters, form, _) => {
            parameters.iter().for_each(|(id, _)| visit(*id));
            if let SoacLoopForm::For(counter, _) = form {
                visit(*counter);
            }
        }
        SoacOperation::Map(_, _, function)
        | SoacOperation::Reduce(_, _, _, function, _)
        | SoacOperation::Scan(_, _, _, function) => visit_parameters(function, visit),
        SoacOperation::Histogram(histogram) => visit_parameters(&histogram.function, visit),
        SoacOperation::WithAccumulators(accumulation) => {
            for accumulator in &accumulation.accumulators {
                visit(accumulator.variable);
                if let Some(function) = &accumulator.combine {
                    visit_parameters(function, visit);
                }
            }
        }
        _ => {}
    }
    for body in statement.operation.bodies() {
        for inner in &body.statements {
            visit_bound(inner, visit);
        }
    }
}

fn visit_parameters(function: &SoacLambda, visit: &mut impl FnMut(SoacVariableId)) {
    function.parameters.iter().for_each(|&id| visit(id));
}
