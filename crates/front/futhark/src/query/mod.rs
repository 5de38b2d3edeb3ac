//! Questions about source at a place, for editors: types, definitions, references, names in scope.
//!
//! [`analyse_source`] checks a program as far as it can be checked, and keeps what the checker found about each name. All
//! questions are answered from that. After an edit, [`EditMap`] takes places of the new text to those of the analysis.
//!
//! Analyses are deep in their recursion: run them on a thread with a large stack ([`crate::compile::with_large_stack`]).

mod completion;
mod edit_map;
mod hover;
mod inlay_hint;
mod navigation;
mod part_definition;
mod rename;
mod signature;
mod symbol;
mod top_level;

pub use completion::{CompletionKind, CompletionName, NamePath};
pub use edit_map::EditMap;
pub use hover::HoverText;
pub use inlay_hint::InlayHint;
pub use rename::{RenameEdit, RenameFault};
pub use signature::SignatureHelp;
pub use symbol::{SymbolKind, SymbolNode};
pub use top_level::ValueType;

use crate::check::name_record::NameOccurrence;
use crate::check::{RecordedProgram, check_recorded_program};
use crate::compile::{FileFault, add_files, name_faulty_file};
use crate::sizes::print::ShapePrinter;
use crate::source::{FaultyFile, ProgramFile, SourceFiles, read_partial_program};
use crate::syntax::token::TextRange;
use crate::typed::{FileId, ProgramPlace};
use rustc_hash::FxHashMap;
use symbol::SymbolIndex;

/// The findings of the checker about a program, with its files.
#[derive(Debug)]
pub struct SourceAnalysis {
    main: String,
    files: SourceFiles,
    checked: RecordedProgram,
    faulty_files: Vec<FaultyFile>,
    /// The occurrences of names in each file, in order.
    occurrences: FxHashMap<FileId, Vec<(TextRange, NameOccurrence)>>,
    symbols: SymbolIndex,
}

/// Analyses a program. `main` is the path of its main file, `read` gives the text of each file.
///
/// # Errors
///
/// The main file cannot be read.
pub fn analyse_source(
    main: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<SourceAnalysis, FaultyFile> {
    let (mut files, faulty_files) = read_partial_program(main, read)?;
    let mut checked = check_recorded_program(&mut files);
    let mut occurrences: FxHashMap<FileId, Vec<(TextRange, NameOccurrence)>> = FxHashMap::default();
    for (place, occurrence) in std::mem::take(&mut checked.names.occurrences) {
        let list = occurrences.entry(place.file).or_default();
        list.push((place.range, occurrence));
    }
    for list in occurrences.values_mut() {
        list.sort_by_key(|(range, _)| *range);
    }
    let symbols = SymbolIndex::from_files(&files, &checked.program.names);
    Ok(SourceAnalysis {
        main: main.to_owned(),
        files,
        checked,
        faulty_files,
        occurrences,
        symbols,
    })
}

impl SourceAnalysis {
    /// The main file.
    pub fn main_file(&self) -> FileId {
        self.files.main
    }

    /// All files of the program, those of the prelude among them.
    pub fn list_files(&self) -> impl Iterator<Item = (FileId, &ProgramFile)> {
        self.files.files.iter()
    }

    /// A file of the program.
    pub fn file(&self, id: FileId) -> &ProgramFile {
        &self.files.files[id]
    }

    /// The file with a path.
    pub fn find_file(&self, name: &str) -> Option<FileId> {
        let mut files = self.files.files.iter();
        files.find(|(_, file)| file.name == name).map(|(id, _)| id)
    }

    /// Whether a file belongs to the prelude.
    pub fn is_prelude(&self, id: FileId) -> bool {
        self.files.files[id].name.starts_with("/prelude/")
    }

    /// Whether a file of the program could not be read or parsed.
    pub fn has_syntax_faults(&self) -> bool {
        !self.faulty_files.is_empty()
    }

    /// The errors and warnings of the program. Where files cannot be read or parsed, these are their faults alone.
    pub fn list_faults(&self) -> Vec<FileFault> {
        if self.has_syntax_faults() {
            let faulty = self.faulty_files.iter();
            return faulty
                .flat_map(|faulty| name_faulty_file(&self.main, faulty.clone()))
                .collect();
        }
        let faults = self.checked.faults.iter();
        let faults = faults.chain(&self.checked.program.warnings);
        add_files(&self.files, faults.cloned().collect())
    }

    /// Whether declarations of the main file could not be parsed.
    pub fn lacks_declarations(&self) -> bool {
        let main = &self.files.files[self.files.main].name;
        let mut faulty = self.faulty_files.iter();
        faulty.any(|faulty| faulty.lacks_declarations && faulty.name == *main)
    }

    /// The name at a byte of a file, or in front of it.
    fn find_occurrence(&self, file: FileId, at: u32) -> Option<(TextRange, &NameOccurrence)> {
        let list = self.occurrences.get(&file)?;
        let after = list.partition_point(|(range, _)| range.start <= at);
        let before = list[..after].iter().rev();
        let (range, occurrence) = before.take(2).find(|(range, _)| at <= range.end)?;
        Some((*range, occurrence))
    }

    /// The text at a place.
    fn text_at(&self, place: ProgramPlace) -> &str {
        let range = place.range.start as usize..place.range.end as usize;
        let text = &self.files.files[place.file].text;
        text.get(range).unwrap_or_default()
    }

    /// A printer of types.
    fn printer(&self) -> ShapePrinter<'_> {
        ShapePrinter::new(&self.checked.shapes, &self.checked.program)
    }
}

/// Whether a byte stands in a range or at its end.
fn touches(range: TextRange, at: u32) -> bool {
    range.start <= at && at <= range.end
}
