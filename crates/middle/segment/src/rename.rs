//! Copies of bodies with fresh variables.

use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SliceSelector, SoacAccumulation, SoacAccumulator, SoacBody, SoacFunction, SoacHistogram,
    SoacLambda, SoacLoopForm, SoacMessage, SoacMessagePart, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariable, SoacVariableId,
};

/// Copies code. Variables that the code binds become fresh ones.
#[derive(Debug)]
pub(crate) struct BodyRenamer<'f> {
    signature: &'f mut SoacFunction,
    /// Certificates of checks that were made before: nothing needs them.
    checked: &'f EntitySet<SoacVariableId>,
    replacements: FxHashMap<SoacVariableId, SoacOperand>,
}

impl<'f> BodyRenamer<'f> {
    /// A renamer that adds variables to a function.
    pub(crate) fn new(
        signature: &'f mut SoacFunction,
        checked: &'f EntitySet<SoacVariableId>,
    ) -> Self {
        BodyRenamer {
            signature,
            checked,
            replacements: FxHashMap::default(),
        }
    }

    /// Uses an operand in place of a variable.
    fn replace(&mut self, id: SoacVariableId, operand: SoacOperand) {
        self.replacements.insert(id, operand);
    }

    /// A fresh variable in place of another, with the same type.
    pub(crate) fn bind_variable(&mut self, id: SoacVariableId) -> SoacVariableId {
        let variable = &self.signature.variables[id];
        let (name, variable_type) = (variable.name.clone(), variable.variable_type.clone());
        let variable_type = self.copy_type(&variable_type);
        let fresh = self.signature.variables.push(SoacVariable {
            name,
            variable_type,
        });
        self.replace(id, SoacOperand::Variable(fresh));
        fresh
    }

    fn bind_all(&mut self, ids: &[SoacVariableId]) -> Vec<SoacVariableId> {
        ids.iter().map(|&id| self.bind_variable(id)).collect()
    }

    /// The operand in place of another.
    pub(crate) fn copy_operand(&self, operand: SoacOperand) -> SoacOperand {
        match operand {
            SoacOperand::Variable(id) => self.replacements.get(&id).copied().unwrap_or(operand),
            SoacOperand::Constant(_) => operand,
        }
    }

    fn copy_operands(&self, operands: &[SoacOperand]) -> Vec<SoacOperand> {
        operands
            .iter()
            .map(|&operand| self.copy_operand(operand))
            .collect()
    }

    /// The type in place of another.
    pub(crate) fn copy_type(&self, variable_type: &SoacType) -> SoacType {
        match variable_type {
            SoacType::Array(element, shape) => SoacType::Array(*element, self.copy_operands(shape)),
            other => other.clone(),
        }
    }

    fn copy_selectors(&self, selectors: &[SliceSelector]) -> Vec<SliceSelector> {
        let copy = |selector: &SliceSelector| match *selector {
            SliceSelector::Point(point) => SliceSelector::Point(self.copy_operand(point)),
            SliceSelector::Stride {
                start,
                count,
                stride,
            } => SliceSelector::Stride {
                start: self.copy_operand(start),
                count: self.copy_operand(count),
                stride: self.copy_operand(stride),
            },
        };
        selectors.iter().map(copy).collect()
    }

    /// A copy of a body.
    pub(crate) fn copy_body(&mut self, body: &SoacBody) -> SoacBody {
        let statements = self.copy_statements(&body.statements);
        SoacBody {
            statements,
            results: self.copy_operands(&body.results),
        }
    }

    /// Copies of statements.
    pub(crate) fn copy_statements(&mut self, statements: &[SoacStatement]) -> Vec<SoacStatement> {
        statements
            .iter()
            .map(|statement| self.copy_statement(statement))
            .collect()
    }

    /// A copy of the function of a combinator.
    pub(crate) fn copy_lambda(&mut self, function: &SoacLambda) -> SoacLambda {
        SoacLambda {
            parameters: self.bind_all(&function.parameters),
            body: self.copy_body(&function.body),
        }
    }

    fn copy_statement(&mut self, statement: &SoacStatement) -> SoacStatement {
        let certificates = statement.certificates.iter();
        let certificates = certificates.filter(|&&id| !self.checked.contains(id));
        let certificates =
            certificates.filter_map(|&id| match self.copy_operand(SoacOperand::Variable(id)) {
                SoacOperand::Variable(id) => Some(id),
                SoacOperand::Constant(_) => None,
            });
        let certificates = certificates.collect();
        let operation = self.copy_operation(&statement.operation);
        SoacStatement {
            results: self.bind_all(&statement.results),
            certificates,
            operation,
        }
    }

