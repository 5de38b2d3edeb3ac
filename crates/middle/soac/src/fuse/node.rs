//! Combinators in one form: a function of elements, and an operation on its first results.

use crate::ir::{
    FusedSink, ReductionOrder, SoacBody, SoacFold, SoacFusedMap, SoacLambda, SoacOperand,
    SoacOperation, SoacStatement, SoacType, SoacVariable, SoacVariableId,
};
use spirula_entity::EntityArena;

/// The variables of a function.
pub(super) type FunctionVariables = EntityArena<SoacVariableId, SoacVariable>;

/// A combinator.
#[derive(Clone, Debug)]
pub(super) struct FusionNode {
    pub(super) width: SoacOperand,
    pub(super) arrays: Vec<SoacOperand>,
    pub(super) function: SoacLambda,
    pub(super) sink: Option<FusedSink>,
    /// The results of the sink, then arrays.
    pub(super) results: Vec<SoacVariableId>,
    pub(super) certificates: Vec<SoacVariableId>,
}

/// The outer size of an array.
fn outer_size(variables: &FunctionVariables, array: SoacOperand) -> Option<SoacOperand> {
    match array {
        SoacOperand::Variable(id) => variables[id].variable_type.shape().first().copied(),
        SoacOperand::Constant(_) => None,
    }
}

/// A function whose results are the elements of arrays.
fn make_identity(variables: &mut FunctionVariables, arrays: &[SoacOperand]) -> SoacLambda {
    let mut parameters = Vec::with_capacity(arrays.len());
    for &array in arrays {
        let SoacOperand::Variable(id) = array else {
            continue;
        };
        let array_type = &variables[id].variable_type;
        let shape = array_type.shape().iter().skip(1).copied().collect();
        let variable_type = SoacType::from_shape(array_type.element(), shape);
        parameters.push(variables.push(SoacVariable {
            name: "p".to_owned(),
            variable_type,
        }));
    }
    let results = parameters.iter().map(|&id| SoacOperand::Variable(id));
    SoacLambda {
        body: SoacBody {
            statements: Vec::new(),
            results: results.collect(),
        },
        parameters,
    }
}

/// The width of a combinator.
pub(super) fn find_width(
    variables: &FunctionVariables,
    operation: &SoacOperation,
) -> Option<SoacOperand> {
    match operation {
        SoacOperation::Map(width, ..)
        | SoacOperation::Reduce(width, ..)
        | SoacOperation::Scan(width, ..) => Some(*width),
        SoacOperation::Scatter(_, positions, _) => outer_size(variables, *positions),
        SoacOperation::Histogram(histogram) => outer_size(variables, histogram.positions),
        SoacOperation::Fused(fused) => Some(fused.width),
        _ => None,
    }
}

/// The arrays that a combinator takes the elements of.
pub(super) fn element_arrays(operation: &SoacOperation) -> Vec<SoacOperand> {
    match operation {
        SoacOperation::Map(_, arrays, _)
        | SoacOperation::Reduce(_, arrays, ..)
        | SoacOperation::Scan(_, arrays, ..) => arrays.clone(),
        SoacOperation::Scatter(_, positions, values) => vec![*positions, *values],
        SoacOperation::Histogram(histogram) => {
            let values = histogram.values.iter().copied();
            std::iter::once(histogram.positions).chain(values).collect()
        }
        SoacOperation::Fused(fused) => fused.arrays.clone(),
        _ => Vec::new(),
    }
}

impl FusionNode {
    /// The node of a combinator.
    pub(super) fn new(
        variables: &mut FunctionVariables,
        statement: SoacStatement,
    ) -> Option<FusionNode> {
        let width = find_width(variables, &statement.operation)?;
        let arrays = element_arrays(&statement.operation);
        let SoacStatement {
            results,
            certificates,
            operation,
        } = statement;
        let (function, sink) = match operation {
            SoacOperation::Map(_, _, function) => (function, None),
            SoacOperation::Fused(fused) => (fused.function, Some(fused.sink)),
            SoacOperation::Reduce(_, _, neutral, function, order) => {
                let fold = SoacFold { neutral, function };
                let identity = make_identity(variables, &arrays);
                (identity, Some(FusedSink::Reduce(fold, order)))
            }
            SoacOperation::Scan(_, _, neutral, function) => {
                let fold = SoacFold { neutral, function };
                let identity = make_identity(variables, &arrays);
                (identity, Some(FusedSink::Scan(fold)))
            }
            SoacOperation::Scatter(target, ..) => {
                let identity = make_identity(variables, &arrays);
                (identity, Some(FusedSink::Scatter(vec![target])))
            }
            SoacOperation::Histogram(histogram) => {
                let histogram = *histogram;
                let fold = SoacFold {
                    neutral: histogram.neutral,
                    function: histogram.function,
                };
                let sink = FusedSink::Histogram(histogram.targets, fold);
                (make_identity(variables, &arrays), Some(sink))
            }
            _ => return None,
        };
        Some(FusionNode {
            width,
            arrays,
            function,
            sink,
            results,
            certificates,
        })
    }

    /// The combinator of a node.
    pub(super) fn into_statement(self) -> SoacStatement {
        let FusionNode {
            width,
            arrays,
            function,
            sink,
            results,
            certificates,
        } = self;
        let operation = match sink {
            None => SoacOperation::Map(width, arrays, function),
            Some(sink) => SoacOperation::Fused(Box::new(SoacFusedMap {
                width,
                arrays,
                function,
                sink,
            })),
        };
        SoacStatement {
            results,
            certificates,
            operation,
        }
    }

