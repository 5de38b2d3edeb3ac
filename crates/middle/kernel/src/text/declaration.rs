//! The parser: what stands outside of functions, and types.

use super::lexer::KernelToken;
use super::parse::KernelParser;
use crate::ir::{
    ArrayDimension, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind, FuncId, MemorySpace,
    PlainValue, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;

impl KernelParser {
    pub(super) fn program(&mut self) -> Result<(), SourceDiagnostic> {
        self.functions_in_order();
        let mut opaque_types = Vec::new();
        while *self.peek() != KernelToken::End {
            self.builder.at(self.place());
            if self.eat_word("opaque") {
                opaque_types.push(self.text()?);
            } else if self.eat_word("global") {
                let name = self.new_name()?;
                self.expect(":")?;
                let ty = self.ty()?;
                let var = self.builder.global(&name, ty);
                self.globals.insert(name, var);
            } else if self.eat_word("initialise") {
                self.locals.clear();
                let block = self.block()?;
                self.builder.initialise(block);
            } else if self.eat_word("function") {
                self.function()?;
            } else if self.eat_word("entry") {
                self.entry()?;
            } else {
                return Err(self.fault("expected a global, a function or an entry point"));
            }
        }
        self.builder.opaque_types(opaque_types);
        Ok(())
    }

    /// Numbers functions in the order of their definitions, so that calls may come first.
    fn functions_in_order(&mut self) {
        let mut names = Vec::new();
        let mut is_definition = false;
        for token in self.all() {
            match token {
                KernelToken::Function(name) if is_definition => names.push(name.clone()),
                _ => {}
            }
            is_definition = matches!(token, KernelToken::Word(word) if word == "function");
        }
        for name in names {
            self.builder.function(&name);
        }
    }

    fn function(&mut self) -> Result<(), SourceDiagnostic> {
        let fault = self.fault("this function is defined already");
        let name = self.function_name()?;
        let function = self.builder.function(&name);
        if self.builder.program().function(function).body.is_some() {
            return Err(fault);
        }
        self.builder.begin_function(function);
        self.locals.clear();
        self.expect("(")?;
        self.list(")", |p| p.parameter(function, true))?;
        self.expect("->")?;
        self.expect("(")?;
        self.list(")", |p| p.parameter(function, false))?;
        let body = self.block()?;
        self.builder.define(function, body);
        Ok(())
    }

    fn parameter(&mut self, function: FuncId, is_input: bool) -> Result<VarId, SourceDiagnostic> {
        let name = self.new_name()?;
        self.expect(":")?;
        let ty = self.ty()?;
        let var = match is_input {
            true => self.builder.input(function, &name, ty),
            false => self.builder.output(function, &name, ty),
        };
        self.locals.insert(name, var);
        Ok(var)
    }

    /// A type of variables.
    pub(super) fn ty(&mut self) -> Result<VariableType, SourceDiagnostic> {
        if let Some(space) = self.one_of(&MemorySpace::NAMES) {
            return Ok(VariableType::Memory(space));
        }
        if self.eat_word("private") {
            let element = self.scalar()?;
            let shape = self.exprs()?;
            return Ok(VariableType::Array(self.builder.array(element, shape)));
        }
        if self.eat_word("fragment") {
            return self.fragment_type();
        }
        Ok(VariableType::Scalar(self.scalar()?))
    }

    fn entry(&mut self) -> Result<(), SourceDiagnostic> {
        let name = self.text()?;
        self.expect("=")?;
        let function_name = self.function_name()?;
        let function = self.builder.function(&function_name);
        self.names_of(function);
        self.expect("{")?;
        let (mut parameters, mut results) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            if self.eat_word("parameter") {
                let name = self.text()?;
                self.expect(":")?;
                let value = self.entry_value()?;
                parameters.push(EntryDeclParameter { name, value });
            } else {
                self.expect_word("result")?;
                results.push(self.entry_value()?);
            }
        }
        self.builder.entry(EntryDecl {
            name,
            function,
            parameters,
            results,
        });
        Ok(())
    }

    /// Makes the inputs and outputs of a function known by their names.
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
            let name = self.text()?;
            self.expect("{")?;
            EntryKind::Opaque(name, self.list("}", Self::plain_value)?)
        } else {
            EntryKind::Plain(self.plain_value()?)
        };
        Ok(EntryDeclValue { unique, kind })
    }

    fn plain_value(&mut self) -> Result<PlainValue, SourceDiagnostic> {
        let unsigned = self.eat_word("unsigned");
        let element = self.scalar()?;
        let mut shape = None;
        if self.eat("[") {
            shape = Some(self.list("]", |parser| match parser.peek() {
                KernelToken::Var(_) => Ok(ArrayDimension::Var(parser.var()?)),
                _ => Ok(ArrayDimension::Literal(parser.literal()?.signed())),
            })?);
        }
        let var = self.var()?;
        Ok(PlainValue {
            var,
            element,
            unsigned,
            shape,
        })
    }
}
