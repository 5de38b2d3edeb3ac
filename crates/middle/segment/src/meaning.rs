//! The meaning of the segmented form: a program of the soac form. A reference for tests.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFunction, SegmentKind, SegmentStatement,
    SpaceDimension,
};
use crate::meaning_rows::RowArguments;
use crate::nest::{add_twin, add_variable};
use spirula_entity::EntityArena;
use spirula_program::{ScalarLiteral, ScalarType};
use spirula_soac::ir::{
    ReductionOrder, SoacAccumulation, SoacBody, SoacFunction, SoacHistogram, SoacLambda,
    SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};

/// A function of the soac form with the same results.
pub fn to_soac(function: &SegmentFunction) -> SoacFunction {
    let mut translation = MeaningTranslation {
        signature: function.signature.clone(),
    };
    let body = translation.translate_body(&function.body);
    let mut callees = EntityArena::default();
    for (_, callee) in function.callees.iter() {
        callees.push(to_soac(callee));
    }
    SoacFunction {
        body,
        callees,
        ..translation.signature
    }
}

/// State of the translation: the function, to which variables are added.
struct MeaningTranslation {
    signature: SoacFunction,
}

impl MeaningTranslation {
    fn translate_body(&mut self, body: &SegmentBody) -> SoacBody {
        let mut statements = Vec::new();
        for statement in &body.statements {
            self.translate_statement(statement, &mut statements);
        }
        SoacBody {
            statements,
            results: body.results.clone(),
        }
    }

    fn translate_statement(&mut self, statement: &SegmentStatement, out: &mut Vec<SoacStatement>) {
        let operation = match &statement.operation {
            HostOperation::Plain(operation) => operation.clone(),
            HostOperation::If(condition, accept, reject) => SoacOperation::If(
                *condition,
                self.translate_body(accept),
                self.translate_body(reject),
            ),
            HostOperation::Loop(parameters, form, body) => {
                SoacOperation::Loop(parameters.clone(), *form, self.translate_body(body))
            }
            HostOperation::WithAccumulators(accumulators, body) => {
                SoacOperation::WithAccumulators(Box::new(SoacAccumulation {
                    accumulators: accumulators.clone(),
                    body: self.translate_body(body),
                }))
            }
            HostOperation::Grouped(operation, otherwise) => {
                // Both have the same meaning. The choice keeps both in the program.
                let twins = statement.results.iter();
                let twins: Vec<_> = twins.map(|&id| add_twin(&mut self.signature, id)).collect();
                let mut statements = Vec::new();
                let space = &operation.space;
                self.translate_space(operation, space, Vec::new(), &twins, &mut statements);
                let accept = SoacBody {
                    statements,
                    results: twins.into_iter().map(SoacOperand::Variable).collect(),
                };
                let fits = SoacOperand::Constant(ScalarLiteral::new(ScalarType::Bool, 1));
                SoacOperation::If(fits, accept, self.translate_body(otherwise))
            }
            HostOperation::Parallel(operation) => {
                let targets = operation.targets().to_vec();
                let space = &operation.space;
                self.translate_space(operation, space, targets, &statement.results, out);
                return;
            }
        };
        out.push(SoacStatement {
            results: statement.results.clone(),
            certificates: statement.certificates.clone(),
            operation,
        });
    }

    /// Variables for the rows of arrays.
    fn add_rows(&mut self, arrays: &[SoacOperand]) -> Vec<SoacVariableId> {
        let mut rows = Vec::with_capacity(arrays.len());
        for &array in arrays {
            let array = self.signature.type_of(array);
            let shape = array.shape().iter().skip(1).copied().collect();
            let row = SoacType::from_shape(array.element(), shape);
            rows.push(add_variable(&mut self.signature, "row", row));
        }
        rows
    }

    fn add_elements(&mut self, arrays: &[SoacVariableId]) -> Vec<SoacVariableId> {
        let arrays: Vec<_> = arrays.iter().map(|&id| SoacOperand::Variable(id)).collect();
        self.add_rows(&arrays)
    }

    /// Statements for the rest of a space: nested maps, and within them the operation on a segment.
    fn translate_space(
        &mut self,
        operation: &ParallelOperation,
        space: &[SpaceDimension],
        targets: Vec<SoacOperand>,
        results: &[SoacVariableId],
        out: &mut Vec<SoacStatement>,
    ) {
        let is_map = matches!(operation.kind, SegmentKind::Map);
        match space {
            [] => self.translate_point(operation, results, out),
            [last] if !is_map => self.translate_segment(operation, *last, targets, results, out),
            [first, rest @ ..] => {
                let arguments = RowArguments::extract(&mut self.signature, operation, *first);
                let rows = self.add_elements(results);
                let mut parameters = self.add_rows(&targets);
                let inner = parameters.iter().map(|&id| SoacOperand::Variable(id));
                let inner = inner.collect();
                let mut statements = Vec::new();
                self.translate_space(&arguments.operation, rest, inner, &rows, &mut statements);
                parameters.extend(arguments.rows);
                let function = make_lambda(first.index, parameters, statements, &rows);
                let arrays = [targets, arguments.arrays].concat();
                self.push_map(*first, arrays, function, results, out);
            }
        }
    }

