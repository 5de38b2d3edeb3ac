//! Copy kernels: functions that copy arrays within device memory, for programs that have copies.
//!
//! They are written in the text form of this representation. `spirula-program` defines their scalars and chooses
//! between them.

use crate::host::lower_program;
use crate::text::parse_program;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_program::program::{CompiledProgram, CopyKernels, HostStep};
use std::collections::BTreeSet;

/// The types as which elements are copied, one for each size.
const ELEMENTS: [ScalarType; 4] = [
    ScalarType::I8,
    ScalarType::I16,
    ScalarType::I32,
    ScalarType::I64,
];

/// Size of the elements as which contiguous bytes are copied.
const WORD: u64 = 4;

/// Adds the functions that the copies of a program need.
pub(crate) fn add_copy_functions(program: &mut CompiledProgram) -> Result<(), SourceDiagnostic> {
    let steps = program.functions.iter().flat_map(|f| &f.steps);
    let sizes = steps.filter_map(|step| match step {
        HostStep::Copy(copy) => Some(copy.size),
        _ => None,
    });
    let mut sizes: BTreeSet<u64> = sizes.collect();
    if !sizes.is_empty() {
        sizes.insert(WORD);
    }
    for element in ELEMENTS.into_iter().filter(|e| sizes.contains(&e.size())) {
        let size = element.size();
        let strided = append_function(
            program,
            &instantiate_text(include_str!("strided.kernel"), element),
        )?;
        let tiled = append_function(
            program,
            &instantiate_text(include_str!("tiled.kernel"), element),
        )?;
        program.copiers.push(CopyKernels {
            size,
            strided,
            tiled,
        });
    }
    Ok(())
}

/// The text with the element type filled in.
fn instantiate_text(text: &str, element: ScalarType) -> String {
    let text = text.replace("ELEMENT", element.name());
    text.replace("BYTES", &element.size().to_string())
}

/// Appends the only function of a text with its kernel, and returns its number.
fn append_function(program: &mut CompiledProgram, text: &str) -> Result<usize, SourceDiagnostic> {
    let mut added = lower_program(&parse_program(text)?)?;
    let first = program.kernels.len();
    program.kernels.append(&mut added.kernels);
    let mut function = added.functions.swap_remove(0);
    for step in &mut function.steps {
        if let HostStep::Launch(launch) = step {
            launch.kernel += first;
        }
    }
    program.functions.push(function);
    Ok(program.functions.len() - 1)
}

#[cfg(test)]
mod tests;
