//! Renaming. The program is checked again with the new name, so that nothing changes its meaning.

use super::{SourceAnalysis, analyse_source};
use crate::check::name_record::NameMeaning;
use crate::syntax::read_tokens;
use crate::syntax::token::{TextRange, TokenKind};
use crate::typed::{FileId, ProgramPlace};
use rustc_hash::FxHashMap;
use std::fmt;

/// A text that replaces what stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameEdit {
    /// The place.
    pub place: ProgramPlace,
    /// The new text.
    pub text: String,
}

/// Why a name cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenameFault {
    /// No name stands there.
    NoName,
    /// The name is that of a field, a constructor or a file, or it is defined in the prelude.
    NotRenamable,
    /// The new name is none.
    InvalidName,
    /// The new name would change the meaning of the program.
    Conflict,
}

impl fmt::Display for RenameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RenameFault::NoName => "no name stands here",
            RenameFault::NotRenamable => {
                "this name cannot be changed: it is a field, a constructor, a file, or part of the prelude"
            }
            RenameFault::InvalidName => "the new name is no name of Futhark",
            RenameFault::Conflict => "the new name would change the meaning of the program",
        })
    }
}

impl std::error::Error for RenameFault {}

impl SourceAnalysis {
    /// The place of the name at a byte of a file, if the name can be changed.
    ///
    /// # Errors
    ///
    /// No name stands there, or it cannot be changed.
    pub fn find_renamable(&self, file: FileId, at: u32) -> Result<TextRange, RenameFault> {
        let (range, occurrence) = self.find_occurrence(file, at).ok_or(RenameFault::NoName)?;
        let definition = occurrence.definition.ok_or(RenameFault::NotRenamable)?;
        let is_file = matches!(occurrence.meaning, NameMeaning::File);
        if is_file || self.is_prelude(definition.file) {
            return Err(RenameFault::NotRenamable);
        }
        Ok(range)
    }

    /// The edits that give the name at a byte of a file another text, wherever it is used in the program.
    ///
    /// # Errors
    ///
    /// The name cannot be changed to the other one.
    pub fn rename(
        &self,
        file: FileId,
        at: u32,
        new_name: &str,
    ) -> Result<Vec<RenameEdit>, RenameFault> {
        let range = self.find_renamable(file, at)?;
        let old_name = self.text_at(ProgramPlace { file, range });
        if name_class(new_name).is_none() || name_class(new_name) != name_class(old_name) {
            return Err(RenameFault::InvalidName);
        }
        let places = self.list_references(file, at);
        let edits = places.into_iter().map(|place| {
            let occurrence = self.find_occurrence(place.file, place.range.start);
            let is_shorthand =
                occurrence.is_some_and(|(_, occurrence)| occurrence.is_field_shorthand);
            let text = if is_shorthand {
                format!("{old_name} = {new_name}")
            } else {
                new_name.to_owned()
            };
            RenameEdit { place, text }
        });
        let edits: Vec<RenameEdit> = edits.collect();
        if self.keeps_meaning(&edits, new_name) {
            Ok(edits)
        } else {
            Err(RenameFault::Conflict)
        }
    }

    /// Whether the program has no new fault after edits, and the names that were edited still mean the same.
    fn keeps_meaning(&self, edits: &[RenameEdit], new_name: &str) -> bool {
        let mut texts: FxHashMap<&str, String> = FxHashMap::default();
        for (id, file) in self.files.files.iter() {
            let own = edits.iter().filter(|edit| edit.place.file == id);
            texts.insert(&file.name, apply_edits(&file.text, own));
        }
        let mut read = |name: &str| texts.get(name).cloned().ok_or_else(String::new);
        let Ok(renamed) = analyse_source(&self.main, &mut read) else {
            return false;
        };
        let count_errors = |analysis: &SourceAnalysis| analysis.checked.faults.len();
        if renamed.has_syntax_faults() || count_errors(&renamed) > count_errors(self) {
            return false;
        }
        let Some(first) = edits.first() else {
            return true;
        };
        let name = &self.files.files[first.place.file].name;
        let Some(file) = renamed.find_file(name) else {
            return false;
        };
        // A shorthand has the new name at the end of its edit.
        let at = first.place.range.start + (first.text.len() - new_name.len()) as u32;
        renamed.list_references(file, at).len() == edits.len()
    }
}

/// A text with edits, which are in order.
fn apply_edits<'e>(text: &str, edits: impl Iterator<Item = &'e RenameEdit>) -> String {
    let mut out = String::new();
    let mut done = 0;
    for edit in edits {
        let start = edit.place.range.start as usize;
        out.push_str(text.get(done..start).unwrap_or_default());
        out.push_str(&edit.text);
        done = edit.place.range.end as usize;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The class of the only token of a text. None if there is no name.
fn name_class(text: &str) -> Option<TokenKind> {
    let list = read_tokens(text).ok()?;
    let [token, _] = list.tokens.as_slice() else {
        return None;
    };
    match token.kind {
        TokenKind::Name => Some(TokenKind::Name),
        TokenKind::Operator | TokenKind::Minus => Some(TokenKind::Operator),
        _ => None,
    }
}
