//! Formatter of type expressions, type parameters and attributes.

use super::printer::{PrintResult, SourcePrinter};
use crate::syntax::token::{PunctuationMark, TextRange};
use crate::syntax::tree::{
    SourceName, TypeArgument, TypeExpressionId, TypeKind, TypeParameter, TypeParameterKind,
};

impl SourcePrinter<'_> {
    /// The range of a type expression.
    pub(super) fn type_range(&self, id: TypeExpressionId) -> TextRange {
        self.tree.types[id].range
    }

    pub(super) fn print_type(&mut self, id: TypeExpressionId) -> PrintResult<()> {
        let range = self.type_range(id);
        self.in_layout_of(range, |printer| printer.print_type_kind(id))
    }

    fn print_type_kind(&mut self, id: TypeExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.types[id];
        match &node.kind {
            TypeKind::Name(_) => self.print_glued(node.range),
            TypeKind::Parentheses(inner) => {
                self.expect("(")?;
                self.aligned(|printer| printer.print_type(*inner))?;
                self.expect(")")
            }
            TypeKind::Tuple(items) => {
                self.print_list(node.range, items, |printer, item| printer.print_type(*item))
            }
            TypeKind::Record(fields) => {
                self.print_list(node.range, fields, |printer, (name, field)| {
                    printer.print_glued(name.range)?;
                    printer.expect(":")?;
                    printer.blank();
                    printer.aligned(|printer| printer.print_type(*field))
                })
            }
            TypeKind::Sum(clauses) => self.print_sum(clauses),
            TypeKind::Array { size, element } => {
                self.print_size(*size)?;
                self.print_type(*element)
            }
            TypeKind::Unique(inner) => {
                self.expect("*")?;
                self.print_type(*inner)
            }
            TypeKind::Application {
                constructor,
                argument,
            } => {
                self.print_type(*constructor)?;
                self.blank();
                match argument {
                    TypeArgument::Type(argument) => self.print_type(*argument),
                    TypeArgument::Size(size, _) => self.print_size(*size),
                }
            }
            TypeKind::Function {
                name,
                parameter,
                result,
            } => self.print_function_type(*name, *parameter, *result),
            TypeKind::Existential { sizes, body } => {
                self.expect("?")?;
                for _ in sizes {
                    self.print_bracketed_name()?;
                }
                self.expect(".")?;
                self.print_type(*body)
            }
        }
    }

    fn print_function_type(
        &mut self,
        name: Option<SourceName>,
        parameter: TypeExpressionId,
        result: TypeExpressionId,
    ) -> PrintResult<()> {
        match name {
            Some(name) => {
                self.expect("(")?;
                self.print_glued(name.range)?;
                self.expect(":")?;
                self.blank();
                self.print_type(parameter)?;
                self.expect(")")?;
            }
            None => self.print_type(parameter)?,
        }
        self.line();
        self.expect("->")?;
        self.blank();
        match self.tree.types[result].kind {
            TypeKind::Function { .. } => self.print_type(result),
            _ => self.aligned(|printer| printer.print_type(result)),
        }
    }

    /// Prints `[e]` or `[]`.
    fn print_size(&mut self, size: Option<crate::syntax::tree::ExpressionId>) -> PrintResult<()> {
        self.expect("[")?;
        if let Some(size) = size {
            self.print_expression(size)?;
        }
        self.expect("]")
    }

    fn print_sum(&mut self, clauses: &[(SourceName, Vec<TypeExpressionId>)]) -> PrintResult<()> {
        for (number, (_, payload)) in clauses.iter().enumerate() {
            if number > 0 {
                self.line();
                self.expect("|")?;
                self.blank();
            }
            let print = |printer: &mut Self| {
                printer.print_token();
                payload.iter().try_for_each(|part| {
                    printer.blank();
                    printer.print_type(*part)
                })
            };
            // The first one stands in a line with the others, which have a bar.
            if number == 0 && !self.is_single {
                self.settle();
                self.pad_for_bar();
            }
            print(self)?;
        }
        Ok(())
    }

    /// Prints `[n]`.
    pub(super) fn print_bracketed_name(&mut self) -> PrintResult<()> {
        self.expect("[")?;
        self.print_token();
        self.expect("]")
    }

    /// Prints type parameters, each after a blank or in a line.
    pub(super) fn print_type_parameters(&mut self, all: &[TypeParameter]) -> PrintResult<()> {
        for (number, parameter) in all.iter().enumerate() {
            if number > 0 {
                self.line();
            }
            match parameter.kind {
                TypeParameterKind::Size => self.print_bracketed_name()?,
                TypeParameterKind::Type(_) => {
                    self.print_token();
                    self.print_token();
                }
            }
        }
        Ok(())
    }

    /// The range of type parameters without their marks.
    pub(super) fn type_parameters_range(all: &[TypeParameter]) -> Option<TextRange> {
        let (first, last) = (all.first()?, all.last()?);
        Some(first.name.range.extend_to(last.name.range))
    }

    /// Prints an attribute `#[a(b, c)]`.
    pub(super) fn print_attribute(&mut self) -> PrintResult<()> {
        self.expect("#[")?;
        let mut depth = 0usize;
        loop {
            let is_open = self.is_at(PunctuationMark::OpenBracket);
            if self.is_at(PunctuationMark::CloseBracket) && depth == 0 {
                return self.expect("]");
            }
            if self.peek().kind == crate::syntax::token::TokenKind::End {
                return Err(self.peek().range);
            }
            depth += usize::from(is_open);
            depth -= usize::from(self.is_at(PunctuationMark::CloseBracket));
            self.print_token();
        }
    }
}
