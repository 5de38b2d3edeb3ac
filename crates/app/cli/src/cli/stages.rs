//! Stages of a compilation on the command line.

use crate::cli::failure;
use crate::cli::stderr::print_stderr_line;
use std::str::FromStr;

/// Choice of the stages after which a program is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrintAfterStage {
    /// Every stage.
    All,
    /// The stage with this name.
    Stage(String),
}

impl PrintAfterStage {
    /// Whether a stage is chosen.
    pub fn is_stage(&self, stage: &str) -> bool {
        match self {
            PrintAfterStage::All => true,
            PrintAfterStage::Stage(name) => name == stage,
        }
    }
}

impl FromStr for PrintAfterStage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(PrintAfterStage::All),
            name if spirula::list_program_stages().any(|(stage, _)| stage == name) => {
                Ok(PrintAfterStage::Stage(name.to_owned()))
            }
            name => Err(format!("no stage is named {name}")),
        }
    }
}

/// Printer of a program after the stages that are chosen.
pub struct StagePrinter<'a> {
    choice: Option<&'a PrintAfterStage>,
    /// The stages that the program passed.
    passed: Vec<String>,
}

impl<'a> StagePrinter<'a> {
    /// A printer of the stages of a choice, if there is one.
    pub fn new(choice: Option<&'a PrintAfterStage>) -> Self {
        StagePrinter {
            choice,
            passed: Vec::new(),
        }
    }

    /// Prints the result of a stage to standard error, if the stage is chosen.
    pub fn print_stage(&mut self, stage: &str, text: &dyn Fn() -> String) {
        let Some(choice) = self.choice else {
            return;
        };
        if !self.passed.iter().any(|passed| passed == stage) {
            self.passed.push(stage.to_owned());
        }
        if choice.is_stage(stage) {
            print_stderr_line!("// After {stage}\n{}", text().trim_end());
        }
    }

    /// Warns of a choice that nothing was printed for: the input does not pass the stage.
    pub fn warn_of_absent_stage(&self) {
        let missing = match self.choice {
            Some(PrintAfterStage::All) if self.passed.is_empty() => "any stage".to_owned(),
            Some(PrintAfterStage::Stage(name)) if !self.passed.contains(name) => {
                format!("the stage `{name}`")
            }
            _ => return,
        };
        let message = format!("nothing was printed: the input does not pass {missing}");
        let hint = match self.passed.as_slice() {
            [] => "only inputs that become kernels pass stages".to_owned(),
            passed => format!("its stages are {}", passed.join(", ")),
        };
        failure::report_line("warning", &message, Some(&hint));
    }
}

/// Describes the stages, for the long help.
pub fn describe_stages() -> String {
    let mut text = "Stages:\n".to_owned();
    for (name, about) in spirula::list_program_stages() {
        text += &format!("  {name:14}{about}\n");
    }
    text
}
