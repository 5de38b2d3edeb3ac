//! Arguments of the commands that produce, change and show modules.

use super::{GrammarArgs, InputArgs, InputValidation, LoweringArgs, OptionalInputArgs};
use crate::cli::features::{self, AllowedFeature};
use crate::cli::level::{DEFAULT_LEVEL, LEVELS};
use crate::cli::passes::PrintAfterPass;
use crate::cli::stages;
use clap::{Args as ClapArgs, ValueEnum};
use spirula_opt::PassPipeline;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::target::SpirvTarget;
use std::path::PathBuf;

/// Arguments of `compile`.
#[derive(ClapArgs)]
pub struct CompileArgs {
    #[command(flatten)]
    pub from: InputArgs,
    /// Output file; `-` is standard output. The modules of a program with several kernels go to numbered files:
    /// OUT.0.spv, OUT.1.spv, ...
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Form of the output; by default from the extension of OUT, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<EmitFormat>,
    /// Write an executable file that serves the program to Futhark's tools (see spirula server), after compiling it
    #[arg(long, requires = "output", conflicts_with_all = ["emit", "kernel"])]
    pub server: bool,
    /// Write the C interface of a Futhark program in the form of Futhark's own: OUT.h, OUT.c with the compiled program, and
    /// OUT.json. OUT is by default the source without its extension
    #[arg(long, conflicts_with_all = ["emit", "kernel", "server", "entry", "print_after"])]
    pub library: bool,
    /// Accepted as by Futhark's compilers; all entry points of the source are compiled
    #[arg(long, value_name = "NAME", hide = true)]
    pub entry_point: Vec<String>,
    /// Optimise the modules by a level: 0 to 3, or s for a small module; -O alone is -O2. Kernels of programs are
    /// optimised in any case, and once more by this
    #[arg(short = 'O', value_name = "LEVEL", value_parser = LEVELS)]
    pub level: Option<String>,
    /// Only this kernel of a program, by its number (see spirula info)
    #[arg(long, value_name = "N")]
    pub kernel: Option<usize>,
    /// Function of a tensor program that is compiled; by default `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Print the result of a stage of a tensor program or of Futhark source, or of `all`, on
    /// standard error
    #[arg(long, value_name = "STAGE")]
    pub print_after: Option<stages::PrintAfterStage>,
    #[command(flatten)]
    pub how: LoweringArgs,
}

/// Form of the output of `compile`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitFormat {
    /// SPIR-V binary
    Spv,
    /// SPIR-V assembly
    Spvasm,
    /// LLVM assembly, lifted from SPIR-V
    Ll,
    /// Dispatches of a tensor program with their loops
    Tensor,
    /// Kernels and host part of a program as kernel text
    Kernel,
    /// Graph of the dispatches of a tensor program, for Graphviz
    Dot,
    /// Picture of the kernels that a program launches, with the buffers between them
    Svg,
    /// Whole program as one file, which runs without being compiled again
    Spb,
}

