//! The faults that a pass over a typed program finds.

use super::SourceFault;
use crate::typed::{FileId, ProgramPlace};
use rustc_hash::FxHashSet;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// Most faults of a pass that are kept.
const MOST_FAULTS: usize = 100;

/// Faults, one at each place: a parametric module is checked for each argument.
#[derive(Debug, Default)]
pub(crate) struct FaultList {
    faults: Vec<SourceFault>,
    places: FxHashSet<(FileId, u32, u32)>,
}

impl FaultList {
    /// Adds a fault, unless one was reported at its place.
    pub(crate) fn report(
        &mut self,
        place: ProgramPlace,
        message: String,
        decorate: impl FnOnce(SourceDiagnostic) -> SourceDiagnostic,
    ) {
        let key = (place.file, place.range.start, place.range.end);
        if self.faults.len() >= MOST_FAULTS || !self.places.insert(key) {
            return;
        }
        let location =
            SourceLocation::from_text_range(place.range.start as usize, place.range.end as usize);
        self.faults.push(SourceFault {
            file: place.file,
            diagnostic: decorate(SourceDiagnostic::error(location, message)),
        });
    }

    /// The faults in the order in which they were found.
    pub(crate) fn into_faults(self) -> Vec<SourceFault> {
        self.faults
    }
}
