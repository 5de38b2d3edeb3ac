//! Forward mode: beside each statement one that computes the tangents of its results.

use super::activity::ActivitySet;
use super::arithmetic::{add_tangents, add_zero, is_sum};
use super::copy::BodyCopier;
use super::scalar_rule::{chain_derivative, find_partials};
use crate::build::SoacBuilder;
use crate::ir::{
    ReductionOrder, SoacBody, SoacHistogram, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

/// State of the transformation.
pub(super) struct ForwardTransform<'b> {
    pub(super) builder: &'b mut SoacBuilder,
    pub(super) active: ActivitySet,
    /// The tangents of active variables.
    tangents: FxHashMap<SoacVariableId, SoacOperand>,
    /// Accumulators of tangents, for those whose function adds.
    pub(super) accumulators: FxHashMap<SoacVariableId, SoacVariableId>,
}

impl<'b> ForwardTransform<'b> {
    /// A transformation for inputs with their tangents.
    pub(super) fn new(
        builder: &'b mut SoacBuilder,
        inputs: &[(SoacVariableId, SoacOperand)],
        body: &SoacBody,
    ) -> Self {
        let mut active = ActivitySet::default();
        for (id, _) in inputs {
            active.insert(builder, *id);
        }
        active.visit_body(builder, body);
        ForwardTransform {
            builder,
            active,
            tangents: inputs.iter().copied().collect(),
            accumulators: FxHashMap::default(),
        }
    }

    /// Adds statements and those for their tangents.
    pub(super) fn add_statements(&mut self, statements: Vec<SoacStatement>) {
        for statement in statements {
            self.add_statement(statement);
        }
    }

    /// The tangent of an operand. None if it is zero.
    fn find_tangent(&self, operand: SoacOperand) -> Option<SoacOperand> {
        match operand {
            SoacOperand::Variable(id) if self.active.contains(id) => {
                self.tangents.get(&id).copied()
            }
            _ => None,
        }
    }

    /// The tangent of an operand.
    pub(super) fn tangent(&mut self, operand: SoacOperand) -> SoacOperand {
        match self.find_tangent(operand) {
            Some(tangent) => tangent,
            None => {
                let operand_type = self.builder.type_of(operand);
                add_zero(self.builder, &operand_type)
            }
        }
    }

    pub(super) fn tangents(&mut self, operands: &[SoacOperand]) -> Vec<SoacOperand> {
        operands
            .iter()
            .map(|&operand| self.tangent(operand))
            .collect()
    }

    /// A variable for the tangent of an active variable.
    fn add_tangent_variable(&mut self, id: SoacVariableId) -> SoacVariableId {
        let variable_type = self.builder.type_of(SoacOperand::Variable(id));
        let tangent = self.builder.add_variable("dt", variable_type);
        self.tangents.insert(id, SoacOperand::Variable(tangent));
        tangent
    }

    /// Variables for the tangents of those of some variables that are active.
    pub(super) fn add_tangent_variables(&mut self, ids: &[SoacVariableId]) -> Vec<SoacVariableId> {
        let active: Vec<_> = self.select_active(ids, ids);
        active
            .into_iter()
            .map(|id| self.add_tangent_variable(id))
            .collect()
    }

    /// The items of a list whose variables are active.
    pub(super) fn select_active<T: Copy>(&self, ids: &[SoacVariableId], items: &[T]) -> Vec<T> {
        let pairs = ids.iter().zip(items);
        pairs
            .filter(|(id, _)| self.active.contains(**id))
            .map(|(_, item)| *item)
            .collect()
    }

    fn add_statement(&mut self, statement: SoacStatement) {
        let is_active = statement
            .results
            .iter()
            .any(|&result| self.active.contains(result));
        if !is_active && !statement.operation.writes_accumulator() {
            self.builder.push_statement(statement);
            return;
        }
        match statement.operation {
            SoacOperation::Accumulate(accumulator, position, ref values) => {
                let values = values.clone();
                self.add_write(statement, accumulator, position, values);
            }
            SoacOperation::Scalar(operator, ref operands) => {
                let operands = operands.clone();
                let result = statement.results[0];
                self.builder.push_statement(statement);
                self.add_scalar_tangent(operator, &operands, result);
            }
            SoacOperation::If(..)
            | SoacOperation::Loop(..)
            | SoacOperation::Map(..)
            | SoacOperation::Reduce(..)
            | SoacOperation::Scan(..)
            | SoacOperation::Histogram(..)
            | SoacOperation::WithAccumulators(..) => self.add_structured(statement),
            _ => {
                let (result, certificates) = (statement.results[0], statement.certificates.clone());
                let operation = statement.operation.clone();
                self.builder.push_statement(statement);
                let derived = self.derive_operation(operation, result);
                self.builder.require_certificates(&certificates);
                let tangent = self.add_tangent_variable(result);
                self.builder.add_statement(vec![tangent], derived);
            }
        }
    }

