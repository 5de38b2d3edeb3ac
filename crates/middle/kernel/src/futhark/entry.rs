//! Entry points.

use super::FutharkReader;
use crate::ir::{
    ArrayDimension, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind, FuncId, PlainValue,
};
use spirula_diagnostics::SourceDiagnostic;

impl FutharkReader<'_> {
    /// The entry point of a function, and the end of that part; nothing for a function that is no entry point.
    pub(super) fn entry(&mut self, function: FuncId) -> Result<(), SourceDiagnostic> {
        if !self.has_part("    ", "Name") {
            return self.end_part();
        }
        self.cursor.skip_space();
        let name = self.cursor.string()?;
        self.cursor.expect("\n")?;
        self.end_part()?;
        self.begin_part("    ", "Arguments")?;
        let mut parameters = Vec::new();
        while self.has_line("      ") {
            let line = self.cursor.line();
            let fault = self.cursor.fault("expected an argument and its type");
            let end = line.find(" : ").ok_or(fault)?;
            let name = self.cursor.take(end).to_owned();
            self.cursor.take(3);
            let value = self.entry_value()?;
            parameters.push(EntryDeclParameter { name, value });
        }
        self.end_part()?;
        self.begin_part("    ", "Results")?;
        let mut results = Vec::new();
        while self.has_line("      ") {
            results.push(self.entry_value()?);
        }
        self.end_part()?;
        self.builder.entry(EntryDecl {
            name,
            function,
            parameters,
            results,
        });
        self.end_part()
    }

    fn entry_value(&mut self) -> Result<EntryDeclValue, SourceDiagnostic> {
        let unique = self.cursor.eat("*");
        if !self.cursor.eat("opaque ") {
            let kind = EntryKind::Plain(self.plain_value()?);
            return Ok(EntryDeclValue { unique, kind });
        }
        let name = self.cursor.string()?;
        self.cursor.expect(" {\n")?;
        let mut parts = Vec::new();
        loop {
            self.cursor.skip_space();
            if self.cursor.eat("}") {
                break;
            }
            parts.push(self.plain_value()?);
        }
        self.cursor.eat("\n");
        let kind = EntryKind::Opaque(name, parts);
        Ok(EntryDeclValue { unique, kind })
    }

    fn plain_value(&mut self) -> Result<PlainValue, SourceDiagnostic> {
        let mut shape = Vec::new();
        let is_array = self.cursor.rest().starts_with('[');
        while self.cursor.eat("[") {
            let fault = self.cursor.fault("expected a size");
            shape.push(match self.bound() {
                Some(var) => ArrayDimension::Var(var),
                None => ArrayDimension::Literal(self.literal().ok_or(fault)?.signed()),
            });
            self.cursor.expect("]")?;
        }
        let element = self.scalar_type()?;
        let var = if is_array {
            self.cursor.expect(" at ")?;
            let var = self.memory()?;
            self.space()?;
            var
        } else {
            self.cursor.expect(" ")?;
            self.scalar_var()?
        };
        self.cursor.skip_blanks();
        let unsigned = self.cursor.eat("(unsigned)");
        self.cursor.expect("\n")?;
        Ok(PlainValue {
            var,
            element,
            unsigned,
            shape: is_array.then_some(shape),
        })
    }
}
