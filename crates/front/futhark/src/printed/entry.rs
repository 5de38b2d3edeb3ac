//! Entry points.

use super::reader::FutharkReader;
use spirula_diagnostics::SourceDiagnostic;
use spirula_kernel::ir::{
    ArrayDimension, EntryDecl, EntryDeclParameter, EntryDeclValue, EntryKind, FuncId, PlainValue,
};

impl FutharkReader<'_> {
    /// Parses the entry point of a function, and the end of its section. A function that is no entry point has
    /// nothing there.
    pub(super) fn parse_entry(&mut self, function: FuncId) -> Result<(), SourceDiagnostic> {
        if !self.eat_section("    ", "Name") {
            return self.end_section();
        }
        self.cursor.skip_space();
        let name = self.cursor.take_string()?;
        self.cursor.expect_piece("\n")?;
        self.end_section()?;
        self.begin_section("    ", "Arguments")?;
        let mut parameters = Vec::new();
        while self.has_line("      ") {
            let line = self.cursor.remaining_line();
            let fault = self.cursor.fault_here("expected an argument and its type");
            let end = line.find(" : ").ok_or(fault)?;
            let name = self.cursor.take_bytes(end).to_owned();
            self.cursor.take_bytes(3);
            let value = self.parse_entry_value()?;
            parameters.push(EntryDeclParameter { name, value });
        }
        self.end_section()?;
        self.begin_section("    ", "Results")?;
        let mut results = Vec::new();
        while self.has_line("      ") {
            results.push(self.parse_entry_value()?);
        }
        self.end_section()?;
        self.builder.add_entry(EntryDecl {
            name,
            function,
            parameters,
            results,
        });
        self.end_section()
    }

    fn parse_entry_value(&mut self) -> Result<EntryDeclValue, SourceDiagnostic> {
        let unique = self.cursor.eat_piece("*");
        if !self.cursor.eat_piece("opaque ") {
            let kind = EntryKind::Plain(self.parse_plain_value()?);
            return Ok(EntryDeclValue { unique, kind });
        }
        let name = self.cursor.take_string()?;
        self.cursor.expect_piece(" {\n")?;
        let mut parts = Vec::new();
        loop {
            self.cursor.skip_space();
            if self.cursor.eat_piece("}") {
                break;
            }
            parts.push(self.parse_plain_value()?);
        }
        self.cursor.eat_piece("\n");
        let kind = EntryKind::Opaque(name, parts);
        Ok(EntryDeclValue { unique, kind })
    }

    fn parse_plain_value(&mut self) -> Result<PlainValue, SourceDiagnostic> {
        let mut shape = Vec::new();
        let is_array = self.cursor.remaining_text().starts_with('[');
        while self.cursor.eat_piece("[") {
            let fault = self.cursor.fault_here("expected a size");
            shape.push(match self.take_bound_var() {
                Some(var) => ArrayDimension::Var(var),
                None => ArrayDimension::Literal(self.parse_literal().ok_or(fault)?.to_signed()),
            });
            self.cursor.expect_piece("]")?;
        }
        let element = self.parse_scalar_type()?;
        let var = if is_array {
            self.cursor.expect_piece(" at ")?;
            let var = self.parse_memory()?;
            self.parse_memory_space()?;
            var
        } else {
            self.cursor.expect_piece(" ")?;
            self.parse_scalar_var()?
        };
        self.cursor.skip_blanks();
        let unsigned = self.cursor.eat_piece("(unsigned)");
        self.cursor.expect_piece("\n")?;
        Ok(PlainValue {
            var,
            element,
            unsigned,
            shape: is_array.then_some(shape),
        })
    }
}
