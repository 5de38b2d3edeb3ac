//! Exhaustiveness: a match has a case for each value, and the patterns of parameters, bindings and loops match all values.

use super::RestrictionChecker;
use super::pattern_matrix::{MatrixFault, find_unmatched};
use crate::typed::{TypedExpressionId, TypedKind, TypedLoopForm, TypedPatternId, TypedPatternKind};

impl RestrictionChecker<'_> {
    /// Checks the patterns of an expression.
    pub(super) fn check_patterns(&mut self, id: TypedExpressionId) {
        let program = self.program;
        let node = &program.expressions[id];
        match &node.kind {
            TypedKind::Match(subject, cases) => self.check_match(id, *subject, cases),
            TypedKind::Let(bindings, _) => {
                for binding in bindings {
                    self.check_irrefutable(binding.pattern);
                }
            }
            TypedKind::Lambda(lambda) => {
                for &parameter in &lambda.parameters {
                    self.check_irrefutable(parameter);
                }
            }
            TypedKind::Loop(source) => {
                self.check_irrefutable(source.pattern);
                if let TypedLoopForm::Elements(pattern, _) = source.form {
                    self.check_irrefutable(pattern);
                }
            }
            _ => {}
        }
    }

    fn check_match(
        &mut self,
        id: TypedExpressionId,
        subject: TypedExpressionId,
        cases: &[(TypedPatternId, TypedExpressionId)],
    ) {
        let program = self.program;
        let type_id = program.expressions[subject].type_id;
        let patterns: Vec<_> = cases.iter().map(|(pattern, _)| *pattern).collect();
        let place = program.expressions[id].place;
        match find_unmatched(program, &patterns, type_id) {
            Ok(None) => {}
            Ok(Some(witness)) => {
                let message = format!("the match has unmatched cases: no case matches `{witness}`");
                let hint = format!("add a case for `{witness}`, or a last case `_`");
                self.faults
                    .report(place, message, |fault| fault.with_hint(hint));
            }
            Err(MatrixFault::TooLarge) => {
                let message = "the match has too many combinations of patterns to check them all";
                self.faults.report(place, message.to_owned(), |fault| {
                    fault.with_hint("split it, or add a last case `_`")
                });
            }
        }
    }

    /// Requires that a pattern matches all values of its type.
    pub(super) fn check_irrefutable(&mut self, pattern: TypedPatternId) {
        if self.is_plain(pattern) {
            return;
        }
        let program = self.program;
        let node = &program.patterns[pattern];
        if let Ok(Some(witness)) = find_unmatched(program, &[pattern], node.type_id) {
            let message = format!("refutable pattern: it does not match `{witness}`");
            self.faults.report(node.place, message, |fault| {
                fault.with_hint("use `match`, with a case for each value")
            });
        }
    }

    /// Whether a pattern has only variables and records.
    fn is_plain(&self, pattern: TypedPatternId) -> bool {
        match &self.program.patterns[pattern].kind {
            TypedPatternKind::Local(_) | TypedPatternKind::Wildcard => true,
            TypedPatternKind::Ascribed(inner) => self.is_plain(*inner),
            TypedPatternKind::Record(fields) => {
                fields.iter().all(|(_, field)| self.is_plain(*field))
            }
            TypedPatternKind::Scalar(_) | TypedPatternKind::Constructor(..) => false,
        }
    }
}
