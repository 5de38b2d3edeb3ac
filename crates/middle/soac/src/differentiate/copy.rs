//! Copies of bodies in which every variable is new.

use crate::build::SoacBuilder;
use crate::ir::{
    FusedSink, SliceSelector, SoacAccumulation, SoacAccumulator, SoacArgument, SoacBody, SoacFold,
    SoacFusedMap, SoacHistogram, SoacLambda, SoacLoopForm, SoacMessage, SoacMessagePart,
    SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};
use rustc_hash::FxHashMap;

/// State of a copy: operands for variables.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyCopier {
    operands: FxHashMap<SoacVariableId, SoacOperand>,
    /// The variables that were copied, with their copies.
    pub(super) copies: Vec<(SoacVariableId, SoacVariableId)>,
}

impl BodyCopier {
    /// Uses an operand in place of a variable.
    pub(super) fn replace(&mut self, id: SoacVariableId, operand: SoacOperand) {
        self.operands.insert(id, operand);
    }

    /// The operand that the copy has for an operand.
    pub(super) fn operand(&self, operand: SoacOperand) -> SoacOperand {
        match operand {
            SoacOperand::Variable(id) => self.operands.get(&id).copied().unwrap_or(operand),
            SoacOperand::Constant(_) => operand,
        }
    }

    /// The operands that the copy has for operands.
    pub(super) fn operands(&self, operands: &[SoacOperand]) -> Vec<SoacOperand> {
        operands
            .iter()
            .map(|&operand| self.operand(operand))
            .collect()
    }

    /// The type that the copy has for a type.
    pub(super) fn copy_type(&self, variable_type: &SoacType) -> SoacType {
        match variable_type {
            SoacType::Array(element, sizes) => SoacType::Array(*element, self.operands(sizes)),
            other => other.clone(),
        }
    }

    /// A new variable in place of one. The sizes of its type have been copied, or are copied by [`Self::copy_variables`].
    fn copy_variable(&mut self, builder: &mut SoacBuilder, id: SoacVariableId) -> SoacVariableId {
        let variable_type = builder.type_of(SoacOperand::Variable(id));
        let name = builder.name_of(id).to_owned();
        let copied_type = self.copy_type(&variable_type);
        let copy = builder.add_variable(&name, copied_type);
        self.operands.insert(id, SoacOperand::Variable(copy));
        self.copies.push((id, copy));
        copy
    }

    /// New variables in place of some, whose types may refer to each other.
    pub(super) fn copy_variables(
        &mut self,
        builder: &mut SoacBuilder,
        ids: &[SoacVariableId],
    ) -> Vec<SoacVariableId> {
        let copies: Vec<_> = ids
            .iter()
            .map(|&id| self.copy_variable(builder, id))
            .collect();
        for (&id, &copy) in ids.iter().zip(&copies) {
            let variable_type = builder.type_of(SoacOperand::Variable(id));
            builder.set_type(copy, self.copy_type(&variable_type));
        }
        copies
    }

    /// A copy of a body.
    pub(super) fn copy_body(&mut self, builder: &mut SoacBuilder, body: &SoacBody) -> SoacBody {
        let statements = body.statements.iter();
        let statements = statements
            .map(|statement| self.copy_statement(builder, statement))
            .collect();
        SoacBody {
            statements,
            results: self.operands(&body.results),
        }
    }

    /// A copy of a function.
    pub(super) fn copy_lambda(
        &mut self,
        builder: &mut SoacBuilder,
        function: &SoacLambda,
    ) -> SoacLambda {
        let parameters = self.copy_variables(builder, &function.parameters);
        let body = self.copy_body(builder, &function.body);
        SoacLambda { parameters, body }
    }

    fn copy_id(&self, id: SoacVariableId) -> SoacVariableId {
        match self.operand(SoacOperand::Variable(id)) {
            SoacOperand::Variable(copy) => copy,
            SoacOperand::Constant(_) => id,
        }
    }

