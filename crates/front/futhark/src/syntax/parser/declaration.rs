//! Parser of declarations.

use super::{ParseResult, SourceParser, fail_at};
use crate::syntax::token::{PunctuationMark, ReservedWord, TextRange, TokenKind};
use crate::syntax::tree::{
    DeclarationKind, FunctionSignature, SourceDeclaration, SourceName, TypeDeclaration,
    ValueDeclaration, ValueKeyword,
};
use spirula_diagnostics::SourceDiagnostic;

impl SourceParser<'_> {
    /// Parses all declarations of the file. Returns the faults.
    pub(super) fn parse_program(&mut self) -> Vec<SourceDiagnostic> {
        let mut faults = Vec::new();
        self.tree.documentation = self.take_file_documentation();
        while self.peek_kind() != TokenKind::End {
            let start = self.at;
            match self.parse_declaration() {
                Ok(declaration) => self.tree.declarations.push(declaration),
                Err(fault) => {
                    faults.push(fault);
                    self.depth = 0;
                    self.skip_to_declaration(start);
                }
            }
        }
        faults
    }

    /// The documentation of the file: the first of several comments in front of the first declaration.
    fn take_file_documentation(&mut self) -> Option<TextRange> {
        let leading = self.documentation.iter().filter(|(at, _)| *at == 0).count();
        if leading < 2 {
            return None;
        }
        Some(self.documentation.remove(0).1)
    }

    /// The documentation in front of the next token.
    pub(super) fn take_documentation(&mut self) -> Option<TextRange> {
        let place = self
            .documentation
            .binary_search_by_key(&self.at, |(at, _)| *at)
            .ok()?;
        Some(self.documentation[place].1)
    }

    /// Goes on to the next token that begins a line and a declaration, at least one token after `start`.
    fn skip_to_declaration(&mut self, start: usize) {
        self.at = self.at.max(start + 1);
        while self.peek_kind() != TokenKind::End && !self.is_at_declaration_line() {
            self.at += 1;
        }
    }

    /// Whether the next token stands at the beginning of its line and begins a declaration.
    fn is_at_declaration_line(&self) -> bool {
        let token = self.peek_token();
        let before = self.text.as_bytes()[..token.range.start as usize].last();
        let begins = matches!(
            token.kind,
            TokenKind::Keyword(
                ReservedWord::Def
                    | ReservedWord::Let
                    | ReservedWord::Entry
                    | ReservedWord::Type
                    | ReservedWord::Module
                    | ReservedWord::Open
                    | ReservedWord::Import
                    | ReservedWord::Local
            ) | TokenKind::Mark(PunctuationMark::AttributeStart)
        );
        begins && before.is_none_or(|&byte| byte == b'\n')
    }

    /// Parses a declaration with its documentation and attributes.
    pub(super) fn parse_declaration(&mut self) -> ParseResult<SourceDeclaration> {
        self.parse_nested(|parser| {
            let documentation = parser.take_documentation();
            let mut attributes = Vec::new();
            while parser.is_at_mark(PunctuationMark::AttributeStart) {
                attributes.push(parser.parse_bracketed_attribute()?);
            }
            let start = parser.start_range();
            let kind = parser.parse_declaration_kind()?;
            Ok(SourceDeclaration {
                range: parser.range_since(start),
                documentation,
                attributes,
                kind,
            })
        })
    }

    /// Parses a declaration without documentation and attributes.
    fn parse_declaration_kind(&mut self) -> ParseResult<DeclarationKind> {
        let TokenKind::Keyword(word) = self.peek_kind() else {
            return Err(self.fail_expected("a declaration"));
        };
        match word {
            ReservedWord::Def => self.parse_value_declaration(ValueKeyword::Def),
            ReservedWord::Let => self.parse_value_declaration(ValueKeyword::Let),
            ReservedWord::Entry => self.parse_value_declaration(ValueKeyword::Entry),
            ReservedWord::Type => Ok(DeclarationKind::Type(self.parse_type_declaration()?)),
            ReservedWord::Module => self.parse_module_declaration(),
            ReservedWord::Open => {
                self.take_token();
                Ok(DeclarationKind::Open(self.parse_module()?))
            }
            ReservedWord::Import => {
                self.take_token();
                Ok(DeclarationKind::Import(self.parse_file_name()?))
            }
            ReservedWord::Local => {
                self.take_token();
                Ok(DeclarationKind::Local(Box::new(self.parse_declaration()?)))
            }
            _ => Err(self.fail_expected("a declaration")),
        }
    }

    /// Parses the path of an import, without its quotes.
    pub(super) fn parse_file_name(&mut self) -> ParseResult<SourceName> {
        if self.peek_kind() != TokenKind::String {
            return Err(self.fail_expected("the name of a file in quotes"));
        }
        let range = self.take_token().range;
        let path = TextRange {
            start: range.start + 1,
            end: range.end - 1,
        };
        let name = SourceName {
            range,
            ..self.intern_range(path)
        };
        self.tree.imports.push(name);
        Ok(name)
    }

    /// Parses a function, an operator or a constant.
    fn parse_value_declaration(&mut self, keyword: ValueKeyword) -> ParseResult<DeclarationKind> {
        self.take_token();
        let (name, infix_signature) = self.parse_value_name()?;
        let is_infix = infix_signature.is_some();
        let signature = match infix_signature {
            Some(signature) => signature,
            None => self.parse_signature()?,
        };
        self.expect_mark(PunctuationMark::Equals)?;
        let body = self.parse_expression()?;
        Ok(DeclarationKind::Value(ValueDeclaration {
            keyword,
            name,
            is_infix,
            signature,
            body,
        }))
    }

    /// Parses the name of a value. Of an operator between its two parameters also the signature.
    fn parse_value_name(&mut self) -> ParseResult<(SourceName, Option<FunctionSignature>)> {
        if let Some(name) = self.accept_operator_name()? {
            return Ok((name, None));
        }
        let is_operator_next = matches!(
            self.peek_ahead(1).kind,
            TokenKind::Operator | TokenKind::Minus | TokenKind::Mark(PunctuationMark::Backtick)
        );
        if self.peek_kind() == TokenKind::Name && !is_operator_next {
            return Ok((self.parse_name()?, None));
        }
        let start = self.start_range();
        let left = self.parse_inner_pattern()?;
        if self.is_at_mark(PunctuationMark::Equals) {
            let range = self.range_since(start);
            let fault = fail_at(range, "a declaration binds a name, not a pattern");
            return Err(fault.with_hint("bind a single name, and take it apart where it is used"));
        }
        if self.peek_kind() == TokenKind::Bang {
            return Err(fail_at(
                self.start_range(),
                "`!` is a prefix operator and cannot be defined",
            ));
        }
        let name = self.parse_binding_operator()?;
        let right = self.parse_inner_pattern()?;
        let signature = FunctionSignature {
            type_parameters: Vec::new(),
            parameters: vec![left, right],
            result: self.parse_ascribed_type()?,
        };
        Ok((name, Some(signature)))
    }

    /// Parses a type abbreviation, or an abstract type of a module type.
    pub(super) fn parse_type_declaration(&mut self) -> ParseResult<TypeDeclaration> {
        self.expect_keyword(ReservedWord::Type)?;
        let liftedness = self.parse_liftedness();
        let name = self.parse_name()?;
        let parameters = self.parse_type_parameters()?;
        let definition = if self.accept_mark(PunctuationMark::Equals) {
            Some(self.parse_type()?)
        } else {
            None
        };
        Ok(TypeDeclaration {
            name,
            liftedness,
            parameters,
            definition,
        })
    }

    /// Parses a module or a module type.
    fn parse_module_declaration(&mut self) -> ParseResult<DeclarationKind> {
        self.take_token();
        if self.accept_keyword(ReservedWord::Type) {
            let name = self.parse_name()?;
            self.expect_mark(PunctuationMark::Equals)?;
            let definition = self.parse_module_type()?;
            return Ok(DeclarationKind::ModuleType { name, definition });
        }
        let name = self.parse_name()?;
        let mut parameters = Vec::new();
        while self.is_at_mark(PunctuationMark::OpenParenthesis) {
            parameters.push(self.parse_module_parameter()?);
        }
        let ascribed = if self.accept_mark(PunctuationMark::Colon) {
            Some(self.parse_module_type()?)
        } else {
            None
        };
        self.expect_mark(PunctuationMark::Equals)?;
        let definition = self.parse_module()?;
        Ok(DeclarationKind::Module {
            name,
            parameters,
            ascribed,
            definition,
        })
    }
}
