//! The commands. Each is a file and a row of [`COMMANDS`].

mod assemble;
mod bench;
mod c_library;
mod cfg;
mod check;
mod compile;
mod completions;
mod convert;
mod devices;
mod dis;
mod doc;
mod fmt;
mod grammar;
mod info;
mod link;
mod literate;
mod lsp;
mod module;
mod opencl;
mod opt;
mod opt_report;
mod pkg;
mod reduce;
mod repl;
mod run;
mod script;
mod server;
mod server_script;
mod test;
mod threshold_tuning;
mod tune;
mod val;
mod version;

use crate::cli::environment::describe_environment;
use crate::cli::level::complete_level_arguments;
use crate::cli::suggest::suggest_command;
use crate::cli::verbosity::{add_verbosity_arguments, record_verbosity};
use crate::cli::{CommandFailure, CommandResult, args, passes, stages};
use crate::spirv_tools;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches};
use std::ffi::OsString;

/// A command of the command line.
struct CliCommand {
    name: &'static str,
    /// One line about it.
    about: &'static str,
    /// Adds its arguments. This is done for the requested command only, because most of the time for a small module is
    /// the start of the process.
    arguments: fn(clap::Command) -> clap::Command,
    run: fn(&mut ArgMatches) -> CommandResult,
}

