//! Scripts: expressions over the entry points of a program, for inputs of tests, and for programs with text.
//!
//! - [`evaluate_expression`]: evaluates a script in an environment.
//! - [`ScriptValue`]: values of scripts.
//! - [`ScriptProgram`]: a program of a file whose definitions scripts call.

mod builtin;
mod environment;
mod evaluate;
mod program;
mod value;

pub use environment::{ScriptEnvironment, apply_function};
pub use evaluate::{evaluate_arguments, evaluate_expression};
pub use program::{ScriptProgram, ScriptRunner};
pub use value::ScriptValue;

use std::fmt;

/// The reason why a script fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptFault {
    /// It is wrong, or what it calls fails.
    Failed(String),
    /// It uses something that is not supported.
    Unsupported(String),
}

impl ScriptFault {
    /// A script that is wrong.
    pub fn failed(text: impl ToString) -> ScriptFault {
        ScriptFault::Failed(text.to_string())
    }
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptFault::Failed(text) => f.write_str(text),
            ScriptFault::Unsupported(what) => write!(f, "{what} is not supported"),
        }
    }
}