/// Arguments of `check`.
#[derive(ClapArgs)]
pub struct CheckArgs {
    /// Inputs of any accepted language; a Futhark program is checked with the files that it imports
    #[arg(value_name = "IN", required = true)]
    pub paths: Vec<PathBuf>,
    /// Print the errors and warnings as JSON on standard output, each with its file, lines and columns
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `fmt`.
#[derive(ClapArgs)]
pub struct FmtArgs {
    /// Futhark sources, which are changed in place; without any, standard input is formatted to standard output
    #[arg(value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Change nothing, and fail where a source is not formatted
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `lsp`.
#[derive(ClapArgs)]
pub struct LspArgs {
    /// Accepted for editors that pass it: the server uses standard input and output in any case
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// Arguments of `repl`.
#[derive(ClapArgs)]
pub struct ReplArgs {
    /// Futhark source whose declarations are in scope
    #[arg(value_name = "FILE")]
    pub path: Option<PathBuf>,
}

/// Arguments of `opt`.
#[derive(ClapArgs)]
pub struct OptArgs {
    #[command(flatten)]
    pub from: OptionalInputArgs,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Level of optimisation: 0 to 3, or s for a small module; -O alone is -O2
    #[arg(short = 'O', value_name = "LEVEL", default_value = DEFAULT_LEVEL, value_parser = LEVELS)]
    pub level: String,
    /// Passes and presets to run instead, separated by commas
    #[arg(long, value_name = "PASSES", conflicts_with = "level")]
    pub passes: Option<PassPipeline>,
    /// Delete names, lines, sources and debug information first
    #[arg(long)]
    pub strip_debug: bool,
    /// Print the module on standard error after a pass, after each that changes it (`changed`), or
    /// after each (`all`)
    #[arg(long, value_name = "PASS")]
    pub print_after: Option<PrintAfterPass>,
    /// Write a page with each pass, its time, and the difference that it made to the module
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the time of each pass
    #[arg(long)]
    pub time_passes: bool,
    /// Print the statistics of each pass
    #[arg(long)]
    pub statistics: bool,
    /// Check the module and its analyses before the first pass and after each
    #[arg(long, conflicts_with = "skip_validation")]
    pub verify_each: bool,
    #[command(flatten)]
    pub validation: InputValidation,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<SpirvFileFormat>,
    #[command(flatten)]
    pub how: LoweringArgs,
}

/// Form of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SpirvFileFormat {
    /// Binary
    Spv,
    /// Assembly
    Spvasm,
}

/// Arguments of `dis`.
#[derive(ClapArgs)]
pub struct DisArgs {
    /// SPIR-V module, in either byte order; `-`, or no name, is standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true)]
    pub path: PathBuf,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Print ids as names such as %main and %v4float
    #[arg(long, conflicts_with = "raw_id")]
    pub friendly_names: bool,
    /// Print ids as numbers (the default), so that assembling returns the same words
    #[arg(long)]
    pub raw_id: bool,
    /// Leave out the comment with the module's header
    #[arg(long)]
    pub no_header: bool,
    /// Begin every line with its result or opcode
    #[arg(long)]
    pub no_indent: bool,
    /// Indent instructions by the nesting of their block in structured control flow
    #[arg(long)]
    pub nested_indent: bool,
    /// Order blocks by structured control flow instead of their order in the module
    #[arg(long)]
    pub reorder_blocks: bool,
    /// Show the offset of each instruction in bytes
    #[arg(long)]
    pub offsets: bool,
    /// Add comments: decorations of results, and titles of sections and functions
    #[arg(long)]
    pub comment: bool,
    /// Colour the text: auto (the default) does so on a terminal; --color alone is always
    #[arg(long, alias = "colour", value_name = "WHEN", num_args = 0..=1, require_equals = true,
        default_value = "auto", default_missing_value = "always", hide_default_value = true)]
    pub color: ColorChoice,
    /// Do not colour the text
    #[arg(long, alias = "no-colour", conflicts_with = "color")]
    pub no_color: bool,
    /// Print the module as JSON: its header, and each instruction with its offset, words and text
    #[arg(long, conflicts_with_all = ["no_header", "nested_indent", "reorder_blocks", "comment", "color"])]
    pub json: bool,
}

/// When a text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal
    Auto,
    /// In any case
    Always,
    /// In no case
    Never,
}

/// Arguments of `as`.
#[derive(ClapArgs)]
pub struct AsArgs {
    /// SPIR-V assembly; `-`, or no name, is standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true)]
    pub path: PathBuf,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Environment whose version of SPIR-V the module gets; by default that of the text's header
    /// comment, or else the newest
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<SpirvTarget>,
}

