//! Refusals: the report of all constructs that cannot be translated.

use rustc_hash::FxHashMap;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The diagnostics of a translation.
#[derive(Debug, Default)]
pub(super) struct RefusalReport {
    diagnostics: Vec<SourceDiagnostic>,
    /// Messages that may be repeated: the index of the diagnostic, and the number of places.
    repeated: FxHashMap<String, (usize, usize)>,
}

impl RefusalReport {
    /// Whether nothing was refused.
    pub(super) fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Adds a diagnostic.
    pub(super) fn push_error(&mut self, place: SourceLocation, message: String) {
        self.diagnostics
            .push(SourceDiagnostic::error(place, message));
    }

    /// Adds a diagnostic, or counts another place of an equal message.
    pub(super) fn push_repeatable(&mut self, place: SourceLocation, message: String) {
        match self.repeated.get_mut(&message) {
            Some((_, places)) => *places += 1,
            None => {
                let first = (self.diagnostics.len(), 1);
                self.repeated.insert(message.clone(), first);
                self.push_error(place, message);
            }
        }
    }

    /// All diagnostics; repeated messages state the number of their places.
    pub(super) fn into_diagnostics(mut self) -> Vec<SourceDiagnostic> {
        for (index, places) in self.repeated.into_values() {
            if places > 1 {
                let message = &mut self.diagnostics[index].message;
                message.push_str(&format!(", at {places} places"));
            }
        }
        self.diagnostics
    }
}