    fn add_scalar_tangent(
        &mut self,
        operator: ScalarOperator,
        operands: &[SoacOperand],
        result: SoacVariableId,
    ) {
        let value = SoacOperand::Variable(result);
        let partials = find_partials(self.builder, operator, operands, &value);
        let mut tangent = None;
        for (&operand, partial) in operands.iter().zip(&partials) {
            let Some(direction) = self.find_tangent(operand) else {
                continue;
            };
            let part = chain_derivative(self.builder, operator, partial, &direction, false);
            tangent = add_tangents(self.builder, tangent, part);
        }
        if let Some(tangent) = tangent {
            self.tangents.insert(result, tangent);
        }
    }

    /// The operation on the tangents for one that moves elements.
    fn derive_operation(
        &mut self,
        operation: SoacOperation,
        result: SoacVariableId,
    ) -> SoacOperation {
        match operation {
            SoacOperation::Slice(array, selectors) => {
                SoacOperation::Slice(self.tangent(array), selectors)
            }
            SoacOperation::Update(array, selectors, value) => {
                SoacOperation::Update(self.tangent(array), selectors, self.tangent(value))
            }
            SoacOperation::Literal(elements) => SoacOperation::Literal(self.tangents(&elements)),
            SoacOperation::Replicate(sizes, value) => {
                SoacOperation::Replicate(sizes, self.tangent(value))
            }
            SoacOperation::Concat(arrays) => SoacOperation::Concat(self.tangents(&arrays)),
            SoacOperation::Reshape(array, sizes) => {
                SoacOperation::Reshape(self.tangent(array), sizes)
            }
            SoacOperation::Rearrange(array, permutation) => {
                SoacOperation::Rearrange(self.tangent(array), permutation)
            }
            SoacOperation::Manifest(array) => SoacOperation::Manifest(self.tangent(array)),
            SoacOperation::Scatter(array, positions, values) => {
                SoacOperation::Scatter(self.tangent(array), positions, self.tangent(values))
            }
            SoacOperation::Iota(count, first, step) => self.derive_iota(count, first, step),
            other => {
                let operand_type = self.builder.type_of(SoacOperand::Variable(result));
                let zero = add_zero(self.builder, &operand_type);
                debug_assert!(matches!(
                    other,
                    SoacOperation::Check(..) | SoacOperation::Parameter(..)
                ));
                SoacOperation::Slice(zero, Vec::new())
            }
        }
    }