/// All commands, in the order of the help.
const COMMANDS: &[CliCommand] = &[
    CliCommand {
        name: "compile",
        about: "Compile an input to SPIR-V: a module, or those of a program's kernels",
        arguments: add_reporting_arguments::<args::CompileArgs>,
        run: |given| compile::run_compile(&read_matches(given)),
    },
    CliCommand {
        name: "opt",
        about: "Optimise a SPIR-V module",
        arguments: add_reporting_arguments::<args::OptArgs>,
        run: |given| opt::run_opt(&read_matches(given)),
    },
    CliCommand {
        name: "dis",
        about: "Disassemble a SPIR-V module",
        arguments: add_arguments::<args::DisArgs>,
        run: |given| dis::run_dis(&read_matches(given)),
    },
    CliCommand {
        name: "as",
        about: "Assemble SPIR-V assembly into a module",
        arguments: add_arguments::<args::AsArgs>,
        run: |given| assemble::run_as(&read_matches(given)),
    },
    CliCommand {
        name: "val",
        about: "Verify a SPIR-V module",
        arguments: add_reporting_arguments::<args::ValArgs>,
        run: |given| val::run_val(&read_matches(given)),
    },
    CliCommand {
        name: "check",
        about: "Check inputs without compiling them, and report all errors and warnings",
        arguments: add_arguments::<args::CheckArgs>,
        run: |given| check::run_check(&read_matches(given)),
    },
    CliCommand {
        name: "fmt",
        about: "Format Futhark source",
        arguments: add_arguments::<args::FmtArgs>,
        run: |given| fmt::run_fmt(&read_matches(given)),
    },
    CliCommand {
        name: "doc",
        about: "Write the documentation of Futhark source as HTML",
        arguments: add_arguments::<args::DocArgs>,
        run: |given| doc::run_doc(&read_matches(given)),
    },
    CliCommand {
        name: "literate",
        about: "Write a literate Futhark program as Markdown with its results",
        arguments: add_arguments::<args::LiterateArgs>,
        run: |given| literate::run_literate(&read_matches(given)),
    },
    CliCommand {
        name: "script",
        about: "Evaluate an expression over the definitions of a Futhark program",
        arguments: add_arguments::<args::ScriptArgs>,
        run: |given| script::run_script(&read_matches(given)),
    },
    CliCommand {
        name: "pkg",
        about: "Manage the packages that Futhark source requires",
        arguments: add_arguments::<args::PkgArgs>,
        run: |given| pkg::run_pkg(&read_matches(given)),
    },
    CliCommand {
        name: "link",
        about: "Link modules into one",
        arguments: add_reporting_arguments::<args::LinkArgs>,
        run: |given| link::run_link(&read_matches(given)),
    },
    CliCommand {
        name: "convert",
        about: "Give a module another version of SPIR-V, or have it declare only what it needs",
        arguments: add_reporting_arguments::<args::ConvertArgs>,
        run: |given| convert::run_convert(&read_matches(given)),
    },
    CliCommand {
        name: "cfg",
        about: "Draw the control flow of a module's functions",
        arguments: add_reporting_arguments::<args::CfgArgs>,
        run: |given| cfg::run_cfg(&read_matches(given)),
    },
    CliCommand {
        name: "reduce",
        about: "Shrink a module that a command fails on",
        arguments: add_reporting_arguments::<args::ReduceArgs>,
        run: |given| reduce::run_reduce(&read_matches(given)),
    },
    CliCommand {
        name: "devices",
        about: "List the devices that kernels can run on, or find out what they get wrong",
        arguments: add_arguments::<args::DevicesArgs>,
        run: |given| devices::run_devices(&read_matches(given)),
    },
    CliCommand {
        name: "info",
        about: "Show the entry points of a module or program and what they take",
        arguments: add_reporting_arguments::<args::InfoArgs>,
        run: |given| info::run_info(&read_matches(given)),
    },
    CliCommand {
        name: "run",
        about: "Run a kernel or a program and show, save or check what it computes",
        arguments: add_reporting_arguments::<args::RunArgs>,
        run: |given| run::run_entry_point(&read_matches(given)),
    },
    CliCommand {
        name: "server",
        about: "Serve a program to tools, by the line-oriented protocol of Futhark's executables",
        arguments: add_arguments::<args::ServerArgs>,
        run: |given| server::run_server(&read_matches(given)),
    },
    CliCommand {
        name: "opencl",
        about: "Install the driver by which OpenCL programs run on these devices",
        arguments: add_arguments::<args::OpenClArgs>,
        run: |given| opencl::run_opencl(&read_matches(given)),
    },
    CliCommand {
        name: "lsp",
        about: "Serve editors of Futhark source, by the Language Server Protocol",
        arguments: add_arguments::<args::LspArgs>,
        run: |given| lsp::run_lsp(&read_matches(given)),
    },
    CliCommand {
        name: "repl",
        about: "Evaluate Futhark expressions and declarations as they are entered",
        arguments: add_arguments::<args::ReplArgs>,
        run: |given| repl::run_repl(&read_matches(given)),
    },
    CliCommand {
        name: "tune",
        about: "Find sizes for the schedules of a tensor program by trying them on a device",
        arguments: add_reporting_arguments::<args::TuneArgs>,
        run: |given| tune::run_tune(&read_matches(given)),
    },
    CliCommand {
        name: "test",
        about: "Run folders of tests, whose kind is found from their content",
        arguments: add_reporting_arguments::<args::TestArgs>,
        run: |given| test::run_tests(&read_matches(given)),
    },
    CliCommand {
        name: "bench",
        about: "Measure the programs in folders of tests",
        arguments: add_reporting_arguments::<args::BenchArgs>,
        run: |given| bench::run_bench(&read_matches(given)),
    },
    CliCommand {
        name: "completions",
        about: "Print the completions of a shell for this command",
        arguments: add_arguments::<args::CompletionArgs>,
        run: |given| completions::run_completions(&read_matches(given)),
    },
    CliCommand {
        name: "man",
        about: "Write manual pages of this command",
        arguments: add_arguments::<args::ManualArgs>,
        run: |given| completions::run_man(&read_matches(given)),
    },
    CliCommand {
        name: "test-worker",
        about: "Run tests for a parent process",
        arguments: add_arguments::<args::TestWorker>,
        run: |given| test::serve_test_worker(&read_matches(given)),
    },
];

/// A function that builds a text.
type HelpTextFn = fn() -> String;

/// Width of the help, in columns.
const WIDTH: usize = 100;

/// Commands whose long help ends with a generated table.
const EXPLAINED: &[(&str, HelpTextFn)] = &[
    ("compile", stages::describe_stages),
    ("opt", passes::describe_passes),
];

/// The command by which a process runs tests for its parent. The help does not list it.
const SERVANT: &str = "test-worker";

/// Runs the command that the first argument names.
pub fn run_command(arguments: &[OsString]) -> CommandResult {
    let name = arguments.first();
    if arguments.len() == 1 && name.is_some_and(|name| name == "--version") {
        return version::print_version();
    }
    if let Some(outcome) = spirv_tools::run_spirv_tool(arguments, run_command) {
        return outcome;
    }
    let named = COMMANDS
        .iter()
        .find(|command| name.is_some_and(|name| name == command.name));
    match named {
        Some(command) => {
            let mut given = if LEVELLED.contains(&command.name) {
                parse_command_arguments(command, &complete_level_arguments(arguments))
            } else {
                parse_command_arguments(command, arguments)
            };
            record_verbosity(&given);
            (command.run)(&mut given)
        }
        None if name.and_then(|name| name.to_str()).is_some_and(is_word) => {
            Err(CommandFailure::Usage(describe_unknown_command(name)))
        }
        // This prints the help, or the error in the arguments.
        None => {
            let program = OsString::from("spirula");
            build_all_commands().get_matches_from([&program].into_iter().chain(arguments));
            Ok(())
        }
    }
}

