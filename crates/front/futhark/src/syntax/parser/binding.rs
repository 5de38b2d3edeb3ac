//! Parser of `let`.

use super::{ParseResult, SourceParser};
use crate::syntax::token::{PunctuationMark, ReservedWord, TokenKind};
use crate::syntax::tree::{
    AccessStep, ExpressionId, ExpressionKind, FunctionSignature, LetBinding, LetKind, SourceName,
    TypeExpressionId,
};

impl SourceParser<'_> {
    /// Parses a chain of `let` with its body.
    pub(super) fn parse_let(&mut self) -> ParseResult<ExpressionId> {
        let start = self.start_range();
        let mut bindings = Vec::new();
        while self.is_at_keyword(ReservedWord::Let) {
            bindings.push(self.parse_let_binding()?);
        }
        if !self.accept_keyword(ReservedWord::In) {
            let fault = self.fail_expected("`in`");
            return Err(
                fault.with_hint("the last `let` of a chain needs `in` and a result after it")
            );
        }
        let body = self.parse_expression()?;
        Ok(self.add_expression(start, ExpressionKind::Let { bindings, body }))
    }

    /// Parses one `let` up to the end of its value.
    fn parse_let_binding(&mut self) -> ParseResult<LetBinding> {
        let start = self.start_range();
        self.expect_keyword(ReservedWord::Let)?;
        let kind = self.parse_let_head()?;
        self.expect_mark(PunctuationMark::Equals)?;
        let value = self.parse_expression()?;
        let range = self.range_since(start);
        Ok(LetBinding { range, kind, value })
    }

    /// Parses what stands between `let` and `=`.
    fn parse_let_head(&mut self) -> ParseResult<LetKind> {
        let sizes = self.parse_size_binders()?;
        if sizes.is_empty() && self.peek_kind() == TokenKind::Name {
            match self.peek_ahead(1).kind {
                TokenKind::Mark(PunctuationMark::Equals | PunctuationMark::Colon) => {}
                TokenKind::Mark(PunctuationMark::Dot) => return self.parse_let_update(),
                TokenKind::Mark(PunctuationMark::OpenBracket) if self.is_index_behind_name() => {
                    return self.parse_let_update();
                }
                _ => {
                    let name = self.parse_name()?;
                    let signature = self.parse_signature()?;
                    return Ok(LetKind::Function { name, signature });
                }
            }
        }
        let pattern = self.parse_pattern()?;
        Ok(LetKind::Pattern { sizes, pattern })
    }

    /// Parses `[n][m]` in front of a pattern.
    fn parse_size_binders(&mut self) -> ParseResult<Vec<SourceName>> {
        let mut sizes = Vec::new();
        while self.accept_mark(PunctuationMark::OpenBracket) {
            sizes.push(self.parse_name()?);
            self.expect_mark(PunctuationMark::CloseBracket)?;
        }
        Ok(sizes)
    }

    /// Whether the next token is a name with an index right after it.
    fn is_index_behind_name(&self) -> bool {
        self.peek_token().range.end == self.peek_ahead(1).range.start
    }

    /// Parses `a[i].f` up to the equals sign.
    fn parse_let_update(&mut self) -> ParseResult<LetKind> {
        let name = self.parse_name()?;
        let mut steps = Vec::new();
        loop {
            if self.accept_mark(PunctuationMark::OpenBracket) {
                let indices = self.parse_indices()?;
                steps.push(AccessStep::Indices(indices));
            } else if self.accept_mark(PunctuationMark::Dot) {
                steps.push(AccessStep::Field(self.parse_field_name()?));
            } else {
                return Ok(LetKind::Update { name, steps });
            }
        }
    }

    /// Parses the parameters of a function and the type of its result, up to the equals sign.
    pub(super) fn parse_signature(&mut self) -> ParseResult<FunctionSignature> {
        let type_parameters = self.parse_type_parameters()?;
        let mut parameters = Vec::new();
        while self.is_at_parameter() {
            parameters.push(self.parse_inner_pattern()?);
        }
        let result = self.parse_ascribed_type()?;
        Ok(FunctionSignature {
            type_parameters,
            parameters,
            result,
        })
    }

    /// Parses `: t` if it is there.
    pub(super) fn parse_ascribed_type(&mut self) -> ParseResult<Option<TypeExpressionId>> {
        if !self.accept_mark(PunctuationMark::Colon) {
            return Ok(None);
        }
        self.parse_type().map(Some)
    }
}
