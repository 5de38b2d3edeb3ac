//! Passes of the optimiser on the command line.

use spirula_diagnostics::find_nearest;
use spirula_opt::{PASSES, PassPipeline, SpirvPass};
use std::str::FromStr;

/// Choice of the passes after which the module is printed.
#[derive(Clone, Copy, Debug)]
pub enum PrintAfterPass {
    /// Every pass.
    All,
    /// Every pass that changed the module.
    Changed,
    /// This pass.
    Pass(&'static SpirvPass),
}

impl FromStr for PrintAfterPass {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(PrintAfterPass::All),
            "changed" => Ok(PrintAfterPass::Changed),
            name => match SpirvPass::by_name(name) {
                Some(pass) => Ok(PrintAfterPass::Pass(pass)),
                None => Err(describe_unknown_pass(name)),
            },
        }
    }
}

fn describe_unknown_pass(name: &str) -> String {
    let known = PASSES.iter().map(|pass| pass.name);
    match find_nearest(name, known.chain(["all", "changed"])) {
        Some(near) => format!("no pass is named {name}; did you mean {near}?"),
        None => format!("no pass is named {name}"),
    }
}

/// Describes the passes and presets, for the long help.
pub fn describe_passes() -> String {
    let mut text = "Passes:\n".to_owned();
    for pass in PASSES {
        let form = pass
            .required_argument()
            .map_or(String::new(), |a| format!("={}", a.form));
        text += &format!("  {:24}{}\n", format!("{}{form}", pass.name), pass.help);
    }
    text += "\nPresets:\n";
    for (name, passes) in PassPipeline::presets() {
        text += &format!("  -{name}  {passes}\n");
    }
    text
}
