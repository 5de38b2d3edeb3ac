//! Derivatives of accumulators.

use super::arithmetic::{add_zero, is_sum};
use super::copy::BodyCopier;
use super::forward::ForwardTransform;
use super::reverse::ReverseTransform;
use crate::ir::{
    SliceSelector, SoacAccumulation, SoacAccumulator, SoacBody, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariableId,
};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

impl ForwardTransform<'_> {
    /// Adds a body that writes accumulators, and their tangents. Tangents of sums have accumulators of their own, so that
    /// both stay sums.
    pub(super) fn add_accumulation(
        &mut self,
        results: Vec<SoacVariableId>,
        certificates: &[SoacVariableId],
        accumulation: SoacAccumulation,
    ) {
        let mut accumulators = Vec::new();
        let mut separate = Vec::new();
        let mut arrays = Vec::new();
        let mut separate_arrays = Vec::new();
        let mut rest = results.as_slice();
        for mut accumulator in accumulation.accumulators {
            let (ids, others) = rest.split_at(accumulator.targets.len());
            rest = others;
            let active = self.select_active(ids, &accumulator.targets);
            let targets = self.tangents(&active);
            let tangents = self.add_tangent_variables(ids);
            arrays.extend(ids);
            match accumulator.combine.take() {
                Some(function) if is_sum(&function) => {
                    if !active.is_empty() {
                        let variable = self.builder.add_variable("dacc", SoacType::Accumulator);
                        self.accumulators.insert(accumulator.variable, variable);
                        let copy = BodyCopier::default().copy_lambda(self.builder, &function);
                        separate_arrays.extend(tangents);
                        separate.push(SoacAccumulator {
                            variable,
                            targets,
                            combine: Some(copy),
                        });
                    }
                    accumulator.combine = Some(function);
                }
                combine => {
                    accumulator.targets.extend(targets);
                    arrays.extend(tangents);
                    accumulator.combine = combine.map(|function| self.derive_fold(ids, function));
                }
            }
            accumulators.push(accumulator);
        }
        let body = self.derive_body(accumulation.body, rest);
        accumulators.extend(separate);
        arrays.extend(separate_arrays);
        arrays.extend(rest);
        arrays.extend(self.add_tangent_variables(rest));
        let accumulation = SoacAccumulation { accumulators, body };
        self.builder.require_certificates(certificates);
        self.builder.add_statement(
            arrays,
            SoacOperation::WithAccumulators(Box::new(accumulation)),
        );
    }

    /// Adds a write of an accumulator, and that of its tangents.
    pub(super) fn add_write(
        &mut self,
        statement: SoacStatement,
        accumulator: SoacVariableId,
        position: SoacOperand,
        mut values: Vec<SoacOperand>,
    ) {
        let targets = self.active.find_targets(accumulator).to_vec();
        let active = self.select_active(&targets, &values);
        let tangents = self.tangents(&active);
        let certificates = statement.certificates.clone();
        match self.accumulators.get(&accumulator).copied() {
            Some(separate) => {
                self.builder.push_statement(statement);
                self.builder.require_certificates(&certificates);
                let write = SoacOperation::Accumulate(separate, position, tangents);
                self.builder.add_statement(Vec::new(), write);
            }
            None => {
                values.extend(tangents);
                self.builder.require_certificates(&certificates);
                let write = SoacOperation::Accumulate(accumulator, position, values);
                self.builder.add_statement(Vec::new(), write);
            }
        }
    }
}

