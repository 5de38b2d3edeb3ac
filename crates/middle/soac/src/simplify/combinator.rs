//! Combinators: arrays whose elements are known, results that are the same for all elements, reductions of one element.

use super::{BodyKind, FunctionSimplifier};
use crate::ir::{
    FusedSink, SliceSelector, SoacFusedMap, SoacLambda, SoacOperand, SoacOperation, SoacStatement,
    SoacType, SoacVariableId,
};
use std::rc::Rc;

impl FunctionSimplifier<'_> {
    pub(super) fn simplify_map(&mut self, statement: SoacStatement) {
        let SoacStatement {
            results,
            certificates,
            operation,
        } = statement;
        match operation {
            SoacOperation::Map(width, mut arrays, function) => {
                let function = self.simplify_elements(width, &mut arrays, function, &certificates);
                self.finish_map(
                    SoacStatement {
                        results,
                        certificates,
                        operation: SoacOperation::Map(width, arrays, function),
                    },
                    0,
                    0,
                );
            }
            SoacOperation::Fused(fused) => {
                let mut fused = *fused;
                let function = std::mem::take(&mut fused.function);
                let width = fused.width;
                fused.function =
                    self.simplify_elements(width, &mut fused.arrays, function, &certificates);
                let trips = match fused.sink {
                    FusedSink::Histogram(..) => None,
                    _ => Some(width),
                };
                if let Some(fold) = fused.sink.fold_mut() {
                    fold.function = self.simplify_lambda(std::mem::take(&mut fold.function), trips);
                }
                let (heads, taken) = (fused.sink.count_results(), fused.sink.count_inputs());
                self.finish_map(
                    SoacStatement {
                        results,
                        certificates,
                        operation: SoacOperation::Fused(Box::new(fused)),
                    },
                    heads,
                    taken,
                );
            }
            _ => {}
        }
    }

    /// Simplifies a function of elements, of which some are known.
    fn simplify_elements(
        &mut self,
        width: SoacOperand,
        arrays: &mut Vec<SoacOperand>,
        function: SoacLambda,
        certificates: &[SoacVariableId],
    ) -> SoacLambda {
        let mut function = function;
        let mut index = 0;
        while let Some(&array) = arrays.get(index) {
            let id = function.parameters[index];
            let known = match arrays[..index].iter().position(|&other| other == array) {
                Some(earlier) if !self.is_consumed(array) => {
                    Some(SoacOperand::Variable(function.parameters[earlier]))
                }
                _ => self.find_element(array, certificates),
            };
            if let Some(element) = known {
                self.replace(id, element, &[]);
                arrays.remove(index);
                function.parameters.remove(index);
            } else {
                self.bind_element(id, array);
                index += 1;
            }
        }
        function.body = self.simplify_body(function.body, BodyKind::Repeated(Some(width)));
        function
    }

    /// Notes the bounds of an element of an array of positions.
    fn bind_element(&mut self, id: SoacVariableId, array: SoacOperand) {
        let bound = match self.definition(array).map(|found| &found.operation) {
            Some(SoacOperation::Iota(count, first, step))
                if first.to_int64() == Some(0) && step.to_int64() == Some(1) =>
            {
                Some(*count)
            }
            _ => None,
        };
        match bound {
            Some(bound) => self.bind_counter(id, bound),
            None => self.bind_parameter(id),
        }
    }

    /// The element that an array consists of, if all are equal.
    fn find_element(
        &mut self,
        array: SoacOperand,
        certificates: &[SoacVariableId],
    ) -> Option<SoacOperand> {
        if self.is_consumed(array) {
            return None;
        }
        let definition = Rc::clone(self.definition(array)?);
        let SoacOperation::Replicate(sizes, value) = &definition.operation else {
            return None;
        };
        let mut needed = definition.certificates.iter();
        if self.is_consumed(*value) || !needed.all(|id| certificates.contains(id)) {
            return None;
        }
        let rest = &sizes[1..];
        if rest.is_empty() {
            return Some(*value);
        }
        let value_type = self.type_of(*value);
        let shape = [rest, value_type.shape()].concat();
        let element = SoacType::from_shape(value_type.element(), shape);
        let id = self.add_variable("rep", element);
        self.simplify_statement(SoacStatement {
            results: vec![id],
            certificates: definition.certificates.clone(),
            operation: SoacOperation::Replicate(rest.to_vec(), *value),
        });
        Some(self.substitute_size(SoacOperand::Variable(id)))
    }

    fn simplify_lambda(&mut self, function: SoacLambda, trips: Option<SoacOperand>) -> SoacLambda {
        for &id in &function.parameters {
            self.bind_parameter(id);
        }
        SoacLambda {
            body: self.simplify_body(function.body, BodyKind::Repeated(trips)),
            parameters: function.parameters,
        }
    }

    /// Removes the results of a map that are arrays, or the same for all elements. The first results are not arrays.
    fn finish_map(&mut self, mut statement: SoacStatement, heads: usize, taken: usize) {
        let depth = self.frames.len();
        let mut others = Vec::new();
        let mut index = heads;
        while let Some(&id) = statement.results.get(index) {
            let position = index - heads + taken;
            let Some(operation) = self.find_array(&statement.operation, position, depth) else {
                index += 1;
                continue;
            };
            statement.results.remove(index);
            if let Some(function) = map_function(&mut statement.operation) {
                function.body.results.remove(position);
            }
            others.push(SoacStatement {
                results: vec![id],
                certificates: statement.certificates.clone(),
                operation,
            });
        }
        if !others.is_empty() {
            self.needs_again = true;
        }
        self.place_rest(statement);
        for other in others {
            self.simplify_statement(other);
        }
    }

    /// The array that a result of a map is, if it is computed without the map.
    fn find_array(
        &self,
        operation: &SoacOperation,
        position: usize,
        depth: usize,
    ) -> Option<SoacOperation> {
        let (width, arrays, function) = match operation {
            SoacOperation::Map(width, arrays, function) => (*width, arrays, function),
            SoacOperation::Fused(fused) => {
                let SoacFusedMap {
                    width,
                    arrays,
                    function,
                    ..
                } = &**fused;
                (*width, arrays, function)
            }
            _ => return None,
        };
        let value = function.body.results[position];
        if let SoacOperand::Variable(id) = value
            && let Some(parameter) = function.parameters.iter().position(|&other| other == id)
        {
            return Some(SoacOperation::Manifest(arrays[parameter]));
        }
        let is_known = self.is_outside(value, depth) && !self.is_consumed(value);
        is_known.then(|| SoacOperation::Replicate(vec![width], value))
    }

    /// Simplifies the bodies of an operation with accumulators.
    pub(super) fn simplify_accumulation(&mut self, mut statement: SoacStatement) {
        if let SoacOperation::WithAccumulators(accumulation) = &mut statement.operation {
            for accumulator in &mut accumulation.accumulators {
                let combine = accumulator.combine.take();
                accumulator.combine = combine.map(|function| self.simplify_lambda(function, None));
                self.bind_parameter(accumulator.variable);
            }
            let body = std::mem::take(&mut accumulation.body);
            accumulation.body = self.simplify_body(body, BodyKind::Once);
        }
        self.place(statement);
    }

    /// Simplifies the function of a reduction, scan or histogram.
    pub(super) fn simplify_fold(&mut self, mut statement: SoacStatement) {
        if let SoacOperation::Reduce(width, arrays, ..) = &statement.operation
            && width.to_int64() == Some(1)
            && !statement
                .results
                .iter()
                .any(|&id| self.consumed.contains(id))
        {
            let first = vec![SliceSelector::Point(SoacOperand::from_int64(0))];
            for (&id, &array) in statement.results.iter().zip(arrays) {
                self.simplify_statement(SoacStatement {
                    results: vec![id],
                    certificates: statement.certificates.clone(),
                    operation: SoacOperation::Slice(array, first.clone()),
                });
            }
            return;
        }
        match &mut statement.operation {
            SoacOperation::Reduce(width, _, _, function, _)
            | SoacOperation::Scan(width, _, _, function) => {
                let trips = Some(*width);
                *function = self.simplify_lambda(std::mem::take(function), trips);
            }
            SoacOperation::Histogram(histogram) => {
                let function = std::mem::take(&mut histogram.function);
                histogram.function = self.simplify_lambda(function, None);
            }
            _ => {}
        }
        self.place(statement);
    }
}

/// The function of a map.
fn map_function(operation: &mut SoacOperation) -> Option<&mut SoacLambda> {
    match operation {
        SoacOperation::Map(_, _, function) => Some(function),
        SoacOperation::Fused(fused) => Some(&mut fused.function),
        _ => None,
    }
}
