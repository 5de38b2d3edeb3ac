//! The command line.

use super::allow::{self, Allowed};
use super::checking::Checking;
use super::llvm::Llvm;
use super::passes::PrintAfter;
use super::schedule::Schedule;
use super::sizes::Sizes;
use super::stages;
use super::tuning::TuningParameter;
use crate::values::image::ColourMap;
use crate::values::{ArgSpec, ValueSpec};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use spirula_opt::Pipeline;
use spirula_spirv::grammar::Version;
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
    #[arg(long, value_name = "KIND")]
    pub schedule: Option<Schedule>,
    #[command(flatten)]
    pub llvm: Llvm,
}

/// Arguments of `compile`.
#[derive(ClapArgs)]
#[command(after_long_help = stages::help())]
pub struct Compile {
    #[command(flatten)]
    pub from: From,
    /// Where the module goes; `-` is standard output. The modules of a program with several kernels
    /// go to files with numbers: OUT.0.spv, OUT.1.spv, ...
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Form of the output; by default what the end of OUT says, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Emit>,
    /// Only this kernel of a program, by its number (see spirula info)
    #[arg(long, value_name = "N")]
    pub kernel: Option<usize>,
    /// Function of a StableHLO module that is compiled; by default `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Print what a stage of StableHLO leaves on standard error, or that of `all`
    #[arg(long, value_name = "STAGE")]
    pub print_after: Option<stages::PrintAfter>,
    #[command(flatten)]
    pub how: How,
}

/// Form of the output of `compile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// SPIR-V binary
    Spv,
    /// SPIR-V assembly
    Spvasm,
    /// LLVM assembly, lifted from SPIR-V
    Ll,
    /// Kernels and host part of a program before they become SPIR-V
    Kernel,
    /// A whole program as one file, which runs without being compiled again
    Spb,
}

/// Arguments of `opt`.
#[derive(ClapArgs)]
#[command(after_long_help = super::passes::help())]
pub struct Opt {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub grammar: Grammar,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// How much is tried: 0 to 3, or s for a small module
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2",
        value_parser = ["0", "1", "2", "3", "s"])]
    pub level: String,
    /// Passes and presets to run instead, separated by commas
    #[arg(long, value_name = "PASSES", conflicts_with = "level")]
    pub passes: Option<Pipeline>,
    /// Delete names, lines, sources and debug information first
    #[arg(long)]
    pub strip_debug: bool,
    /// Print the module on standard error after a pass, after each that changes it (`changed`), or
    /// after each (`all`)
    #[arg(long, value_name = "PASS")]
    pub print_after: Option<PrintAfter>,
    /// Tell the time that each pass took
    #[arg(long)]
    pub time_passes: bool,
    /// Tell what each pass did
    #[arg(long)]
    pub statistics: bool,
    /// Check the module and what is known of it after each pass
    #[arg(long)]
    pub verify_each: bool,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Form>,
    #[command(flatten)]
    pub how: How,
}

/// Form of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Binary
    Spv,
    /// Assembly
    Spvasm,
}

/// Arguments of `dis`.
#[derive(ClapArgs)]
pub struct Dis {
    /// SPIR-V module, in either byte order; `-` is standard input
    #[arg(value_name = "IN")]
    pub path: PathBuf,
    #[command(flatten)]
    pub grammar: Grammar,
    /// Where the text goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Call ids by names such as %main and %v4float
    #[arg(long, conflicts_with = "raw_id")]
    pub friendly_names: bool,
    /// Call ids by their numbers (the default), so that assembling gives the same words again
    #[arg(long)]
    pub raw_id: bool,
    /// Leave out the comment with the module's header
    #[arg(long)]
    pub no_header: bool,
    /// Begin every line with its result or opcode
    #[arg(long)]
    pub no_indent: bool,
}

/// Arguments of `as`.
#[derive(ClapArgs)]
pub struct As {
    /// SPIR-V assembly; `-` is standard input
    #[arg(value_name = "IN")]
    pub path: PathBuf,
    #[command(flatten)]
    pub grammar: Grammar,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Environment whose version of SPIR-V the module gets; by default that of the text's header
    /// comment, or else the newest
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
}

