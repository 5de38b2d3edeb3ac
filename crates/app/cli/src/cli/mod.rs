//! What all commands share: their arguments, files, and how failures are told.

pub mod args;
pub mod cache;
pub mod dump_kernels;
pub mod failure;
pub mod features;
pub mod files;
pub mod launch_size;
pub mod llvm;
pub mod passes;
pub mod progress;
pub mod sanitizer;
pub mod schedule;
pub mod stages;
pub mod stderr;
pub mod tuning;

pub use failure::{CommandFailure, CommandResult, report_outcome};
