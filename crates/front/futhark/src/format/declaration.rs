//! Formatter of declarations.

use super::printer::{PrintResult, SourcePrinter};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    DeclarationKind, FunctionSignature, ModuleSpecification, ModuleTypeId, ModuleTypeKind,
    SourceAttribute, SourceDeclaration, SpecificationKind, TypeDeclaration, ValueDeclaration,
};

impl SourcePrinter<'_> {
    /// Prints declarations.
    pub(super) fn print_declarations(&mut self, all: &[SourceDeclaration]) -> PrintResult<()> {
        let mut before = None;
        for declaration in all {
            let whole = extend_to_attributes(declaration.range, &declaration.attributes);
            self.separate(before, whole);
            self.print_declaration(declaration)?;
            before = Some(whole);
        }
        Ok(())
    }

    /// Prints specifications.
    pub(super) fn print_specifications(&mut self, all: &[ModuleSpecification]) -> PrintResult<()> {
        let mut before = None;
        for specification in all {
            let whole = extend_to_attributes(specification.range, &specification.attributes);
            self.separate(before, whole);
            self.print_specification(specification)?;
            before = Some(whole);
        }
        Ok(())
    }

    /// Separates a declaration from the one before: by a line break where both stand on one line each, one after the
    /// other, and by an empty line elsewhere.
    fn separate(&mut self, before: Option<TextRange>, range: TextRange) {
        let Some(before) = before else {
            return;
        };
        if self.is_single {
            return self.blank();
        }
        let is_next = self.line_of(before.end) + 1 == self.line_of(range.start);
        let are_single = self.is_one_line(before) && self.is_one_line(range);
        let is_close = is_next && are_single && !self.has_comment_ahead();
        self.hard_lines(if is_close { 1 } else { 2 });
    }

    fn print_declaration(&mut self, declaration: &SourceDeclaration) -> PrintResult<()> {
        self.print_attributes(&declaration.attributes)?;
        self.in_layout_of(declaration.range, |printer| match &declaration.kind {
            DeclarationKind::Value(value) => printer.print_value_declaration(value),
            DeclarationKind::Type(declared) => printer.print_type_declaration(declared),
            DeclarationKind::ModuleType { definition, .. } => {
                printer.expect("module")?;
                printer.blank();
                printer.expect("type")?;
                printer.blank();
                printer.print_token();
                printer.blank();
                printer.expect("=")?;
                match printer.tree.module_types[*definition].kind {
                    ModuleTypeKind::Specifications(_) => {
                        printer.blank();
                        printer.print_module_type(*definition)
                    }
                    _ => printer.line_nested(|printer| printer.print_module_type(*definition)),
                }
            }
            DeclarationKind::Module {
                parameters,
                ascribed,
                definition,
                ..
            } => printer.print_module_declaration(parameters, *ascribed, *definition),
            DeclarationKind::Open(module) => {
                printer.expect("open")?;
                printer.blank();
                printer.print_module(*module)
            }
            DeclarationKind::Import(_) => {
                printer.expect("import")?;
                printer.blank();
                printer.print_token();
                Ok(())
            }
            DeclarationKind::Local(inner) => {
                printer.expect("local")?;
                printer.line();
                printer.print_declaration(inner)
            }
        })
    }

    /// Prints attributes in a line of their own.
    fn print_attributes(&mut self, attributes: &[SourceAttribute]) -> PrintResult<()> {
        for number in 0..attributes.len() {
            if number > 0 {
                self.blank();
            }
            self.print_attribute()?;
        }
        if !attributes.is_empty() {
            self.hard_line();
        }
        Ok(())
    }

    fn print_value_declaration(&mut self, value: &ValueDeclaration) -> PrintResult<()> {
        match self.text_of(self.peek().range) {
            "let" => self.print_token_as("def"),
            _ => self.print_token(),
        }
        self.blank();
        if value.is_infix {
            self.print_infix_head(value)?;
        } else {
            self.print_value_name(value)?;
            self.print_parameters(&value.signature)?;
        }
        if let Some(result) = value.signature.result {
            self.blank();
            self.expect(":")?;
            self.blank();
            self.print_type(result)?;
        }
        self.blank();
        self.expect("=")?;
        self.line_nested(|printer| printer.print_expression(value.body))
    }

    /// Prints a name, or an operator in parentheses.
    fn print_value_name(&mut self, value: &ValueDeclaration) -> PrintResult<()> {
        while self.peek().range.start < value.name.range.start {
            self.print_token();
        }
        self.print_glued(value.name.range)?;
        if self.text_of(self.peek().range) == ")" {
            self.print_token();
        }
        Ok(())
    }

    /// Prints the two parameters of an operator with its name, or a name between backticks, in the middle.
    fn print_infix_head(&mut self, value: &ValueDeclaration) -> PrintResult<()> {
        let [left, right] = value.signature.parameters[..] else {
            return Err(value.name.range);
        };
        self.print_pattern(left)?;
        self.blank();
        let right_range = self.pattern_range(right);
        while self.peek().range.start < right_range.start {
            self.print_token();
        }
        self.blank();
        self.print_pattern(right)
    }

    /// Prints type parameters and parameters.
    fn print_parameters(&mut self, signature: &FunctionSignature) -> PrintResult<()> {
        let types = &signature.type_parameters;
        let parameters = &signature.parameters;
        let type_range = Self::type_parameters_range(types);
        let first = parameters.first().map(|p| self.pattern_range(*p));
        let last = parameters.last().map(|p| self.pattern_range(*p));
        let range = first.zip(last).map(|(first, last)| first.extend_to(last));
        let whole = match (type_range, range) {
            (Some(types), Some(parameters)) => types.extend_to(parameters),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Ok(()),
        };
        let is_single = |printer: &Self, range: Option<TextRange>| {
            range.is_none_or(|range| printer.stays_single(range))
        };
        let (types_single, single) = (is_single(self, type_range), is_single(self, range));
        let whole_single = self.stays_single(whole);
        self.blank();
        self.aligned(|printer| {
            printer.with_layout(types_single, |printer| printer.print_type_parameters(types))?;
            if !types.is_empty() && !parameters.is_empty() {
                printer.with_layout(whole_single, |printer| {
                    printer.line();
                    Ok(())
                })?;
            }
            printer.with_layout(single, |printer| {
                printer.aligned(|printer| {
                    for (number, parameter) in parameters.iter().enumerate() {
                        if number > 0 {
                            printer.line();
                        }
                        printer.print_pattern(*parameter)?;
                    }
                    Ok(())
                })
            })
        })
    }

    fn print_type_declaration(&mut self, declared: &TypeDeclaration) -> PrintResult<()> {
        self.expect("type")?;
        if declared.liftedness != crate::syntax::tree::TypeLiftedness::Unlifted {
            self.print_token();
        }
        self.blank();
        self.print_glued(declared.name.range)?;
        let parameters = &declared.parameters;
        if let Some(range) = Self::type_parameters_range(parameters) {
            let is_single = self.stays_single(range);
            self.blank();
            self.with_layout(is_single, |printer| {
                printer.aligned(|printer| printer.print_type_parameters(parameters))
            })?;
        }
        match declared.definition {
            None => Ok(()),
            Some(definition) => {
                self.blank();
                self.expect("=")?;
                self.line_nested(|printer| printer.print_type(definition))
            }
        }
    }

    fn print_specification(&mut self, specification: &ModuleSpecification) -> PrintResult<()> {
        self.print_attributes(&specification.attributes)?;
        self.in_layout_of(specification.range, |printer| match &specification.kind {
            SpecificationKind::Value {
                name,
                type_parameters,
                value_type,
            } => {
                printer.expect("val")?;
                printer.blank();
                while printer.peek().range.start < name.range.start {
                    printer.print_token();
                }
                printer.print_glued(name.range)?;
                if printer.text_of(printer.peek().range) == ")" {
                    printer.print_token();
                }
                if !type_parameters.is_empty() {
                    printer.blank();
                    printer.with_layout(true, |printer| {
                        printer.print_type_parameters(type_parameters)
                    })?;
                }
                printer.blank();
                printer.expect(":")?;
                printer.line_nested(|printer| printer.print_type(*value_type))
            }
            SpecificationKind::Type(declared) => printer.print_type_declaration(declared),
            SpecificationKind::Module(name, module_type) => {
                printer.expect("module")?;
                printer.blank();
                printer.print_glued(name.range)?;
                printer.print_colon_type(*module_type)
            }
            SpecificationKind::Include(module_type) => {
                printer.expect("include")?;
                printer.blank();
                printer.print_module_type(*module_type)
            }
        })
    }

    fn print_colon_type(&mut self, module_type: ModuleTypeId) -> PrintResult<()> {
        self.expect(":")?;
        self.blank();
        self.print_module_type(module_type)
    }
}

/// The range of a declaration with its attributes, of which only the names have a place.
fn extend_to_attributes(range: TextRange, attributes: &[SourceAttribute]) -> TextRange {
    match attributes.first() {
        Some(first) => first.name.range.extend_to(range),
        None => range,
    }
}
