//! Arguments of the commands.

mod futhark;
mod modules;
mod running;
mod testing;

pub use futhark::*;
pub use modules::*;
pub use running::*;
pub use testing::*;

use crate::cli::llvm::LlvmArgs;
use crate::cli::schedule::{ScheduleParser, ScheduleSpec};
use crate::cli::{CommandFailure, files};
use clap::{Args as ClapArgs, ValueEnum};
use spirula::{DispatchTuning, ProductPrecision};
use spirula_spirv::target::SpirvTarget;
use std::path::PathBuf;

/// Input of most commands.
#[derive(ClapArgs)]
pub struct InputArgs {
    #[arg(value_name = "IN", help = describe_input())]
    pub path: PathBuf,
}

/// Input of commands that read standard input where none is named.
#[derive(ClapArgs)]
pub struct OptionalInputArgs {
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true,
        help = format!("{}, and so is no name", describe_input()))]
    pub path: PathBuf,
}

/// Arguments of `completions`.
#[derive(ClapArgs)]
pub struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(ClapArgs)]
pub struct ManualArgs {
    /// Folder of the pages: spirula.1, and one for each command; without it, the first is printed
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}

/// Help of the input: all languages that have a front end.
fn describe_input() -> String {
    let accepted = spirula::list_accepted_inputs();
    format!(
        "{accepted}; recognised by content, also when compressed with gzip; `-` is standard input"
    )
}

/// Additions to the grammar.
#[derive(ClapArgs)]
pub struct GrammarArgs {
    /// Add the instructions, values or set of extended instructions of a file in the form of Khronos' grammar. NAME is
    /// the name of the set where the file does not state it
    #[arg(long, value_name = "[NAME=]FILE")]
    pub grammar: Vec<String>,
}

/// Whether a module is verified before a command changes it.
#[derive(ClapArgs)]
pub struct InputValidation {
    /// Accept a SPIR-V module that breaks a rule (see spirula val); by default it is refused
    #[arg(long)]
    pub skip_validation: bool,
}

/// The precision of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProductPrecisionArg {
    /// That of `f32`
    Full,
    /// An error of at most 2^-15 of each product, where matrix units are quicker for it
    Reduced,
}

impl From<ProductPrecisionArg> for ProductPrecision {
    fn from(arg: ProductPrecisionArg) -> ProductPrecision {
        match arg {
            ProductPrecisionArg::Full => ProductPrecision::Full,
            ProductPrecisionArg::Reduced => ProductPrecision::Reduced,
        }
    }
}

/// Options of the compilation of an input to SPIR-V.
#[derive(ClapArgs)]
pub struct LoweringArgs {
    /// Environment of the module: spv1.0 to spv1.6, opencl1.2 to opencl3.0, vulkan1.0 to vulkan1.4
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<SpirvTarget>,
    /// Kind of device that tensor programs are scheduled for; by default that of the device they run
    /// on, or else a processor
    #[arg(long, value_name = "KIND", value_parser = ScheduleParser)]
    pub schedule: Option<ScheduleSpec>,
    /// Schedules for single dispatches of tensor programs, from spirula tune
    #[arg(long, value_name = "FILE")]
    pub tuned: Option<PathBuf>,
    /// Precision of products of `f32` in StableHLO programs; by default that of each operation
    #[arg(long, value_name = "PRECISION")]
    pub precision: Option<ProductPrecisionArg>,
    /// Devices over which a StableHLO program is partitioned by its shardings; their parts run on one device
    #[arg(long, value_name = "N")]
    pub partitions: Option<u64>,
    #[command(flatten)]
    pub llvm: LlvmArgs,
}

impl LoweringArgs {
    /// Reads the schedules of `--tuned`.
    ///
    /// # Errors
    /// When the file cannot be read or is malformed.
    pub fn read_dispatch_tuning(&self) -> Result<DispatchTuning, CommandFailure> {
        let Some(path) = &self.tuned else {
            return Ok(DispatchTuning::default());
        };
        let input = files::read_input_file(path)?;
        let tuning = String::from_utf8_lossy(&input.bytes).parse();
        tuning.map_err(|text| CommandFailure::from_message(format!("{}: {text}", input.name)))
    }
}