/// Arguments of `val`.
#[derive(ClapArgs)]
pub struct Val {
    /// SPIR-V module, binary or assembly; `-` is standard input
    #[arg(value_name = "IN", required_unless_present = "explain")]
    pub path: Option<PathBuf>,
    #[command(flatten)]
    pub grammar: Grammar,
    /// What the module is for: spv1.0 to spv1.6, opencl1.2 to opencl3.0, vulkan1.0 to vulkan1.4; by
    /// default any consumer of the newest SPIR-V
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
    /// Lay out blocks by the scalar rules (Vulkan's scalarBlockLayout)
    #[arg(long)]
    pub scalar_block_layout: bool,
    /// Tell what a rule demands
    #[arg(long, value_name = "RULE", conflicts_with = "path")]
    pub explain: Option<u8>,
}

/// Arguments of `link`.
#[derive(ClapArgs)]
pub struct Link {
    /// Modules in any form that `compile` takes; their entry points come in this order
    #[arg(value_name = "IN", required = true)]
    pub paths: Vec<PathBuf>,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Keep what is exported: the module is a library that others are linked with
    #[arg(long)]
    pub library: bool,
    /// Keep imports that no module exports, for a later linking
    #[arg(long)]
    pub allow_partial: bool,
    /// Number entry points of the same name (main, main.1, ...) instead of refusing them
    #[arg(long)]
    pub number_entry_points: bool,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Form>,
    #[command(flatten)]
    pub how: How,
}

/// Arguments of `convert`.
#[derive(ClapArgs)]
pub struct Convert {
    #[command(flatten)]
    pub from: From,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Version of SPIR-V that the module gets, from 1.0 to 1.6; what an earlier one lacks becomes an
    /// extension, or is said in its terms, or refused
    #[arg(long, value_name = "VERSION", value_parser = allow::version)]
    pub to_version: Option<Version>,
    /// Declare the capabilities and extensions that are needed, and no others
    #[arg(long)]
    pub minimal: bool,
    /// The same, and refuse what needs others than these capabilities and extensions (SPV_...)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub allow: Vec<Allowed>,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Form>,
    #[command(flatten)]
    pub how: How,
}

/// Arguments of `cfg`.
#[derive(ClapArgs)]
pub struct Cfg {
    #[command(flatten)]
    pub from: From,
    /// Where the drawing goes, in the language of Graphviz; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub dot: PathBuf,
    /// Draw the dominator tree too
    #[arg(long)]
    pub dominators: bool,
    /// Draw the post-dominator tree too
    #[arg(long)]
    pub post_dominators: bool,
    /// Show the instructions of each block
    #[arg(long)]
    pub instructions: bool,
    /// Draw this function only, by its name, its entry point's name or its id (%12)
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub how: How,
}

/// Arguments of `reduce`.
#[derive(ClapArgs)]
#[command(after_long_help = REDUCE_HELP)]
pub struct Reduce {
    #[command(flatten)]
    pub from: From,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Keep that the command ends with this code; by default the one that it ends with on IN
    #[arg(long, value_name = "CODE")]
    pub exit: Option<i32>,
    /// Keep that the command prints this text
    #[arg(long, value_name = "TEXT")]
    pub keeps_printing: Option<String>,
    /// Seconds after which a run of the command is ended and its module not kept
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Most runs of the command
    #[arg(long, value_name = "N")]
    pub attempts: Option<usize>,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Form>,
    #[command(flatten)]
    pub how: How,
    /// Command that fails; `{}` stands for the module, or else it comes last
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// Arguments of `devices`.
#[derive(ClapArgs)]
pub struct Devices {
    /// Devices to list; by default all
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Run tiny kernels that tell whether each device does what it claims; what it gets wrong is kept for
    /// its driver's version, and modules that need it are refused from then on
    #[arg(long)]
    pub probe: bool,
}

/// How Vulkan's validation layer watches a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Validation {
    /// Check calls and modules
    Calls,
    /// Also have shaders check their accesses, which is slow
    Shaders,
}

/// Arguments of `info`.
#[derive(ClapArgs)]
pub struct Info {
    #[command(flatten)]
    pub from: From,
    /// Function of a StableHLO module that is shown; by default `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    #[command(flatten)]
    pub how: How,
}

