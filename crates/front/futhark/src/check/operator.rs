//! Operators: infix, prefix and sections.

use super::unify::{ScalarClass, VariableState};
use super::{CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{ExpressionId, QualifiedName};
use crate::typed::{TypedBinding, TypedExpressionId, TypedKind, TypedLambda, TypedLiteral};

impl SourceChecker<'_> {
    /// Checks an infix operator. `&&` and `||` evaluate their right operand only where it counts.
    pub(super) fn check_binary(
        &mut self,
        operator: &QualifiedName,
        left: ExpressionId,
        right: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let spelling = self.name_text(operator.name.name);
        let decided = match spelling {
            "&&" => Some(false),
            "||" => Some(true),
            _ => None,
        };
        if let Some(decided) = decided {
            let bool_type = self.program.types.bool();
            let left = self.check_expected(left, bool_type, "the operand")?;
            let right = self.check_expected(right, bool_type, "the operand")?;
            let constant = TypedKind::Scalar(TypedLiteral::Truth(decided));
            let constant = self.add_typed(constant, bool_type, range);
            let kind = if decided {
                TypedKind::If(left, constant, right)
            } else {
                TypedKind::If(left, right, constant)
            };
            return Ok(self.add_typed(kind, bool_type, range));
        }
        let function = self.check_name(operator, operator.name.range)?;
        let left = self.check_expression(left)?;
        let right = self.check_expression(right)?;
        let typed = self.apply_typed(function, vec![left, right], range)?;
        self.program.sizes.infix.insert(typed);
        Ok(typed)
    }

    /// Checks a prefix operator, which is a function of the compiler.
    pub(super) fn check_prefix(
        &mut self,
        intrinsic: &str,
        class: ScalarClass,
        operand: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let operand = self.check_expression(operand)?;
        let type_id = self.add_variable(VariableState::Scalar(class), range);
        self.require_type(self.type_of(operand), type_id, range, "the operand")?;
        let function_type = self.program.types.function(type_id, type_id);
        let name = self.program.names.intern(intrinsic);
        let id = self
            .program
            .intrinsics
            .iter()
            .find(|(_, other)| **other == name)
            .map(|(id, _)| id);
        let id = id.ok_or_else(|| {
            self.fail(
                range,
                format!("the prelude lacks the function `{intrinsic}`"),
            )
        })?;
        let function = self.add_typed(
            TypedKind::Intrinsic(id, vec![type_id]),
            function_type,
            range,
        );
        Ok(self.add_typed(
            TypedKind::Application(function, vec![operand]),
            type_id,
            range,
        ))
    }

    /// Checks `(op e)`: a function of the left operand. The right operand is evaluated once.
    pub(super) fn check_right_section(
        &mut self,
        operator: &QualifiedName,
        operand: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let operator = self.check_name(operator, operator.name.range)?;
        let operand = self.check_expression(operand)?;
        let mark = self.mark_scope();
        let name = self.program.names.intern("left");
        let left_type = self.add_variable(VariableState::Free, range);
        let parameter = self.bind_name(name, left_type, range);
        let name = self.program.names.intern("right");
        let right_type = self.type_of(operand);
        let bound = self.bind_name(name, right_type, range);
        let left = self.read_pattern(parameter, range);
        let right = self.read_pattern(bound, range);
        self.end_scope(mark);
        let body = self.apply_typed(operator, vec![left, right], range)?;
        let type_id = self.program.types.function(left_type, self.type_of(body));
        let lambda = TypedLambda {
            size_parameters: Vec::new(),
            parameters: vec![parameter],
            result: None,
            body,
        };
        let lambda = self.add_typed(TypedKind::Lambda(lambda), type_id, range);
        let binding = TypedBinding {
            type_parameters: Vec::new(),
            sizes: Vec::new(),
            pattern: bound,
            value: operand,
        };
        Ok(self.add_typed(TypedKind::Let(vec![binding], lambda), type_id, range))
    }
}