/// Arguments of `val`.
#[derive(ClapArgs)]
pub struct ValArgs {
    /// SPIR-V module, binary or assembly; `-`, or no name, is standard input
    #[arg(value_name = "IN", default_value = "-", hide_default_value = true)]
    pub path: PathBuf,
    #[command(flatten)]
    pub grammar: GrammarArgs,
    /// Environment of the module: spv1.0 to spv1.6, opencl1.2 to opencl3.0, vulkan1.0 to vulkan1.4; by default any
    /// consumer of the newest SPIR-V
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<SpirvTarget>,
    /// Accept the scalar layout of blocks (Vulkan's scalarBlockLayout)
    #[arg(long)]
    pub scalar_block_layout: bool,
    /// Explain a rule
    #[arg(long, value_name = "RULE", conflicts_with = "path")]
    pub explain: Option<u8>,
    /// Print the faults as JSON on standard output, each with its rule and place; a valid module has none
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `link`.
#[derive(ClapArgs)]
pub struct LinkArgs {
    /// Modules in any form that `compile` accepts; their entry points come in this order
    #[arg(value_name = "IN", required = true)]
    pub paths: Vec<PathBuf>,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Keep exports: the module is a library for later linking
    #[arg(long)]
    pub library: bool,
    /// Keep imports that no module exports, for later linking
    #[arg(long)]
    pub allow_partial: bool,
    /// Number entry points of the same name (main, main.1, ...) instead of refusing them
    #[arg(long)]
    pub number_entry_points: bool,
    #[command(flatten)]
    pub validation: InputValidation,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<SpirvFileFormat>,
    #[command(flatten)]
    pub how: LoweringArgs,
}

/// Arguments of `convert`.
#[derive(ClapArgs)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub from: InputArgs,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Version of SPIR-V of the output, from 1.0 to 1.6; features that an earlier version lacks become an extension,
    /// are expressed otherwise, or are refused
    #[arg(long, value_name = "VERSION", value_parser = features::parse_spirv_version)]
    pub to_version: Option<SpirvVersion>,
    /// Declare the capabilities and extensions that are needed, and no others
    #[arg(long)]
    pub minimal: bool,
    /// Declare only what is needed, and refuse a module that needs other capabilities and extensions (SPV_...) than
    /// these
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub allow: Vec<AllowedFeature>,
    #[command(flatten)]
    pub validation: InputValidation,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<SpirvFileFormat>,
    #[command(flatten)]
    pub how: LoweringArgs,
}

/// Arguments of `cfg`.
#[derive(ClapArgs)]
pub struct CfgArgs {
    #[command(flatten)]
    pub from: InputArgs,
    /// Output file of the drawing; `-` is standard output
    #[arg(
        short,
        long,
        value_name = "OUT",
        default_value = "-",
        conflicts_with = "dot"
    )]
    pub output: PathBuf,
    /// Form of the drawing; by default SVG where OUT ends in .svg, else a graph for Graphviz
    #[arg(long, value_enum, conflicts_with = "dot")]
    pub emit: Option<DrawingFormat>,
    /// Output file of a graph for Graphviz; `-`, or no name, is standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub dot: Option<PathBuf>,
    /// Show the immediate dominator of each block; for Graphviz, draw the tree too
    #[arg(long)]
    pub dominators: bool,
    /// Show the immediate post-dominator of each block; for Graphviz, draw the tree too
    #[arg(long)]
    pub post_dominators: bool,
    /// Show the instructions of each block
    #[arg(long)]
    pub instructions: bool,
    /// Draw this function only, by its name, its entry point's name or its id (%12)
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    #[command(flatten)]
    pub how: LoweringArgs,
}

/// Form of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DrawingFormat {
    /// Graph for Graphviz
    Dot,
    /// Picture, with boxes around loops and selections
    Svg,
}

/// Arguments of `reduce`.
#[derive(ClapArgs)]
#[command(after_long_help = REDUCE_HELP)]
pub struct ReduceArgs {
    #[command(flatten)]
    pub from: InputArgs,
    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Exit code of the command that is kept; by default its exit code on IN
    #[arg(long, value_name = "CODE")]
    pub exit: Option<i32>,
    /// Text in the output of the command that is kept
    #[arg(long, value_name = "TEXT")]
    pub keeps_printing: Option<String>,
    /// Seconds after which a run of the command is stopped and its module dropped
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,
    /// Most runs of the command
    #[arg(long, value_name = "N")]
    pub attempts: Option<usize>,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<SpirvFileFormat>,
    #[command(flatten)]
    pub how: LoweringArgs,
    /// Command that fails; `{}` stands for the module, which is otherwise the last argument
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

/// Arguments of `info`.
#[derive(ClapArgs)]
pub struct InfoArgs {
    #[command(flatten)]
    pub from: OptionalInputArgs,
    /// Print the description as JSON
    #[arg(long)]
    pub json: bool,
    /// Function of a tensor program that is shown; by default `main`
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    #[command(flatten)]
    pub how: LoweringArgs,
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