/// Arguments of `run`.
#[derive(ClapArgs)]
#[command(after_long_help = RUN_HELP)]
pub struct Run {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub how: How,
    /// Device to run on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Several devices that do the same, separated by commas, for --compare
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        requires = "compare",
        conflicts_with = "device"
    )]
    pub devices: Vec<String>,
    /// Compare what the devices have after each launch, by --atol and --rtol, and stop at the first launch
    /// whose results part
    #[arg(long, requires = "devices")]
    pub compare: bool,
    /// Folder for a launch whose results part: its module, its inputs and the command that runs it alone
    #[arg(long, value_name = "FOLDER", default_value = "reproducer")]
    pub reproducer: PathBuf,
    /// Entry point; by default the only one, of programs with several `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Argument: a buffer or array (1024xf32=iota), a scalar (f32=2.5), workgroup memory
    /// (local=1024), bytes (hex=00ff), or a file (@x.npy); once for each parameter. A program
    /// without this takes its values from standard input, in Futhark's text or binary form
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    pub arg: Vec<ArgSpec>,
    /// Tuning parameter of a program, by its name, or that of a class for all of the class
    /// (thread_block_size=64)
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<TuningParameter>,
    /// Print the results of a program in Futhark's binary form
    #[arg(long)]
    pub binary: bool,
    /// Invocations in each dimension
    #[arg(long, value_name = "X,Y,Z")]
    pub global: Option<Sizes>,
    /// Invocations of a workgroup in each dimension; by default what the module or device wants
    #[arg(long, value_name = "X,Y,Z")]
    pub local: Option<Sizes>,
    /// Workgroups in each dimension, instead of --global
    #[arg(long, value_name = "X,Y,Z", conflicts_with = "global")]
    pub groups: Option<Sizes>,
    /// Added to global ids (kernels only)
    #[arg(long, value_name = "X,Y,Z")]
    pub offset: Option<Sizes>,
    /// Value of a specialisation constant, by its SpecId
    #[arg(long, value_name = "ID=VALUE", allow_hyphen_values = true)]
    pub spec: Vec<String>,
    /// Push constants, one value after the other (u32=5, 3xf32=1 2 3, hex=00ff), each aligned to
    /// the size of its elements
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub push: Vec<ValueSpec>,
    /// Save a buffer after the run, or a program's result, as .npy or raw (.bin); WHICH is a
    /// number, a name or SET,BINDING, and may be left out where one buffer changed
    #[arg(long, visible_alias = "output", value_name = "[WHICH=]FILE")]
    pub out: Vec<String>,
    /// Compare a buffer or result with a .npy file; exit code 1 where they differ
    #[arg(long, value_name = "[WHICH=]FILE")]
    pub check: Vec<String>,
    /// Absolute tolerance of --check and --compare for floats: |got - want| <= ATOL + RTOL * |want|
    #[arg(long, value_name = "ATOL", default_value = "1e-8")]
    pub atol: f64,
    /// Relative tolerance of --check and --compare for floats; by default 1e-5, for f16 1e-3 and for bf16 1e-2
    #[arg(long, value_name = "RTOL")]
    pub rtol: Option<f64>,
    /// Save a buffer after the run as a picture: HxW numbers, HxWx3 or HxWx4 channels, or HxW
    /// pixels as u32
    #[arg(long, value_name = "[WHICH=]FILE.png")]
    pub image: Vec<String>,
    /// Colours of an image of numbers
    #[arg(long, value_enum, default_value = "auto")]
    pub colormap: ColourMap,
    /// Elements that are shown of each row of a changed buffer
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub show: usize,
    /// Tell how long each stage took, and each kernel: to compile, and its launches on the device
    #[arg(long)]
    pub profile: bool,
    /// Have Vulkan's validation layer watch, whose errors end the run
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "calls",
        require_equals = true)]
    pub validation: Option<Validation>,
    /// Seconds after which a GPU's work is given up
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Threads of the CPU device; by default one for each processor
    #[arg(long, value_name = "N")]
    pub threads: Option<std::num::NonZeroUsize>,
    /// Seed of random contents that name none; argument N gets SEED + N
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub checking: Checking,
}

