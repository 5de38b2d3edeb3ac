//! Functions: lambdas, and the parameters and bodies of all functions.

use super::types::TypeId;
use super::{CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{ExpressionId, FunctionSignature, SourceFunction};
use crate::typed::{LocalId, TypedExpressionId, TypedKind, TypedLambda};

impl SourceChecker<'_> {
    /// Checks a function without a name.
    pub(super) fn check_lambda(
        &mut self,
        function: &SourceFunction,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let mark = self.mark_scope();
        let checked = self.check_function(&function.signature, function.body, Vec::new());
        let checked = self.close_scope(mark, range, checked);
        let (lambda, type_id) = checked?;
        Ok(self.add_typed(TypedKind::Lambda(lambda), type_id, range))
    }

    /// Checks parameters, the type of the result and the body of a function. Its type parameters are in scope.
    pub(super) fn check_function(
        &mut self,
        signature: &FunctionSignature,
        body: ExpressionId,
        size_parameters: Vec<LocalId>,
    ) -> CheckResult<(TypedLambda, TypeId)> {
        let bound = self.bound_sizes(signature);
        let parameters = self.check_parameters(&signature.parameters, bound)?;
        let written = signature
            .result
            .map(|result| self.check_type(result))
            .transpose()?;
        let body_range = self.range_of(body);
        let body = self.check_expression(body)?;
        if let Some(written) = written {
            self.require_type(self.type_of(body), written.type_id, body_range, "the body")?;
        }
        let result = written.map_or_else(|| self.type_of(body), |written| written.type_id);
        let types: Vec<_> = parameters
            .iter()
            .map(|&parameter| self.program.patterns[parameter].type_id)
            .collect();
        let type_id = self.program.types.functions(&types, result);
        let lambda = TypedLambda {
            size_parameters,
            parameters,
            result: written.map(|written| written.sized),
            body,
        };
        Ok((lambda, type_id))
    }
}
