//! Placement: common subexpressions are found, and what depends on nothing in a repeated body moves out of it.

use super::{BodyKind, FunctionSimplifier};
use crate::ir::{SoacMessage, SoacOperand, SoacOperation, SoacStatement, SoacVariableId};
use crate::visit::for_each_used_variable;
use rustc_hash::FxHashMap;
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use std::rc::Rc;

/// A body that is being made.
#[derive(Debug)]
pub(super) struct BodyFrame {
    pub(super) kind: BodyKind,
    pub(super) statements: Vec<SoacStatement>,
    /// The results of operations that the body computes.
    available: FxHashMap<SoacOperation, Vec<SoacVariableId>>,
}

impl BodyFrame {
    pub(super) fn new(kind: BodyKind) -> Self {
        BodyFrame {
            kind,
            statements: Vec::new(),
            available: FxHashMap::default(),
        }
    }
}

/// Whether the operation is total: it cannot fail or read outside of arrays, whatever its operands are.
fn is_total(operation: &SoacOperation) -> bool {
    let is_total_here = matches!(
        operation,
        SoacOperation::Scalar(..)
            | SoacOperation::Parameter(..)
            | SoacOperation::Literal(_)
            | SoacOperation::Iota(..)
            | SoacOperation::Replicate(..)
            | SoacOperation::Concat(_)
            | SoacOperation::Reshape(..)
            | SoacOperation::Rearrange(..)
            | SoacOperation::Manifest(_)
            | SoacOperation::Map(..)
            | SoacOperation::Reduce(..)
            | SoacOperation::Scan(..)
            | SoacOperation::Fused(_)
    );
    is_total_here
        && operation.bodies().into_iter().all(|body| {
            let mut statements = body.statements.iter();
            statements.all(|statement| is_total(&statement.operation))
        })
}

/// Whether equal operations have equal results, and are cheap to compare.
fn is_comparable(operation: &SoacOperation) -> bool {
    matches!(
        operation,
        SoacOperation::Scalar(..)
            | SoacOperation::Parameter(..)
            | SoacOperation::Slice(..)
            | SoacOperation::Literal(_)
            | SoacOperation::Iota(..)
            | SoacOperation::Replicate(..)
            | SoacOperation::Concat(_)
            | SoacOperation::Reshape(..)
            | SoacOperation::Rearrange(..)
            | SoacOperation::Manifest(_)
    )
}

/// Whether the results are new arrays.
fn is_new(operation: &SoacOperation) -> bool {
    matches!(
        operation,
        SoacOperation::Literal(_)
            | SoacOperation::Iota(..)
            | SoacOperation::Replicate(..)
            | SoacOperation::Concat(_)
            | SoacOperation::Manifest(_)
            | SoacOperation::Map(..)
            | SoacOperation::Scan(..)
            | SoacOperation::Call(..)
    )
}

