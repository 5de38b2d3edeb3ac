//! Parser of infix operators, `with` and ranges.

use super::{ParseResult, SourceParser, fail_at};
use crate::syntax::operator::{
    BACKTICK, OperatorPrecedence, WITH_LEVEL, WITH_VALUE_LEVEL, find_precedence,
};
use crate::syntax::token::{PunctuationMark, ReservedWord, SourceToken, TextRange, TokenKind};
use crate::syntax::tree::{
    AccessStep, ExpressionId, ExpressionKind, QualifiedName, RangeBound, SourceName,
};

impl SourceParser<'_> {
    /// Parses an expression without ascribed types: an infix expression, or a range of such.
    pub(super) fn parse_plain_expression(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        let first = self.parse_infix_expression(0)?;
        let second = if self.accept_mark(PunctuationMark::TwoDots) {
            Some(self.parse_infix_expression(0)?)
        } else {
            None
        };
        let bound = match self.peek_kind() {
            TokenKind::Mark(PunctuationMark::RangeInclusive) => RangeBound::Inclusive,
            TokenKind::Mark(PunctuationMark::RangeUpTo) => RangeBound::UpTo,
            TokenKind::Mark(PunctuationMark::RangeDownTo) => RangeBound::DownTo,
            _ if second.is_none() => return Ok(first),
            _ => {
                let fault = self.fail_expected("`...`, `..<` or `..>`");
                return Err(fault.with_hint("write `a..<b` for the numbers from a to b - 1"));
            }
        };
        self.take_token();
        let last = self.parse_infix_expression(0)?;
        let kind = ExpressionKind::Range {
            first,
            second,
            bound,
            last,
        };
        Ok(self.add_expression(start, kind))
    }

    /// Parses operands and the operators between them whose level is at least `level`.
    fn parse_infix_expression(&mut self, level: u8) -> ParseResult<ExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            let mut left = parser.parse_prefix_expression()?;
            loop {
                if parser.is_at_keyword(ReservedWord::With) && level <= WITH_LEVEL {
                    left = parser.parse_update(start, left)?;
                    continue;
                }
                let Some(precedence) = parser.peek_precedence()? else {
                    return Ok(left);
                };
                if precedence.level < level || parser.is_operator_closed(0) {
                    return Ok(left);
                }
                let operator = parser.parse_operator()?;
                let right_level = precedence.level + u8::from(!precedence.is_right);
                let right = parser.parse_infix_expression(right_level)?;
                let kind = ExpressionKind::Binary {
                    operator,
                    left,
                    right,
                };
                left = parser.add_expression(start, kind);
            }
        })
    }

    /// The precedence of the next token if it is an infix operator.
    fn peek_precedence(&self) -> ParseResult<Option<OperatorPrecedence>> {
        let token = self.peek_token();
        match token.kind {
            TokenKind::Mark(PunctuationMark::Backtick) => Ok(Some(BACKTICK)),
            TokenKind::Minus => Ok(find_precedence("-")),
            TokenKind::Operator => {
                let (_, operator) = split_operator(self.text_of(token.range));
                match find_precedence(operator) {
                    Some(precedence) => Ok(Some(precedence)),
                    None => Err(fail_at(
                        token.range,
                        "the operator begins like no built-in operator",
                    )),
                }
            }
            _ => Ok(None),
        }
    }

    /// The number of tokens of the operator that starts `ahead` tokens further on. Zero if none does.
    fn count_operator_tokens(&self, ahead: usize) -> usize {
        match self.peek_ahead(ahead).kind {
            TokenKind::Operator | TokenKind::Minus => 1,
            TokenKind::Mark(PunctuationMark::Backtick) => {
                let mut count = 1;
                while matches!(
                    self.peek_ahead(ahead + count).kind,
                    TokenKind::Name | TokenKind::Mark(PunctuationMark::Dot)
                ) {
                    count += 1;
                }
                count + 1
            }
            _ => 0,
        }
    }

    /// Whether an operator starts `ahead` tokens further on, with a closing parenthesis after it.
    fn is_operator_closed(&self, ahead: usize) -> bool {
        let count = self.count_operator_tokens(ahead);
        let close = TokenKind::Mark(PunctuationMark::CloseParenthesis);
        count > 0 && self.peek_ahead(ahead + count).kind == close
    }

    /// Whether the tokens from `ahead` on are an operator and a closing parenthesis: the rest of `(op)`.
    pub(super) fn is_operator_section(&self, ahead: usize) -> bool {
        self.is_operator_closed(ahead)
    }

    /// Parses an infix operator, or a name between backticks.
    pub(super) fn parse_operator(&mut self) -> ParseResult<QualifiedName> {
        if self.accept_mark(PunctuationMark::Backtick) {
            let name = self.parse_qualified_name()?;
            self.expect_mark(PunctuationMark::Backtick)?;
            return Ok(name);
        }
        let token = self.take_token();
        if !matches!(token.kind, TokenKind::Operator | TokenKind::Minus) {
            return Err(fail_at(token.range, "expected an operator"));
        }
        Ok(self.intern_operator(token))
    }

    /// Parses the operator that a definition defines, which has no modules in front of it.
    pub(super) fn parse_binding_operator(&mut self) -> ParseResult<SourceName> {
        let operator = self.parse_operator()?;
        if let Some(module) = operator.modules.first() {
            return Err(fail_at(
                module.range,
                "a name that is defined cannot be qualified",
            ));
        }
        Ok(operator.name)
    }

    /// The modules and the operator of a token.
    fn intern_operator(&mut self, token: SourceToken) -> QualifiedName {
        let text = self.text_of(token.range);
        let (prefix, _) = split_operator(text);
        let ends: Vec<usize> = prefix.match_indices('.').map(|(at, _)| at).collect();
        let mut start = 0;
        let mut modules = Vec::new();
        for end in ends {
            modules.push(self.intern_range(slice_range(token.range, start, end)));
            start = end + 1;
        }
        let length = (token.range.end - token.range.start) as usize;
        let name = self.intern_range(slice_range(token.range, start, length));
        QualifiedName { modules, name }
    }

    /// Parses the rest of `e with path = v`.
    fn parse_update(
        &mut self,
        start: TextRange,
        source: ExpressionId,
    ) -> ParseResult<ExpressionId> {
        self.expect_keyword(ReservedWord::With)?;
        let mut steps = Vec::new();
        while !self.accept_mark(PunctuationMark::Equals) {
            if self.accept_mark(PunctuationMark::OpenBracket) {
                let indices = self.parse_indices()?;
                steps.push(AccessStep::Indices(indices));
            } else {
                self.accept_mark(PunctuationMark::Dot);
                steps.push(AccessStep::Field(self.parse_field_name()?));
            }
        }
        let value = self.parse_infix_expression(WITH_VALUE_LEVEL)?;
        Ok(self.add_expression(
            start,
            ExpressionKind::Update {
                source,
                steps,
                value,
            },
        ))
    }
}

/// Splits an operator token into its modules, with the dots after them, and the operator.
fn split_operator(text: &str) -> (&str, &str) {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_'".contains(character);
    let mut end = 0;
    while text[end..].starts_with(is_name) {
        let length = text[end..]
            .find(|character| !is_name(character))
            .unwrap_or(0);
        end += length + 1;
    }
    text.split_at(end)
}

/// The bytes `start..end` of a range.
fn slice_range(range: TextRange, start: usize, end: usize) -> TextRange {
    TextRange {
        start: range.start + start as u32,
        end: range.start + end as u32,
    }
}
