//! WGSL to SPIR-V and back: naga reads and validates one of them, and writes the other.
//!
//! Faults of the source have the place that naga gives them. Accesses outside of buffers are undefined, as in other
//! SPIR-V: the CPU device's checks find them.
//!
//! Features:
//!
//! - `output`: WGSL is written, too.

#[cfg(feature = "output")]
mod output;

#[cfg(feature = "output")]
pub use output::write_source;

use naga::back::pipeline_constants::process_overrides;
use naga::back::spv::{Options, WriterFlags, write_vec};
use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Span, WithSpan};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use std::error::Error;

/// Version of SPIR-V of the modules: the newest that devices of Vulkan 1.1 take.
const VERSION: (u8, u8) = (1, 3);

/// Translates WGSL to the words of a SPIR-V module.
///
/// ```
/// let source = "@compute @workgroup_size(64) fn main() {}";
/// let words = spirula_wgsl::translate_source(source).unwrap();
/// assert_eq!(words[0], 0x0723_0203);
/// ```
///
/// # Errors
/// When the source is malformed or invalid, or has no form in SPIR-V.
pub fn translate_source(source: &str) -> Result<Vec<u32>, SourceDiagnostic> {
    let module = wgsl::parse_str(source).map_err(|error| {
        let label = error
            .labels()
            .next()
            .map(|(span, text)| (span, text.to_owned()));
        let (place, label) = label.unwrap_or_default();
        let mut diagnostic = SourceDiagnostic::error(locate_span(place), error.message());
        diagnostic.label = label;
        diagnostic.notes = error.notes().map(str::to_owned).collect();
        diagnostic
    })?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator
        .validate(&module)
        .map_err(|error| describe_fault(&error))?;
    let constants = Default::default();
    let resolved = process_overrides(&module, &info, None, &constants);
    let (module, info) = resolved.map_err(|error| describe_plain_fault(&error))?;
    let options = Options {
        lang_version: VERSION,
        flags: WriterFlags::DEBUG,
        ..Options::default()
    };
    write_vec(&module, &info, &options, None).map_err(|error| describe_plain_fault(&error))
}

/// The place of a span of naga.
fn locate_span(span: Span) -> SourceLocation {
    match span.to_range() {
        Some(range) => SourceLocation::from_text_range(range.start, range.end),
        None => SourceLocation::Unknown,
    }
}

/// A fault of the validator, with its causes.
fn describe_fault<E: Error>(error: &WithSpan<E>) -> SourceDiagnostic {
    let mut diagnostic = describe_plain_fault(error.as_inner());
    if let Some((span, label)) = error.spans().next() {
        diagnostic.place = locate_span(*span);
        diagnostic.label = label.clone();
    }
    diagnostic
}

/// A fault without a place, with its causes.
fn describe_plain_fault(error: &dyn Error) -> SourceDiagnostic {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text += &format!(": {inner}");
        cause = inner.source();
    }
    SourceDiagnostic::error(SourceLocation::Unknown, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_places() {
        let parsed = translate_source("fn f() { let x = ; }").unwrap_err();
        assert_ne!(parsed.place, SourceLocation::Unknown, "{parsed}");
        let validated = translate_source("@compute @workgroup_size(0) fn f() {}").unwrap_err();
        assert!(!validated.message.is_empty());
    }

    #[test]
    fn overrides_have_their_defaults() {
        let source = "override n: u32 = 3; @group(0) @binding(0) var<storage, read_write> x: array<u32>;\n\
                      @compute @workgroup_size(1) fn main() { x[0] = n; }";
        assert!(translate_source(source).is_ok());
    }
}
