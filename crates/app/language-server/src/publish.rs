//! Errors and warnings of open files and of the files that they import, for the editor.

use crate::document::DocumentStore;
use crate::file_uri::write_file_uri;
use crate::text_position::LineIndex;
use serde_json::{Value, json};
use spirula_diagnostics::{DiagnosticSeverity, SourceLocation};
use spirula_futhark::compile::FileFault;
use spirula_futhark::syntax::token::TextRange;
use std::collections::BTreeMap;

/// The errors and warnings of each file, by its URI. A file that is open has those of its own analysis.
pub(crate) fn collect_faults(documents: &DocumentStore) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let open: BTreeMap<&str, &str> = documents
        .list()
        .map(|(path, document)| (path, document.uri.as_str()))
        .collect();
    for (path, document) in documents.list() {
        found.entry(document.uri.clone()).or_default();
        let faults = document
            .current()
            .map_or_else(Vec::new, |analysis| analysis.list_faults());
        for fault in faults {
            let name: &str = &fault.name;
            let uri = match open.get(name) {
                Some(_) if name != path => continue,
                Some(uri) => (*uri).to_owned(),
                None => write_file_uri(name),
            };
            let diagnostic = write_diagnostic(&fault);
            let list = found.entry(uri).or_default();
            if !list.contains(&diagnostic) {
                list.push(diagnostic);
            }
        }
    }
    found
}

/// A fault as a `Diagnostic`.
fn write_diagnostic(fault: &FileFault) -> Value {
    let diagnostic = &fault.diagnostic;
    let range = match diagnostic.place {
        SourceLocation::Text { start, end } => TextRange { start, end },
        _ => TextRange::default(),
    };
    let severity = match diagnostic.severity {
        DiagnosticSeverity::Error => 1,
        DiagnosticSeverity::Warning => 2,
        DiagnosticSeverity::Note => 3,
    };
    let mut message = diagnostic.message.clone();
    for note in &diagnostic.notes {
        message.push_str(&format!("\n{note}"));
    }
    if let Some(hint) = &diagnostic.hint {
        message.push_str(&format!("\nhint: {hint}"));
    }
    json!({
        "range": LineIndex::new(&fault.text).find_range(range),
        "severity": severity,
        "source": "spirula",
        "message": message,
    })
}
