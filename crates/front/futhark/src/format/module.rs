//! Formatter of modules and module types.

use super::printer::{PrintResult, SourcePrinter};
use crate::syntax::token::{PunctuationMark, TextRange};
use crate::syntax::tree::{
    ModuleExpressionId, ModuleKind, ModuleParameter, ModuleTypeId, ModuleTypeKind,
};

impl SourcePrinter<'_> {
    fn module_type_range(&self, id: ModuleTypeId) -> TextRange {
        self.tree.module_types[id].range
    }

    /// Prints `module m (p: s): t = …`.
    pub(super) fn print_module_declaration(
        &mut self,
        parameters: &[ModuleParameter],
        ascribed: Option<ModuleTypeId>,
        definition: ModuleExpressionId,
    ) -> PrintResult<()> {
        let start = self.peek().range;
        self.expect("module")?;
        self.blank();
        self.print_token();
        let last = parameters
            .last()
            .map(|p| self.module_type_range(p.module_type));
        let head = last.map_or(start, |last| start.extend_to(last));
        let is_single = self.stays_single(head);
        self.with_layout(is_single, |printer| {
            parameters.iter().try_for_each(|parameter| {
                printer.line_nested(|printer| printer.print_module_parameter(*parameter))
            })
        })?;
        if let Some(ascribed) = ascribed {
            let whole = head.extend_to(self.module_type_range(ascribed));
            let is_single = self.stays_single(whole);
            self.with_layout(is_single, |printer| {
                if is_single {
                    printer.blank();
                    printer.expect(":")?;
                    printer.blank();
                    return printer.print_module_type(ascribed);
                }
                printer.line_nested(|printer| {
                    printer.expect(":")?;
                    printer.blank();
                    printer.aligned(|printer| printer.print_module_type(ascribed))
                })
            })?;
        }
        self.blank();
        self.expect("=")?;
        let body = self.tree.modules[definition].range;
        if self.is_single || !self.is_one_line(body) {
            self.blank();
            return self.print_module(definition);
        }
        self.line_nested(|printer| printer.print_module(definition))
    }

    fn print_module_parameter(&mut self, parameter: ModuleParameter) -> PrintResult<()> {
        self.expect("(")?;
        self.print_glued(parameter.name.range)?;
        self.expect(":")?;
        self.blank();
        self.print_module_type(parameter.module_type)?;
        self.expect(")")
    }

    pub(super) fn print_module(&mut self, id: ModuleExpressionId) -> PrintResult<()> {
        let range = self.tree.modules[id].range;
        self.in_layout_of(range, |printer| printer.print_module_kind(id))
    }

    fn print_module_kind(&mut self, id: ModuleExpressionId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.modules[id];
        match &node.kind {
            ModuleKind::Name(_) => self.print_glued(node.range),
            ModuleKind::Parentheses(inner) => {
                self.expect("(")?;
                self.aligned(|printer| printer.print_module(*inner))?;
                self.expect(")")
            }
            ModuleKind::Declarations(all) => {
                self.print_braces(|printer| printer.print_declarations(all))
            }
            ModuleKind::Import(_) => {
                self.expect("import")?;
                self.blank();
                self.print_token();
                Ok(())
            }
            ModuleKind::Ascription(module, module_type) => self.aligned(|printer| {
                printer.print_module(*module)?;
                printer.expect(":")?;
                printer.line();
                printer.print_module_type(*module_type)
            }),
            ModuleKind::Lambda {
                parameter,
                ascribed,
                body,
            } => {
                self.expect("\\")?;
                self.print_module_parameter(*parameter)?;
                if let Some(ascribed) = ascribed {
                    self.print_result_type(*ascribed)?;
                }
                self.blank();
                self.expect("->")?;
                self.line_nested(|printer| printer.print_module(*body))
            }
            ModuleKind::Application(function, argument) => {
                self.print_module(*function)?;
                self.blank();
                self.print_module(*argument)
            }
        }
    }

    /// Prints the module type of a lambda's result, which may be in parentheses that the tree leaves out.
    fn print_result_type(&mut self, ascribed: ModuleTypeId) -> PrintResult<()> {
        self.expect(":")?;
        self.blank();
        let start = self.module_type_range(ascribed).start;
        let mut open = 0;
        while self.peek().range.start < start {
            self.expect("(")?;
            open += 1;
        }
        self.print_module_type(ascribed)?;
        (0..open).try_for_each(|_| self.expect(")"))
    }

    /// Prints something in braces: on one line, or in lines of its own.
    fn print_braces(
        &mut self,
        print: impl FnOnce(&mut Self) -> PrintResult<()>,
    ) -> PrintResult<()> {
        self.expect("{")?;
        if !self.is_at(PunctuationMark::CloseBrace) {
            self.nested(|printer| {
                printer.soft_line();
                print(printer)
            })?;
            self.soft_line();
        }
        self.expect("}")
    }

    pub(super) fn print_module_type(&mut self, id: ModuleTypeId) -> PrintResult<()> {
        let range = self.module_type_range(id);
        self.in_layout_of(range, |printer| printer.print_module_type_kind(id))
    }

    fn print_module_type_kind(&mut self, id: ModuleTypeId) -> PrintResult<()> {
        let tree = self.tree;
        let node = &tree.module_types[id];
        match &node.kind {
            ModuleTypeKind::Name(_) => self.print_glued(node.range),
            ModuleTypeKind::Parentheses(inner) => {
                self.expect("(")?;
                self.aligned(|printer| printer.print_module_type(*inner))?;
                self.expect(")")
            }
            ModuleTypeKind::Specifications(all) => {
                self.print_braces(|printer| printer.print_specifications(all))
            }
            ModuleTypeKind::With { .. } => self.print_refinements(id),
            ModuleTypeKind::Function {
                name,
                parameter,
                result,
            } => {
                match name {
                    Some(name) => {
                        self.expect("(")?;
                        self.print_glued(name.range)?;
                        self.expect(":")?;
                        self.blank();
                        self.print_module_type(*parameter)?;
                        self.expect(")")?;
                    }
                    None => self.print_module_type(*parameter)?,
                }
                self.line();
                self.expect("->")?;
                self.blank();
                match tree.module_types[*result].kind {
                    ModuleTypeKind::Function { .. } | ModuleTypeKind::Specifications(_) => {
                        self.print_module_type(*result)
                    }
                    _ => self.aligned(|printer| printer.print_module_type(*result)),
                }
            }
        }
    }

    /// Prints a module type with its refinements, each in a line of its own where there are several lines.
    fn print_refinements(&mut self, id: ModuleTypeId) -> PrintResult<()> {
        let tree = self.tree;
        let mut refinements = Vec::new();
        let mut root = id;
        while let ModuleTypeKind::With {
            base,
            name,
            parameters,
            definition,
        } = &tree.module_types[root].kind
        {
            refinements.push((name, parameters, *definition));
            root = *base;
        }
        self.print_module_type(root)?;
        for (name, parameters, definition) in refinements.into_iter().rev() {
            self.line();
            self.expect("with")?;
            self.blank();
            let first = name.modules.first().unwrap_or(&name.name);
            self.print_glued(first.range.extend_to(name.name.range))?;
            if !parameters.is_empty() {
                self.blank();
                self.with_layout(true, |printer| printer.print_type_parameters(parameters))?;
            }
            self.blank();
            self.expect("=")?;
            self.blank();
            self.print_type(definition)?;
        }
        Ok(())
    }
}
