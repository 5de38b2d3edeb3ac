//! Definitions and references of names.

use super::{SourceAnalysis, SymbolNode};
use crate::syntax::token::TextRange;
use crate::typed::{FileId, ProgramPlace};

impl SourceAnalysis {
    /// Where the name at a byte of a file is defined, and where the name itself stands. Built-in types, fields and
    /// constructors have no definition.
    pub fn find_definition(&self, file: FileId, at: u32) -> Option<(TextRange, ProgramPlace)> {
        let (range, occurrence) = self.find_occurrence(file, at)?;
        let definition = occurrence.definition?;
        let is_built_in =
            definition.file == self.files.intrinsics && definition.range == TextRange::default();
        (!is_built_in).then_some((range, definition))
    }

    /// All places of the name at a byte of a file, that of its definition among them, in the order of the files.
    pub fn list_references(&self, file: FileId, at: u32) -> Vec<ProgramPlace> {
        let occurrence = self.find_occurrence(file, at);
        let definition = occurrence.and_then(|(_, occurrence)| occurrence.definition);
        definition.map_or_else(Vec::new, |place| self.list_occurrences(place))
    }

    /// All places of the names that are defined at a place.
    pub fn list_occurrences(&self, definition: ProgramPlace) -> Vec<ProgramPlace> {
        let mut places = Vec::new();
        for (&file, list) in &self.occurrences {
            let same = list
                .iter()
                .filter(|(_, occurrence)| occurrence.definition == Some(definition));
            places.extend(same.map(|&(range, _)| ProgramPlace { file, range }));
        }
        places.sort_unstable();
        places
    }

    /// The declarations of a file as a tree.
    pub fn list_symbols(&self, file: FileId) -> &[SymbolNode] {
        self.symbols.list(file)
    }
}
