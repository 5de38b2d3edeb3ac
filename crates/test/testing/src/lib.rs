//! What the tests of several crates share: the corpora, files with expected text, the validator,
//! modules made and edited at random.
//!
//! What cannot be run is said aloud on standard error. Tools are demanded where `CI` is set; the
//! corpora, which are no part of the repository, where `SPIRULA_CORPUS` names their folder.

mod choices;
mod corpus;
pub mod editing;
mod expected;
pub mod generate;
mod validator;

pub use choices::ChoiceSequence;
pub use corpus::{find_corpus, list_files};
pub use expected::GoldenFiles;
pub use validator::SpirvValTool;