    /// The tangents of numbers that follow each other.
    fn derive_iota(
        &mut self,
        count: SoacOperand,
        first: SoacOperand,
        step: SoacOperand,
    ) -> SoacOperation {
        let element = self.builder.type_of(first).element();
        let (first, step) = (self.tangent(first), self.tangent(step));
        let zero = SoacOperand::from_int64(0);
        let one = SoacOperand::from_int64(1);
        let indices_type = SoacType::Array(ScalarType::I64, vec![count]);
        let iota = SoacOperation::Iota(count, zero, one);
        let indices = self.builder.add_single("iota", indices_type, iota);
        let index = self
            .builder
            .add_variable("i", SoacType::Scalar(ScalarType::I64));
        self.builder.begin_body();
        let narrow = ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I64, element);
        let mut position = SoacOperand::Variable(index);
        if element != ScalarType::I64 {
            position = self.builder.add_scalar(narrow, &[position]);
        }
        let multiply = ScalarOperator::with_type(ScalarOp::Mul, element);
        let add = ScalarOperator::with_type(ScalarOp::Add, element);
        let product = self.builder.add_scalar(multiply, &[position, step]);
        let sum = self.builder.add_scalar(add, &[first, product]);
        let body = self.builder.end_body(vec![sum]);
        let parameters = vec![index];
        SoacOperation::Map(count, vec![indices], SoacLambda { parameters, body })
    }

    /// A body with the tangents of those of its results that belong to active variables.
    pub(super) fn derive_body(&mut self, body: SoacBody, results: &[SoacVariableId]) -> SoacBody {
        self.builder.begin_body();
        self.add_statements(body.statements);
        let selected = self.select_active(results, &body.results);
        let mut all = body.results;
        all.extend(self.tangents(&selected));
        self.builder.end_body(all)
    }

    /// Adds an operation with bodies, which computes the tangents as well.
    fn add_structured(&mut self, statement: SoacStatement) {
        let mut results = statement.results.clone();
        let operation = match statement.operation {
            SoacOperation::If(condition, accept, reject) => {
                let accept = self.derive_body(accept, &results);
                let reject = self.derive_body(reject, &results);
                SoacOperation::If(condition, accept, reject)
            }
            SoacOperation::Loop(parameters, form, body) => self.derive_loop(parameters, form, body),
            SoacOperation::Map(width, mut arrays, function) => {
                let active = self.select_active(&function.parameters, &arrays);
                arrays.extend(self.tangents(&active));
                let mut parameters = function.parameters;
                parameters.extend(self.add_tangent_variables(&parameters.clone()));
                let body = self.derive_body(function.body, &results);
                SoacOperation::Map(width, arrays, SoacLambda { parameters, body })
            }
            SoacOperation::Reduce(width, arrays, neutral, function, order) => {
                if is_sum(&function) {
                    return self.add_sum(
                        statement.results,
                        FoldParts::Reduce(width, arrays, neutral, order),
                        function,
                    );
                }
                let arrays = self.extend_operands(&results, arrays);
                let neutral = self.extend_operands(&results, neutral);
                let function = self.derive_fold(&results, function);
                SoacOperation::Reduce(width, arrays, neutral, function, order)
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                if is_sum(&function) {
                    return self.add_sum(
                        statement.results,
                        FoldParts::Scan(width, arrays, neutral),
                        function,
                    );
                }
                let arrays = self.extend_operands(&results, arrays);
                let neutral = self.extend_operands(&results, neutral);
                let function = self.derive_fold(&results, function);
                SoacOperation::Scan(width, arrays, neutral, function)
            }
            SoacOperation::Histogram(histogram) => {
                if is_sum(&histogram.function) {
                    return self.add_histogram_sum(statement.results, *histogram);
                }
                let positions = histogram.positions;
                SoacOperation::Histogram(Box::new(SoacHistogram {
                    targets: self.extend_operands(&results, histogram.targets),
                    neutral: self.extend_operands(&results, histogram.neutral),
                    values: self.extend_operands(&results, histogram.values),
                    function: self.derive_fold(&results, histogram.function),
                    positions,
                }))
            }
            SoacOperation::WithAccumulators(accumulation) => {
                return self.add_accumulation(
                    statement.results,
                    &statement.certificates,
                    *accumulation,
                );
            }
            other => other,
        };
        results.extend(self.add_tangent_variables(&statement.results));
        self.builder.require_certificates(&statement.certificates);
        self.builder.add_statement(results, operation);
    }

    fn derive_loop(
        &mut self,
        parameters: Vec<(SoacVariableId, SoacOperand)>,
        form: SoacLoopForm,
        body: SoacBody,
    ) -> SoacOperation {
        let (mut ids, mut initial): (Vec<_>, Vec<_>) = parameters.into_iter().unzip();
        let active = self.select_active(&ids, &initial);
        initial.extend(self.tangents(&active));
        let primal = ids.clone();
        ids.extend(self.add_tangent_variables(&primal));
        let body = self.derive_body(body, &primal);
        SoacOperation::Loop(ids.into_iter().zip(initial).collect(), form, body)
    }

    /// Operands, and the tangents of those that belong to active variables.
    pub(super) fn extend_operands(
        &mut self,
        ids: &[SoacVariableId],
        mut operands: Vec<SoacOperand>,
    ) -> Vec<SoacOperand> {
        let active = self.select_active(ids, &operands);
        operands.extend(self.tangents(&active));
        operands
    }

    /// The function that combines values with their tangents.
    pub(super) fn derive_fold(
        &mut self,
        results: &[SoacVariableId],
        function: SoacLambda,
    ) -> SoacLambda {
        let (left, right) = function.parameters.split_at(results.len());
        let mut parameters = left.to_vec();
        parameters.extend(self.add_tangent_variables(left));
        parameters.extend(right);
        parameters.extend(self.add_tangent_variables(right));
        let body = self.derive_body(function.body, results);
        SoacLambda { parameters, body }
    }

    /// Adds a sum, and the sum of the tangents.
    fn add_sum(&mut self, results: Vec<SoacVariableId>, parts: FoldParts, function: SoacLambda) {
        let copied = BodyCopier::default().copy_lambda(self.builder, &function);
        let (primal, derived) = match parts {
            FoldParts::Reduce(width, arrays, neutral, order) => {
                let (darrays, dneutral) = (self.tangents(&arrays), self.tangents(&neutral));
                (
                    SoacOperation::Reduce(width, arrays, neutral, function, order),
                    SoacOperation::Reduce(width, darrays, dneutral, copied, order),
                )
            }
            FoldParts::Scan(width, arrays, neutral) => {
                let (darrays, dneutral) = (self.tangents(&arrays), self.tangents(&neutral));
                (
                    SoacOperation::Scan(width, arrays, neutral, function),
                    SoacOperation::Scan(width, darrays, dneutral, copied),
                )
            }
        };
        self.builder.add_statement(results.clone(), primal);
        let tangents = self.add_tangent_variables(&results);
        self.builder.add_statement(tangents, derived);
    }

    fn add_histogram_sum(&mut self, results: Vec<SoacVariableId>, histogram: SoacHistogram) {
        let derived = SoacHistogram {
            targets: self.tangents(&histogram.targets),
            neutral: self.tangents(&histogram.neutral),
            function: BodyCopier::default().copy_lambda(self.builder, &histogram.function),
            positions: histogram.positions,
            values: self.tangents(&histogram.values),
        };
        let primal = SoacOperation::Histogram(Box::new(histogram));
        self.builder.add_statement(results.clone(), primal);
        let tangents = self.add_tangent_variables(&results);
        let derived = SoacOperation::Histogram(Box::new(derived));
        self.builder.add_statement(tangents, derived);
    }
}

/// The parts of a reduction or a scan.
enum FoldParts {
    Reduce(
        SoacOperand,
        Vec<SoacOperand>,
        Vec<SoacOperand>,
        ReductionOrder,
    ),
    Scan(SoacOperand, Vec<SoacOperand>, Vec<SoacOperand>),
}
