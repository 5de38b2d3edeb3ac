//! Errors between processes, each with the process that is at fault.

use std::fmt;
use std::time::Duration;

/// Result of a function of this crate.
pub type ExchangeResult<T> = Result<T, ExchangeError>;

/// The reason why processes cannot exchange messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangeError {
    /// The key-value store fails.
    Store(String),
    /// This process cannot listen.
    Listen {
        /// Its address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A process has not published its address, or has not connected, within the time-out.
    Missing {
        /// The process.
        process: usize,
        /// The time of the wait.
        waited: Duration,
        /// The reason.
        reason: String,
    },
    /// A process has another version.
    Version {
        /// The process.
        process: usize,
        /// Its version.
        theirs: String,
        /// The version of this process.
        ours: String,
    },
    /// A process published something else than its record.
    Record {
        /// The process.
        process: usize,
        /// The reason.
        reason: String,
    },
    /// A connection has ended.
    Lost {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A process sent bytes that are no message.
    Malformed {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// A process has sent nothing for too long.
    Silent {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
        /// The time of the wait.
        waited: Duration,
    },
    /// A process has given a run up.
    Aborted {
        /// The process.
        process: usize,
        /// The reason.
        reason: String,
    },
    /// A process runs another program.
    Program {
        /// The process.
        process: usize,
        /// Its address.
        address: String,
    },
    /// A message has another length than both sides must know.
    Length {
        /// The process.
        process: usize,
        /// Bytes that are expected.
        wanted: usize,
        /// Bytes that were sent.
        found: usize,
    },
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeError::Store(reason) => {
                write!(f, "the key-value store of the processes fails: {reason}")
            }
            ExchangeError::Listen { address, reason } => {
                write!(f, "this process cannot listen at {address}: {reason}")
            }
            ExchangeError::Missing {
                process,
                waited,
                reason,
            } => write!(
                f,
                "process {process} is missing after {} s: {reason}",
                waited.as_secs_f32()
            ),
            ExchangeError::Version {
                process,
                theirs,
                ours,
            } => write!(
                f,
                "process {process} has the version {theirs:?}, this one {ours:?}"
            ),
            ExchangeError::Record { process, reason } => {
                write!(
                    f,
                    "process {process} published a malformed record: {reason}"
                )
            }
            ExchangeError::Lost {
                process,
                address,
                reason,
            } => write!(
                f,
                "the connection with process {process} ({address}) has ended: {reason}"
            ),
            ExchangeError::Malformed {
                process,
                address,
                reason,
            } => write!(
                f,
                "process {process} ({address}) sent a malformed message: {reason}"
            ),
            ExchangeError::Silent {
                process,
                address,
                waited,
            } => write!(
                f,
                "process {process} ({address}) sent nothing for {} s",
                waited.as_secs_f32()
            ),
            ExchangeError::Aborted { process, reason } => {
                write!(f, "process {process} gave up: {reason}")
            }
            ExchangeError::Program { process, address } => write!(
                f,
                "process {process} ({address}) runs another program at this place"
            ),
            ExchangeError::Length {
                process,
                wanted,
                found,
            } => write!(
                f,
                "process {process} sent {found} bytes where {wanted} are expected"
            ),
        }
    }
}

impl std::error::Error for ExchangeError {}
