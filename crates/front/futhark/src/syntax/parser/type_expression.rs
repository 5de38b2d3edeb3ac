//! Parser of type expressions.

use super::{ParseResult, SourceParser};
use crate::syntax::token::{PunctuationMark, TextRange, TokenKind};
use crate::syntax::tree::{
    SourceName, TypeArgument, TypeExpressionId, TypeKind, TypeLiftedness, TypeNode, TypeParameter,
    TypeParameterKind,
};

impl SourceParser<'_> {
    /// Adds a type expression that starts at `start` and ends with the last token.
    fn add_type(&mut self, start: TextRange, kind: TypeKind) -> TypeExpressionId {
        let range = self.range_since(start);
        self.tree.types.push(TypeNode { range, kind })
    }

    /// Parses a type expression.
    pub(super) fn parse_type(&mut self) -> ParseResult<TypeExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            if parser.accept_mark(PunctuationMark::QuestionMark) {
                return parser.parse_existential_type(start);
            }
            let name = parser.accept_parameter_name()?;
            let parameter = if name.is_some() {
                let parameter = parser.parse_type()?;
                parser.expect_mark(PunctuationMark::CloseParenthesis)?;
                if !parser.is_at_mark(PunctuationMark::Arrow) {
                    return Err(parser.fail_expected("`->`"));
                }
                parameter
            } else {
                parser.parse_type_term()?
            };
            if !parser.accept_mark(PunctuationMark::Arrow) {
                return Ok(parameter);
            }
            let result = parser.parse_type()?;
            let kind = TypeKind::Function {
                name,
                parameter,
                result,
            };
            Ok(parser.add_type(start, kind))
        })
    }

    /// Passes `(name:` if it is next: the start of a parameter with a name.
    fn accept_parameter_name(&mut self) -> ParseResult<Option<SourceName>> {
        let is_next = self.is_at_mark(PunctuationMark::OpenParenthesis)
            && self.peek_ahead(1).kind == TokenKind::Name
            && self.peek_ahead(2).kind == TokenKind::Mark(PunctuationMark::Colon);
        if !is_next {
            return Ok(None);
        }
        self.take_token();
        let name = self.parse_name()?;
        self.take_token();
        Ok(Some(name))
    }

    /// Parses the rest of `?[n][m].t`.
    fn parse_existential_type(&mut self, start: TextRange) -> ParseResult<TypeExpressionId> {
        let mut sizes = Vec::new();
        while self.accept_mark(PunctuationMark::OpenBracket) {
            sizes.push(self.parse_name()?);
            self.expect_mark(PunctuationMark::CloseBracket)?;
        }
        if sizes.is_empty() {
            return Err(self.fail_expected("`[`"));
        }
        self.expect_mark(PunctuationMark::Dot)?;
        let body = self.parse_type()?;
        Ok(self.add_type(start, TypeKind::Existential { sizes, body }))
    }

    /// Parses a type that is no function: a unique type, a sum, or an application.
    pub(super) fn parse_type_term(&mut self) -> ParseResult<TypeExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            if parser.accept_operator("*") {
                let body = parser.parse_type_term()?;
                return Ok(parser.add_type(start, TypeKind::Unique(body)));
            }
            if parser.peek_kind() == TokenKind::Constructor {
                return parser.parse_sum_type();
            }
            let mut parsed = parser.parse_type_atom()?;
            while parser.is_at_type_atom() {
                let argument = if parser.is_at_mark(PunctuationMark::OpenBracket) {
                    let (size, range) = parser.parse_size()?;
                    TypeArgument::Size(size, range)
                } else {
                    TypeArgument::Type(parser.parse_type_atom()?)
                };
                let kind = TypeKind::Application {
                    constructor: parsed,
                    argument,
                };
                parsed = parser.add_type(start, kind);
            }
            Ok(parsed)
        })
    }

    /// Passes an operator if it is the next token.
    pub(super) fn accept_operator(&mut self, spelling: &str) -> bool {
        let token = self.peek_token();
        let accepted = token.kind == TokenKind::Operator && self.text_of(token.range) == spelling;
        self.at += usize::from(accepted);
        accepted
    }

    /// Parses `#a t | #b`.
    fn parse_sum_type(&mut self) -> ParseResult<TypeExpressionId> {
        let start = self.start_range();
        let mut clauses = Vec::new();
        loop {
            if self.peek_kind() != TokenKind::Constructor {
                return Err(self.fail_expected("a constructor"));
            }
            let name = self.parse_constructor_name();
            let mut payload = Vec::new();
            while self.is_at_type_atom() {
                payload.push(self.parse_type_atom()?);
            }
            clauses.push((name, payload));
            if !self.accept_operator("|") {
                return Ok(self.add_type(start, TypeKind::Sum(clauses)));
            }
        }
    }

    /// Whether the next token begins a type atom.
    fn is_at_type_atom(&self) -> bool {
        match self.peek_kind() {
            TokenKind::Name => true,
            TokenKind::Mark(mark) => matches!(
                mark,
                PunctuationMark::OpenParenthesis
                    | PunctuationMark::OpenBrace
                    | PunctuationMark::OpenBracket
            ),
            _ => false,
        }
    }

    /// Parses a name, an array, a record, a tuple, or a type in parentheses.
    fn parse_type_atom(&mut self) -> ParseResult<TypeExpressionId> {
        let start = self.start_range();
        let kind = match self.peek_kind() {
            TokenKind::Name => TypeKind::Name(self.parse_qualified_name()?),
            TokenKind::Mark(PunctuationMark::OpenBracket) => {
                let (size, _) = self.parse_size()?;
                let element = self.parse_type_term()?;
                TypeKind::Array { size, element }
            }
            TokenKind::Mark(PunctuationMark::OpenBrace) => {
                self.take_token();
                TypeKind::Record(self.parse_list(PunctuationMark::CloseBrace, |parser| {
                    let name = parser.parse_field_name()?;
                    parser.expect_mark(PunctuationMark::Colon)?;
                    Ok((name, parser.parse_type()?))
                })?)
            }
            TokenKind::Mark(PunctuationMark::OpenParenthesis) => {
                self.take_token();
                if self.accept_mark(PunctuationMark::CloseParenthesis) {
                    return Ok(self.add_type(start, TypeKind::Tuple(Vec::new())));
                }
                let first = self.parse_type()?;
                if self.accept_mark(PunctuationMark::CloseParenthesis) {
                    return Ok(self.add_type(start, TypeKind::Parentheses(first)));
                }
                self.expect_mark(PunctuationMark::Comma)?;
                let mut elements = vec![first];
                elements
                    .extend(self.parse_some(PunctuationMark::CloseParenthesis, Self::parse_type)?);
                TypeKind::Tuple(elements)
            }
            _ => return Err(self.fail_expected("a type")),
        };
        Ok(self.add_type(start, kind))
    }

    /// Parses `[e]` or `[]`.
    fn parse_size(
        &mut self,
    ) -> ParseResult<(Option<crate::syntax::tree::ExpressionId>, TextRange)> {
        let start = self.start_range();
        self.expect_mark(PunctuationMark::OpenBracket)?;
        if self.accept_mark(PunctuationMark::CloseBracket) {
            return Ok((None, self.range_since(start)));
        }
        let size = self.parse_expression()?;
        self.expect_mark(PunctuationMark::CloseBracket)?;
        Ok((Some(size), self.range_since(start)))
    }

    /// Parses size and type parameters: `[n] 'a '~b '^c`, or none.
    pub(super) fn parse_type_parameters(&mut self) -> ParseResult<Vec<TypeParameter>> {
        let mut parameters = Vec::new();
        loop {
            let kind = match self.peek_kind() {
                TokenKind::Mark(PunctuationMark::OpenBracket) => TypeParameterKind::Size,
                TokenKind::Mark(PunctuationMark::Quote) => {
                    TypeParameterKind::Type(TypeLiftedness::Unlifted)
                }
                TokenKind::Mark(PunctuationMark::SizeLiftedQuote) => {
                    TypeParameterKind::Type(TypeLiftedness::SizeLifted)
                }
                TokenKind::Mark(PunctuationMark::LiftedQuote) => {
                    TypeParameterKind::Type(TypeLiftedness::FullyLifted)
                }
                _ => return Ok(parameters),
            };
            self.take_token();
            let name = self.parse_name()?;
            if kind == TypeParameterKind::Size {
                self.expect_mark(PunctuationMark::CloseBracket)?;
            }
            parameters.push(TypeParameter { name, kind });
        }
    }

    /// Parses the mark of a lifted type after `type`, or none.
    pub(super) fn parse_liftedness(&mut self) -> TypeLiftedness {
        if self.accept_mark(PunctuationMark::Tilde) {
            TypeLiftedness::SizeLifted
        } else if self.accept_operator("^") {
            TypeLiftedness::FullyLifted
        } else {
            TypeLiftedness::Unlifted
        }
    }
}
