//! What the tests of several crates share: the corpora, files with expected text, the validator,
//! modules made and edited at random.
//!
//! What cannot be run is said aloud on standard error. Tools are demanded where `CI` is set; the
//! corpora, which are no part of the repository, where `SPIRULA_CORPUS` names their folder.

mod choice_sequence;
mod corpus;
pub mod editing;
pub mod generate;
mod golden_files;
mod validator;

pub use choice_sequence::ChoiceSequence;
pub use corpus::{find_corpus, list_files};
pub use golden_files::GoldenFiles;
pub use validator::SpirvValTool;
