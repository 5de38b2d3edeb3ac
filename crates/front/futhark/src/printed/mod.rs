//! The reader of the form that Futhark prints (`futhark dev --gpu-mem --compile-imp-gpu`), of versions 0.25.32 to
//! 0.27.1.
//!
//! Names in this form may hold anything, blanks and operators too, so the text is not split into
//! tokens: where an operand may stand, the longest name that is bound there wins. Where the form
//! types its operands as loosely as C does, conversions are put in. Statements for debugging and
//! accesses to units are left out.

mod cursor;
mod entry;
mod expr;
mod flag_barriers;
mod kernel;
mod operators;
mod scan_barriers;
mod sections;
mod stmt;

use cursor::{FutharkCursor, FutharkScopes};
use rustc_hash::FxHashMap;
use sections::PartForm;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{KernelProgram, MemorySpace, VarId, VariableType};
use spirula_program::{ScalarOperator, ScalarType};

/// Types of the inputs and outputs of a function.
struct FutharkSignature {
    inputs: Vec<VariableType>,
    outputs: Vec<VariableType>,
}

struct FutharkReader<'a> {
    cursor: FutharkCursor<'a>,
    form: PartForm,
    builder: ProgramBuilder,
    scopes: FutharkScopes<'a>,
    operators: &'static FxHashMap<String, ScalarOperator>,
    signatures: FxHashMap<&'a str, FutharkSignature>,
    /// The place in the source of the program that was named last.
    provenance: &'a str,
    /// Blocks that are open.
    depth: u32,
    /// Whether a kernel is read.
    is_in_kernel: bool,
    /// What is wrong with a copy that cannot have been meant, where no branch around it avoids it so far.
    broken: Option<SourceDiagnostic>,
}

/// Deepest nesting of blocks and of expressions.
const DEPTH: u32 = 200;

/// Whether a text looks like the form that Futhark prints.
pub fn looks_like_futhark(text: &str) -> bool {
    PartForm::from_text(text).is_some()
}

/// Reads a program in the form that Futhark prints. The program is not checked.
///
/// # Errors
/// At the first thing that is not of this form.
pub fn read_futhark(text: &str) -> Result<KernelProgram, SourceDiagnostic> {
    if text.len() >= u32::MAX as usize {
        return Err(SourceDiagnostic::error(
            SourceLocation::Unknown,
            "the text is larger than 4 GiB",
        ));
    }
    let mut reader = FutharkReader {
        cursor: FutharkCursor { text, at: 0 },
        form: PartForm::from_text(text).unwrap_or(PartForm::Headings),
        builder: ProgramBuilder::new(),
        scopes: FutharkScopes::default(),
        operators: operators::operator_spellings(),
        signatures: FxHashMap::default(),
        provenance: "",
        depth: 0,
        is_in_kernel: false,
        broken: None,
    };
    reader.parse_signatures()?;
    reader.parse_program()?;
    match reader.broken {
        Some(fault) => Err(fault),
        None => Ok(reader.builder.finish_program()),
    }
}

impl<'a> FutharkReader<'a> {
    /// Finds out what every function takes and gives, so that calls may come first.
    fn parse_signatures(&mut self) -> Result<(), SourceDiagnostic> {
        while !self.cursor.remaining_text().is_empty() {
            let Some(name) = self.function_header() else {
                self.cursor.take_line();
                continue;
            };
            let mut signature = FutharkSignature {
                inputs: Vec::new(),
                outputs: Vec::new(),
            };
            self.begin_part("  ", "Inputs")?;
            self.parse_parameters("    ", |_, _, ty| signature.inputs.push(ty))?;
            self.begin_part("  ", "Outputs")?;
            self.parse_parameters("    ", |_, _, ty| signature.outputs.push(ty))?;
            self.signatures.insert(name, signature);
        }
        self.cursor.at = 0;
        Ok(())
    }

    fn parse_program(&mut self) -> Result<(), SourceDiagnostic> {
        self.tuning_parameters()?;
        self.opaque_types()?;
        self.begin_part("", "Constants")?;
        self.parse_parameters("  ", |reader, name, ty| {
            let var = reader.builder.add_global(name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_part("", "Initialisation")?;
        self.builder.begin_block();
        self.scopes.push_scope();
        self.parse_statements()?;
        self.scopes.pop_scope();
        self.end_part()?;
        self.cursor.skip_space();
        let block = self.builder.end_block();
        self.builder.set_initialiser(block);
        while !self.cursor.remaining_text().is_empty() {
            self.parse_function()?;
            self.cursor.skip_space();
        }
        Ok(())
    }

    /// `types { ... }`, kept as it is.
    fn opaque_types(&mut self) -> Result<(), SourceDiagnostic> {
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

    /// `TYPE NAME` or `mem SPACE NAME`, one a line, up to the end of the part.
    fn parse_parameters(
        &mut self,
        indentation: &str,
        mut each: impl FnMut(&mut Self, &'a str, VariableType),
    ) -> Result<(), SourceDiagnostic> {
        while self.has_line(indentation) {
            let ty = self.parameter_type()?;
            self.cursor.expect_piece(" ")?;
            let name = self.cursor.take_line();
            each(self, name, ty);
        }
        self.end_part()
    }

    fn parameter_type(&mut self) -> Result<VariableType, SourceDiagnostic> {
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
        Ok(VariableType::Scalar(self.scalar_type()?))
    }

    fn scalar_type(&mut self) -> Result<ScalarType, SourceDiagnostic> {
        let start = self.cursor.at;
        let found = ScalarType::from_name(self.cursor.take_word());
        found.ok_or_else(|| self.cursor.fault_at(start, "expected a type"))
    }

    fn parse_function(&mut self) -> Result<(), SourceDiagnostic> {
        self.builder.set_place(self.cursor.line_place());
        let Some(name) = self.function_header() else {
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
        self.begin_part("  ", "Inputs")?;
        self.parse_parameters("    ", |reader, name, ty| {
            let var = reader.builder.add_input(function, name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_part("  ", "Outputs")?;
        self.parse_parameters("    ", |reader, name, ty| {
            let var = reader.builder.add_output(function, name, ty);
            reader.scopes.bind_var(name, var);
        })?;
        self.begin_part("  ", "Entry")?;
        self.parse_entry(function)?;
        self.skip_attributes()?;
        self.begin_part("  ", "Body")?;
        self.builder.begin_block();
        self.parse_statements()?;
        self.end_part()?;
        self.end_part()?;
        let body = self.builder.end_block();
        self.builder.define_function(function, body);
        self.scopes.pop_scope();
        Ok(())
    }

    /// The variable whose name is next, taken.
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

    fn scalar_var(&mut self) -> Result<VarId, SourceDiagnostic> {
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
