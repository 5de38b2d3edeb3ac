//! Combinators as loops of the host: those whose functions make arrays of sizes that only their elements know. Fused maps become two
//! combinators.

use crate::nest::add_variable;
use crate::translate::SegmentTranslation;
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_soac::ir::{
    SliceSelector, SoacBody, SoacHistogram, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation,
    SoacStatement, SoacType, SoacVariableId,
};

impl SegmentTranslation {
    /// The statements of a combinator as a loop over its elements.
    pub(crate) fn make_loop(&mut self, statement: SoacStatement) -> Vec<SoacStatement> {
        let SoacStatement {
            results,
            certificates,
            operation,
        } = statement;
        let mut statements = match operation {
            SoacOperation::Map(width, arrays, function) => {
                self.loop_over_map(results, width, &arrays, function)
            }
            SoacOperation::Reduce(width, arrays, neutral, function, _) => {
                vec![self.loop_over_reduction(results, width, &arrays, &neutral, function)]
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                self.loop_over_scan(results, width, &arrays, &neutral, function)
            }
            SoacOperation::Histogram(histogram) => {
                vec![self.loop_over_histogram(results, *histogram)]
            }
            SoacOperation::Fused(fused) => self.split_fused(results, *fused),
            other => vec![SoacStatement {
                results,
                certificates: Vec::new(),
                operation: other,
            }],
        };
        for made in &mut statements {
            made.certificates.clone_from(&certificates);
        }
        statements
    }

    fn add_counter(&mut self) -> SoacVariableId {
        add_variable(&mut self.signature, "i", SoacType::Scalar(ScalarType::I64))
    }

    /// Statements that bind variables to the elements of arrays at a position.
    fn bind_elements(
        parameters: &[SoacVariableId],
        arrays: &[SoacOperand],
        position: SoacOperand,
    ) -> Vec<SoacStatement> {
        let elements = parameters.iter().zip(arrays);
        let bind = |(&id, &array): (&SoacVariableId, &SoacOperand)| {
            let selectors = vec![SliceSelector::Point(position)];
            make_statement(id, SoacOperation::Slice(array, selectors))
        };
        elements.map(bind).collect()
    }

