//! Parser of patterns.

use super::{ParseResult, SourceParser};
use crate::syntax::token::{PunctuationMark, ReservedWord, TextRange, TokenKind};
use crate::syntax::tree::{PatternId, PatternKind, PatternNode, RecordFieldPattern, SourceName};

impl SourceParser<'_> {
    /// Adds a pattern that starts at `start` and ends with the last token.
    fn add_pattern(&mut self, start: TextRange, kind: PatternKind) -> PatternId {
        let range = self.range_since(start);
        self.tree.patterns.push(PatternNode { range, kind })
    }

    /// Whether the next token begins a pattern of a parameter.
    pub(super) fn is_at_parameter(&self) -> bool {
        match self.peek_kind() {
            TokenKind::Name | TokenKind::Constructor => true,
            TokenKind::Integer | TokenKind::Float | TokenKind::Character => true,
            TokenKind::Keyword(word) => matches!(word, ReservedWord::True | ReservedWord::False),
            TokenKind::Mark(mark) => matches!(
                mark,
                PunctuationMark::OpenParenthesis
                    | PunctuationMark::OpenBrace
                    | PunctuationMark::Underscore
            ),
            _ => false,
        }
    }

    /// Parses a pattern with its attributes, the payload of a constructor and its type.
    pub(super) fn parse_pattern(&mut self) -> ParseResult<PatternId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            if parser.is_at_mark(PunctuationMark::AttributeStart) {
                let attribute = parser.parse_bracketed_attribute()?;
                let pattern = parser.parse_pattern()?;
                return Ok(
                    parser.add_pattern(start, PatternKind::Attributed { attribute, pattern })
                );
            }
            let pattern = if parser.peek_kind() == TokenKind::Constructor {
                parser.parse_constructor_pattern()?
            } else {
                parser.parse_inner_pattern()?
            };
            if !parser.accept_mark(PunctuationMark::Colon) {
                return Ok(pattern);
            }
            let ascribed = parser.parse_type()?;
            Ok(parser.add_pattern(start, PatternKind::Ascription { pattern, ascribed }))
        })
    }

    /// Parses `#c p q`.
    fn parse_constructor_pattern(&mut self) -> ParseResult<PatternId> {
        let start = self.start_range();
        let name = self.parse_constructor_name();
        let mut payload = Vec::new();
        while self.is_at_parameter() || self.peek_kind() == TokenKind::Minus {
            payload.push(self.parse_inner_pattern()?);
        }
        Ok(self.add_pattern(start, PatternKind::Constructor { name, payload }))
    }

    /// Parses a pattern without payload and type: the patterns of parameters and payloads.
    pub(super) fn parse_inner_pattern(&mut self) -> ParseResult<PatternId> {
        let start = self.start_range();
        let kind = match self.peek_kind() {
            TokenKind::Name => PatternKind::Name(self.parse_name()?),
            TokenKind::Constructor => PatternKind::Constructor {
                name: self.parse_constructor_name(),
                payload: Vec::new(),
            },
            TokenKind::Mark(PunctuationMark::Underscore) => {
                self.take_token();
                PatternKind::Wildcard
            }
            TokenKind::Mark(PunctuationMark::OpenParenthesis) => {
                return self.parse_parenthesised_pattern();
            }
            TokenKind::Mark(PunctuationMark::OpenBrace) => {
                self.take_token();
                PatternKind::Record(
                    self.parse_list(PunctuationMark::CloseBrace, Self::parse_field_pattern)?,
                )
            }
            TokenKind::Minus => {
                self.take_token();
                if !matches!(self.peek_kind(), TokenKind::Integer | TokenKind::Float) {
                    return Err(self.fail_expected("a number"));
                }
                PatternKind::Literal {
                    is_negative: true,
                    literal: self.parse_literal()?,
                }
            }
            _ if self.is_at_parameter() => PatternKind::Literal {
                is_negative: false,
                literal: self.parse_literal()?,
            },
            _ => return Err(self.fail_expected("a pattern")),
        };
        Ok(self.add_pattern(start, kind))
    }

    /// Parses `(p)`, `(p, q)`, `()`, or the name of an operator in parentheses.
    fn parse_parenthesised_pattern(&mut self) -> ParseResult<PatternId> {
        let start = self.start_range();
        if let Some(name) = self.accept_operator_name()? {
            return Ok(self.add_pattern(start, PatternKind::Name(name)));
        }
        self.take_token();
        if self.accept_mark(PunctuationMark::CloseParenthesis) {
            return Ok(self.add_pattern(start, PatternKind::Tuple(Vec::new())));
        }
        let first = self.parse_pattern()?;
        if self.accept_mark(PunctuationMark::CloseParenthesis) {
            return Ok(self.add_pattern(start, PatternKind::Parentheses(first)));
        }
        self.expect_mark(PunctuationMark::Comma)?;
        let mut elements = vec![first];
        elements.extend(self.parse_some(PunctuationMark::CloseParenthesis, Self::parse_pattern)?);
        Ok(self.add_pattern(start, PatternKind::Tuple(elements)))
    }

    /// Passes `(op)` if it is next, and gives the operator as a name.
    pub(super) fn accept_operator_name(&mut self) -> ParseResult<Option<SourceName>> {
        if !self.is_at_mark(PunctuationMark::OpenParenthesis) || !self.is_operator_section(1) {
            return Ok(None);
        }
        self.take_token();
        let name = self.parse_binding_operator()?;
        self.expect_mark(PunctuationMark::CloseParenthesis)?;
        Ok(Some(name))
    }

    /// Parses a field of a record pattern.
    fn parse_field_pattern(&mut self) -> ParseResult<RecordFieldPattern> {
        let start = self.start_range();
        let name = self.parse_field_name()?;
        if self.accept_mark(PunctuationMark::Equals) {
            return Ok(RecordFieldPattern {
                name,
                pattern: self.parse_pattern()?,
                is_explicit: true,
            });
        }
        let mut pattern = self.add_pattern(start, PatternKind::Name(name));
        if self.accept_mark(PunctuationMark::Colon) {
            let ascribed = self.parse_type()?;
            pattern = self.add_pattern(start, PatternKind::Ascription { pattern, ascribed });
        }
        Ok(RecordFieldPattern {
            name,
            pattern,
            is_explicit: false,
        })
    }
}
