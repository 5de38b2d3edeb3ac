//! Test support for several crates: corpora, golden files, Khronos' validator, random modules and edits, and the
//! reduction of what shows a fault.
//!
//! Tests that cannot run report this on standard error. If `CI` is set, missing tools are failures. The corpora are
//! not part of the repository; if `SPIRULA_CORPUS` names their folder, missing corpora are failures.

mod choice_sequence;
mod corpus;
pub mod editing;
pub mod generate;
mod golden_files;
mod reduce;
mod validator;

pub use choice_sequence::ChoiceSequence;
pub use corpus::{find_corpus, list_files};
pub use golden_files::GoldenFiles;
pub use reduce::reduce_input;
pub use validator::SpirvValTool;
