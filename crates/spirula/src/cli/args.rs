//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
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
    /// Compile LLVM IR or SPIR-V to a SPIR-V module
    Compile(Compile),
    /// Disassemble a SPIR-V module
    Dis(Dis),
    /// Assemble SPIR-V assembly into a module
    As(As),
    /// List the devices that kernels can run on
    Devices,
    /// Show the entry points of a module and what they take
    Info(Info),
}

/// Input of most commands.
#[derive(ClapArgs)]
pub struct From {
    /// SPIR-V (binary or assembly) or LLVM IR (bitcode or text), told apart by content; `-` is
    /// standard input
    #[arg(value_name = "IN")]
    pub path: PathBuf,
}

/// How an input is brought to SPIR-V.
#[derive(ClapArgs)]
pub struct How {
    /// What the module is for: spv1.0 to spv1.6, opencl1.2 to opencl3.0, vulkan1.0 to vulkan1.4
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
    /// Target triple for LLVM IR that has none, such as spir64-unknown-unknown
    #[arg(long)]
    pub triple: Option<String>,
}

/// Arguments of `compile`.
#[derive(ClapArgs)]
pub struct Compile {
    #[command(flatten)]
    pub from: From,
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Form of the output; by default assembly where OUT ends in .spvasm, else a binary
    #[arg(long, value_enum)]
    pub emit: Option<Emit>,
    #[command(flatten)]
    pub how: How,
}

/// Form of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
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
    /// Where the module goes; `-` is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    pub output: PathBuf,
    /// Environment whose version of SPIR-V the module gets; by default that of the text's header
    /// comment, or else the newest
    #[arg(long, value_name = "ENV")]
    pub target_env: Option<Target>,
}

/// Arguments of `info`.
#[derive(ClapArgs)]
pub struct Info {
    #[command(flatten)]
    pub from: From,
    #[command(flatten)]
    pub how: How,
}
