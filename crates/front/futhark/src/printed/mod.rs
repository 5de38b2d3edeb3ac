//! The reader of Futhark's printed form (`futhark dev --gpu-mem --compile-imp-gpu`), of versions 0.25.32 to 0.27.1.
//!
//! Names in this form may contain any character, including blanks and operators, so there is no lexer. Where an
//! operand may stand, the longest bound name wins. Operands are as loosely typed as in C, so the reader inserts
//! conversions. Statements for debugging and accesses to units are left out.

mod cursor;
mod entry;
mod expr;
mod flag_barriers;
mod kernel;
mod operators;
mod reader;
mod scan_barriers;
mod scopes;
mod sections;
mod stmt;

use cursor::FutharkCursor;
use reader::{FutharkReader, FutharkSignature, SectionSyntax};
use rustc_hash::FxHashMap;
use scopes::FutharkScopes;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{KernelProgram, MemorySpace, VarId, VariableType};
use spirula_program::ScalarType;

/// Whether a text looks like Futhark's printed form.
pub fn looks_like_futhark(text: &str) -> bool {
    SectionSyntax::from_text(text).is_some()
}

/// Reads a program in Futhark's printed form. The program is not checked.
///
/// # Errors
/// At the first syntax error.
pub fn read_futhark(text: &str) -> Result<KernelProgram, SourceDiagnostic> {
    if text.len() >= u32::MAX as usize {
        return Err(SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the text is larger than 4 GiB",
        ));
    }
    let mut reader = FutharkReader {
        cursor: FutharkCursor { text, at: 0 },
        syntax: SectionSyntax::from_text(text).unwrap_or(SectionSyntax::Headings),
        builder: ProgramBuilder::new(),
        scopes: FutharkScopes::default(),
        operators: operators::operator_spellings(),
        signatures: FxHashMap::default(),
        provenance: "",
        depth: 0,
        is_in_kernel: false,
        broken_copy: None,
    };
    reader.parse_signatures()?;
    reader.parse_program()?;
    match reader.broken_copy {
        Some(fault) => Err(fault),
        None => Ok(reader.builder.finish_program()),
    }
}

impl<'a> FutharkReader<'a> {
    /// Collects the signatures of all functions, so that calls may precede definitions.
    fn parse_signatures(&mut self) -> Result<(), SourceDiagnostic> {
        while !self.cursor.remaining_text().is_empty() {
            let Some(name) = self.take_function_header() else {
                self.cursor.take_line();
                continue;
            };
            let mut signature = FutharkSignature {
                inputs: Vec::new(),
                outputs: Vec::new(),
            };
            self.begin_section("  ", "Inputs")?;
            self.parse_parameters("    ", |_, _, ty| signature.inputs.push(ty))?;
            self.begin_section("  ", "Outputs")?;
            self.parse_parameters("    ", |_, _, ty| signature.outputs.push(ty))?;
            self.signatures.insert(name, signature);
        }
        self.cursor.at = 0;
        Ok(())
    }

