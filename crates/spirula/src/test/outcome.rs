//! How a test ends.

use serde::{Deserialize, Serialize};
use spirula::{CompileError, Stage};
use spirula_runtime::Error;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "reason")]
pub enum Outcome {
    /// All results are as expected.
    Passed,
    /// Something is wrong: a result, an error, a crash, or the test itself.
    Failed(String),
    /// Compiler or device refused, and named what is missing.
    Unsupported(String),
}

impl Outcome {
    /// Failed, with the reason in one line.
    pub fn failed(reason: impl ToString) -> Self {
        Outcome::Failed(one_line(&reason.to_string()))
    }

    /// Unsupported, with what is missing in one line.
    pub fn unsupported(reason: impl ToString) -> Self {
        Outcome::Unsupported(one_line(&reason.to_string()))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<CompileError> for Outcome {
    fn from(error: CompileError) -> Self {
        match error.stage {
            Stage::Read => Outcome::failed(error),
            // Without the place, so that those who miss the same are counted together.
            Stage::Translate => match error.diagnostics.first() {
                Some(first) => Outcome::unsupported(&first.message),
                None => Outcome::unsupported(error),
            },
        }
    }
}

impl From<Error> for Outcome {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported(_) => Outcome::unsupported(error),
            other => Outcome::failed(other),
        }
    }
}
