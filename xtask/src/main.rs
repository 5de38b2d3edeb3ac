//! Tasks of the repository, run as `cargo xtask TASK`.

mod grammar;

use clap::{Parser, Subcommand};
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Tasks of the repository")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Regenerate the SPIR-V tables from Khronos' machine-readable grammar
    Grammar {
        /// Folder with `spirv.core.grammar.json` and the `extinst.*.grammar.json` files
        folder: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Args::parse().task {
        Task::Grammar { folder } => grammar::generate(&folder),
    }
}
