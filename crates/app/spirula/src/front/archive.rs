//! Front end of archives: compiled programs as one file.

use super::format::{FormatMarks, FormatReader, FrontEnd, InputFormat};
use super::source::SourceProgram;
use crate::error::CompileError;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::{CompiledProgram, archive};
use spirula_spirv::verify;

pub(super) static FRONT_END: FrontEnd = FrontEnd {
    title: "compiled programs",
    formats: &[&ARCHIVE],
};

/// A compiled program as one file.
static ARCHIVE: InputFormat = InputFormat {
    name: "a compiled program",
    marks: FormatMarks::Predicate(archive::is_archive),
    read: FormatReader::Bytes(read_program),
};

fn read_program(bytes: &[u8]) -> Result<SourceProgram, CompileError> {
    let program =
        archive::read_archive(bytes).map_err(|error| to_compile_error(error.to_string()))?;
    verify_kernels(&program)?;
    Ok(SourceProgram::Compiled(Box::new(program)))
}

/// Verifies the modules of all kernels: the behaviour of a driver on an invalid module is undefined.
fn verify_kernels(program: &CompiledProgram) -> Result<(), CompileError> {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    for (number, kernel) in program.kernels.iter().enumerate() {
        for module in kernel.modules() {
            if let Err(faults) = verify::verify_module(module, &options) {
                let first = faults.first().map(SourceDiagnostic::to_string);
                return Err(to_compile_error(format!(
                    "kernel {number}: {}",
                    first.unwrap_or_default()
                )));
            }
        }
    }
    Ok(())
}

fn to_compile_error(message: String) -> CompileError {
    CompileError::from_read_fault(SourceDiagnostic::error(SourceLocation::Unknown, message))
}
