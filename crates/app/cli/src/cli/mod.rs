//! What all commands share: their arguments, files, and how failures are told.

pub mod allow;
pub mod args;
pub mod cache;
pub mod checking;
pub mod dump;
pub mod failure;
pub mod files;
pub mod llvm;
pub mod passes;
pub mod progress;
pub mod say;
pub mod schedule;
pub mod sizes;
pub mod stages;
pub mod tuning;

pub use failure::{CommandFailure, CommandResult, report_outcome};
