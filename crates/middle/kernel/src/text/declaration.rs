//! The parser of declarations outside of functions, and of types.

use super::parse::KernelParser;
use crate::ir::{
    ArrayDimension, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind, FuncId, MemorySpace,
    PlainValue, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_text::TextToken;

impl KernelParser {
    pub(super) fn parse_program(&mut self) -> Result<(), SourceDiagnostic> {
        self.functions_in_order();
        let mut opaque_types = Vec::new();
        while *self.peek() != TextToken::End {
            self.builder.set_place(self.next_place());
            if self.eat_word("opaque") {
                opaque_types.push(self.parse_string()?);
            } else if self.eat_word("global") {
                let name = self.new_name()?;
                self.expect_mark(":")?;
                let ty = self.parse_variable_type()?;
                let var = self.builder.add_global(&name, ty);
                self.globals.insert(name, var);
            } else if self.eat_word("initialise") {
                self.locals.clear();
                let block = self.parse_block()?;
                self.builder.set_initialiser(block);
            } else if self.eat_word("function") {
                self.parse_function()?;
            } else if self.eat_word("entry") {
                self.parse_entry()?;
            } else {
                return Err(self.fault_here("expected a global, a function or an entry point"));
            }
        }
        self.builder.opaque_types(opaque_types);
        Ok(())
    }

    /// Numbers functions in the order of their definitions, so that calls may precede definitions.
    fn functions_in_order(&mut self) {
        let mut names = Vec::new();
        let mut is_definition = false;
        for token in self.iter_tokens() {
            match token {
                TextToken::Function(name) if is_definition => names.push(name.clone()),
                _ => {}
            }
            is_definition = matches!(token, TextToken::Word(word) if word == "function");
        }
        for name in names {
            self.builder.declare_function(&name);
        }
    }

    fn parse_function(&mut self) -> Result<(), SourceDiagnostic> {
        let fault = self.fault_here("this function is defined already");
        let name = self.function_name()?;
        let function = self.builder.declare_function(&name);
        if self.builder.program().function(function).body.is_some() {
            return Err(fault);
        }
        self.builder.begin_function(function);
        self.locals.clear();
        self.expect_mark("(")?;
        self.parse_list(")", |p| p.parse_parameter(function, true))?;
        self.expect_mark("->")?;
        self.expect_mark("(")?;
        self.parse_list(")", |p| p.parse_parameter(function, false))?;
        let body = self.parse_block()?;
        self.builder.define_function(function, body);
        Ok(())
    }

    fn parse_parameter(
        &mut self,
        function: FuncId,
        is_input: bool,
    ) -> Result<VarId, SourceDiagnostic> {
        let name = self.new_name()?;
        self.expect_mark(":")?;
        let ty = self.parse_variable_type()?;
        let var = if is_input {
            self.builder.add_input(function, &name, ty)
        } else {
            self.builder.add_output(function, &name, ty)
        };
        self.locals.insert(name, var);
        Ok(var)
    }

    /// The type of a variable.
    pub(super) fn parse_variable_type(&mut self) -> Result<VariableType, SourceDiagnostic> {
        if let Some(space) = self.one_of(&MemorySpace::NAMES) {
            return Ok(VariableType::Memory(space));
        }
        if self.eat_word("private") {
            let element = self.parse_scalar_type()?;
            let shape = self.parse_exprs()?;
            return Ok(VariableType::Array(
                self.builder.add_array_type(element, shape),
            ));
        }
        if self.eat_word("fragment") {
            return self.fragment_type();
        }
        Ok(VariableType::Scalar(self.parse_scalar_type()?))
    }

    fn parse_entry(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.parse_string()?;
        self.expect_mark("=")?;
        let function_name = self.function_name()?;
        let function = self.builder.declare_function(&function_name);
        self.names_of(function);
        self.expect_mark("{")?;
        let (mut parameters, mut results) = (Vec::new(), Vec::new());
        while !self.eat_mark("}") {
            if self.eat_word("parameter") {
                let name = self.parse_string()?;
                self.expect_mark(":")?;
                let value = self.entry_value()?;
                parameters.push(EntryDeclParameter { name, value });
            } else {
                self.expect_word("result")?;
                results.push(self.entry_value()?);
            }
        }
        self.builder.add_entry(EntryDecl {
            name,
            function,
            parameters,
            results,
        });
        Ok(())
    }

    /// Binds the names of a function's inputs and outputs.
    fn names_of(&mut self, function: FuncId) {
        self.locals.clear();
        let program = self.builder.program();
        let data = program.function(function);
        for var in data.inputs.iter().chain(&data.outputs) {
            self.locals.insert(program.var_name(*var).to_owned(), *var);
        }
    }

    fn entry_value(&mut self) -> Result<EntryDeclValue, SourceDiagnostic> {
        let unique = self.eat_word("unique");
        let kind = if self.eat_word("opaque") {
            let name = self.parse_string()?;
            self.expect_mark("{")?;
            EntryKind::Opaque(name, self.parse_list("}", Self::plain_value)?)
        } else {
            EntryKind::Plain(self.plain_value()?)
        };
        Ok(EntryDeclValue { unique, kind })
    }

    fn plain_value(&mut self) -> Result<PlainValue, SourceDiagnostic> {
        let unsigned = self.eat_word("unsigned");
        let element = self.parse_scalar_type()?;
        let mut shape = None;
        if self.eat_mark("[") {
            shape = Some(self.parse_list("]", |parser| match parser.peek() {
                TextToken::Value(_) => Ok(ArrayDimension::Var(parser.parse_var()?)),
                _ => Ok(ArrayDimension::Literal(parser.parse_literal()?.to_signed())),
            })?);
        }
        let var = self.parse_var()?;
        Ok(PlainValue {
            var,
            element,
            unsigned,
            shape,
        })
    }
}
