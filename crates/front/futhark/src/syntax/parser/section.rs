//! Parser of what begins with a parenthesis: tuples, operator sections, paths of access.

use super::{ParseResult, SourceParser, fail_at};
use crate::syntax::operator::{BACKTICK, find_precedence};
use crate::syntax::token::{PunctuationMark, TextRange, TokenKind};
use crate::syntax::tree::{AccessStep, ExpressionId, ExpressionKind, QualifiedName};

impl SourceParser<'_> {
    /// Parses `(e)`, a tuple or a section.
    pub(super) fn parse_parentheses(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        let is_whole_section = self.is_operator_section(1);
        self.expect_mark(PunctuationMark::OpenParenthesis)?;
        if self.accept_mark(PunctuationMark::CloseParenthesis) {
            return Ok(self.add_expression(start, ExpressionKind::Tuple(Vec::new())));
        }
        let is_operator = matches!(
            self.peek_kind(),
            TokenKind::Operator | TokenKind::Mark(PunctuationMark::Backtick)
        );
        if is_whole_section {
            let operator = self.parse_operator()?;
            return self.close_section(start, ExpressionKind::OperatorSection(operator));
        }
        if is_operator {
            let operator = self.parse_operator()?;
            let operand = self.parse_plain_expression()?;
            return self.close_section(start, ExpressionKind::RightSection { operator, operand });
        }
        if self.is_at_mark(PunctuationMark::Dot) {
            let steps = self.parse_access_steps()?;
            return self.close_section(start, ExpressionKind::AccessSection(steps));
        }
        let first = self.parse_expression()?;
        if self.is_operator_section(0) {
            let range = self.start_range();
            let operator = self.parse_operator()?;
            let operand = first;
            if !self.ends_before(operand, self.find_level(&operator)) {
                let message = "the operator of a section would belong to the end of its operand";
                return Err(fail_at(range, message).with_hint("put the operand into parentheses"));
            }
            return self.close_section(start, ExpressionKind::LeftSection { operator, operand });
        }
        if self.accept_mark(PunctuationMark::CloseParenthesis) {
            return Ok(self.add_expression(start, ExpressionKind::Parentheses(first)));
        }
        if !self.accept_mark(PunctuationMark::Comma) {
            return Err(self.fail_expected("`)` or `,`"));
        }
        let mut elements = vec![first];
        elements
            .extend(self.parse_some(PunctuationMark::CloseParenthesis, Self::parse_expression)?);
        Ok(self.add_expression(start, ExpressionKind::Tuple(elements)))
    }

    /// How tightly an operator binds.
    fn find_level(&self, operator: &QualifiedName) -> u8 {
        let precedence = find_precedence(&self.names[operator.name.name]);
        precedence.unwrap_or(BACKTICK).level
    }

    /// Whether an expression ends in front of an operator that follows it: `1 * 2` ends before `+`, but not before `**`, and
    /// `if a then b else c` never.
    fn ends_before(&self, id: ExpressionId, level: u8) -> bool {
        match &self.tree.expressions[id].kind {
            ExpressionKind::Binary {
                operator, right, ..
            } => self.find_level(operator) >= level && self.ends_before(*right, level),
            ExpressionKind::Negation(inner) | ExpressionKind::Complement(inner) => {
                self.ends_before(*inner, level)
            }
            ExpressionKind::If { .. }
            | ExpressionKind::Let { .. }
            | ExpressionKind::Loop(_)
            | ExpressionKind::Lambda(_)
            | ExpressionKind::Match { .. }
            | ExpressionKind::Update { .. }
            | ExpressionKind::Attributed { .. }
            | ExpressionKind::Ascription { .. }
            | ExpressionKind::Coercion { .. }
            | ExpressionKind::Range { .. } => false,
            _ => true,
        }
    }

    /// Passes the closing parenthesis of a section.
    fn close_section(
        &mut self,
        start: TextRange,
        kind: ExpressionKind,
    ) -> ParseResult<ExpressionId> {
        self.expect_mark(PunctuationMark::CloseParenthesis)?;
        Ok(self.add_expression(start, kind))
    }

    /// Parses the path of `(.a.b[i])`.
    fn parse_access_steps(&mut self) -> ParseResult<Vec<AccessStep>> {
        let mut steps = Vec::new();
        while !self.is_at_mark(PunctuationMark::CloseParenthesis) {
            let has_dot = self.accept_mark(PunctuationMark::Dot);
            if self.accept_mark(PunctuationMark::OpenBracket) {
                let indices = self.parse_indices()?;
                steps.push(AccessStep::Indices(indices));
            } else if has_dot {
                steps.push(AccessStep::Field(self.parse_field_name()?));
            } else {
                return Err(fail_at(self.start_range(), "expected a field or an index"));
            }
        }
        Ok(steps)
    }
}
