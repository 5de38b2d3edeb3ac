//! Formatter of expressions.

use super::printer::{PrintResult, SourcePrinter};
use crate::syntax::token::{PunctuationMark, ReservedWord, TextRange, TokenKind};
use crate::syntax::tree::{
    AccessStep, ExpressionId, ExpressionKind, LetBinding, LetKind, LoopForm, MatchCase,
    RecordField, SliceIndex, SourceFunction, SourceLoop,
};

impl SourcePrinter<'_> {
    /// The range of an expression.
    pub(super) fn expression_range(&self, id: ExpressionId) -> TextRange {
        self.tree.expressions[id].range
    }

    pub(super) fn print_expression(&mut self, id: ExpressionId) -> PrintResult<()> {
        let range = self.expression_range(id);
        self.in_layout_of(range, |printer| printer.print_expression_kind(id))
    }

    fn print_expression_kind(&mut self, id: ExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.expressions[id];
        let range = node.range;
        match &node.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Hole
            | ExpressionKind::Name(_)
            | ExpressionKind::OperatorSection(_) => self.print_glued(range),
            ExpressionKind::Parentheses(inner) => {
                self.expect("(")?;
                self.aligned(|printer| printer.print_expression(*inner))?;
                self.expect(")")
            }
            ExpressionKind::Tuple(items) | ExpressionKind::Array(items) => {
                self.print_list(range, items, |printer, item| {
                    printer.print_expression(*item)
                })
            }
            ExpressionKind::Record(fields) => self.print_list(range, fields, Self::print_field),
            ExpressionKind::Constructor { payload, .. } => {
                self.print_token();
                self.print_aligned_parts(payload)
            }
            ExpressionKind::Projection { record, .. } => {
                self.print_expression(*record)?;
                self.expect(".")?;
                self.print_token();
                Ok(())
            }
            ExpressionKind::LocalOpen { module, body } => {
                let first = module.modules.first().unwrap_or(&module.name);
                self.print_glued(first.range.extend_to(module.name.range))?;
                self.expect(".")?;
                self.expect("(")?;
                self.aligned(|printer| printer.print_expression(*body))?;
                self.expect(")")
            }
            _ => self.print_operation(id),
        }
    }

    /// Prints an expression that is made of operands.
    fn print_operation(&mut self, id: ExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.expressions[id];
        match &node.kind {
            ExpressionKind::Index { array, indices } => {
                self.print_expression(*array)?;
                self.print_indices(indices)
            }
            ExpressionKind::Application {
                function,
                arguments,
            } => self.print_application(*function, arguments),
            ExpressionKind::Binary { left, right, .. } => {
                self.aligned(|printer| printer.print_expression(*left))?;
                self.line();
                self.print_operator(*right)?;
                self.blank();
                self.aligned(|printer| printer.print_expression(*right))
            }
            ExpressionKind::Negation(operand) | ExpressionKind::Complement(operand) => {
                self.print_token();
                self.print_expression(*operand)
            }
            ExpressionKind::LeftSection { operand, .. } => {
                self.expect("(")?;
                self.print_expression(*operand)?;
                self.blank();
                while !self.is_at(PunctuationMark::CloseParenthesis) {
                    self.require_more(node.range)?;
                    self.print_token();
                }
                self.expect(")")
            }
            ExpressionKind::RightSection { operand, .. } => {
                self.expect("(")?;
                self.print_operator(*operand)?;
                self.blank();
                self.print_expression(*operand)?;
                self.expect(")")
            }
            ExpressionKind::AccessSection(steps) => {
                self.expect("(")?;
                self.expect(".")?;
                self.print_steps(steps)?;
                self.expect(")")
            }
            ExpressionKind::Ascription { value, ascribed } => {
                self.print_ascription(*value, ":", *ascribed)
            }
            ExpressionKind::Coercion { value, coerced } => {
                self.print_ascription(*value, ":>", *coerced)
            }
            ExpressionKind::Range {
                first,
                second,
                last,
                ..
            } => {
                self.print_expression(*first)?;
                if let Some(second) = second {
                    self.expect("..")?;
                    self.print_expression(*second)?;
                }
                self.print_token();
                self.print_expression(*last)
            }
            _ => self.print_control(id),
        }
    }

    /// Prints an expression that begins with a keyword or an attribute.
    fn print_control(&mut self, id: ExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.expressions[id];
        match &node.kind {
            ExpressionKind::If {
                condition,
                accept,
                reject,
            } => self.print_if([*condition, *accept, *reject]),
            ExpressionKind::Let { bindings, body } => self.print_let(bindings, *body),
            ExpressionKind::Lambda(function) => self.print_lambda(function),
            ExpressionKind::Loop(form) => self.print_loop(form),
            ExpressionKind::Match { subject, cases } => self.print_match(*subject, cases),
            ExpressionKind::Assert { condition, body } => {
                self.expect("assert")?;
                self.blank();
                self.print_expression(*condition)?;
                self.line();
                self.print_expression(*body)
            }
            ExpressionKind::Update { .. } => self.print_updates(id),
            ExpressionKind::Attributed { body, .. } => self.aligned(|printer| {
                printer.print_attribute()?;
                printer.line();
                printer.print_expression(*body)
            }),
            _ => Err(node.range),
        }
    }

    /// Fails at the end of a range, where more tokens are needed.
    fn require_more(&self, range: TextRange) -> PrintResult<()> {
        if self.peek().kind == TokenKind::End {
            Err(range)
        } else {
            Ok(())
        }
    }

    /// Prints an operator, which may be a name between backticks, in front of its right operand.
    fn print_operator(&mut self, operand: ExpressionId) -> PrintResult<()> {
        let range = self.expression_range(operand);
        while self.peek().range.start < range.start {
            self.print_token();
        }
        Ok(())
    }

    fn print_field(&mut self, field: &RecordField) -> PrintResult<()> {
        self.print_glued(field.name.range)?;
        let Some(value) = field.value else {
            return Ok(());
        };
        self.blank();
        self.expect("=")?;
        let whole = field.name.range.extend_to(self.expression_range(value));
        let is_single = self.stays_single(whole);
        self.follow_or_nest(whole, |printer| {
            if is_single {
                return printer.print_expression(value);
            }
            // A value in a line of its own stands further in than the comma.
            printer.nested(|printer| {
                printer.hard_line();
                printer.print_expression(value)
            })
        })
    }

    /// Prints expressions after what they belong to, aligned.
    fn print_aligned_parts(&mut self, parts: &[ExpressionId]) -> PrintResult<()> {
        if parts.is_empty() {
            return Ok(());
        }
        self.blank();
        self.aligned(|printer| {
            parts.iter().enumerate().try_for_each(|(number, part)| {
                if number > 0 {
                    printer.line();
                }
                printer.print_expression(*part)
            })
        })
    }

    /// Prints an application. Arguments that begin on one line stay on it, also where the last one goes on in others.
    fn print_application(
        &mut self,
        function: ExpressionId,
        arguments: &[ExpressionId],
    ) -> PrintResult<()> {
        self.print_expression(function)?;
        let lines = arguments
            .iter()
            .map(|argument| self.line_of(self.expression_range(*argument).start));
        let lines: Vec<usize> = lines.collect();
        let is_single = lines.iter().all(|line| *line == lines[0]);
        self.with_layout(is_single, |printer| {
            if !is_single {
                return printer.print_aligned_parts(arguments);
            }
            arguments.iter().try_for_each(|argument| {
                printer.blank();
                printer.print_expression(*argument)
            })
        })
    }

    fn print_ascription(
        &mut self,
        value: ExpressionId,
        mark: &str,
        ascribed: crate::syntax::tree::TypeExpressionId,
    ) -> PrintResult<()> {
        self.print_expression(value)?;
        self.line();
        self.expect(mark)?;
        self.blank();
        self.aligned(|printer| printer.print_type(ascribed))
    }

    fn print_if(&mut self, [condition, accept, reject]: [ExpressionId; 3]) -> PrintResult<()> {
        self.expect("if")?;
        self.blank();
        self.print_expression(condition)?;
        self.line();
        self.expect("then")?;
        self.blank();
        self.aligned(|printer| printer.print_expression(accept))?;
        self.line();
        self.expect("else")?;
        self.blank();
        match self.tree.expressions[reject].kind {
            ExpressionKind::If { .. } => self.print_expression(reject),
            _ => self.aligned(|printer| printer.print_expression(reject)),
        }
    }

    /// Prints a chain of bindings. The expression after a binding has a layout of its own.
    fn print_let(&mut self, bindings: &[LetBinding], body: ExpressionId) -> PrintResult<()> {
        let end = self.expression_range(body);
        for binding in bindings {
            self.is_single = self.is_one_line(binding.range.extend_to(end));
            self.print_binding(binding)?;
            self.line();
            let is_before_let = self.tokens_ahead_are([ReservedWord::In, ReservedWord::Let]);
            if is_before_let {
                self.skip_token();
            }
        }
        if self.peek().kind == TokenKind::Keyword(ReservedWord::In) {
            self.print_token();
            self.blank();
            return self.aligned(|printer| printer.print_expression(body));
        }
        self.print_expression(body)
    }

    fn print_binding(&mut self, binding: &LetBinding) -> PrintResult<()> {
        let value = binding.value;
        let value_range = self.expression_range(value);
        self.expect("let")?;
        self.blank();
        let whole = match &binding.kind {
            LetKind::Pattern { sizes, pattern } => {
                for _ in sizes {
                    self.print_bracketed_name()?;
                }
                if !sizes.is_empty() {
                    self.blank();
                }
                self.print_pattern(*pattern)?;
                self.pattern_range(*pattern).extend_to(value_range)
            }
            LetKind::Function { name, signature } => {
                self.print_glued(name.range)?;
                let types = &signature.type_parameters;
                self.with_layout(true, |printer| {
                    if !types.is_empty() {
                        printer.blank();
                        printer.print_type_parameters(types)?;
                    }
                    Ok(())
                })?;
                for parameter in &signature.parameters {
                    self.blank();
                    self.print_pattern(*parameter)?;
                }
                if let Some(result) = signature.result {
                    self.expect(":")?;
                    self.blank();
                    self.print_type(result)?;
                }
                value_range
            }
            LetKind::Update { name, steps } => {
                self.print_glued(name.range)?;
                if matches!(steps.first(), Some(AccessStep::Field(_))) {
                    self.expect(".")?;
                }
                self.print_steps(steps)?;
                value_range
            }
        };
        self.blank();
        self.expect("=")?;
        self.follow_or_nest(whole, |printer| {
            printer.aligned(|printer| printer.print_expression(value))
        })
    }

    fn print_lambda(&mut self, function: &SourceFunction) -> PrintResult<()> {
        self.expect("\\")?;
        for (number, parameter) in function.signature.parameters.iter().enumerate() {
            if number > 0 {
                self.blank();
            }
            self.print_pattern(*parameter)?;
        }
        if let Some(result) = function.signature.result {
            if self.is_at(PunctuationMark::Colon) {
                self.expect(":")?;
            }
            self.blank();
            self.print_type(result)?;
        }
        self.blank();
        self.nested(|printer| {
            printer.expect("->")?;
            printer.line();
            printer.print_expression(function.body)
        })
    }

    fn print_loop(&mut self, form: &SourceLoop) -> PrintResult<()> {
        self.expect("loop")?;
        self.blank();
        let pattern = self.pattern_range(form.pattern);
        match form.initial {
            Some(initial) => {
                let whole = pattern.extend_to(self.expression_range(initial));
                self.aligned(|printer| {
                    printer.print_pattern(form.pattern)?;
                    printer.blank();
                    printer.expect("=")?;
                    printer.follow_or_nest(whole, |printer| {
                        printer.aligned(|printer| printer.print_expression(initial))
                    })
                })?;
                self.line();
                self.print_loop_form(form.form)?;
            }
            None => {
                let end = match form.form {
                    LoopForm::Count(name, _) => name.range,
                    LoopForm::Elements(pattern, _) => self.pattern_range(pattern),
                    LoopForm::While(condition) => self.expression_range(condition),
                };
                let is_single = self.is_one_line(pattern.extend_to(end));
                self.with_layout(is_single, |printer| {
                    printer.print_pattern(form.pattern)?;
                    printer.line();
                    printer.print_loop_form(form.form)
                })?;
            }
        }
        self.line_nested(|printer| printer.print_expression(form.body))
    }

    /// Prints `for i < n do`, and the other forms.
    fn print_loop_form(&mut self, form: LoopForm) -> PrintResult<()> {
        self.print_token();
        self.blank();
        let bound = match form {
            LoopForm::Count(name, bound) => {
                self.print_glued(name.range)?;
                Some(bound)
            }
            LoopForm::Elements(pattern, array) => {
                self.print_pattern(pattern)?;
                Some(array)
            }
            LoopForm::While(condition) => {
                self.print_expression(condition)?;
                None
            }
        };
        if let Some(bound) = bound {
            self.blank();
            self.print_token();
            self.blank();
            self.print_expression(bound)?;
        }
        self.blank();
        self.expect("do")
    }

    fn print_match(&mut self, subject: ExpressionId, cases: &[MatchCase]) -> PrintResult<()> {
        self.expect("match")?;
        self.blank();
        self.print_expression(subject)?;
        for case in cases {
            self.line();
            self.in_layout_of(case.range, |printer| {
                printer.expect("case")?;
                printer.blank();
                printer.print_pattern(case.pattern)?;
                printer.blank();
                printer.expect("->")?;
                printer.line_nested(|printer| printer.print_expression(case.body))
            })?;
        }
        Ok(())
    }

    /// Prints a chain of updates, each in a line of its own where there are several lines.
    fn print_updates(&mut self, id: ExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let mut updates = Vec::new();
        let mut root = id;
        while let ExpressionKind::Update {
            source,
            steps,
            value,
        } = &tree.expressions[root].kind
        {
            updates.push((steps, *value));
            root = *source;
        }
        self.print_expression(root)?;
        self.blank();
        self.aligned(|printer| {
            for (number, (steps, value)) in updates.into_iter().rev().enumerate() {
                if number > 0 {
                    printer.line();
                }
                printer.expect("with")?;
                printer.blank();
                printer.print_steps(steps)?;
                printer.blank();
                printer.expect("=")?;
                printer.blank();
                printer.print_expression(value)?;
            }
            Ok(())
        })
    }

    /// Prints a path without a dot in front.
    fn print_steps(&mut self, steps: &[AccessStep]) -> PrintResult<()> {
        for (number, step) in steps.iter().enumerate() {
            match step {
                AccessStep::Field(name) => {
                    if number > 0 {
                        self.expect(".")?;
                    }
                    self.print_glued(name.range)?;
                }
                AccessStep::Indices(indices) => self.print_indices(indices)?,
            }
        }
        Ok(())
    }

    /// Prints `[i, j:k]`.
    fn print_indices(&mut self, indices: &[SliceIndex]) -> PrintResult<()> {
        self.expect("[")?;
        for (number, index) in indices.iter().enumerate() {
            if number > 0 {
                self.expect(",")?;
                self.blank();
            }
            match *index {
                SliceIndex::Point(index) => self.print_expression(index)?,
                SliceIndex::Slice {
                    start,
                    end,
                    step,
                    has_second_colon,
                } => {
                    self.print_part(start)?;
                    self.expect(":")?;
                    self.print_part(end)?;
                    if has_second_colon {
                        self.expect(":")?;
                        self.print_part(step)?;
                    }
                }
            }
        }
        if self.is_at(PunctuationMark::Comma) {
            self.skip_token();
        }
        self.expect("]")
    }

    fn print_part(&mut self, part: Option<ExpressionId>) -> PrintResult<()> {
        match part {
            Some(part) => self.print_expression(part),
            None => Ok(()),
        }
    }
}
