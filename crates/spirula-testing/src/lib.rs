//! What the tests of several crates share: the corpora, files with expected text, the validator.
//!
//! What cannot be run is said aloud on standard error. Tools are demanded where `CI` is set; the
//! corpora, which are no part of the repository, where `SPIRULA_CORPUS` names their folder.

mod corpus;
mod expected;
mod validator;

pub use corpus::{corpus, files};
pub use expected::Expected;
pub use validator::Validator;
