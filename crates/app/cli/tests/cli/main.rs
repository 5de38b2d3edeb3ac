//! The command as users see it: exit codes, messages, files.

mod archives;
mod bad_input;
mod c_library;
mod convert;
mod corpora;
mod document;
mod folders;
mod formats;
mod futhark;
mod futhark_source;
mod grammar;
mod harness;
mod help;
mod link;
mod lsp;
mod optimise;
mod pkg;
mod programs;
mod reduce;
mod repl;
mod run;
mod rust;
mod server;
mod shaders_of_kernels;
mod stablehlo;
mod val;
