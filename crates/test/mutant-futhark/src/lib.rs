//! Mutants of Futhark programs: small changes of a text that is parsed, most of which make it wrong.
//!
//! A mutant depends only on its program and on a seed. Each kind of change is a function in [`edits`] and a row of its
//! table.

pub mod edits;
pub mod source;

pub use edits::{MUTATION_KINDS, MutationKind};
pub use source::{MutableSource, MutationChoice};

/// A changed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMutant {
    /// The name of the kind of change.
    pub kind: &'static str,
    /// The text.
    pub text: String,
}

/// How often another place is chosen if a change of the kind is not possible there.
const ATTEMPTS: usize = 4;

/// Makes a mutant by one change of a kind. None if the program has no place for it.
pub fn make_mutant(
    source: &MutableSource,
    kind: &MutationKind,
    choice: &mut MutationChoice,
) -> Option<SourceMutant> {
    for _ in 0..ATTEMPTS {
        let text = source.apply_edits((kind.make_edits)(source, choice)?);
        if text != source.text() {
            return Some(SourceMutant {
                kind: kind.name,
                text,
            });
        }
    }
    None
}
