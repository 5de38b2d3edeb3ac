//! Arguments of the commands that test and measure folders of programs.

use crate::cli::schedule::{ScheduleParser, ScheduleSpec};
use clap::Args as ClapArgs;
use spirula_opt::PassPipeline;
use spirula_spirv::target::SpirvTarget;
use std::path::PathBuf;

/// Options of the compilation of Futhark programs.
#[derive(ClapArgs, Clone, Debug)]
pub struct ProgramArgs {
    /// Read Futhark programs in printed form: from the file beside a source (prog.fut.imp), not from the source
    #[arg(long)]
    pub printed: bool,
    /// Read Futhark programs in the printed form of Futhark's own compiler, where none is beside them
    #[arg(long, value_name = "PATH")]
    pub futhark: Option<PathBuf>,
    /// Folder for the modules of the programs' kernels, as the device gets them
    #[arg(long, value_name = "FOLDER")]
    pub dump_spirv: Option<PathBuf>,
}

impl ProgramArgs {
    /// Whether the printed form of sources is chosen.
    pub fn is_printed(&self) -> bool {
        self.printed || self.futhark.is_some()
    }
}

/// Arguments of `test`.
#[derive(ClapArgs)]
pub struct TestArgs {
    /// Sources with tests (.fut with test blocks, .mlir), and folders of tests, which are searched recursively; a
    /// manifest describes all tests of its folder
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Device to run on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Write the outcome of each test to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Count modules without expected results as passed where they can be read
    #[arg(long)]
    pub reading: bool,
    /// Fail also when a test is unsupported
    #[arg(long)]
    pub strict: bool,
    /// File of the tests that may be unsupported: in each line a test, a tab and the reason
    #[arg(long, value_name = "FILE")]
    pub allow: Option<PathBuf>,
    /// Run at most N tests, evenly spread
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Run only tests with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Optimise modules by these passes and presets, separated by commas, before they run
    #[arg(long, value_name = "PASSES", default_value = "")]
    pub passes: PassPipeline,
    /// Tests at a time; by default one for each processor
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Threads of the CPU device in each test
    #[arg(long, value_name = "N", default_value = "2")]
    pub threads: std::num::NonZeroUsize,
    /// Seconds after which a test has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Lift modules to LLVM assembly and translate them again before they run
    #[arg(long)]
    pub lifted: bool,
    /// Kind of device that tensor programs are scheduled for; by default that of the device
    #[arg(long, value_name = "KIND", value_parser = ScheduleParser)]
    pub schedule: Option<ScheduleSpec>,
    /// Environment that modules are compiled for before they run
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<SpirvTarget>,
    #[command(flatten)]
    pub programs: ProgramArgs,
}

/// Arguments of `bench`.
#[derive(ClapArgs)]
pub struct BenchArgs {
    /// Folders of tests, as for spirula test
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Device to run on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Compare with this device
    #[arg(long, value_name = "DEVICE", conflicts_with = "compare")]
    pub against: Option<String>,
    /// Compare with measurements that --json, or futhark bench, wrote
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
    /// Write the measurements to a file, in the form of futhark bench
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Draw the measurements to a file, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Least number of runs; more are made until half a second has passed
    #[arg(long, value_name = "N", default_value = "10")]
    pub runs: std::num::NonZeroUsize,
    /// Measure the processor time of this process instead of wall-clock time
    #[arg(long)]
    pub processor_time: bool,
    /// Print the time of each kernel on the device; measuring it makes runs a little longer
    #[arg(long)]
    pub profile: bool,
    /// Find values of the thresholds of Futhark programs with which their data sets run fast on the device, and write
    /// them beside the sources: prog.fut.tuning
    #[arg(long, conflicts_with_all = ["against", "compare", "json", "plot", "profile"])]
    pub tune: bool,
    /// Seconds after which no further run of a program begins
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Measure at most N calls, evenly spread
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Measure only what has this text in its name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Threads of the CPU device; by default one for each processor
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Kind of device that tensor programs are scheduled for; by default that of the device
    #[arg(long, value_name = "KIND", value_parser = ScheduleParser)]
    pub schedule: Option<ScheduleSpec>,
    #[command(flatten)]
    pub programs: ProgramArgs,
}

/// Arguments of `test-worker`.
#[derive(ClapArgs)]
pub struct TestWorker {
    /// Device to run on
    #[arg(long)]
    pub device: String,
    /// Passes that modules are optimised by
    #[arg(long, default_value = "")]
    pub passes: PassPipeline,
    /// Threads of the CPU device
    #[arg(long)]
    pub threads: std::num::NonZeroUsize,
    /// Lift modules to LLVM assembly and translate them again before they run
    #[arg(long)]
    pub lifted: bool,
    /// Kind of device that tensor programs are scheduled for
    #[arg(long, value_parser = ScheduleParser)]
    pub schedule: Option<ScheduleSpec>,
    /// Environment that modules are compiled for before they run
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<SpirvTarget>,
    #[command(flatten)]
    pub programs: ProgramArgs,
}
