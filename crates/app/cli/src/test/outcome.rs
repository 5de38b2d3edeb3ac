//! Outcomes of tests.

use crate::script::ScriptFault;
use serde::{Deserialize, Serialize};
use spirula::{CompileError, CompileStage};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ProgramError;
use spirula_runtime::DeviceError;
use std::fmt;

/// Outcome of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "reason")]
pub enum TestOutcome {
    /// All results are as expected. There may be a remark.
    Passed(Option<String>),
    /// The module was read. It has no expected results, so that this proves nothing about it.
    Read,
    /// A result is wrong, an error or a crash occurred, or the test itself is faulty.
    Failed(String),
    /// The compiler or the device refused the program, and named a missing feature.
    Unsupported(String),
}

impl TestOutcome {
    /// A failure with its reason in one line.
    pub fn failed(reason: impl ToString) -> Self {
        TestOutcome::Failed(one_line(&reason.to_string()))
    }

    /// An unsupported test with the missing feature in one line.
    pub fn unsupported(reason: impl ToString) -> Self {
        TestOutcome::Unsupported(one_line(&reason.to_string()))
    }

    /// An unsupported test by the first of these faults. The place is left out, so that tests with the same missing
    /// feature are counted together.
    fn from_missing_feature(faults: &[SourceDiagnostic], error: &impl ToString) -> Self {
        match faults.first() {
            Some(first) => TestOutcome::unsupported(&first.message),
            None => TestOutcome::unsupported(error.to_string()),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl From<CompileError> for TestOutcome {
    fn from(error: CompileError) -> Self {
        match error.stage {
            CompileStage::Read => TestOutcome::failed(error),
            CompileStage::Translate => {
                TestOutcome::from_missing_feature(&error.diagnostics, &error)
            }
        }
    }
}

impl From<DeviceError> for TestOutcome {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::Unsupported(ref faults) => {
                TestOutcome::from_missing_feature(faults, &error)
            }
            other => TestOutcome::failed(other),
        }
    }
}

/// The outcome of a run that must not fail.
impl From<ProgramError<DeviceError>> for TestOutcome {
    fn from(error: ProgramError<DeviceError>) -> Self {
        match error {
            ProgramError::Unsupported(what) => TestOutcome::unsupported(what),
            ProgramError::Machine(error) => error.into(),
            ProgramError::Foreign(failure) => {
                let what = format!("foreign function {:?}", failure.target);
                TestOutcome::unsupported(what)
            }
            ProgramError::Failed(..) | ProgramError::Invalid(_) => TestOutcome::failed(error),
        }
    }
}

impl From<ScriptFault> for TestOutcome {
    fn from(fault: ScriptFault) -> Self {
        match fault {
            ScriptFault::Failed(text) => TestOutcome::failed(text),
            ScriptFault::Unsupported(what) => TestOutcome::unsupported(what),
        }
    }
}

/// Prints the outcome in one line.
impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestOutcome::Passed(_) => f.write_str("passed"),
            TestOutcome::Read => f.write_str("only read"),
            TestOutcome::Failed(why) => write!(f, "failed: {why}"),
            TestOutcome::Unsupported(what) => write!(f, "unsupported: {what}"),
        }
    }
}