    fn copy_selectors(&self, selectors: &[SliceSelector]) -> Vec<SliceSelector> {
        let selectors = selectors.iter().map(|selector| match *selector {
            SliceSelector::Point(point) => SliceSelector::Point(self.operand(point)),
            SliceSelector::Stride {
                start,
                count,
                stride,
            } => SliceSelector::Stride {
                start: self.operand(start),
                count: self.operand(count),
                stride: self.operand(stride),
            },
        });
        selectors.collect()
    }

    /// A copy of a statement.
    pub(super) fn copy_statement(
        &mut self,
        builder: &mut SoacBuilder,
        statement: &SoacStatement,
    ) -> SoacStatement {
        let operation = self.copy_operation(builder, &statement.operation);
        let certificates = statement.certificates.iter();
        let certificates = certificates.map(|&id| self.copy_id(id)).collect();
        SoacStatement {
            results: self.copy_variables(builder, &statement.results),
            certificates,
            operation,
        }
    }

    fn copy_operation(
        &mut self,
        builder: &mut SoacBuilder,
        operation: &SoacOperation,
    ) -> SoacOperation {
        match operation {
            SoacOperation::Scalar(operator, operands) => {
                SoacOperation::Scalar(*operator, self.operands(operands))
            }
            SoacOperation::Check(condition, message) => {
                SoacOperation::Check(self.operand(*condition), self.copy_message(message))
            }
            SoacOperation::Parameter(name, default) => {
                SoacOperation::Parameter(name.clone(), *default)
            }
            SoacOperation::Slice(array, selectors) => {
                SoacOperation::Slice(self.operand(*array), self.copy_selectors(selectors))
            }
            SoacOperation::Update(array, selectors, value) => SoacOperation::Update(
                self.operand(*array),
                self.copy_selectors(selectors),
                self.operand(*value),
            ),
            SoacOperation::Literal(elements) => SoacOperation::Literal(self.operands(elements)),
            SoacOperation::Iota(count, first, step) => SoacOperation::Iota(
                self.operand(*count),
                self.operand(*first),
                self.operand(*step),
            ),
            SoacOperation::Replicate(sizes, value) => {
                SoacOperation::Replicate(self.operands(sizes), self.operand(*value))
            }
            SoacOperation::Concat(arrays) => SoacOperation::Concat(self.operands(arrays)),
            SoacOperation::Reshape(array, sizes) => {
                SoacOperation::Reshape(self.operand(*array), self.operands(sizes))
            }
            SoacOperation::Rearrange(array, permutation) => {
                SoacOperation::Rearrange(self.operand(*array), permutation.clone())
            }
            SoacOperation::Manifest(array) => SoacOperation::Manifest(self.operand(*array)),
            SoacOperation::If(condition, accept, reject) => SoacOperation::If(
                self.operand(*condition),
                self.copy_body(builder, accept),
                self.copy_body(builder, reject),
            ),
            SoacOperation::Loop(parameters, form, body) => {
                self.copy_loop(builder, parameters, *form, body)
            }
            SoacOperation::Map(width, arrays, function) => SoacOperation::Map(
                self.operand(*width),
                self.operands(arrays),
                self.copy_lambda(builder, function),
            ),
            SoacOperation::Reduce(width, arrays, neutral, function, order) => {
                SoacOperation::Reduce(
                    self.operand(*width),
                    self.operands(arrays),
                    self.operands(neutral),
                    self.copy_lambda(builder, function),
                    *order,
                )
            }
            SoacOperation::Scan(width, arrays, neutral, function) => SoacOperation::Scan(
                self.operand(*width),
                self.operands(arrays),
                self.operands(neutral),
                self.copy_lambda(builder, function),
            ),
            SoacOperation::Scatter(array, positions, values) => SoacOperation::Scatter(
                self.operand(*array),
                self.operand(*positions),
                self.operand(*values),
            ),
            SoacOperation::Histogram(histogram) => {
                SoacOperation::Histogram(Box::new(self.copy_histogram(builder, histogram)))
            }
            SoacOperation::Accumulate(accumulator, position, values) => SoacOperation::Accumulate(
                self.copy_id(*accumulator),
                self.operand(*position),
                self.operands(values),
            ),
            SoacOperation::WithAccumulators(accumulation) => SoacOperation::WithAccumulators(
                Box::new(self.copy_accumulation(builder, accumulation)),
            ),
            SoacOperation::Call(function, arguments) => {
                let arguments = arguments.iter().map(|argument| SoacArgument {
                    operand: self.operand(argument.operand),
                    ownership: argument.ownership,
                });
                SoacOperation::Call(*function, arguments.collect())
            }
            SoacOperation::Fused(fused) => SoacOperation::Fused(Box::new(SoacFusedMap {
                width: self.operand(fused.width),
                arrays: self.operands(&fused.arrays),
                function: self.copy_lambda(builder, &fused.function),
                sink: self.copy_sink(builder, &fused.sink),
            })),
        }
    }

