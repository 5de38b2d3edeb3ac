//! Parser of what begins with a parenthesis: tuples, operator sections, paths of access.

use super::{ParseResult, SourceParser, fail_at};
use crate::syntax::token::{PunctuationMark, TextRange, TokenKind};
use crate::syntax::tree::{AccessStep, ExpressionId, ExpressionKind};

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
            let operator = self.parse_operator()?;
            let operand = first;
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
