//! Parts that all commands share: arguments, files, reports of failures, progress.

pub mod args;
pub mod device_record;
pub mod dump_kernels;
pub mod environment;
pub mod failure;
pub mod features;
pub mod files;
pub mod finding;
pub mod foreign_calls;
pub mod futhark;
pub mod input_file;
pub mod launch_size;
pub mod level;
pub mod llvm;
pub mod output_form;
pub mod passes;
pub mod progress;
pub mod restart;
pub mod sanitizer;
pub mod schedule;
pub mod shader_source;
pub mod stages;
pub mod stderr;
pub mod suggest;
pub mod tuning;
pub mod verbosity;

pub use failure::{CommandFailure, CommandResult, report_outcome};