    /// Statements that make arrays for results. Their contents are replaced.
    fn make_targets(
        &mut self,
        results: &[SoacVariableId],
    ) -> (Vec<SoacStatement>, Vec<SoacOperand>) {
        let mut statements = Vec::with_capacity(results.len());
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            let twin = self.add_twin(id);
            let array_type = self.signature.variables[twin].variable_type.clone();
            let zero = SoacOperand::Constant(ScalarLiteral::new(array_type.element(), 0));
            let operation = SoacOperation::Replicate(array_type.shape().to_vec(), zero);
            statements.push(make_statement(twin, operation));
            targets.push(SoacOperand::Variable(twin));
        }
        (statements, targets)
    }

    /// Statements that replace the elements of arrays at a position.
    fn replace_elements(
        &mut self,
        arrays: &[SoacVariableId],
        position: SoacOperand,
        values: &[SoacOperand],
        statements: &mut Vec<SoacStatement>,
    ) -> Vec<SoacOperand> {
        let mut updated = Vec::with_capacity(arrays.len());
        for (&array, &value) in arrays.iter().zip(values) {
            let twin = self.add_twin(array);
            let selectors = vec![SliceSelector::Point(position)];
            let array = SoacOperand::Variable(array);
            let operation = SoacOperation::Update(array, selectors, value);
            statements.push(make_statement(twin, operation));
            updated.push(SoacOperand::Variable(twin));
        }
        updated
    }

    fn loop_over_map(
        &mut self,
        results: Vec<SoacVariableId>,
        width: SoacOperand,
        arrays: &[SoacOperand],
        function: SoacLambda,
    ) -> Vec<SoacStatement> {
        let counter = self.add_counter();
        let position = SoacOperand::Variable(counter);
        let (mut all, targets) = self.make_targets(&results);
        let state: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let mut statements = Self::bind_elements(&function.parameters, arrays, position);
        statements.extend(function.body.statements);
        let values = function.body.results;
        let results_of_body = self.replace_elements(&state, position, &values, &mut statements);
        let body = SoacBody {
            statements,
            results: results_of_body,
        };
        let parameters = state.into_iter().zip(targets).collect();
        let form = SoacLoopForm::For(counter, width);
        all.push(SoacStatement {
            results,
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, form, body),
        });
        all
    }

    fn loop_over_reduction(
        &mut self,
        results: Vec<SoacVariableId>,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: SoacLambda,
    ) -> SoacStatement {
        let counter = self.add_counter();
        let mut state = function.parameters;
        let elements = state.split_off(results.len().min(state.len()));
        let position = SoacOperand::Variable(counter);
        let mut statements = Self::bind_elements(&elements, arrays, position);
        statements.extend(function.body.statements);
        let body = SoacBody {
            statements,
            results: function.body.results,
        };
        let parameters = state.into_iter().zip(neutral.iter().copied()).collect();
        let form = SoacLoopForm::For(counter, width);
        SoacStatement {
            results,
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, form, body),
        }
    }

    fn loop_over_scan(
        &mut self,
        results: Vec<SoacVariableId>,
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: SoacLambda,
    ) -> Vec<SoacStatement> {
        let counter = self.add_counter();
        let position = SoacOperand::Variable(counter);
        let (mut all, targets) = self.make_targets(&results);
        let arrays_of_loop: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let mut state = function.parameters;
        let elements = state.split_off(results.len().min(state.len()));
        let mut statements = Self::bind_elements(&elements, arrays, position);
        statements.extend(function.body.statements);
        let values = function.body.results;
        let updated = self.replace_elements(&arrays_of_loop, position, &values, &mut statements);
        let finals = state.iter().map(|&id| self.add_twin(id));
        let all_results = finals.chain(results).collect();
        let initial = neutral.iter().copied().chain(targets);
        let parameters = state
            .into_iter()
            .chain(arrays_of_loop)
            .zip(initial)
            .collect();
        let body = SoacBody {
            statements,
            results: values.into_iter().chain(updated).collect(),
        };
        let form = SoacLoopForm::For(counter, width);
        all.push(SoacStatement {
            results: all_results,
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, form, body),
        });
        all
    }

    fn loop_over_histogram(
        &mut self,
        results: Vec<SoacVariableId>,
        histogram: SoacHistogram,
    ) -> SoacStatement {
        let counter = self.add_counter();
        let index = SoacOperand::Variable(counter);
        let width = self.signature.type_of(histogram.positions);
        let width = width.shape().first().copied();
        let size = self.signature.variables[results[0]].variable_type.clone();
        let size = size.shape().first().copied();
        let zero = SoacOperand::from_int64(0);
        let (width, size) = (width.unwrap_or(zero), size.unwrap_or(zero));
        let state: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let place = self.add_counter();
        let mut statements = vec![make_statement(
            place,
            SoacOperation::Slice(histogram.positions, vec![SliceSelector::Point(index)]),
        )];
        let position = SoacOperand::Variable(place);
        let is_inside = self.compare_unsigned(position, size, &mut statements);
        let mut old = histogram.function.parameters;
        let new = old.split_off(results.len().min(old.len()));
        let arrays: Vec<_> = state.iter().map(|&id| SoacOperand::Variable(id)).collect();
        let mut inner = Self::bind_elements(&old, &arrays, position);
        inner.extend(Self::bind_elements(&new, &histogram.values, index));
        inner.extend(histogram.function.body.statements);
        let values = histogram.function.body.results;
        let updated = self.replace_elements(&state, position, &values, &mut inner);
        let accept = SoacBody {
            statements: inner,
            results: updated,
        };
        let reject = SoacBody {
            statements: Vec::new(),
            results: arrays,
        };
        let chosen: Vec<_> = state.iter().map(|&id| self.add_twin(id)).collect();
        statements.push(SoacStatement {
            results: chosen.clone(),
            certificates: Vec::new(),
            operation: SoacOperation::If(is_inside, accept, reject),
        });
        let body = SoacBody {
            statements,
            results: chosen.into_iter().map(SoacOperand::Variable).collect(),
        };
        let parameters = state.into_iter().zip(histogram.targets).collect();
        let form = SoacLoopForm::For(counter, width);
        SoacStatement {
            results,
            certificates: Vec::new(),
            operation: SoacOperation::Loop(parameters, form, body),
        }
    }

    /// Whether a position is inside of a size.
    fn compare_unsigned(
        &mut self,
        position: SoacOperand,
        size: SoacOperand,
        statements: &mut Vec<SoacStatement>,
    ) -> SoacOperand {
        use spirula_program::{ScalarOp, ScalarOperator};
        let operator = ScalarOperator::with_type(ScalarOp::ULt, ScalarType::I64);
        let id = add_variable(
            &mut self.signature,
            "in",
            SoacType::Scalar(ScalarType::Bool),
        );
        statements.push(make_statement(
            id,
            SoacOperation::Scalar(operator, vec![position, size]),
        ));
        SoacOperand::Variable(id)
    }
}

/// A statement with one result.
fn make_statement(id: SoacVariableId, operation: SoacOperation) -> SoacStatement {
    SoacStatement {
        results: vec![id],
        certificates: Vec::new(),
        operation,
    }
}
