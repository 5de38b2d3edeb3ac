//! OpenCL C and C++ for OpenCL to LLVM IR, by an installed Clang that runs as a process.
//!
//! - [`ClangCompiler`] finds Clang and runs it. [`ClangJob`] is a source with its headers and options.
//! - [`ClangCache`] keeps outputs in memory and on disk, by source, headers, options and version of Clang.
//! - [`parse_build_options`] reads the options of `clBuildProgram`.

mod build_options;
mod cache;
mod compiler;
mod error;
mod job;
mod version_record;

pub use build_options::{BuildOptions, parse_build_options};
pub use cache::ClangCache;
pub use compiler::{ClangCompiler, ClangOutput};
pub use error::ClangError;
pub use job::ClangJob;
