//! The programs of SPIRV-Tools by their names: `spirv-opt` and its siblings, as links to this program or as
//! `spirula as-spirv-opt`.
//!
//! Each program is a table of its options with the arguments of ours that are equivalent. Its exit code is 1 for every
//! failure, as theirs.

mod opt_options;
mod option;
mod options;

use crate::cli::{CommandFailure, CommandResult, files};
use opt_options::OPT_OPTIONS;
use option::{OptionMeaning, ToolArguments, ToolOption, fail};
use options::{AS_OPTIONS, CFG_OPTIONS, DIS_OPTIONS, LINK_OPTIONS, REDUCE_OPTIONS, VAL_OPTIONS};
use spirula_opt::PassPipeline;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The part of our command's name before the name of a program of SPIRV-Tools.
pub const PREFIX: &str = "as-";

/// A program of SPIRV-Tools.
struct SpirvTool {
    name: &'static str,
    /// The equivalent command of ours, with arguments that it always gets.
    command: &'static [&'static str],
    options: &'static [ToolOption],
    /// Output where none is named; without one, naming it is required.
    output: Option<&'static str>,
    /// Most inputs.
    most_inputs: usize,
}

/// The programs of SPIRV-Tools that are here.
const TOOLS: &[SpirvTool] = &[
    SpirvTool {
        name: "spirv-as",
        command: &["as"],
        options: AS_OPTIONS,
        output: Some("out.spv"),
        most_inputs: 1,
    },
    SpirvTool {
        name: "spirv-cfg",
        command: &["cfg", "--emit", "dot"],
        options: CFG_OPTIONS,
        output: Some("-"),
        most_inputs: 1,
    },
    SpirvTool {
        name: "spirv-dis",
        command: &["dis"],
        options: DIS_OPTIONS,
        output: Some("-"),
        most_inputs: 1,
    },
    SpirvTool {
        name: "spirv-link",
        command: &["link", "--emit", "spv"],
        options: LINK_OPTIONS,
        output: Some("out.spv"),
        most_inputs: usize::MAX,
    },
    SpirvTool {
        name: "spirv-opt",
        command: &["opt", "--emit", "spv"],
        options: OPT_OPTIONS,
        output: None,
        most_inputs: 1,
    },
    SpirvTool {
        name: "spirv-reduce",
        command: &["reduce", "--emit", "spv", "--exit", "0"],
        options: REDUCE_OPTIONS,
        output: None,
        most_inputs: 1,
    },
    SpirvTool {
        name: "spirv-val",
        command: &["val"],
        options: VAL_OPTIONS,
        output: Some("-"),
        most_inputs: 1,
    },
];

/// The first argument of the command where the program was called by the name of one of SPIRV-Tools, such as by a link
/// named `spirv-opt`.
pub fn command_of_program(program: &OsStr) -> Option<String> {
    let name = Path::new(program).file_stem()?.to_str()?;
    let tool = TOOLS.iter().find(|tool| tool.name == name)?;
    Some(format!("{PREFIX}{}", tool.name))
}

/// Runs a program of SPIRV-Tools: the first argument is its name, with [`PREFIX`]. `run` runs a command of ours. The
/// result is `None` where there is no such program.
pub fn run_spirv_tool(
    arguments: &[OsString],
    run: impl Fn(&[OsString]) -> CommandResult,
) -> Option<CommandResult> {
    let name = arguments.first()?.to_str()?.strip_prefix(PREFIX)?;
    let tool = TOOLS.iter().find(|tool| tool.name == name)?;
    let mut texts = Vec::new();
    for argument in &arguments[1..] {
        match argument.to_str() {
            Some(text) => texts.push(text.to_owned()),
            None => return Some(Err(fail(tool.name, "an argument is not UTF-8"))),
        }
    }
    Some(tool.run_with(texts, &run))
}

/// Names of the programs.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}

impl SpirvTool {
    fn run_with(
        &self,
        arguments: Vec<String>,
        run: &impl Fn(&[OsString]) -> CommandResult,
    ) -> CommandResult {
        let read = ToolArguments::read(self.name, self.options, arguments)?;
        if read.has_meaning(OptionMeaning::Help) {
            return files::write_text(Path::new("-"), &self.describe_options());
        }
        if read.has_meaning(OptionMeaning::Version) {
            let version = env!("CARGO_PKG_VERSION");
            return files::print_line(&format!("{} of spirula {version}", self.name));
        }
        if read.inputs.len() > self.most_inputs {
            return Err(fail(self.name, "more than one input file"));
        }
        let ours = self.translate_arguments(&read)?;
        let folder = read
            .inputs
            .first()
            .map(PathBuf::from)
            .filter(|path| path.is_dir());
        match folder {
            Some(folder) if self.name == "spirv-val" => verify_folder(&folder, &ours, run),
            _ => self.run_once(&read, ours, run),
        }
    }

    /// Runs our command on the inputs.
    fn run_once(
        &self,
        read: &ToolArguments,
        mut ours: Vec<String>,
        run: &impl Fn(&[OsString]) -> CommandResult,
    ) -> CommandResult {
        if read.inputs.is_empty() && self.most_inputs > 1 {
            return Err(fail(self.name, "no input file"));
        }
        if read.inputs.is_empty() {
            ours.push("-".to_owned());
        }
        ours.extend(read.inputs.iter().cloned());
        if self.name == "spirv-reduce" {
            ours.push("--".to_owned());
            ours.extend(read.rest.iter().cloned());
        }
        run_texts(&ours, run)
    }

