//! Translation of the soac form to the segmented form: the code of the host.

use crate::ir::{HostOperation, SegmentBody, SegmentFunction, SegmentStatement};
use crate::nest::{MapNest, add_twin, make_parallel};
use crate::profile::SegmentProfile;
use crate::scope::{contains_operation, functions_of, is_regular, is_regular_statement};
use spirula_entity::EntityArena;
use spirula_soac::ir::{
    SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacStatement, SoacVariableId,
};

/// State of a translation.
#[derive(Debug)]
pub(crate) struct SegmentTranslation {
    /// The function without its body. Variables are added to it.
    pub(crate) signature: SoacFunction,
    pub(crate) profile: SegmentProfile,
    /// The number of thresholds of nests.
    pub(crate) thresholds: usize,
}

/// Finds the parallel code of a function and of those that it calls.
pub fn translate_function(mut function: SoacFunction, profile: SegmentProfile) -> SegmentFunction {
    let mut callees = EntityArena::default();
    for (_, callee) in std::mem::take(&mut function.callees).iter() {
        callees.push(translate_function(callee.clone(), profile));
    }
    let body = std::mem::take(&mut function.body);
    let mut translation = SegmentTranslation {
        signature: function,
        profile,
        thresholds: 0,
    };
    let body = translation.translate_body(body);
    SegmentFunction {
        signature: translation.signature,
        body,
        callees,
    }
}

/// Whether an operation runs code for many elements.
pub(crate) fn is_combinator(operation: &SoacOperation) -> bool {
    !functions_of(operation).is_empty() || matches!(operation, SoacOperation::Scatter(..))
}

/// Whether an operation makes or copies whole arrays, which is done in parallel outside of kernels.
fn is_bulk(operation: &SoacOperation) -> bool {
    matches!(
        operation,
        SoacOperation::Iota(..)
            | SoacOperation::Replicate(..)
            | SoacOperation::Concat(..)
            | SoacOperation::Manifest(..)
    )
}

impl SegmentTranslation {
    /// Translates a body of the host.
    pub(crate) fn translate_body(&mut self, body: SoacBody) -> SegmentBody {
        let mut statements = Vec::with_capacity(body.statements.len());
        for statement in body.statements {
            self.translate_statement(statement, &mut statements);
        }
        SegmentBody {
            statements,
            results: body.results,
        }
    }

    fn translate_statement(&mut self, statement: SoacStatement, out: &mut Vec<SegmentStatement>) {
        if self.can_sink(&statement) {
            out.push(self.sink_statement(statement));
            return;
        }
        if is_combinator(&statement.operation) {
            self.translate_combinator(statement, out);
            return;
        }
        let operation = match statement.operation {
            SoacOperation::If(condition, accept, reject) => HostOperation::If(
                condition,
                self.translate_body(accept),
                self.translate_body(reject),
            ),
            SoacOperation::Loop(parameters, form, body) => {
                HostOperation::Loop(parameters, form, self.translate_body(body))
            }
            SoacOperation::WithAccumulators(accumulation) => HostOperation::WithAccumulators(
                accumulation.accumulators,
                self.translate_body(accumulation.body),
            ),
            other => HostOperation::Plain(other),
        };
        out.push(SegmentStatement {
            results: statement.results,
            certificates: statement.certificates,
            operation,
        });
    }

    fn translate_combinator(&mut self, statement: SoacStatement, out: &mut Vec<SegmentStatement>) {
        let functions = functions_of(&statement.operation);
        let mut functions = functions.into_iter();
        if !functions.all(|function| is_regular(&self.signature, function)) {
            for statement in self.make_loop(statement) {
                self.translate_statement(statement, out);
            }
            return;
        }
        let results = statement.results.clone();
        if !self.distribute_statement(&MapNest::default(), &statement, &results, out) {
            // A statement outside of all maps can always be distributed.
            debug_assert!(false, "{statement:?} has no parallel form");
        }
    }

    /// Whether a loop runs in one kernel of a single invocation: nothing in it is worth a kernel.
    fn can_sink(&self, statement: &SoacStatement) -> bool {
        let SoacOperation::Loop(..) = statement.operation else {
            return false;
        };
        let statements = std::slice::from_ref(statement);
        !contains_operation(statements, &|operation| {
            is_combinator(operation) || is_bulk(operation)
        }) && is_regular_statement(&self.signature, statement)
    }

    /// A kernel of a single invocation.
    fn sink_statement(&mut self, statement: SoacStatement) -> SegmentStatement {
        let results = statement.results.clone();
        let certificates = statement.certificates.clone();
        let body = SoacBody {
            results: results
                .iter()
                .map(|&id| SoacOperand::Variable(id))
                .collect(),
            statements: vec![statement],
        };
        let nest = MapNest::default();
        let operation =
            nest.make_operation(&mut self.signature, &body, &crate::ir::SegmentKind::Map);
        make_parallel(results, certificates, operation)
    }

    /// A variable with the type and the name of another.
    pub(crate) fn add_twin(&mut self, id: SoacVariableId) -> SoacVariableId {
        add_twin(&mut self.signature, id)
    }
}
