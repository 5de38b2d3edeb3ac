//! Places of diagnostics in the text of an assembled module.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::text;

/// Moves diagnostics about words of an assembled module to the lines of its text. Others, and those about inputs that are no
/// assembly, stay where they are.
pub fn relocate_to_text(bytes: &[u8], diagnostics: &[SourceDiagnostic]) -> Vec<SourceDiagnostic> {
    let mut located = diagnostics.to_vec();
    let mut about: Vec<(u32, &mut SourceDiagnostic)> = Vec::new();
    for diagnostic in &mut located {
        if let SourceLocation::Word(word) = diagnostic.place {
            about.push((word, diagnostic));
        }
    }
    let source = match std::str::from_utf8(bytes) {
        Ok(source) if !about.is_empty() && text::looks_like_assembly(bytes) => source,
        _ => return located,
    };
    about.sort_by_key(|(word, _)| *word);
    let words: Vec<u32> = about.iter().map(|(word, _)| *word).collect();
    for ((_, diagnostic), place) in about.iter_mut().zip(text::locate_words(source, &words)) {
        if place != SourceLocation::Unknown {
            diagnostic.place = place;
        }
    }
    located
}
