//! Parser of module expressions and module types.

use super::{ParseResult, SourceParser};
use crate::syntax::token::{PunctuationMark, ReservedWord, TextRange, TokenKind};
use crate::syntax::tree::{
    ModuleExpressionId, ModuleKind, ModuleNode, ModuleParameter, ModuleSpecification, ModuleTypeId,
    ModuleTypeKind, ModuleTypeNode, SourceDeclaration, SpecificationKind,
};

impl SourceParser<'_> {
    /// Adds a module expression that starts at `start` and ends with the last token.
    fn add_module(&mut self, start: TextRange, kind: ModuleKind) -> ModuleExpressionId {
        let range = self.range_since(start);
        self.tree.modules.push(ModuleNode { range, kind })
    }

    /// Adds a module type that starts at `start` and ends with the last token.
    fn add_module_type(&mut self, start: TextRange, kind: ModuleTypeKind) -> ModuleTypeId {
        let range = self.range_since(start);
        self.tree.module_types.push(ModuleTypeNode { range, kind })
    }

    /// Parses a module expression.
    pub(super) fn parse_module(&mut self) -> ParseResult<ModuleExpressionId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            let mut module = parser.parse_module_operand()?;
            while parser.accept_mark(PunctuationMark::Colon) {
                let ascribed = parser.parse_module_type()?;
                module = parser.add_module(start, ModuleKind::Ascription(module, ascribed));
            }
            Ok(module)
        })
    }

    /// Parses a module expression without ascribed module types.
    fn parse_module_operand(&mut self) -> ParseResult<ModuleExpressionId> {
        let start = self.start_range();
        if self.accept_mark(PunctuationMark::Backslash) {
            let parameter = self.parse_module_parameter()?;
            let ascribed = if self.accept_mark(PunctuationMark::Colon) {
                Some(self.parse_module_type_atom()?)
            } else {
                None
            };
            self.expect_mark(PunctuationMark::Arrow)?;
            let body = self.parse_module()?;
            let kind = ModuleKind::Lambda {
                parameter,
                ascribed,
                body,
            };
            return Ok(self.add_module(start, kind));
        }
        if self.accept_keyword(ReservedWord::Import) {
            let file = self.parse_file_name()?;
            return Ok(self.add_module(start, ModuleKind::Import(file)));
        }
        let mut module = self.parse_module_atom()?;
        while self.is_at_module_atom() {
            let argument = self.parse_module_atom()?;
            module = self.add_module(start, ModuleKind::Application(module, argument));
        }
        Ok(module)
    }

    /// Whether the next token begins a module atom.
    fn is_at_module_atom(&self) -> bool {
        matches!(
            self.peek_kind(),
            TokenKind::Name
                | TokenKind::Mark(PunctuationMark::OpenParenthesis | PunctuationMark::OpenBrace)
        )
    }

    /// Parses a name, a module in parentheses, or declarations in braces.
    fn parse_module_atom(&mut self) -> ParseResult<ModuleExpressionId> {
        let start = self.start_range();
        let kind = match self.peek_kind() {
            TokenKind::Name => ModuleKind::Name(self.parse_qualified_name()?),
            TokenKind::Mark(PunctuationMark::OpenParenthesis) => {
                self.take_token();
                let module = self.parse_module()?;
                self.expect_mark(PunctuationMark::CloseParenthesis)?;
                ModuleKind::Parentheses(module)
            }
            TokenKind::Mark(PunctuationMark::OpenBrace) => {
                self.take_token();
                let mut declarations: Vec<SourceDeclaration> = Vec::new();
                while !self.accept_mark(PunctuationMark::CloseBrace) {
                    declarations.push(self.parse_declaration()?);
                }
                ModuleKind::Declarations(declarations)
            }
            _ => return Err(self.fail_expected("a module")),
        };
        Ok(self.add_module(start, kind))
    }

    /// Parses `(p: s)`.
    pub(super) fn parse_module_parameter(&mut self) -> ParseResult<ModuleParameter> {
        self.expect_mark(PunctuationMark::OpenParenthesis)?;
        let name = self.parse_name()?;
        self.expect_mark(PunctuationMark::Colon)?;
        let module_type = self.parse_module_type()?;
        self.expect_mark(PunctuationMark::CloseParenthesis)?;
        Ok(ModuleParameter { name, module_type })
    }

    /// Parses a module type.
    pub(super) fn parse_module_type(&mut self) -> ParseResult<ModuleTypeId> {
        self.parse_nested(|parser| {
            let start = parser.start_range();
            let has_name = parser.is_at_mark(PunctuationMark::OpenParenthesis)
                && parser.peek_ahead(1).kind == TokenKind::Name
                && parser.peek_ahead(2).kind == TokenKind::Mark(PunctuationMark::Colon);
            let (name, parameter) = if has_name {
                let parameter = parser.parse_module_parameter()?;
                (Some(parameter.name), parameter.module_type)
            } else {
                (None, parser.parse_module_type_with()?)
            };
            if !has_name && !parser.is_at_mark(PunctuationMark::Arrow) {
                return Ok(parameter);
            }
            parser.expect_mark(PunctuationMark::Arrow)?;
            let result = parser.parse_module_type()?;
            let kind = ModuleTypeKind::Function {
                name,
                parameter,
                result,
            };
            Ok(parser.add_module_type(start, kind))
        })
    }

    /// Parses a module type with the types that `with` defines.
    fn parse_module_type_with(&mut self) -> ParseResult<ModuleTypeId> {
        let start = self.start_range();
        let mut base = self.parse_module_type_atom()?;
        while self.accept_keyword(ReservedWord::With) {
            let name = self.parse_qualified_name()?;
            let parameters = self.parse_type_parameters()?;
            self.expect_mark(PunctuationMark::Equals)?;
            let definition = self.parse_type()?;
            let kind = ModuleTypeKind::With {
                base,
                name,
                parameters,
                definition,
            };
            base = self.add_module_type(start, kind);
        }
        Ok(base)
    }

    /// Parses a name, a module type in parentheses, or specifications in braces.
    fn parse_module_type_atom(&mut self) -> ParseResult<ModuleTypeId> {
        let start = self.start_range();
        let kind = match self.peek_kind() {
            TokenKind::Name => ModuleTypeKind::Name(self.parse_qualified_name()?),
            TokenKind::Mark(PunctuationMark::OpenParenthesis) => {
                self.take_token();
                let module_type = self.parse_module_type()?;
                self.expect_mark(PunctuationMark::CloseParenthesis)?;
                ModuleTypeKind::Parentheses(module_type)
            }
            TokenKind::Mark(PunctuationMark::OpenBrace) => {
                self.take_token();
                let mut specifications = Vec::new();
                while !self.accept_mark(PunctuationMark::CloseBrace) {
                    specifications.push(self.parse_specification()?);
                }
                ModuleTypeKind::Specifications(specifications)
            }
            _ => return Err(self.fail_expected("a module type")),
        };
        Ok(self.add_module_type(start, kind))
    }

    /// Parses a specification with its documentation and attributes.
    fn parse_specification(&mut self) -> ParseResult<ModuleSpecification> {
        let documentation = self.take_documentation();
        let mut attributes = Vec::new();
        while self.is_at_mark(PunctuationMark::AttributeStart) {
            attributes.push(self.parse_bracketed_attribute()?);
        }
        let start = self.start_range();
        let kind = self.parse_specification_kind()?;
        Ok(ModuleSpecification {
            range: self.range_since(start),
            documentation,
            attributes,
            kind,
        })
    }

    /// Parses a specification without documentation and attributes.
    fn parse_specification_kind(&mut self) -> ParseResult<SpecificationKind> {
        if self.is_at_keyword(ReservedWord::Type) {
            return Ok(SpecificationKind::Type(self.parse_type_declaration()?));
        }
        if self.accept_keyword(ReservedWord::Include) {
            return Ok(SpecificationKind::Include(self.parse_module_type()?));
        }
        if self.accept_keyword(ReservedWord::Module) {
            let name = self.parse_name()?;
            self.expect_mark(PunctuationMark::Colon)?;
            return Ok(SpecificationKind::Module(name, self.parse_module_type()?));
        }
        if !self.accept_keyword(ReservedWord::Val) {
            return Err(self.fail_expected("a specification"));
        }
        let name = if self.peek_kind() == TokenKind::Name {
            self.parse_name()?
        } else if let Some(name) = self.accept_operator_name()? {
            name
        } else {
            self.parse_binding_operator()?
        };
        let type_parameters = self.parse_type_parameters()?;
        self.expect_mark(PunctuationMark::Colon)?;
        let value_type = self.parse_type()?;
        Ok(SpecificationKind::Value {
            name,
            type_parameters,
            value_type,
        })
    }
}