    /// The arguments of our command, without inputs.
    fn translate_arguments(&self, read: &ToolArguments) -> Result<Vec<String>, CommandFailure> {
        let mut translated = TranslatedArguments::default();
        for (option, value) in &read.options {
            translated.add_option(self, option, value)?;
        }
        let mut ours: Vec<String> = self.command.iter().map(|word| (*word).to_owned()).collect();
        ours.extend(
            translated
                .arguments
                .into_iter()
                .flat_map(|(_, words)| words),
        );
        if self.name == "spirv-opt" {
            let passes = translated.passes.join(",");
            let parsed: Result<PassPipeline, _> = passes.parse();
            parsed.map_err(|error| fail(self.name, &error.to_string()))?;
            if passes.is_empty() {
                ours.push("-O0".to_owned());
            } else {
                ours.extend(["--passes".to_owned(), passes]);
            }
        }
        if self.name == "spirv-dis" && read.value_of("--raw-id").is_none() {
            ours.push("--friendly-names".to_owned());
        }
        let takes_output = self.options.iter().any(|option| option.name == "-o");
        match (read.value_of("-o"), self.output) {
            (None, None) => return Err(fail(self.name, "-o is required")),
            (None, Some(output)) if takes_output && output != "-" => {
                ours.extend(["--output".to_owned(), output.to_owned()]);
            }
            _ => {}
        }
        if self.name == "spirv-reduce" && read.rest.is_empty() {
            let text = "the command that tests a module has to follow --";
            return Err(fail(self.name, text));
        }
        Ok(ours)
    }

    /// The help: each option with the arguments of our command.
    fn describe_options(&self) -> String {
        let command = self.command[0];
        let mut text = format!(
            "{} by spirula {command}\n\nOptions, and what they are to spirula {command}:\n",
            self.name
        );
        for option in self.options {
            let meaning = match option.meaning {
                OptionMeaning::Arguments(words) => words.join(" "),
                OptionMeaning::Passes(passes) | OptionMeaning::PassesOfPairs(passes) => {
                    format!("--passes {passes}")
                }
                OptionMeaning::OptionsOfFile => "the options in a file".to_owned(),
                OptionMeaning::Implied => "always so".to_owned(),
                OptionMeaning::Missing => "not available".to_owned(),
                OptionMeaning::Help => "this help".to_owned(),
                OptionMeaning::Version => "the version".to_owned(),
            };
            text += &format!("  {:44} {meaning}\n", option.name);
        }
        text
    }
}

/// Options of a program as arguments of ours.
#[derive(Default)]
struct TranslatedArguments {
    /// Options with the names that they are known by.
    arguments: Vec<(&'static str, Vec<String>)>,
    passes: Vec<String>,
}

impl TranslatedArguments {
    fn add_option(
        &mut self,
        tool: &SpirvTool,
        option: &ToolOption,
        value: &str,
    ) -> Result<(), CommandFailure> {
        match option.meaning {
            OptionMeaning::Arguments(words) => {
                // An option of ours is given once, and the last one counts.
                let key = option_key(words);
                self.arguments.retain(|(other, _)| *other != key);
                let words = words.iter().map(|word| word.replace("{}", value));
                self.arguments.push((key, words.collect()));
            }
            OptionMeaning::Passes(passes) => self.passes.push(passes.replace("{}", value)),
            OptionMeaning::PassesOfPairs(passes) => {
                let pairs = value.split_whitespace();
                self.passes
                    .extend(pairs.map(|pair| passes.replace("{}", pair)));
            }
            OptionMeaning::OptionsOfFile => {
                let input = files::read_input_file(Path::new(value))?;
                let text = String::from_utf8_lossy(&input.bytes);
                let lines = text.lines().map(str::trim);
                let words = lines
                    .filter(|line| !line.starts_with('#'))
                    .flat_map(str::split_whitespace)
                    .map(str::to_owned);
                let read = ToolArguments::read(tool.name, tool.options, words)?;
                for (option, value) in &read.options {
                    if option.meaning == OptionMeaning::OptionsOfFile {
                        return Err(fail(tool.name, "a file of options names another one"));
                    }
                    self.add_option(tool, option, value)?;
                }
            }
            OptionMeaning::Missing => {
                let text = format!("{} is not available", option.name);
                return Err(fail(tool.name, &text));
            }
            OptionMeaning::Implied | OptionMeaning::Help | OptionMeaning::Version => {}
        }
        Ok(())
    }
}

/// The name of an option of ours, without its value.
fn option_key(words: &'static [&'static str]) -> &'static str {
    let first = words.first().copied().unwrap_or_default();
    first.split('=').next().unwrap_or_default()
}

/// Verifies all modules in a folder and those below it.
fn verify_folder(
    folder: &Path,
    ours: &[String],
    run: &impl Fn(&[OsString]) -> CommandResult,
) -> CommandResult {
    let mut modules = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && files::has_extension(&entry.path(), "spv") {
                modules.push(entry.path());
            }
        }
    }
    modules.sort();
    let mut outcome = Ok(());
    for module in modules {
        let mut ours: Vec<OsString> = ours.iter().map(OsString::from).collect();
        ours.push(module.into());
        if let Err(failure) = run(&ours) {
            crate::cli::report_outcome(Err(failure));
            outcome = Err(CommandFailure::Reported);
        }
    }
    outcome
}

fn run_texts(texts: &[String], run: &impl Fn(&[OsString]) -> CommandResult) -> CommandResult {
    let arguments: Vec<OsString> = texts.iter().map(OsString::from).collect();
    match run(&arguments) {
        // Every failure of theirs has the exit code 1.
        Err(CommandFailure::Usage(text)) => Err(CommandFailure::from_message(text)),
        outcome => outcome,
    }
}
