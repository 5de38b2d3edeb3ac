//! Parser of assertions and foreign calls.

use super::parse::TensorParser;
use crate::ir::{ForeignCall, MessagePiece, RunAssertion};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ForeignSignature;
use spirula_text::TextToken;

impl TensorParser {
    /// `effect "name" (%0, %1) by "signature"`.
    pub(super) fn parse_foreign(&mut self) -> Result<ForeignCall, SourceDiagnostic> {
        let has_effect = self.skip_word("effect");
        let target = self.parse_text()?;
        self.expect_mark("(")?;
        let operands = self.parse_values()?;
        self.expect_mark(")")?;
        self.expect_word("by")?;
        let place = self.place();
        let signature = ForeignSignature::from_text(&self.parse_text()?);
        let signature = signature.map_err(|error| SourceDiagnostic::error(place, error))?;
        if signature.target != target || signature.has_effect != has_effect {
            let message = "the signature is that of another call";
            return Err(SourceDiagnostic::error(place, message));
        }
        Ok(ForeignCall {
            signature,
            operands,
        })
    }

    /// A string.
    fn parse_text(&mut self) -> Result<String, SourceDiagnostic> {
        let TextToken::Text(text) = self.token().clone() else {
            return self.error("expected a string");
        };
        self.skip_token();
        Ok(text)
    }

    /// `%1 else "message", %2 from "origin"`.
    pub(super) fn parse_assertion(&mut self) -> Result<RunAssertion, SourceDiagnostic> {
        let condition = self.parse_value()?;
        self.expect_word("else")?;
        let is_piece =
            |parser: &Self| matches!(parser.token(), TextToken::Text(_) | TextToken::Value(_));
        // An operation may follow whose first token is a value.
        let is_result = |parser: &Self| matches!(parser.token_after(), TextToken::Mark(":"));
        let mut message = Vec::new();
        if is_piece(self) && !is_result(self) {
            message = self.parse_list(|parser| {
                if let TextToken::Text(text) = parser.token().clone() {
                    parser.skip_token();
                    return Ok(MessagePiece::Text(text));
                }
                Ok(MessagePiece::Value(parser.parse_value()?))
            })?;
        }
        let mut origin = String::new();
        if self.skip_word("from") {
            origin = self.parse_text()?;
        }
        Ok(RunAssertion {
            condition,
            message,
            origin,
        })
    }
}
