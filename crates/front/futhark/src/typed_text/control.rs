//! Expressions of the text that bind variables: functions, `let`, `match` and loops.

use super::{ExpressionNesting, TypedPrinter};
use crate::typed::{
    TypedBinding, TypedExpressionId, TypedKind, TypedLambda, TypedLoop, TypedLoopForm,
    TypedPatternId, TypedPatternKind,
};

/// A body behind a sign: on a line of its own if it has several.
fn put_behind(sign: &str, body: &str) -> String {
    if body.contains('\n') {
        format!("{sign}\n{body}")
    } else {
        format!("{sign} {body}")
    }
}

impl TypedPrinter<'_> {
    /// A function without a name.
    pub(super) fn print_lambda(&mut self, lambda: &TypedLambda) -> String {
        let mark = self.scope.mark();
        let parameters = lambda.parameters.iter();
        let parameters = parameters.map(|parameter| self.print_parameter_pattern(*parameter));
        let parameters = parameters.collect::<Vec<_>>().join(" ");
        let result = lambda.result.map(|result| {
            let result = self.print_sized(result).nest(ExpressionNesting::Atom);
            format!(": {result}")
        });
        let body = self.print_expression(lambda.body, ExpressionNesting::Whole);
        self.scope.close(mark);
        let head = format!("\\{parameters}{} ->", result.unwrap_or_default());
        put_behind(&head, &body)
    }

    /// A chain of bindings with its result.
    pub(super) fn print_let(
        &mut self,
        bindings: &[TypedBinding],
        body: TypedExpressionId,
    ) -> String {
        let mark = self.scope.mark();
        let mut text = String::new();
        for binding in bindings {
            let binding = self.print_binding(binding);
            text.push_str(&binding);
            text.push('\n');
        }
        let body = self.print_expression(body, ExpressionNesting::Whole);
        self.scope.close(mark);
        format!("{text}in {body}")
    }

    /// One binding. Its variables stay in scope.
    fn print_binding(&mut self, binding: &TypedBinding) -> String {
        let program = self.program;
        let kind = &program.expressions[binding.value].kind;
        if let TypedKind::Lambda(lambda) = kind
            && program.local_functions.contains(&binding.value)
            && let TypedPatternKind::Local(local) = program.patterns[binding.pattern].kind
        {
            let function = self.print_local_function(binding, lambda);
            let name = self.bind(local);
            return format!("let {name}{function}");
        }
        let value = self.print_expression(binding.value, ExpressionNesting::Whole);
        let sizes = binding.sizes.iter();
        let sizes: String = sizes
            .map(|size| format!("[{}] ", self.bind(*size)))
            .collect();
        let pattern = self.print_pattern(binding.pattern);
        put_behind(&format!("let {sizes}{pattern} ="), &value)
    }

    /// The part of a local function behind its name.
    fn print_local_function(&mut self, binding: &TypedBinding, lambda: &TypedLambda) -> String {
        let mark = self.scope.mark();
        let signature = super::definition::PrintedFunction {
            has_inferred_sizes: false,
            sizes: &lambda.size_parameters,
            types: &binding.type_parameters,
            parameters: &lambda.parameters,
            result: lambda.result,
            body: lambda.body,
        };
        let text = self.print_function(&signature);
        self.scope.close(mark);
        text
    }

    /// A choice by patterns.
    pub(super) fn print_match(
        &mut self,
        subject: TypedExpressionId,
        cases: &[(TypedPatternId, TypedExpressionId)],
    ) -> String {
        let subject_nesting = self.nesting_before_case(subject);
        let mut text = format!("match {}", self.print_expression(subject, subject_nesting));
        for &(pattern, body) in cases {
            let mark = self.scope.mark();
            let pattern = self.print_pattern(pattern);
            let nesting = self.nesting_before_case(body);
            let body = self.print_expression(body, nesting);
            self.scope.close(mark);
            text.push('\n');
            text.push_str(&put_behind(&format!("case {pattern} ->"), &body));
        }
        text
    }

    /// How an expression must be nested in front of `case`: one that ends with a match would take the case.
    fn nesting_before_case(&self, id: TypedExpressionId) -> ExpressionNesting {
        let mut last = id;
        loop {
            last = match &self.program.expressions[last].kind {
                TypedKind::Match(..) => return ExpressionNesting::Atom,
                TypedKind::If(_, _, part)
                | TypedKind::Let(_, part)
                | TypedKind::Assert(_, part)
                | TypedKind::Attributed(_, part) => *part,
                TypedKind::Lambda(lambda) => lambda.body,
                TypedKind::Loop(source) => source.body,
                _ => return ExpressionNesting::Whole,
            };
        }
    }

    /// A loop.
    pub(super) fn print_loop(&mut self, source: &TypedLoop) -> String {
        let initial = self.print_expression(source.initial, ExpressionNesting::Whole);
        let outer = match source.form {
            TypedLoopForm::Count(_, bound) | TypedLoopForm::Elements(_, bound) => {
                Some(self.print_expression(bound, ExpressionNesting::Whole))
            }
            TypedLoopForm::While(_) => None,
        };
        let outer = outer.unwrap_or_default();
        let mark = self.scope.mark();
        let pattern = self.print_pattern(source.pattern);
        let form = match source.form {
            TypedLoopForm::Count(local, _) => format!("for {} < {outer}", self.bind(local)),
            TypedLoopForm::Elements(element, _) => {
                format!("for {} in {outer}", self.print_pattern(element))
            }
            TypedLoopForm::While(condition) => {
                let condition = self.print_expression(condition, ExpressionNesting::Whole);
                format!("while {condition}")
            }
        };
        let body = self.print_expression(source.body, ExpressionNesting::Whole);
        self.scope.close(mark);
        let head = format!("loop {pattern} = {initial} {form} do");
        put_behind(&head, &body)
    }
}