    fn copy_operation(&mut self, operation: &SoacOperation) -> SoacOperation {
        match operation {
            SoacOperation::If(condition, accept, reject) => SoacOperation::If(
                self.copy_operand(*condition),
                self.copy_body(accept),
                self.copy_body(reject),
            ),
            SoacOperation::Loop(parameters, form, body) => self.copy_loop(parameters, *form, body),
            SoacOperation::Map(width, arrays, function) => SoacOperation::Map(
                self.copy_operand(*width),
                self.copy_operands(arrays),
                self.copy_lambda(function),
            ),
            SoacOperation::Reduce(width, arrays, neutral, function, order) => {
                SoacOperation::Reduce(
                    self.copy_operand(*width),
                    self.copy_operands(arrays),
                    self.copy_operands(neutral),
                    self.copy_lambda(function),
                    *order,
                )
            }
            SoacOperation::Scan(width, arrays, neutral, function) => SoacOperation::Scan(
                self.copy_operand(*width),
                self.copy_operands(arrays),
                self.copy_operands(neutral),
                self.copy_lambda(function),
            ),
            SoacOperation::Histogram(histogram) => {
                SoacOperation::Histogram(Box::new(SoacHistogram {
                    targets: self.copy_operands(&histogram.targets),
                    neutral: self.copy_operands(&histogram.neutral),
                    function: self.copy_lambda(&histogram.function),
                    positions: self.copy_operand(histogram.positions),
                    values: self.copy_operands(&histogram.values),
                }))
            }
            SoacOperation::WithAccumulators(accumulation) => {
                SoacOperation::WithAccumulators(Box::new(self.copy_accumulation(accumulation)))
            }
            plain => self.copy_plain(plain),
        }
    }

    fn copy_loop(
        &mut self,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: &SoacBody,
    ) -> SoacOperation {
        let initial: Vec<_> = parameters.iter().map(|(_, initial)| *initial).collect();
        let initial = self.copy_operands(&initial);
        let form = match form {
            SoacLoopForm::For(counter, bound) => {
                let bound = self.copy_operand(bound);
                SoacLoopForm::For(self.bind_variable(counter), bound)
            }
            SoacLoopForm::While(position) => SoacLoopForm::While(position),
        };
        let ids = parameters.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let parameters = self.bind_all(&ids).into_iter().zip(initial).collect();
        SoacOperation::Loop(parameters, form, self.copy_body(body))
    }

    fn copy_accumulation(&mut self, accumulation: &SoacAccumulation) -> SoacAccumulation {
        let mut accumulators = Vec::with_capacity(accumulation.accumulators.len());
        for accumulator in &accumulation.accumulators {
            accumulators.push(SoacAccumulator {
                targets: self.copy_operands(&accumulator.targets),
                combine: accumulator
                    .combine
                    .as_ref()
                    .map(|function| self.copy_lambda(function)),
                variable: self.bind_variable(accumulator.variable),
            });
        }
        SoacAccumulation {
            accumulators,
            body: self.copy_body(&accumulation.body),
        }
    }

    /// A copy of an operation without bodies.
    fn copy_plain(&self, operation: &SoacOperation) -> SoacOperation {
        let one = |operand: &SoacOperand| self.copy_operand(*operand);
        let all = |operands: &[SoacOperand]| self.copy_operands(operands);
        match operation {
            SoacOperation::Scalar(operator, operands) => {
                SoacOperation::Scalar(*operator, all(operands))
            }
            SoacOperation::Check(condition, message) => {
                let copy = |part: &SoacMessagePart| match part {
                    SoacMessagePart::Value(value) => SoacMessagePart::Value(one(value)),
                    text => text.clone(),
                };
                let message = SoacMessage {
                    parts: message.parts.iter().map(copy).collect(),
                    places: message.places.clone(),
                };
                SoacOperation::Check(one(condition), message)
            }
            SoacOperation::Slice(array, selectors) => {
                SoacOperation::Slice(one(array), self.copy_selectors(selectors))
            }
            SoacOperation::Update(array, selectors, value) => {
                SoacOperation::Update(one(array), self.copy_selectors(selectors), one(value))
            }
            SoacOperation::Literal(elements) => SoacOperation::Literal(all(elements)),
            SoacOperation::Iota(count, first, step) => {
                SoacOperation::Iota(one(count), one(first), one(step))
            }
            SoacOperation::Replicate(sizes, value) => {
                SoacOperation::Replicate(all(sizes), one(value))
            }
            SoacOperation::Concat(arrays) => SoacOperation::Concat(all(arrays)),
            SoacOperation::Reshape(array, sizes) => SoacOperation::Reshape(one(array), all(sizes)),
            SoacOperation::Rearrange(array, permutation) => {
                SoacOperation::Rearrange(one(array), permutation.clone())
            }
            SoacOperation::Manifest(array) => SoacOperation::Manifest(one(array)),
            SoacOperation::Scatter(array, positions, values) => {
                SoacOperation::Scatter(one(array), one(positions), one(values))
            }
            SoacOperation::Accumulate(accumulator, position, values) => {
                let copy = match self.copy_operand(SoacOperand::Variable(*accumulator)) {
                    SoacOperand::Variable(copy) => copy,
                    SoacOperand::Constant(_) => *accumulator,
                };
                SoacOperation::Accumulate(copy, one(position), all(values))
            }
            other => other.clone(),
        }
    }
}