/// Commands that take `-O LEVEL`.
const LEVELLED: &[&str] = &["compile", "opt"];

/// Whether an argument is a word that should name a command.
fn is_word(argument: &str) -> bool {
    !argument.starts_with('-') && argument != "help"
}

/// The message about a word that names no command.
fn describe_unknown_command(word: Option<&OsString>) -> String {
    let word = word.map_or_else(String::new, |word| word.to_string_lossy().into_owned());
    let names = COMMANDS.iter().map(|command| command.name);
    let names = names.filter(|name| *name != SERVANT);
    if spirv_tools::tool_names().any(|tool| tool == word) {
        return format!(
            "there is no command {word}; did you mean {}{word}?",
            spirv_tools::PREFIX
        );
    }
    match suggest_command(&word, names) {
        Some(near) => format!("there is no command {word}; did you mean {near}?"),
        None if std::path::Path::new(&word).exists() => {
            format!(
                "there is no command {word}; a file follows a command, as in spirula info {word}"
            )
        }
        None => format!("there is no command {word}"),
    }
}

/// Parses the arguments from the name of a command on. Other commands are not built, and the tables of the long help only
/// on request.
fn parse_command_arguments(command: &CliCommand, arguments: &[OsString]) -> ArgMatches {
    let name = || format!("spirula {}", command.name);
    let alone = (command.arguments)(command.build_command()).bin_name(name());
    match alone.try_get_matches_from(arguments) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            let alone = (command.arguments)(command.build_explained_command()).bin_name(name());
            alone.get_matches_from(arguments)
        }
        given => given.unwrap_or_else(|error| error.exit()),
    }
}

impl CliCommand {
    /// Builds the command without its arguments.
    fn build_command(&self) -> clap::Command {
        clap::Command::new(self.name)
            .about(self.about)
            .max_term_width(WIDTH)
            .hide(self.name == SERVANT)
    }

    /// Builds the command with the tables of its long help.
    fn build_explained_command(&self) -> clap::Command {
        match EXPLAINED.iter().find(|(name, _)| *name == self.name) {
            Some((_, end)) => self.build_command().after_long_help(end()),
            None => self.build_command(),
        }
    }
}

/// Builds all commands with all of their help.
fn build_all_commands() -> clap::Command {
    clap::Command::new("spirula")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compile compute programs to SPIR-V and run them")
        .max_term_width(WIDTH)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(describe_spirv_tools())
        .after_long_help(format!(
            "{}\n\n{}",
            describe_spirv_tools(),
            describe_environment()
        ))
        .subcommands(
            COMMANDS
                .iter()
                .map(|command| command.build_explained_command().defer(command.arguments)),
        )
}

/// Describes how the options of SPIRV-Tools are taken.
fn describe_spirv_tools() -> String {
    let tools: Vec<_> = spirv_tools::tool_names().collect();
    let tools = tools.join(", ");
    format!(
        "Called by the name of a program of SPIRV-Tools ({tools}), or as `spirula as-spirv-opt`, it takes the options \
         of that program."
    )
}

/// Adds the arguments of `A`. The line about the command stays.
fn add_arguments<A: Args>(command: clap::Command) -> clap::Command {
    let about = command.get_about().cloned().unwrap_or_default();
    A::augment_args(command).about(about)
}

/// Adds the arguments of `A`, and those of the verbosity.
fn add_reporting_arguments<A: Args>(command: clap::Command) -> clap::Command {
    add_verbosity_arguments(add_arguments::<A>(command))
}

/// Reads the arguments of a command that takes `A`.
fn read_matches<A: FromArgMatches>(given: &mut ArgMatches) -> A {
    A::from_arg_matches_mut(given).unwrap_or_else(|error| error.exit())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_commands_take_makes_sense() {
        super::build_all_commands().debug_assert();
    }
}
