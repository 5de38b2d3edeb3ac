//! The command line.

mod modules;
mod running;
mod testing;

pub use modules::*;
pub use running::*;
pub use testing::*;

use crate::cli::llvm::Llvm;
use crate::cli::schedule::{Schedule, ScheduleParser};
use crate::cli::{Failure, files};
use clap::{Args as ClapArgs, Parser, Subcommand};
use spirula::Tuning;
use spirula_spirv::target::Target;
use std::path::PathBuf;

/// Compiles compute programs to SPIR-V and runs them.
#[derive(Parser)]
#[command(version, about, max_term_width = 100, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Compile an input to SPIR-V: a module, or those of a program's kernels
    Compile(Compile),
    /// Optimise a SPIR-V module
    Opt(Opt),
    /// Disassemble a SPIR-V module
    Dis(Dis),
    /// Assemble SPIR-V assembly into a module
    As(As),
    /// Verify a SPIR-V module
    Val(Val),
    /// Link modules into one
    Link(Link),
    /// Give a module another version of SPIR-V, or have it declare only what it needs
    Convert(Convert),
    /// Draw the control flow of a module's functions
    Cfg(Cfg),
    /// Shrink a module that a command fails on
    Reduce(Reduce),
    /// List the devices that kernels can run on, or find out what they get wrong
    Devices(Devices),
    /// Show the entry points of a module or program and what they take
    Info(Info),
    /// Run a kernel or a program and show, save or check what it computes
    Run(Box<Run>),
    /// Find sizes for the schedules of a tensor program by trying them on a device
    Tune(Tune),
    /// Run folders of tests, whose kind is found from their content
    Test(Test),
    /// Measure the programs in folders of tests
    Bench(Bench),
    /// Run tests for a parent process
    #[command(hide = true)]
    TestWorker(TestWorker),
}

/// Input of most commands.
#[derive(ClapArgs)]
pub struct From {
    /// SPIR-V (binary or assembly), LLVM IR (bitcode or text), StableHLO, Futhark's printed form or
    /// kernel text, told apart by content, also compressed with gzip; `-` is standard input
    #[arg(value_name = "IN")]
    pub path: PathBuf,
}

/// What is known besides the grammar.
#[derive(ClapArgs)]
pub struct Grammar {
    /// Add the instructions, values or set of extended instructions that a file in the form of
    /// Khronos' grammar describes; NAME is the set's, where the file does not say it
    #[arg(long, value_name = "[NAME=]FILE")]
    pub grammar: Vec<String>,
}

/// How an input is brought to SPIR-V.
#[derive(ClapArgs)]
pub struct How {
    /// What the module is for: spv1.0 to spv1.6, opencl1.2 to opencl3.0, vulkan1.0 to vulkan1.4
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
    /// Kind of device that tensor programs are scheduled for; by default that of the device they run
    /// on, or else a processor
    #[arg(long, value_name = "KIND", value_parser = ScheduleParser)]
    pub schedule: Option<Schedule>,
    /// Schedules for single dispatches of tensor programs, as spirula tune found them
    #[arg(long, value_name = "FILE")]
    pub tuned: Option<PathBuf>,
    #[command(flatten)]
    pub llvm: Llvm,
}

impl How {
    /// The schedules of `--tuned`.
    ///
    /// # Errors
    /// When the file cannot be read or is no such.
    pub fn tuning(&self) -> Result<Tuning, Failure> {
        let Some(path) = &self.tuned else {
            return Ok(Tuning::default());
        };
        let input = files::read(path)?;
        let tuning = String::from_utf8_lossy(&input.bytes).parse();
        tuning.map_err(|text| Failure::message(format!("{}: {text}", input.name)))
    }
}
