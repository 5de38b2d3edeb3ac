//! One file for each command.

mod assemble;
mod bench;
mod cfg;
mod compile;
mod convert;
mod devices;
mod dis;
mod grammar;
mod info;
mod link;
mod opt;
mod reduce;
mod run;
mod test;
mod tune;
mod val;

use crate::cli::Outcome;
use crate::cli::args::{Args, Command};

/// Runs the command that the arguments name.
pub fn run(args: Args) -> Outcome {
    match args.command {
        Command::Compile(args) => compile::run(&args),
        Command::Opt(args) => opt::run(&args),
        Command::Dis(args) => dis::run(&args),
        Command::As(args) => assemble::run(&args),
        Command::Val(args) => val::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Cfg(args) => cfg::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Link(args) => link::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::TestWorker(args) => test::serve(&args),
    }
}