/// Arguments of `test`.
#[derive(ClapArgs)]
pub struct Test {
    /// Folders of tests, searched with all folders below them; a folder with a manifest is claimed
    /// by it
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Device to run on (see spirula devices)
    #[arg(long, default_value = "cpu")]
    pub device: String,
    /// Write the outcome of each test to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Fail when a test is unsupported, too
    #[arg(long)]
    pub strict: bool,
    /// Tests that may be unsupported: lines of a test, a tab and the reason
    #[arg(long, value_name = "FILE")]
    pub allow: Option<PathBuf>,
    /// Try at most N tests, evenly spread
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Try only tests with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Optimise modules by these passes and presets, separated by commas, before they run
    #[arg(long, value_name = "PASSES", default_value = "")]
    pub passes: Pipeline,
    /// Tests at a time; by default one for each processor
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
    /// Threads of the CPU device in each test
    #[arg(long, value_name = "N", default_value = "2")]
    pub threads: std::num::NonZeroUsize,
    /// Seconds after which a test has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Lift modules to LLVM assembly and bring them back before they run
    #[arg(long)]
    pub lifted: bool,
    /// Kind of device that tensor programs are scheduled for; by default that of the device
    #[arg(long, value_name = "KIND")]
    pub schedule: Option<Schedule>,
    /// What modules are compiled for before they run
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
}

/// Arguments of `bench`.
#[derive(ClapArgs)]
pub struct Bench {
    /// Folders of tests, as spirula test takes them
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
    /// Least number of runs; there are as many as half a second takes
    #[arg(long, value_name = "N", default_value = "10")]
    pub runs: std::num::NonZeroUsize,
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
    #[arg(long, value_name = "KIND")]
    pub schedule: Option<Schedule>,
}

/// Arguments of `test-worker`.
#[derive(ClapArgs)]
pub struct TestWorker {
    /// Device to run on
    #[arg(long)]
    pub device: String,
    /// What modules are optimised by
    #[arg(long, default_value = "")]
    pub passes: Pipeline,
    /// Threads of the CPU device
    #[arg(long)]
    pub threads: std::num::NonZeroUsize,
    /// Lift modules to LLVM assembly and bring them back before they run
    #[arg(long)]
    pub lifted: bool,
    /// Kind of device that tensor programs are scheduled for
    #[arg(long)]
    pub schedule: Option<Schedule>,
    /// What modules are compiled for before they run
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
}

const REDUCE_HELP: &str = "\
Modules that are valid stay so at every step. Values that go are replaced by null constants.

Examples:
  spirula reduce crash.spv -o small.spvasm -- spirv-opt -O {} -o /dev/null
  spirula reduce bad.spv -o small.spv --keeps-printing 'block layout' -- spirv-val {}
  spirula reduce wrong.spv -o small.spvasm --exit 1 -- bash same.sh {}
      with a script that runs the module before and after -O2, or on two devices, and ends with 1
      where the results differ: docs/optimiser.md has it
";

const RUN_HELP: &str = "\
Arguments:
  1024xf32=iota               0 1 2 ...; iota(START,STEP) for other ramps
  16xf32=1 2 3 4 ...          as many numbers as elements, or one for all
  256x256xf32=random(-1,1)    between bounds; random(-1,1,seed=3) with a seed of its own
  64xu32=random               any bits
  640x480x4xu8                zeros (or =zeros); =fill(2.5) for another number
  1024xf32=@x.npy             from a NumPy file; =@x.bin from raw bytes; @x.npy alone takes
                              type and shape from the file
  f32=2.5                     a scalar
  3xf32=1 2 3                 for a parameter that is a vector or structure: its value
  local=1024, local=256xf32   workgroup memory for each workgroup
  hex=0011                    the bytes of a value
  x:1024xf32                  for the parameter named x
  0,1:1024xf32                for set 0, binding 1; 0,1[2]: for element 2 of its array
  Arguments that name no place take the next free parameter, or binding in the order of sets.
  Types: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64

Examples:
  spirula run saxpy.ll --arg f32=2 --arg 1024xf32=iota --arg 1024xf32=fill(1) --global 1024
  spirula run blur.spv --groups 64,64 --arg 0,0:1024x1024xf32=@in.npy \\
      --arg 0,1:1024x1024xf32 --push u32=1024 --image 0,1=out.png
  spirula run model.mlir --arg @x.npy --arg 32x16xf32=random --output y.npy
  spirula run sum.imp --param thread_block_size=64 < values.txt
  spirula run sum.bc --entry sum --arg x:4096xi32=@x.npy --arg local=256xi32 --arg 16xi32 \\
      --global 4096 --local 256 --check 2=expected.npy
";
