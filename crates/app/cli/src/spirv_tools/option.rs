//! Options of SPIRV-Tools' programs, and how command lines are read by them.

use crate::cli::CommandFailure;
use spirula_diagnostics::find_nearest;
use spirula_spirv::target::SpirvTarget;

/// An option of a program of SPIRV-Tools.
#[derive(Debug)]
pub struct ToolOption {
    /// Its name, with the dashes.
    pub name: &'static str,
    /// The value that it takes.
    pub value: ToolOptionValue,
    /// The equivalent arguments of ours.
    pub meaning: OptionMeaning,
}

/// A row of a table of options.
pub const fn option_row(
    name: &'static str,
    value: ToolOptionValue,
    meaning: OptionMeaning,
) -> ToolOption {
    ToolOption {
        name,
        value,
        meaning,
    }
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOptionValue {
    /// None.
    Absent,
    /// A value after `=`, or else the next argument.
    Text,
    /// A value after `=`, which may be left out.
    Optional,
    /// A whole number, as [`ToolOptionValue::Text`].
    Number,
    /// A target environment, as [`ToolOptionValue::Text`].
    Target,
}

/// The equivalent of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionMeaning {
    /// Arguments of our command. `{}` stands for the value.
    Arguments(&'static [&'static str]),
    /// Passes of our optimiser, separated by commas. `{}` stands for the value.
    Passes(&'static str),
    /// Passes for each pair of the value, whose pairs are separated by spaces. `{}` stands for a pair.
    PassesOfPairs(&'static str),
    /// Options in the file that the value names.
    OptionsOfFile,
    /// Nothing: our command does so in any case, or needs no such permission.
    Implied,
    /// Our command cannot do this.
    Missing,
    /// Print the help.
    Help,
    /// Print the version.
    Version,
}

/// A command line that was read.
#[derive(Debug, Default)]
pub struct ToolArguments {
    /// Inputs, in their order.
    pub inputs: Vec<String>,
    /// Options in their order, with their values.
    pub options: Vec<(&'static ToolOption, String)>,
    /// Arguments after `--`.
    pub rest: Vec<String>,
}

impl ToolArguments {
    /// Reads a command line.
    ///
    /// # Errors
    /// When an option is unknown, or its value is missing or invalid.
    pub fn read(
        tool: &str,
        known: &'static [ToolOption],
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Self, CommandFailure> {
        let mut read = ToolArguments::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                read.rest.extend(arguments);
                break;
            }
            if !argument.starts_with('-') || argument == "-" {
                read.inputs.push(argument);
                continue;
            }
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let option = find_option(tool, known, name)?;
            let value = match (option.value, attached) {
                (ToolOptionValue::Absent, Some(_)) => {
                    return Err(fail(tool, &format!("{name} takes no value")));
                }
                (ToolOptionValue::Absent | ToolOptionValue::Optional, None) => String::new(),
                (_, Some(value)) => value,
                (_, None) => arguments
                    .next()
                    .ok_or_else(|| fail(tool, &format!("{name} needs a value")))?,
            };
            let value = check_value(tool, option, value)?;
            read.options.push((option, value));
        }
        Ok(read)
    }

    /// Whether an option of this meaning was given.
    pub fn has_meaning(&self, meaning: OptionMeaning) -> bool {
        self.options
            .iter()
            .any(|(option, _)| option.meaning == meaning)
    }

    /// The value of the last option of this name.
    pub fn value_of(&self, name: &str) -> Option<&str> {
        let mut given = self.options.iter().rev();
        let found = given.find(|(option, _)| option.name == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Finds an option by its name.
fn find_option(
    tool: &str,
    known: &'static [ToolOption],
    name: &str,
) -> Result<&'static ToolOption, CommandFailure> {
    if let Some(option) = known.iter().find(|option| option.name == name) {
        return Ok(option);
    }
    let text = format!("{tool} has no option {name}");
    let names = known.iter().map(|option| option.name);
    let hint = match find_nearest(name, names) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{tool} --help lists the options"),
    };
    Err(CommandFailure::with_hint(text, hint))
}

/// Checks the value of an option. The result is in our form.
fn check_value(tool: &str, option: &ToolOption, value: String) -> Result<String, CommandFailure> {
    match option.value {
        ToolOptionValue::Number => {
            let is_number = value.parse::<u32>().is_ok();
            is_number
                .then_some(value)
                .ok_or_else(|| fail(tool, &format!("{} needs a whole number", option.name)))
        }
        ToolOptionValue::Target => {
            // The embedded profiles of OpenCL have the rules of the full ones.
            let name = value.strip_suffix("embedded").unwrap_or(&value);
            let target: Result<SpirvTarget, _> = name.parse();
            target
                .map(|target| target.to_string())
                .map_err(|error| fail(tool, &error.to_string()))
        }
        _ => Ok(value),
    }
}

/// A failure of a program.
pub fn fail(tool: &str, text: &str) -> CommandFailure {
    CommandFailure::from_message(format!("{tool}: {text}"))
}