    fn copy_message(&self, message: &SoacMessage) -> SoacMessage {
        let parts = message.parts.iter().map(|part| match part {
            SoacMessagePart::Value(value) => SoacMessagePart::Value(self.operand(*value)),
            text => text.clone(),
        });
        SoacMessage {
            parts: parts.collect(),
            places: message.places.clone(),
        }
    }

    fn copy_histogram(
        &mut self,
        builder: &mut SoacBuilder,
        histogram: &SoacHistogram,
    ) -> SoacHistogram {
        SoacHistogram {
            targets: self.operands(&histogram.targets),
            neutral: self.operands(&histogram.neutral),
            function: self.copy_lambda(builder, &histogram.function),
            positions: self.operand(histogram.positions),
            values: self.operands(&histogram.values),
        }
    }

    fn copy_accumulation(
        &mut self,
        builder: &mut SoacBuilder,
        accumulation: &SoacAccumulation,
    ) -> SoacAccumulation {
        let mut accumulators = Vec::with_capacity(accumulation.accumulators.len());
        for accumulator in &accumulation.accumulators {
            let combine = accumulator.combine.as_ref();
            accumulators.push(SoacAccumulator {
                targets: self.operands(&accumulator.targets),
                combine: combine.map(|function| self.copy_lambda(builder, function)),
                variable: self.copy_variable(builder, accumulator.variable),
            });
        }
        let body = self.copy_body(builder, &accumulation.body);
        SoacAccumulation { accumulators, body }
    }

    fn copy_sink(&mut self, builder: &mut SoacBuilder, sink: &FusedSink) -> FusedSink {
        match sink {
            FusedSink::Reduce(fold, order) => {
                FusedSink::Reduce(self.copy_fold(builder, fold), *order)
            }
            FusedSink::Scan(fold) => FusedSink::Scan(self.copy_fold(builder, fold)),
            FusedSink::Scatter(targets) => FusedSink::Scatter(self.operands(targets)),
            FusedSink::Histogram(targets, fold) => {
                FusedSink::Histogram(self.operands(targets), self.copy_fold(builder, fold))
            }
        }
    }

    fn copy_fold(&mut self, builder: &mut SoacBuilder, fold: &SoacFold) -> SoacFold {
        SoacFold {
            neutral: self.operands(&fold.neutral),
            function: self.copy_lambda(builder, &fold.function),
        }
    }

    fn copy_loop(
        &mut self,
        builder: &mut SoacBuilder,
        parameters: &[(SoacVariableId, SoacOperand)],
        form: SoacLoopForm,
        body: &SoacBody,
    ) -> SoacOperation {
        let (ids, initial): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
        let initial = self.operands(&initial);
        let ids = self.copy_variables(builder, &ids);
        let form = match form {
            SoacLoopForm::For(counter, bound) => {
                let bound = self.operand(bound);
                SoacLoopForm::For(self.copy_variable(builder, counter), bound)
            }
            SoacLoopForm::While(position) => SoacLoopForm::While(position),
        };
        let body = self.copy_body(builder, body);
        SoacOperation::Loop(ids.into_iter().zip(initial).collect(), form, body)
    }
}