    /// A map over the positions of a dimension and over arrays.
    fn push_map(
        &mut self,
        dimension: SpaceDimension,
        targets: Vec<SoacOperand>,
        function: SoacLambda,
        results: &[SoacVariableId],
        out: &mut Vec<SoacStatement>,
    ) {
        let (zero, one) = (SoacOperand::from_int64(0), SoacOperand::from_int64(1));
        let positions = self.add_array(dimension.size);
        let count = SoacOperation::Iota(dimension.size, zero, one);
        out.push(make_statement(vec![positions], count));
        let mut arrays = vec![SoacOperand::Variable(positions)];
        arrays.extend(targets);
        let map = SoacOperation::Map(dimension.size, arrays, function);
        out.push(make_statement(results.to_vec(), map));
    }

    fn add_array(&mut self, size: SoacOperand) -> SoacVariableId {
        let positions = SoacType::Array(ScalarType::I64, vec![size]);
        add_variable(&mut self.signature, "positions", positions)
    }

    /// The body of a point.
    fn translate_point(
        &mut self,
        operation: &ParallelOperation,
        results: &[SoacVariableId],
        out: &mut Vec<SoacStatement>,
    ) {
        out.extend(operation.body.statements.iter().cloned());
        for (&id, &value) in results.iter().zip(&operation.body.results) {
            out.push(make_statement(
                vec![id],
                SoacOperation::Slice(value, Vec::new()),
            ));
        }
    }

    /// The elements of a segment as arrays, and the operation on them.
    fn translate_segment(
        &mut self,
        operation: &ParallelOperation,
        dimension: SpaceDimension,
        targets: Vec<SoacOperand>,
        results: &[SoacVariableId],
        out: &mut Vec<SoacStatement>,
    ) {
        let mut elements = Vec::with_capacity(operation.body.results.len());
        for &result in &operation.body.results {
            let element = self.signature.type_of(result);
            let mut shape = vec![dimension.size];
            shape.extend(element.shape());
            let array = SoacType::from_shape(element.element(), shape);
            elements.push(add_variable(&mut self.signature, "xs", array));
        }
        let arguments = RowArguments::extract(&mut self.signature, operation, dimension);
        let mut parameters = vec![dimension.index];
        parameters.extend(arguments.rows);
        let function = SoacLambda {
            parameters,
            body: arguments.operation.body,
        };
        self.push_map(dimension, arguments.arrays, function, &elements, out);
        let arrays: Vec<_> = elements
            .iter()
            .map(|&id| SoacOperand::Variable(id))
            .collect();
        let inputs = operation.count_inputs().min(arrays.len());
        let outputs = operation.count_outputs().min(results.len());
        let (results, mapped) = results.split_at(outputs);
        let width = dimension.size;
        let combined = match &operation.kind {
            SegmentKind::Reduce(fold) => SoacOperation::Reduce(
                width,
                arrays[..inputs].to_vec(),
                fold.neutral.clone(),
                fold.function.clone(),
                if fold.is_commutative {
                    ReductionOrder::Commutative
                } else {
                    ReductionOrder::Ordered
                },
            ),
            SegmentKind::Scan(fold) => SoacOperation::Scan(
                width,
                arrays[..inputs].to_vec(),
                fold.neutral.clone(),
                fold.function.clone(),
            ),
            SegmentKind::Histogram(histogram) => {
                SoacOperation::Histogram(Box::new(SoacHistogram {
                    targets,
                    neutral: histogram.fold.neutral.clone(),
                    function: histogram.fold.function.clone(),
                    positions: arrays[0],
                    values: arrays[1..inputs].to_vec(),
                }))
            }
            SegmentKind::Scatter(_) => {
                let pairs = arrays[..inputs].chunks_exact(2).zip(results);
                for (target, (pair, &result)) in targets.into_iter().zip(pairs) {
                    let scatter = SoacOperation::Scatter(target, pair[0], pair[1]);
                    out.push(make_statement(vec![result], scatter));
                }
                return bind_arrays(mapped, &arrays[inputs..], out);
            }
            SegmentKind::Map => return,
        };
        out.push(make_statement(results.to_vec(), combined));
        bind_arrays(mapped, &arrays[inputs..], out);
    }
}

/// Binds variables to arrays.
fn bind_arrays(ids: &[SoacVariableId], arrays: &[SoacOperand], out: &mut Vec<SoacStatement>) {
    for (&id, &array) in ids.iter().zip(arrays) {
        out.push(make_statement(
            vec![id],
            SoacOperation::Slice(array, Vec::new()),
        ));
    }
}

fn make_statement(results: Vec<SoacVariableId>, operation: SoacOperation) -> SoacStatement {
    SoacStatement {
        results,
        certificates: Vec::new(),
        operation,
    }
}

fn make_lambda(
    index: SoacVariableId,
    rows: Vec<SoacVariableId>,
    statements: Vec<SoacStatement>,
    results: &[SoacVariableId],
) -> SoacLambda {
    let mut parameters = vec![index];
    parameters.extend(rows);
    SoacLambda {
        parameters,
        body: SoacBody {
            statements,
            results: results
                .iter()
                .map(|&id| SoacOperand::Variable(id))
                .collect(),
        },
    }
}
