//! Pipelines: sequences of passes, written as text.

use crate::pass::{PASSES, Pass};
use std::fmt;
use std::str::FromStr;

/// Passes in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    passes: Vec<&'static Pass>,
}

/// The presets by name.
const PRESETS: &[(&str, &str)] = &[
    ("O0", ""),
    ("O1", "mem2reg,simplify-cfg,adce,compact-ids"),
    (
        "O2",
        "simplify-cfg,adce,inline,sroa,mem2reg,gvn,simplify-cfg,adce,if-convert,licm,gvn,simplify-cfg,dead-members,dedup,adce,trim-capabilities,compact-ids",
    ),
    ("O3", "O2"),
    (
        "Os",
        "simplify-cfg,adce,inline-small,sroa,mem2reg,gvn,simplify-cfg,adce,if-convert,gvn-hoist,simplify-cfg,dead-members,dedup,adce,trim-capabilities,compact-ids",
    ),
    (
        "legalize",
        "simplify-cfg,inline-all,sroa,mem2reg,gvn,simplify-cfg,dedup,adce,compact-ids",
    ),
];

impl Pipeline {
    /// The passes.
    pub fn passes(&self) -> &[&'static Pass] {
        &self.passes
    }

    /// Puts a pass before the others.
    pub fn push_front(&mut self, pass: &'static Pass) {
        self.passes.insert(0, pass);
    }

    /// Names of presets and the pipelines that they stand for.
    pub fn presets() -> &'static [(&'static str, &'static str)] {
        PRESETS
    }
}

/// No pass or preset has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineError(String);

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = PASSES.iter().map(|p| p.name).collect();
        write!(
            f,
            "no pass is named {}; there are: {}",
            self.0,
            names.join(", ")
        )
    }
}

impl std::error::Error for PipelineError {}

impl FromStr for Pipeline {
    type Err = PipelineError;

    /// Names of passes and presets, separated by commas.
    fn from_str(text: &str) -> Result<Self, PipelineError> {
        let mut passes = Vec::new();
        for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            if let Some((_, preset)) = PRESETS.iter().find(|(n, _)| *n == name) {
                passes.extend(preset.parse::<Pipeline>()?.passes);
            } else {
                let pass = Pass::by_name(name).ok_or_else(|| PipelineError(name.to_owned()))?;
                passes.push(pass);
            }
        }
        Ok(Pipeline { passes })
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.passes.iter().map(|p| p.name).collect();
        f.write_str(&names.join(","))
    }
}
