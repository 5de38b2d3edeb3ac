//! How a test ends.

use serde::{Deserialize, Serialize};
use spirula::{CompileError, Stage};
use spirula_diagnostics::Diagnostic;
use spirula_program::RunError;
use spirula_runtime::Error;
use std::fmt;

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

    /// Unsupported for the first of these faults: without its place, so that tests that miss the
    /// same are counted together.
    fn missing(faults: &[Diagnostic], error: &impl ToString) -> Self {
        match faults.first() {
            Some(first) => Outcome::unsupported(&first.message),
            None => Outcome::unsupported(error.to_string()),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<CompileError> for Outcome {
    fn from(error: CompileError) -> Self {
        match error.stage {
            Stage::Read => Outcome::failed(error),
            Stage::Translate => Outcome::missing(&error.diagnostics, &error),
        }
    }
}

impl From<Error> for Outcome {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsupported(ref faults) => Outcome::missing(faults, &error),
            other => Outcome::failed(other),
        }
    }
}

/// Of a run that should not have ended early.
impl From<RunError<Error>> for Outcome {
    fn from(error: RunError<Error>) -> Self {
        match error {
            RunError::Unsupported(what) => Outcome::unsupported(what),
            RunError::Machine(error) => error.into(),
            RunError::Failed(..) | RunError::Invalid(_) => Outcome::failed(error),
        }
    }
}

/// One line for reports.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Passed => f.write_str("passed"),
            Outcome::Failed(why) => write!(f, "failed: {why}"),
            Outcome::Unsupported(what) => write!(f, "unsupported: {what}"),
        }
    }
}