impl ReverseTransform<'_> {
    /// Sweeps a body that writes accumulators in reverse. A value has the adjoint of the element that it is written to, and
    /// the arrays keep theirs, apart from elements that are replaced.
    pub(super) fn reverse_accumulation(
        &mut self,
        accumulation: &SoacAccumulation,
        adjoints: &[Option<SoacOperand>],
    ) {
        let mut rest = adjoints;
        let mut passed = Vec::new();
        for accumulator in &accumulation.accumulators {
            let (arrays, others) = rest.split_at(accumulator.targets.len());
            rest = others;
            let is_known = accumulator.combine.as_ref().is_none_or(is_sum);
            if !is_known && arrays.iter().any(Option::is_some) {
                let reason = "writes that are combined by a function other than a sum have no derivative in reverse mode";
                self.fault = Some(reason.to_owned());
            }
            self.written.insert(accumulator.variable, arrays.to_vec());
            passed.extend(
                accumulator
                    .targets
                    .iter()
                    .copied()
                    .zip(arrays.iter().copied()),
            );
        }
        let copier = self.make_copier();
        self.reverse_body(copier, &accumulation.body, rest);
        let replaced = self.erase_written(accumulation, adjoints);
        for (index, (target, adjoint)) in passed.into_iter().enumerate() {
            if let Some(adjoint) = replaced[index].or(adjoint) {
                self.add_adjoint(target, adjoint);
            }
        }
    }

    /// The adjoints of arrays of which elements are replaced: zero at these.
    fn erase_written(
        &mut self,
        accumulation: &SoacAccumulation,
        adjoints: &[Option<SoacOperand>],
    ) -> Vec<Option<SoacOperand>> {
        let mut erased = Vec::new();
        let mut rest = adjoints;
        for accumulator in &accumulation.accumulators {
            let (arrays, others) = rest.split_at(accumulator.targets.len());
            rest = others;
            for (&target, &adjoint) in accumulator.targets.iter().zip(arrays) {
                let adjoint = adjoint
                    .filter(|_| accumulator.combine.is_none() && self.active.has_operand(target));
                erased.push(adjoint.map(|adjoint| {
                    self.erase_positions(accumulation, accumulator.variable, adjoint)
                }));
            }
        }
        erased
    }

    /// An array with zero at the positions that an accumulator writes.
    fn erase_positions(
        &mut self,
        accumulation: &SoacAccumulation,
        variable: SoacVariableId,
        array: SoacOperand,
    ) -> SoacOperand {
        let array_type = self.builder.type_of(array);
        let row = self.row_type(array);
        let mut copier = self.make_copier();
        let eraser = self.builder.add_variable("acc", SoacType::Accumulator);
        self.builder.begin_body();
        self.copy_consumed(&mut copier, &[], &accumulation.body);
        let body = copier.copy_body(self.builder, &accumulation.body);
        let zero = add_zero(self.builder, &row);
        for statement in replace_writes(body.statements, variable, eraser, zero) {
            self.builder.push_statement(statement);
        }
        let body = self.builder.end_body(Vec::new());
        let accumulators = vec![SoacAccumulator {
            variable: eraser,
            targets: vec![array],
            combine: None,
        }];
        let accumulation = SoacAccumulation { accumulators, body };
        let operation = SoacOperation::WithAccumulators(Box::new(accumulation));
        self.builder.add_single("adj", array_type, operation)
    }

    /// Adds the adjoints of values that are written to an accumulator.
    pub(super) fn reverse_write(
        &mut self,
        accumulator: SoacVariableId,
        position: SoacOperand,
        values: &[SoacOperand],
    ) {
        let arrays = self.written.get(&accumulator).cloned().unwrap_or_default();
        for (&value, array) in values.iter().zip(arrays) {
            let Some(array) = array.filter(|_| self.active.has_operand(value)) else {
                continue;
            };
            let part = self.read_inside(array, position);
            self.add_adjoint(value, part);
        }
    }

    /// The row of an array at a position, with zero outside.
    pub(super) fn read_inside(&mut self, array: SoacOperand, position: SoacOperand) -> SoacOperand {
        let length = self.builder.type_of(array).shape()[0];
        let row = self.row_type(array);
        let less = ScalarOperator::with_type(ScalarOp::ULt, ScalarType::I64);
        let is_inside = self.builder.add_scalar(less, &[position, length]);
        self.builder.begin_body();
        let found = self.slice(array, vec![SliceSelector::Point(position)], row.clone());
        let found = self.copy_seed(found);
        let accept = self.builder.end_body(vec![found]);
        self.builder.begin_body();
        let zero = add_zero(self.builder, &row);
        let reject = self.builder.end_body(vec![zero]);
        let choice = SoacOperation::If(is_inside, accept, reject);
        self.builder.add_single("g", row, choice)
    }

    /// A statement without the writes of accumulators whose arrays are not at hand while it runs again.
    pub(super) fn strip_writes(&self, statement: SoacStatement) -> Option<SoacStatement> {
        if let SoacOperation::Accumulate(accumulator, _, _) = &statement.operation {
            return (!self.written.contains_key(accumulator)).then_some(statement);
        }
        let mut statement = statement;
        for body in statement.operation.bodies_mut() {
            if body.writes_accumulator() {
                let statements = std::mem::take(&mut body.statements).into_iter();
                body.statements = statements
                    .filter_map(|inner| self.strip_writes(inner))
                    .collect();
            }
        }
        Some(statement)
    }
}

/// The statements with the writes of an accumulator as writes of zero to another, and without other writes.
fn replace_writes(
    statements: Vec<SoacStatement>,
    accumulator: SoacVariableId,
    eraser: SoacVariableId,
    zero: SoacOperand,
) -> Vec<SoacStatement> {
    let mut inner = Vec::new();
    let mut replaced = Vec::with_capacity(statements.len());
    for mut statement in statements {
        match &mut statement.operation {
            SoacOperation::Accumulate(written, _, values) => {
                if *written == accumulator {
                    *written = eraser;
                    *values = vec![zero];
                } else if !inner.contains(written) {
                    continue;
                }
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let accumulators = accumulation.accumulators.iter();
                inner.extend(accumulators.map(|accumulator| accumulator.variable));
                replace_body(&mut accumulation.body, accumulator, eraser, zero);
            }
            operation => {
                for body in operation.bodies_mut() {
                    replace_body(body, accumulator, eraser, zero);
                }
            }
        }
        replaced.push(statement);
    }
    replaced
}

fn replace_body(
    body: &mut SoacBody,
    accumulator: SoacVariableId,
    eraser: SoacVariableId,
    zero: SoacOperand,
) {
    let statements = std::mem::take(&mut body.statements);
    body.statements = replace_writes(statements, accumulator, eraser, zero);
}
