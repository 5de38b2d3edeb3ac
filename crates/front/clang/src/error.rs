//! Errors of compilations by Clang.

use std::io;

/// The reason why Clang makes no LLVM IR.
#[derive(Debug, thiserror::Error)]
pub enum ClangError {
    /// There is no Clang that is new enough.
    #[error(
        "no Clang of version {oldest} or newer was found{found}; install one (Debian and Ubuntu: apt install clang), or \
         set SPIRULA_CLANG to its path"
    )]
    Missing {
        /// The oldest version that can be used.
        oldest: u32,
        /// Those that were found, as a part of the sentence.
        found: String,
    },
    /// Clang cannot be run.
    #[error("{program} cannot be run: {error}")]
    Process {
        /// The path of Clang.
        program: String,
        /// The reason.
        error: io::Error,
    },
    /// A header cannot be written for Clang.
    #[error("the header {name} cannot be written: {error}")]
    Header {
        /// The name by which sources include it.
        name: String,
        /// The reason.
        error: io::Error,
    },
    /// The source has errors.
    #[error("{log}")]
    Source {
        /// Clang's messages.
        log: String,
    },
    /// An option is unknown.
    #[error("the build option {option} is unknown")]
    Option {
        /// The option.
        option: String,
    },
}
