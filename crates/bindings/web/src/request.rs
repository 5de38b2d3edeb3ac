//! Requests of the page, and their replies.

use crate::compile::{PageCompilation, compile_source};
use crate::describe::describe_compiler;
use crate::found_problem::FoundProblem;
#[cfg(feature = "wgsl")]
use crate::run::prepare_launch;
use crate::run::{RunRequest, run_source};
use serde::{Deserialize, Serialize};

/// Most bytes of an input. Larger ones are refused before they are read.
const LARGEST_INPUT: usize = 32 << 20;

/// A request.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
enum PageRequest {
    /// Facts about the compiler.
    Describe,
    /// A compilation.
    Compile(PageCompilation),
    /// A run on arrays.
    Run(RunRequest),
    /// The launch of a shader on WebGPU.
    #[cfg(feature = "wgsl")]
    Launch(RunRequest),
}

/// A reply without success.
#[derive(Debug, Serialize)]
pub(crate) struct RequestFailure {
    /// One sentence without a full stop.
    error: String,
    /// Diagnostics of the input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<FoundProblem>,
}

impl RequestFailure {
    /// A failure with a message alone.
    pub(crate) fn from_message(message: impl Into<String>) -> RequestFailure {
        RequestFailure {
            error: message.into(),
            problems: Vec::new(),
        }
    }

    /// A failure with the diagnostics of an input.
    pub(crate) fn from_problems(
        message: impl Into<String>,
        problems: Vec<FoundProblem>,
    ) -> RequestFailure {
        RequestFailure {
            problems,
            ..RequestFailure::from_message(message)
        }
    }
}

/// Answers a request in JSON about an input. The reply is JSON too.
///
/// ```
/// let reply = spirula_web::answer_request(br#"{"command": "describe"}"#, b"");
/// assert!(reply.contains("\"presets\""));
/// let reply = spirula_web::answer_request(b"{}", b"");
/// assert!(reply.starts_with("{\"error\":"));
/// ```
pub fn answer_request(request: &[u8], input: &[u8]) -> String {
    let answered = match serde_json::from_slice(request) {
        Err(error) => Err(RequestFailure::from_message(format!(
            "the request is malformed: {error}"
        ))),
        Ok(_) if input.len() > LARGEST_INPUT => Err(RequestFailure::from_message(format!(
            "the input has {} MiB, more than the {} that the playground takes",
            input.len() >> 20,
            LARGEST_INPUT >> 20
        ))),
        Ok(PageRequest::Describe) => print_reply(&describe_compiler()),
        Ok(PageRequest::Compile(options)) => {
            compile_source(&options, input).and_then(|reply| print_reply(&reply))
        }
        #[cfg(feature = "wgsl")]
        Ok(PageRequest::Launch(options)) => {
            prepare_launch(&options, input).and_then(|reply| print_reply(&reply))
        }
        Ok(PageRequest::Run(options)) => {
            run_source(&options, input).and_then(|reply| print_reply(&reply))
        }
    };
    answered
        .or_else(|failure| print_reply(&failure))
        .unwrap_or_else(|_| r#"{"error":"the reply has no form as JSON"}"#.to_owned())
}

fn print_reply(reply: &impl Serialize) -> Result<String, RequestFailure> {
    serde_json::to_string(reply)
        .map_err(|error| RequestFailure::from_message(format!("the reply: {error}")))
}