    /// Number of results that are no arrays of the function's.
    pub(super) fn count_heads(&self) -> usize {
        self.sink.as_ref().map_or(0, FusedSink::count_results)
    }

    /// Number of the function's results that the sink takes.
    pub(super) fn count_taken(&self) -> usize {
        self.sink.as_ref().map_or(0, FusedSink::count_inputs)
    }
}

/// Two reductions as one: of pairs.
fn join_folds(first: SoacFold, second: SoacFold) -> SoacFold {
    let (left, right) = (first.neutral.len(), second.neutral.len());
    let (a, b) = (first.function, second.function);
    let states = a.parameters[..left].iter().chain(&b.parameters[..right]);
    let elements = a.parameters[left..].iter().chain(&b.parameters[right..]);
    let parameters = states.chain(elements).copied().collect();
    let join = |a: Vec<SoacOperand>, b: Vec<SoacOperand>| a.into_iter().chain(b).collect();
    let mut statements = a.body.statements;
    statements.extend(b.body.statements);
    SoacFold {
        neutral: join(first.neutral, second.neutral),
        function: SoacLambda {
            parameters,
            body: SoacBody {
                statements,
                results: join(a.body.results, b.body.results),
            },
        },
    }
}

/// The sink of two nodes that become one.
fn join_sinks(first: Option<FusedSink>, second: Option<FusedSink>) -> Option<FusedSink> {
    match (first, second) {
        (Some(FusedSink::Reduce(a, order)), Some(FusedSink::Reduce(b, other))) => {
            let order = if order == other {
                order
            } else {
                ReductionOrder::Ordered
            };
            Some(FusedSink::Reduce(join_folds(a, b), order))
        }
        (Some(FusedSink::Scatter(a)), Some(FusedSink::Scatter(b))) => {
            Some(FusedSink::Scatter([a, b].concat()))
        }
        (first, second) => first.or(second),
    }
}

/// The use that a combinator makes of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SinkKind {
    Arrays,
    Reduction,
    Scan,
    Scatter,
    Histogram,
}

impl SinkKind {
    pub(super) fn from_operation(operation: &SoacOperation) -> Option<SinkKind> {
        match operation {
            SoacOperation::Map(..) => Some(SinkKind::Arrays),
            SoacOperation::Reduce(..) => Some(SinkKind::Reduction),
            SoacOperation::Scan(..) => Some(SinkKind::Scan),
            SoacOperation::Scatter(..) => Some(SinkKind::Scatter),
            SoacOperation::Histogram(_) => Some(SinkKind::Histogram),
            SoacOperation::Fused(fused) => Some(match fused.sink {
                FusedSink::Reduce(..) => SinkKind::Reduction,
                FusedSink::Scan(_) => SinkKind::Scan,
                FusedSink::Scatter(_) => SinkKind::Scatter,
                FusedSink::Histogram(..) => SinkKind::Histogram,
            }),
            _ => None,
        }
    }
}

/// Whether an operation takes the elements of arrays.
pub(super) fn is_combinator(operation: &SoacOperation) -> bool {
    SinkKind::from_operation(operation).is_some()
}

/// Whether two combinators can become one that does the work of both.
pub(super) fn can_join(first: &SoacOperation, second: &SoacOperation) -> bool {
    let kinds = [first, second].map(SinkKind::from_operation);
    matches!(
        kinds,
        [Some(SinkKind::Arrays), Some(_)]
            | [
                Some(SinkKind::Reduction | SinkKind::Scan),
                Some(SinkKind::Arrays)
            ]
            | [Some(SinkKind::Reduction), Some(SinkKind::Reduction)]
            | [Some(SinkKind::Scatter), Some(SinkKind::Scatter)]
    )
}

/// The node of two: the second may use elements of the arrays that the first makes. Of these arrays only those in `kept` remain.
pub(super) fn join_nodes(
    first: FusionNode,
    second: FusionNode,
    kept: &[SoacVariableId],
) -> FusionNode {
    let first_heads = first.count_heads();
    let (first_taken, second_taken) = (first.count_taken(), second.count_taken());
    let split = |results: &[SoacOperand], taken: usize| {
        (results[..taken].to_vec(), results[taken..].to_vec())
    };
    let (first_inputs, made) = split(&first.function.body.results, first_taken);
    let (second_inputs, others) = split(&second.function.body.results, second_taken);
    let mut results = first.results[..first_heads].to_vec();
    results.extend(&second.results);
    let mut values = [first_inputs, second_inputs, others].concat();
    for (&id, value) in first.results[first_heads..].iter().zip(made) {
        if kept.contains(&id) {
            results.push(id);
            values.push(value);
        }
    }
    let mut statements = first.function.body.statements;
    statements.extend(second.function.body.statements);
    let mut certificates = first.certificates;
    for id in second.certificates {
        if !certificates.contains(&id) {
            certificates.push(id);
        }
    }
    FusionNode {
        width: first.width,
        arrays: [first.arrays, second.arrays].concat(),
        function: SoacLambda {
            parameters: [first.function.parameters, second.function.parameters].concat(),
            body: SoacBody {
                statements,
                results: values,
            },
        },
        sink: join_sinks(first.sink, second.sink),
        results,
        certificates,
    }
}
