//! Parser of expressions, but for infix operators, sections and bindings.

use super::{ParseResult, SourceParser, fail_at};
use crate::syntax::literal::{read_character, read_number, read_string};
use crate::syntax::token::{PunctuationMark, ReservedWord, TextRange, TokenKind};
use crate::syntax::tree::{
    ExpressionId, ExpressionKind, ExpressionNode, FunctionSignature, LoopForm, MatchCase,
    QualifiedName, RecordField, SliceIndex, SourceFunction, SourceLiteral, SourceLoop,
};

impl SourceParser<'_> {
    /// Adds an expression that starts at `start` and ends with the last token.
    pub(super) fn add_expression(
        &mut self,
        start: TextRange,
        kind: ExpressionKind,
    ) -> ExpressionId {
        let range = self.range_since(start);
        self.tree.expressions.push(ExpressionNode { range, kind })
    }

    /// Parses an expression with the types that are ascribed to it.
    pub(super) fn parse_expression(&mut self) -> ParseResult<ExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            let mut value = parser.parse_plain_expression()?;
            loop {
                let kind = if parser.accept_mark(PunctuationMark::Colon) {
                    let ascribed = parser.parse_type()?;
                    ExpressionKind::Ascription { value, ascribed }
                } else if parser.accept_mark(PunctuationMark::Coercion) {
                    let coerced = parser.parse_type()?;
                    ExpressionKind::Coercion { value, coerced }
                } else {
                    return Ok(value);
                };
                value = parser.add_expression(start, kind);
            }
        })
    }

    /// Parses what a prefix operator, an infix operator or a range may have as operand.
    pub(super) fn parse_prefix_expression(&mut self) -> ParseResult<ExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            let kind = match parser.peek_kind() {
                TokenKind::Minus => {
                    parser.take_token();
                    ExpressionKind::Negation(parser.parse_prefix_expression()?)
                }
                TokenKind::Bang => {
                    parser.take_token();
                    ExpressionKind::Complement(parser.parse_prefix_expression()?)
                }
                TokenKind::Mark(PunctuationMark::AttributeStart) => {
                    let attribute = parser.parse_bracketed_attribute()?;
                    let body = parser.parse_expression()?;
                    ExpressionKind::Attributed { attribute, body }
                }
                TokenKind::Keyword(ReservedWord::If) => return parser.parse_if(),
                TokenKind::Keyword(ReservedWord::Let) => return parser.parse_let(),
                TokenKind::Keyword(ReservedWord::Loop) => return parser.parse_loop(),
                TokenKind::Keyword(ReservedWord::Match) => return parser.parse_match(),
                TokenKind::Keyword(ReservedWord::Assert) => {
                    parser.take_token();
                    let condition = parser.parse_atom()?;
                    let body = parser.parse_expression()?;
                    ExpressionKind::Assert { condition, body }
                }
                _ => return parser.parse_application(),
            };
            Ok(parser.add_expression(start, kind))
        })
    }

    /// Parses a function with its arguments, of which the last may be a function without a name.
    fn parse_application(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        if self.is_at_mark(PunctuationMark::Backslash) {
            return self.parse_lambda();
        }
        let function = self.parse_atom()?;
        let mut arguments = Vec::new();
        while self.is_at_atom() {
            arguments.push(self.parse_atom()?);
        }
        if self.is_at_mark(PunctuationMark::Backslash) {
            arguments.push(self.parse_lambda()?);
        }
        if arguments.is_empty() {
            return Ok(function);
        }
        let kind = match &self.tree.expressions[function].kind {
            ExpressionKind::Constructor { name, payload } if payload.is_empty() => {
                ExpressionKind::Constructor {
                    name: *name,
                    payload: arguments,
                }
            }
            _ => ExpressionKind::Application {
                function,
                arguments,
            },
        };
        Ok(self.add_expression(start, kind))
    }

    /// Parses `\p q: t -> e`.
    fn parse_lambda(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        self.expect_mark(PunctuationMark::Backslash)?;
        let mut parameters = vec![self.parse_inner_pattern()?];
        while self.is_at_parameter() {
            parameters.push(self.parse_inner_pattern()?);
        }
        let result = if self.accept_mark(PunctuationMark::Colon) {
            Some(self.parse_type_term()?)
        } else {
            None
        };
        self.expect_mark(PunctuationMark::Arrow)?;
        let body = self.parse_expression()?;
        let signature = FunctionSignature {
            type_parameters: Vec::new(),
            parameters,
            result,
        };
        Ok(self.add_expression(
            start,
            ExpressionKind::Lambda(SourceFunction { signature, body }),
        ))
    }

    /// Whether the next token begins an atom.
    pub(super) fn is_at_atom(&self) -> bool {
        match self.peek_kind() {
            TokenKind::Name | TokenKind::Constructor | TokenKind::String => true,
            TokenKind::Integer | TokenKind::Float | TokenKind::Character => true,
            TokenKind::Keyword(word) => matches!(word, ReservedWord::True | ReservedWord::False),
            TokenKind::Mark(mark) => matches!(
                mark,
                PunctuationMark::OpenParenthesis
                    | PunctuationMark::OpenBrace
                    | PunctuationMark::OpenBracket
                    | PunctuationMark::Hole
            ),
            _ => false,
        }
    }

    /// Parses an atom with the fields and indices after it.
    pub(super) fn parse_atom(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        let mut atom = self.parse_plain_atom()?;
        loop {
            let kind = if self.is_at_index() {
                self.take_token();
                ExpressionKind::Index {
                    array: atom,
                    indices: self.parse_indices()?,
                }
            } else if self.accept_mark(PunctuationMark::Dot) {
                if self.is_at_mark(PunctuationMark::OpenParenthesis) {
                    self.parse_local_open(atom)?
                } else {
                    ExpressionKind::Projection {
                        record: atom,
                        field: self.parse_field_name()?,
                    }
                }
            } else {
                return Ok(atom);
            };
            atom = self.add_expression(start, kind);
        }
    }

    /// Parses the parentheses of `m.(e)`, where `m` was parsed as an expression.
    fn parse_local_open(&mut self, module: ExpressionId) -> ParseResult<ExpressionKind> {
        let ExpressionKind::Name(module) = &self.tree.expressions[module].kind else {
            let range = self.start_range();
            return Err(fail_at(
                range,
                "only a module can be opened here, not the value of an expression",
            ));
        };
        let module: QualifiedName = module.clone();
        self.expect_mark(PunctuationMark::OpenParenthesis)?;
        let body = self.parse_expression()?;
        self.expect_mark(PunctuationMark::CloseParenthesis)?;
        Ok(ExpressionKind::LocalOpen { module, body })
    }

    /// Parses an atom without what may follow it.
    fn parse_plain_atom(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        let kind = match self.peek_kind() {
            TokenKind::Name => ExpressionKind::Name(self.parse_qualified_name()?),
            TokenKind::Constructor => ExpressionKind::Constructor {
                name: self.parse_constructor_name(),
                payload: Vec::new(),
            },
            TokenKind::Mark(PunctuationMark::Hole) => {
                self.take_token();
                ExpressionKind::Hole
            }
            TokenKind::Mark(PunctuationMark::OpenParenthesis) => return self.parse_parentheses(),
            TokenKind::Mark(PunctuationMark::OpenBracket) => {
                self.take_token();
                ExpressionKind::Array(
                    self.parse_list(PunctuationMark::CloseBracket, Self::parse_expression)?,
                )
            }
            TokenKind::Mark(PunctuationMark::OpenBrace) => {
                self.take_token();
                ExpressionKind::Record(
                    self.parse_list(PunctuationMark::CloseBrace, Self::parse_record_field)?,
                )
            }
            _ if self.is_at_atom() => ExpressionKind::Literal(self.parse_literal()?),
            _ => return Err(self.fail_expected("an expression")),
        };
        Ok(self.add_expression(start, kind))
    }

    /// Parses a field of a record.
    fn parse_record_field(&mut self) -> ParseResult<RecordField> {
        let name = self.parse_field_name()?;
        let value = if self.accept_mark(PunctuationMark::Equals) {
            Some(self.parse_expression()?)
        } else {
            None
        };
        Ok(RecordField { name, value })
    }

    /// Parses a number, a truth value, a character or a string.
    pub(super) fn parse_literal(&mut self) -> ParseResult<SourceLiteral> {
        let token = self.take_token();
        let text = self.text_of(token.range);
        let no_character = || {
            fail_at(
                token.range,
                "the literal has an escape that stands for no character",
            )
        };
        match token.kind {
            TokenKind::Keyword(ReservedWord::True) => Ok(SourceLiteral::Truth(true)),
            TokenKind::Keyword(ReservedWord::False) => Ok(SourceLiteral::Truth(false)),
            TokenKind::Character => read_character(text)
                .map(SourceLiteral::Character)
                .ok_or_else(no_character),
            TokenKind::String => read_string(text)
                .map(SourceLiteral::String)
                .ok_or_else(no_character),
            _ => read_number(text, token.kind == TokenKind::Float)
                .map_err(|message| fail_at(token.range, message)),
        }
    }

    /// Parses at least one index or slice, to the closing bracket, which is passed.
    pub(super) fn parse_indices(&mut self) -> ParseResult<Vec<SliceIndex>> {
        self.parse_some(PunctuationMark::CloseBracket, Self::parse_slice_index)
    }

    /// Parses an index or a slice.
    fn parse_slice_index(&mut self) -> ParseResult<SliceIndex> {
        let start = self.parse_slice_part()?;
        if !self.accept_mark(PunctuationMark::Colon) {
            return match start {
                Some(index) => Ok(SliceIndex::Point(index)),
                None => Err(self.fail_expected("an index")),
            };
        }
        let end = self.parse_slice_part()?;
        let has_second_colon = self.accept_mark(PunctuationMark::Colon);
        let step = if has_second_colon {
            self.parse_slice_part()?
        } else {
            None
        };
        Ok(SliceIndex::Slice {
            start,
            end,
            step,
            has_second_colon,
        })
    }

    /// Parses a part of a slice if there is one.
    fn parse_slice_part(&mut self) -> ParseResult<Option<ExpressionId>> {
        let is_absent = matches!(
            self.peek_kind(),
            TokenKind::Mark(
                PunctuationMark::Colon | PunctuationMark::Comma | PunctuationMark::CloseBracket
            )
        );
        if is_absent {
            return Ok(None);
        }
        self.parse_plain_expression().map(Some)
    }

    /// Parses `if c then a else b`.
    fn parse_if(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        self.expect_keyword(ReservedWord::If)?;
        let condition = self.parse_expression()?;
        self.expect_keyword(ReservedWord::Then)?;
        let accept = self.parse_expression()?;
        self.expect_keyword(ReservedWord::Else)?;
        let reject = self.parse_expression()?;
        let kind = ExpressionKind::If {
            condition,
            accept,
            reject,
        };
        Ok(self.add_expression(start, kind))
    }

    /// Parses `loop p = e for i < n do b`.
    fn parse_loop(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        self.expect_keyword(ReservedWord::Loop)?;
        let pattern = self.parse_pattern()?;
        let initial = if self.accept_mark(PunctuationMark::Equals) {
            Some(self.parse_expression()?)
        } else {
            None
        };
        let form = self.parse_loop_form()?;
        self.expect_keyword(ReservedWord::Do)?;
        let body = self.parse_expression()?;
        let kind = ExpressionKind::Loop(Box::new(SourceLoop {
            pattern,
            initial,
            form,
            body,
        }));
        Ok(self.add_expression(start, kind))
    }

    /// Parses `for i < n`, `for p in xs` or `while c`.
    fn parse_loop_form(&mut self) -> ParseResult<LoopForm> {
        if self.accept_keyword(ReservedWord::While) {
            return Ok(LoopForm::While(self.parse_expression()?));
        }
        if !self.accept_keyword(ReservedWord::For) {
            return Err(self.fail_expected("`for` or `while`"));
        }
        let bound = self.peek_ahead(1);
        let is_count = self.peek_kind() == TokenKind::Name
            && bound.kind == TokenKind::Operator
            && self.text_of(bound.range) == "<";
        if is_count {
            let name = self.parse_name()?;
            self.take_token();
            return Ok(LoopForm::Count(name, self.parse_expression()?));
        }
        let pattern = self.parse_pattern()?;
        self.expect_keyword(ReservedWord::In)?;
        Ok(LoopForm::Elements(pattern, self.parse_expression()?))
    }

    /// Parses `match e case p -> a`.
    fn parse_match(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        self.expect_keyword(ReservedWord::Match)?;
        let subject = self.parse_expression()?;
        let mut cases = Vec::new();
        while self.is_at_keyword(ReservedWord::Case) {
            let start = self.start_range();
            self.take_token();
            let pattern = self.parse_pattern()?;
            self.expect_mark(PunctuationMark::Arrow)?;
            let body = self.parse_expression()?;
            let range = self.range_since(start);
            cases.push(MatchCase {
                range,
                pattern,
                body,
            });
        }
        if cases.is_empty() {
            return Err(self.fail_expected("`case`"));
        }
        Ok(self.add_expression(start, ExpressionKind::Match { subject, cases }))
    }
}