    fn parse_program(&mut self) -> Result<(), SourceDiagnostic> {
        self.skip_tuning_parameters()?;
        self.parse_opaque_types()?;
        self.begin_section("", "Constants")?;
        self.parse_parameters("  ", |reader, name, ty| {
            let var = reader.builder.add_global(name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_section("", "Initialisation")?;
        self.builder.begin_block();
        self.scopes.push_scope();
        self.parse_statements()?;
        self.scopes.pop_scope();
        self.end_section()?;
        self.cursor.skip_space();
        let block = self.builder.end_block();
        self.builder.set_initialiser(block);
        while !self.cursor.remaining_text().is_empty() {
            self.parse_function()?;
            self.cursor.skip_space();
        }
        Ok(())
    }

    /// Parses `types { ... }`, which is kept as text.
    fn parse_opaque_types(&mut self) -> Result<(), SourceDiagnostic> {
        self.cursor.expect_piece("types {\n")?;
        let mut lines = Vec::new();
        while !self.cursor.eat_piece("}\n") {
            if self.cursor.remaining_text().is_empty() {
                return Err(self.cursor.fault_here("the types have no end"));
            }
            let line = self.cursor.take_line();
            let line = line.strip_prefix("  ").unwrap_or(line);
            if !line.trim().is_empty() {
                lines.push(line.to_owned());
            }
        }
        self.builder.opaque_types(lines);
        Ok(())
    }

    /// Parses `TYPE NAME` or `mem SPACE NAME`, one a line, up to the end of the section.
    fn parse_parameters(
        &mut self,
        indentation: &str,
        mut each: impl FnMut(&mut Self, &'a str, VariableType),
    ) -> Result<(), SourceDiagnostic> {
        while self.has_line(indentation) {
            let ty = self.parse_parameter_type()?;
            self.cursor.expect_piece(" ")?;
            let name = self.cursor.take_line();
            each(self, name, ty);
        }
        self.end_section()
    }

    fn parse_parameter_type(&mut self) -> Result<VariableType, SourceDiagnostic> {
        if self.cursor.eat_piece("mem") {
            let spaces = [
                ("@device", MemorySpace::Device),
                ("@global", MemorySpace::Device),
                ("", MemorySpace::Host),
            ];
            let found = spaces.iter().find(|(name, _)| self.cursor.eat_piece(name));
            return Ok(VariableType::Memory(
                found.map_or(MemorySpace::Host, |(_, space)| *space),
            ));
        }
        Ok(VariableType::Scalar(self.parse_scalar_type()?))
    }

    fn parse_scalar_type(&mut self) -> Result<ScalarType, SourceDiagnostic> {
        let start = self.cursor.at;
        let found = ScalarType::from_name(self.cursor.take_word());
        found.ok_or_else(|| self.cursor.fault_at(start, "expected a type"))
    }

    fn parse_function(&mut self) -> Result<(), SourceDiagnostic> {
        self.builder.set_place(self.cursor.line_place());
        let Some(name) = self.take_function_header() else {
            return Err(self.cursor.fault_here("expected a function"));
        };
        let function = self.builder.declare_function(name);
        if self.builder.program().function(function).body.is_some() {
            let message = format!("function {name} is defined twice");
            return Err(SourceDiagnostic::error(
                self.builder.current_place(),
                message,
            ));
        }
        self.builder.begin_function(function);
        self.scopes.push_scope();
        self.begin_section("  ", "Inputs")?;
        self.parse_parameters("    ", |reader, name, ty| {
            let var = reader.builder.add_input(function, name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_section("  ", "Outputs")?;
        self.parse_parameters("    ", |reader, name, ty| {
            let var = reader.builder.add_output(function, name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_section("  ", "Entry")?;
        self.parse_entry(function)?;
        self.skip_attributes()?;
        self.begin_section("  ", "Body")?;
        self.builder.begin_block();
        self.parse_statements()?;
        self.end_section()?;
        self.end_section()?;
        let body = self.builder.end_block();
        self.builder.define_function(function, body);
        self.scopes.pop_scope();
        Ok(())
    }

    /// Parses the name of a bound variable, if one is next.
    fn take_bound_var(&mut self) -> Option<VarId> {
        let (var, length) = self
            .scopes
            .find_longest_prefix(self.cursor.remaining_line())?;
        self.cursor.take_bytes(length);
        Some(var)
    }

    fn parse_memory(&mut self) -> Result<VarId, SourceDiagnostic> {
        let start = self.cursor.at;
        let found = self.take_bound_var().filter(|var| {
            let ty = self.builder.program().var(*var).ty;
            !matches!(ty, VariableType::Scalar(_))
        });
        found.ok_or_else(|| {
            let message = "expected a memory variable";
            self.cursor.fault_at(start, message)
        })
    }

    fn parse_scalar_var(&mut self) -> Result<VarId, SourceDiagnostic> {
        let start = self.cursor.at;
        let found = self.take_bound_var().filter(|var| {
            let ty = self.builder.program().var(*var).ty;
            matches!(ty, VariableType::Scalar(_))
        });
        found.ok_or_else(|| {
            let message = "expected a scalar variable";
            self.cursor.fault_at(start, message)
        })
    }
}
