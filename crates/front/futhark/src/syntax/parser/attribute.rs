//! Parser of attributes.

use super::{ParseResult, SourceParser};
use crate::syntax::token::{PunctuationMark, TokenKind};
use crate::syntax::tree::SourceAttribute;

impl SourceParser<'_> {
    /// Parses `#[attribute]`.
    pub(super) fn parse_bracketed_attribute(&mut self) -> ParseResult<SourceAttribute> {
        self.expect_mark(PunctuationMark::AttributeStart)?;
        let attribute = self.parse_attribute()?;
        self.expect_mark(PunctuationMark::CloseBracket)?;
        Ok(attribute)
    }

    /// Parses `name`, `3` or `name(a, b)`.
    fn parse_attribute(&mut self) -> ParseResult<SourceAttribute> {
        self.parse_nested(|parser| {
            let token = parser.peek_token();
            if !matches!(token.kind, TokenKind::Name | TokenKind::Integer) {
                return Err(parser.fail_expected("an attribute"));
            }
            parser.take_token();
            let name = parser.intern_range(token.range);
            let has_arguments = token.kind == TokenKind::Name
                && parser.accept_mark(PunctuationMark::OpenParenthesis);
            let arguments = if has_arguments {
                Some(parser.parse_list(PunctuationMark::CloseParenthesis, Self::parse_attribute)?)
            } else {
                None
            };
            Ok(SourceAttribute { name, arguments })
        })
    }
}
