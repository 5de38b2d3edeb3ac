//! SPIR-V to WGSL.

use crate::{describe_fault, describe_plain_fault};
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::spv::{Options, parse_u8_slice};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use spirula_diagnostics::SourceDiagnostic;

/// Writes the words of a SPIR-V module as WGSL.
///
/// ```
/// let words = spirula_wgsl::translate_source("@compute @workgroup_size(64) fn main() {}").unwrap();
/// let source = spirula_wgsl::write_source(&words).unwrap();
/// assert!(source.contains("@compute @workgroup_size(64, 1, 1)"), "{source}");
/// ```
///
/// # Errors
/// When naga does not read the module, or it has something that WGSL lacks.
pub fn write_source(words: &[u32]) -> Result<String, SourceDiagnostic> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let module = parse_u8_slice(&bytes, &Options::default())
        .map_err(|error| describe_plain_fault(&error))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module);
    let info = info.map_err(|error| {
        // Spans are those of the module, not of a source.
        SourceDiagnostic {
            place: Default::default(),
            ..describe_fault(&error)
        }
    })?;
    write_string(&module, &info, WriterFlags::empty()).map_err(|error| describe_plain_fault(&error))
}