impl FunctionSimplifier<'_> {
    /// The results of an equal operation in a body around the statement.
    pub(super) fn find_available(&self, key: &SoacOperation) -> Option<&Vec<SoacVariableId>> {
        let mut frames = self.frames.iter().rev();
        frames.find_map(|frame| frame.available.get(key))
    }

    /// The number of the body that a statement can be moved to.
    fn find_frame(&self, statement: &SoacStatement) -> usize {
        // Only code of the host reads parameters.
        if matches!(statement.operation, SoacOperation::Parameter(..)) {
            return 0;
        }
        let innermost = self.frames.len() - 1;
        let consumed = statement.operation.consumed();
        let is_fixed = !consumed.is_empty()
            || statement
                .results
                .iter()
                .any(|&id| self.consumed.contains(id))
            || !self.frames[innermost].kind.is_repeated()
            || !is_total(&statement.operation);
        if is_fixed {
            return innermost;
        }
        let mut frame = 0;
        let mut is_bound_here = false;
        for_each_used_variable(self.variables, statement, &mut |id| {
            let depth = self.depths.get(&id).copied().unwrap_or(0);
            if depth <= innermost {
                frame = frame.max(depth);
                is_bound_here |= self.consumed.contains(id) || self.is_conditional(id);
            }
        });
        if is_bound_here {
            return innermost;
        }
        let repeated = self.frames.iter().rev();
        let repeated = repeated.take_while(|frame| frame.kind.is_repeated());
        frame.max(innermost - repeated.count().min(innermost))
    }

    /// Whether a certificate may hold only because a body does not run.
    fn is_conditional(&self, id: SoacVariableId) -> bool {
        let definition = self.definition(SoacOperand::Variable(id));
        let Some(SoacOperation::Check(condition, _)) = definition.map(|found| &found.operation)
        else {
            return false;
        };
        let condition = self.definition(*condition).map(|found| &found.operation);
        matches!(condition, Some(SoacOperation::Scalar(operator, _)) if operator.op == ScalarOp::LogOr)
    }

    /// How often the innermost body runs, if a check in it depends on nothing in it.
    pub(super) fn find_trips(&self, check: &SoacStatement) -> Option<SoacOperand> {
        let innermost = self.frames.len() - 1;
        let BodyKind::Repeated(trips) = self.frames[innermost].kind else {
            return None;
        };
        let mut is_outside = true;
        for_each_used_variable(self.variables, check, &mut |id| {
            is_outside &= self.is_outside(SoacOperand::Variable(id), innermost);
        });
        trips.filter(|_| is_outside)
    }

    /// Moves a check out of the innermost body. It holds there as well if the body does not run.
    pub(super) fn hoist_check(&mut self, mut check: SoacStatement, trips: SoacOperand) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if let SoacOperation::Check(condition, _) = &mut check.operation {
            let zero = SoacOperand::from_int64(0);
            let never_runs = self.add_int64(ScalarOp::SLe, trips, zero);
            let or = ScalarOperator::with_type(ScalarOp::LogOr, ScalarType::Bool);
            *condition = self.add_scalar(or, vec![*condition, never_runs]);
        }
        self.simplify_check(check);
        self.frames.push(frame);
    }

    /// Adds a statement to the outermost body that it can be in, unless one that it equals is there.
    pub(super) fn place(&mut self, statement: SoacStatement) {
        if is_comparable(&statement.operation) && self.reuse(&statement) {
            return;
        }
        self.place_apart(statement);
    }

    /// Adds a statement to the outermost body that it can be in, even if one that it equals is there.
    pub(super) fn place_apart(&mut self, statement: SoacStatement) {
        let operation = &statement.operation;
        let depth = self.find_frame(&statement);
        for &id in &statement.results {
            self.depths.insert(id, depth);
            if is_new(operation) {
                self.fresh.insert(id);
            }
        }
        match operation {
            SoacOperation::Check(condition, _) => {
                let key = SoacOperation::Check(*condition, SoacMessage::default());
                let results = statement.results.clone();
                self.frames[depth].available.insert(key, results);
            }
            _ if is_comparable(operation) => {
                let results = statement.results.clone();
                let key = operation.clone();
                self.frames[depth].available.insert(key, results);
            }
            _ => {}
        }
        if operation.bodies().is_empty() {
            let definition = Rc::new(statement.clone());
            for &id in &statement.results {
                self.definitions.insert(id, Rc::clone(&definition));
            }
        }
        self.frames[depth].statements.push(statement);
    }

    /// Uses the results of an equal statement, if there is one. New arrays that are changed in place stay apart.
    fn reuse(&mut self, statement: &SoacStatement) -> bool {
        let Some(found) = self.find_available(&statement.operation) else {
            return false;
        };
        let found = found.clone();
        let is_kept_apart = |&id: &SoacVariableId| self.consumed.contains(id);
        if found.iter().any(is_kept_apart) || statement.results.iter().any(is_kept_apart) {
            return false;
        }
        let mut certificates = statement.certificates.clone();
        if let Some(definition) = found.first().and_then(|id| self.definitions.get(id)) {
            certificates.retain(|id| !definition.certificates.contains(id));
        }
        for (&id, other) in statement.results.iter().zip(found) {
            self.replace(id, SoacOperand::Variable(other), &certificates);
        }
        true
    }

    /// Notes that a variable is bound by the statement whose bodies are made next.
    pub(super) fn bind_parameter(&mut self, id: SoacVariableId) {
        self.substitute_type(id);
        self.depths.insert(id, self.frames.len());
    }

    /// Notes the bound of a counter.
    pub(super) fn bind_counter(&mut self, id: SoacVariableId, bound: SoacOperand) {
        self.bind_parameter(id);
        self.upper_bounds.insert(id, bound);
    }
}
