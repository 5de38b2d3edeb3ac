//! The commands: a row of [`COMMANDS`] and a file each.

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

use crate::cli::{Outcome, args};
use clap::{ArgMatches, Args, FromArgMatches};

/// A command.
struct Command {
    name: &'static str,
    /// What it does, in a line.
    about: &'static str,
    /// Adds what it takes, which is done only once it is asked for: most of the time that a small module
    /// takes is the start of the process.
    arguments: fn(clap::Command) -> clap::Command,
    run: fn(&mut ArgMatches) -> Outcome,
}

/// All commands, in the order of the help.
const COMMANDS: &[Command] = &[
    Command {
        name: "compile",
        about: "Compile an input to SPIR-V: a module, or those of a program's kernels",
        arguments: arguments::<args::Compile>,
        run: |given| compile::run(&read(given)),
    },
    Command {
        name: "opt",
        about: "Optimise a SPIR-V module",
        arguments: arguments::<args::Opt>,
        run: |given| opt::run(&read(given)),
    },
    Command {
        name: "dis",
        about: "Disassemble a SPIR-V module",
        arguments: arguments::<args::Dis>,
        run: |given| dis::run(&read(given)),
    },
    Command {
        name: "as",
        about: "Assemble SPIR-V assembly into a module",
        arguments: arguments::<args::As>,
        run: |given| assemble::run(&read(given)),
    },
    Command {
        name: "val",
        about: "Verify a SPIR-V module",
        arguments: arguments::<args::Val>,
        run: |given| val::run(&read(given)),
    },
    Command {
        name: "link",
        about: "Link modules into one",
        arguments: arguments::<args::Link>,
        run: |given| link::run(&read(given)),
    },
    Command {
        name: "convert",
        about: "Give a module another version of SPIR-V, or have it declare only what it needs",
        arguments: arguments::<args::Convert>,
        run: |given| convert::run(&read(given)),
    },
    Command {
        name: "cfg",
        about: "Draw the control flow of a module's functions",
        arguments: arguments::<args::Cfg>,
        run: |given| cfg::run(&read(given)),
    },
    Command {
        name: "reduce",
        about: "Shrink a module that a command fails on",
        arguments: arguments::<args::Reduce>,
        run: |given| reduce::run(&read(given)),
    },
    Command {
        name: "devices",
        about: "List the devices that kernels can run on, or find out what they get wrong",
        arguments: arguments::<args::Devices>,
        run: |given| devices::run(&read(given)),
    },
    Command {
        name: "info",
        about: "Show the entry points of a module or program and what they take",
        arguments: arguments::<args::Info>,
        run: |given| info::run(&read(given)),
    },
    Command {
        name: "run",
        about: "Run a kernel or a program and show, save or check what it computes",
        arguments: arguments::<args::Run>,
        run: |given| run::run(&read(given)),
    },
    Command {
        name: "tune",
        about: "Find sizes for the schedules of a tensor program by trying them on a device",
        arguments: arguments::<args::Tune>,
        run: |given| tune::run(&read(given)),
    },
    Command {
        name: "test",
        about: "Run folders of tests, whose kind is found from their content",
        arguments: arguments::<args::Test>,
        run: |given| test::run(&read(given)),
    },
    Command {
        name: "bench",
        about: "Measure the programs in folders of tests",
        arguments: arguments::<args::Bench>,
        run: |given| bench::run(&read(given)),
    },
    Command {
        name: "test-worker",
        about: "Run tests for a parent process",
        arguments: arguments::<args::TestWorker>,
        run: |given| test::serve(&read(given)),
    },
];

/// The command by which a process runs tests for another one.
const SERVANT: &str = "test-worker";

/// Runs the command that the arguments of the process name.
pub fn run() -> Outcome {
    let given = command_line().get_matches().remove_subcommand();
    // Without a command of ours the help was shown, and the process has ended.
    let Some((name, mut given)) = given else {
        return Ok(());
    };
    let command = COMMANDS.iter().find(|command| command.name == name);
    command.map_or(Ok(()), |command| (command.run)(&mut given))
}

fn command_line() -> clap::Command {
    let whole = clap::Command::new("spirula")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compile compute programs to SPIR-V and run them")
        .max_term_width(100)
        .subcommand_required(true)
        .arg_required_else_help(true);
    whole.subcommands(COMMANDS.iter().map(|command| {
        clap::Command::new(command.name)
            .about(command.about)
            .hide(command.name == SERVANT)
            .defer(command.arguments)
    }))
}

/// Adds what `A` takes; the line about the command stays.
fn arguments<A: Args>(command: clap::Command) -> clap::Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about)
}

/// What was given to a command that takes `A`.
fn read<A: FromArgMatches>(given: &mut ArgMatches) -> A {
    A::from_arg_matches_mut(given).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_commands_take_makes_sense() {
        super::command_line().debug_assert();
    }
}
