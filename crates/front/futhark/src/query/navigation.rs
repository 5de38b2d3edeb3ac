//! Definitions and references of names.

use super::{SourceAnalysis, SymbolNode};
use crate::check::name_record::NameOccurrence;
use crate::syntax::token::TextRange;
use crate::typed::{FileId, ProgramPlace};

impl SourceAnalysis {
    /// Where the name at a byte of a file is defined, and where the name itself stands. Built-in types have no definition.
    pub fn find_definition(&self, file: FileId, at: u32) -> Option<(TextRange, ProgramPlace)> {
        let (range, occurrence) = self.find_occurrence(file, at)?;
        let definition = self.find_defining_place(ProgramPlace { file, range }, occurrence)?;
        let is_built_in =
            definition.file == self.files.intrinsics && definition.range == TextRange::default();
        (!is_built_in).then_some((range, definition))
    }

    /// Where an occurrence of a name is defined.
    fn find_defining_place(
        &self,
        place: ProgramPlace,
        occurrence: &NameOccurrence,
    ) -> Option<ProgramPlace> {
        let definition = occurrence.definition;
        definition.or_else(|| self.find_part_definition(place, occurrence))
    }

    /// All places of the name at a byte of a file, that of its definition among them, in the order of the files.
    pub fn list_references(&self, file: FileId, at: u32) -> Vec<ProgramPlace> {
        let definition = self.find_definition(file, at);
        definition.map_or_else(Vec::new, |(_, place)| self.list_occurrences(place))
    }

    /// All places of the names that are defined at a place.
    pub fn list_occurrences(&self, definition: ProgramPlace) -> Vec<ProgramPlace> {
        let name = self.text_at(definition);
        let mut places = Vec::new();
        for (&file, list) in &self.occurrences {
            let places_of_file = list.iter().filter_map(|(range, occurrence)| {
                let place = ProgramPlace {
                    file,
                    range: *range,
                };
                let is_same = match occurrence.definition {
                    Some(other) => other == definition,
                    None => {
                        self.text_at(place) == name
                            && self.find_part_definition(place, occurrence) == Some(definition)
                    }
                };
                is_same.then_some(place)
            });
            places.extend(places_of_file);
        }
        places.sort_unstable();
        places
    }

    /// The declarations of a file as a tree.
    pub fn list_symbols(&self, file: FileId) -> &[SymbolNode] {
        self.symbols.list(file)
    }
}
