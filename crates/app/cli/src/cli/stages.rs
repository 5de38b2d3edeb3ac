//! Stages of a compilation on the command line.

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

/// Describes the stages, for the long help.
pub fn describe_stages() -> String {
    let mut text = "Stages:\n".to_owned();
    for (name, about) in spirula::list_program_stages() {
        text += &format!("  {name:14}{about}\n");
    }
    text
}
