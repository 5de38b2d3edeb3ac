//! Facts about bodies: bound and used variables, and whether a device can run them.

use crate::translate::is_combinator;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SoacBody, SoacFunction, SoacLambda, SoacOperand, SoacOperation, SoacStatement, SoacVariableId,
};

/// Iterations for which the body of a loop counts.
const LOOP_ITERATIONS: i64 = 16;

/// Adds the variables that a body and those within it bind.
pub(crate) fn collect_bound(body: &SoacBody, bound: &mut EntitySet<SoacVariableId>) {
    for statement in &body.statements {
        for_each_bound(statement, &mut |id| {
            bound.insert(id);
        });
        for body in statement.operation.bodies() {
            collect_bound(body, bound);
        }
    }
}

/// The functions of a combinator.
pub(crate) fn functions_of(operation: &SoacOperation) -> Vec<&SoacLambda> {
    match operation {
        SoacOperation::Map(_, _, function)
        | SoacOperation::Reduce(_, _, _, function, _)
        | SoacOperation::Scan(_, _, _, function) => vec![function],
        SoacOperation::Histogram(histogram) => vec![&histogram.function],
        SoacOperation::Fused(fused) => {
            let fold = fused.sink.fold().map(|fold| &fold.function);
            std::iter::once(&fused.function).chain(fold).collect()
        }
        _ => Vec::new(),
    }
}

/// The outermost size of an array.
pub(crate) fn find_outer_size(signature: &SoacFunction, array: SoacOperand) -> SoacOperand {
    let array_type = signature.type_of(array);
    let size = array_type.shape().first().copied();
    size.unwrap_or(SoacOperand::from_int64(0))
}

/// The number of elements of a combinator.
pub(crate) fn find_width(
    signature: &SoacFunction,
    operation: &SoacOperation,
) -> Option<SoacOperand> {
    match operation {
        SoacOperation::Map(width, ..)
        | SoacOperation::Reduce(width, ..)
        | SoacOperation::Scan(width, ..) => Some(*width),
        SoacOperation::Fused(fused) => Some(fused.width),
        SoacOperation::Scatter(_, positions, _) => Some(find_outer_size(signature, *positions)),
        SoacOperation::Histogram(histogram) => {
            Some(find_outer_size(signature, histogram.positions))
        }
        _ => None,
    }
}

/// Calls a function with each variable that a statement binds, apart from those within its bodies.
fn for_each_bound(statement: &SoacStatement, visit: &mut dyn FnMut(SoacVariableId)) {
    statement.results.iter().copied().for_each(&mut *visit);
    statement.operation.bound().into_iter().for_each(visit);
}

/// Calls a function with each variable that statements use, at any depth: as operands, as certificates, and as sizes of the variables
/// that they bind.
pub(crate) fn for_each_used(
    signature: &SoacFunction,
    statement: &SoacStatement,
    visit: &mut dyn FnMut(SoacVariableId),
) {
    let mut see = |operand: SoacOperand| {
        if let SoacOperand::Variable(id) = operand {
            visit(id);
        }
    };
    statement.operation.for_each_operand(&mut see);
    statement
        .certificates
        .iter()
        .for_each(|&id| see(SoacOperand::Variable(id)));
    for_each_bound(statement, &mut |id| {
        let shape = signature.variables[id].variable_type.shape();
        shape.iter().copied().for_each(&mut see);
    });
    for body in statement.operation.bodies() {
        for_each_used_in(signature, body, visit);
    }
}

/// Calls a function with each variable that a body uses.
pub(crate) fn for_each_used_in(
    signature: &SoacFunction,
    body: &SoacBody,
    visit: &mut dyn FnMut(SoacVariableId),
) {
    for statement in &body.statements {
        for_each_used(signature, statement, visit);
    }
    for &result in &body.results {
        if let SoacOperand::Variable(id) = result {
            visit(id);
        }
    }
}

/// Whether a device can run a function: the sizes of all arrays that it makes are known outside of it, and it calls nothing.
pub(crate) fn is_regular(signature: &SoacFunction, function: &SoacLambda) -> bool {
    let mut inner = EntitySet::default();
    collect_bound(&function.body, &mut inner);
    function.parameters.iter().for_each(|&parameter| {
        inner.insert(parameter);
    });
    has_outer_sizes(signature, &function.body.statements, &inner)
}

/// Whether a device can run a statement by itself.
pub(crate) fn is_regular_statement(signature: &SoacFunction, statement: &SoacStatement) -> bool {
    let mut inner = EntitySet::default();
    let body = SoacBody {
        statements: vec![statement.clone()],
        results: Vec::new(),
    };
    collect_bound(&body, &mut inner);
    has_outer_sizes(signature, &body.statements, &inner)
}

fn has_outer_sizes(
    signature: &SoacFunction,
    statements: &[SoacStatement],
    inner: &EntitySet<SoacVariableId>,
) -> bool {
    statements.iter().all(|statement| {
        let is_view = matches!(
            statement.operation,
            SoacOperation::Slice(..) | SoacOperation::Update(..) | SoacOperation::Scatter(..)
        );
        let mut bound = statement.results.clone();
        if let SoacOperation::Loop(parameters, _, _) = &statement.operation {
            bound.extend(parameters.iter().map(|(id, _)| *id));
        }
        let has_sizes = bound.iter().all(|&id| is_invariant(signature, id, inner));
        let is_call = matches!(statement.operation, SoacOperation::Call(..));
        (is_view || has_sizes)
            && !is_call
            && statement
                .operation
                .bodies()
                .into_iter()
                .all(|body| has_outer_sizes(signature, &body.statements, inner))
    })
}

/// Whether the sizes of a variable are none of the variables given.
pub(crate) fn is_invariant(
    signature: &SoacFunction,
    id: SoacVariableId,
    inner: &EntitySet<SoacVariableId>,
) -> bool {
    let shape = signature.variables[id].variable_type.shape();
    shape.iter().all(|&size| is_outside(size, inner))
}

/// Whether an operand is none of the variables given.
pub(crate) fn is_outside(operand: SoacOperand, inner: &EntitySet<SoacVariableId>) -> bool {
    match operand {
        SoacOperand::Variable(id) => !inner.contains(id),
        SoacOperand::Constant(_) => true,
    }
}

/// Whether statements do more than bind variables: they check conditions, or write accumulators.
pub(crate) fn has_effects(statements: &[SoacStatement]) -> bool {
    contains_operation(statements, &|operation| {
        matches!(
            operation,
            SoacOperation::Check(..) | SoacOperation::Accumulate(..)
        )
    })
}

/// Whether a body changes arrays in place.
pub(crate) fn changes_arrays(body: &SoacBody) -> bool {
    contains_operation(&body.statements, &|operation| {
        !operation.consumed().is_empty() || matches!(operation, SoacOperation::Accumulate(..))
    })
}

/// Whether a body has loops, among them those of combinators.
pub(crate) fn has_loops(body: &SoacBody) -> bool {
    contains_operation(&body.statements, &|operation| {
        matches!(operation, SoacOperation::Loop(..)) || is_combinator(operation)
    })
}

/// About the number of operations of a body. Loops count for several iterations.
pub(crate) fn count_work(body: &SoacBody) -> i64 {
    let statements = body.statements.iter().map(|statement| {
        let operation = &statement.operation;
        let repeats = matches!(operation, SoacOperation::Loop(..)) || is_combinator(operation);
        let iterations = if repeats { LOOP_ITERATIONS } else { 1 };
        let bodies = operation.bodies().into_iter().map(count_work);
        1 + iterations * bodies.sum::<i64>()
    });
    statements.sum()
}

/// Whether a predicate holds of some operation of statements, at any depth.
pub(crate) fn contains_operation(
    statements: &[SoacStatement],
    predicate: &dyn Fn(&SoacOperation) -> bool,
) -> bool {
    statements.iter().any(|statement| {
        predicate(&statement.operation)
            || statement
                .operation
                .bodies()
                .into_iter()
                .any(|body| contains_operation(&body.statements, predicate))
    })
}

/// Whether a function is so simple that it may run between barriers: it fails never and needs no memory.
pub(crate) fn is_simple(function: &SoacLambda) -> bool {
    !contains_operation(&function.body.statements, &|operation| {
        !matches!(
            operation,
            SoacOperation::Scalar(..) | SoacOperation::Slice(..) | SoacOperation::If(..)
        )
    })
}
