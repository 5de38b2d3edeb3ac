//! Pass pipelines: sequences of passes with their arguments, and their text form.

use crate::pass::SpirvPass;
use crate::passes::PASSES;
use spirula_diagnostics::find_nearest;
use std::fmt;
use std::str::FromStr;

/// A pass with its argument.
#[derive(Clone, Debug)]
pub struct PipelineStep {
    /// The pass.
    pub pass: &'static SpirvPass,
    /// Its argument; empty for passes that take none.
    pub argument: Box<str>,
}

/// A sequence of passes.
#[derive(Clone, Debug, Default)]
pub struct PassPipeline {
    steps: Vec<PipelineStep>,
    never_larger: bool,
}

/// A named pipeline.
struct PipelinePreset {
    name: &'static str,
    /// Passes and presets as in the text form, one each.
    passes: &'static [&'static str],
    /// Whether a module that would become larger is left unchanged.
    never_larger: bool,
}

/// All presets.
const PRESETS: &[PipelinePreset] = &[
    PipelinePreset {
        name: "O0",
        passes: &[],
        never_larger: false,
    },
    PipelinePreset {
        name: "O1",
        passes: &["mem2reg", "simplify-cfg", "adce", "compact-ids"],
        never_larger: false,
    },
    PipelinePreset {
        name: "O2",
        passes: &[
            "simplify-cfg",
            "inline",
            "private-to-local",
            "sroa",
            "mem2reg",
            "split-phis",
            "sccp",
            "gvn",
            "simplify-cfg",
            "sroa",
            "mem2reg",
            "dead-components",
            "adce",
            "if-convert",
            "licm",
            "gvn",
            "simplify-cfg",
            "dead-members",
            "dedup",
            "dead-stores",
            "sink",
            "adce",
            "trim-capabilities",
            "compact-ids",
        ],
        never_larger: false,
    },
    PipelinePreset {
        name: "O3",
        passes: &[
            "simplify-cfg",
            "adce",
            "inline",
            "private-to-local",
            "sroa",
            "mem2reg",
            "split-phis",
            "sccp",
            "gvn",
            "simplify-cfg",
            "fuse",
            "unswitch",
            "unroll-small",
            "peel",
            "copy-arrays",
            "split-loads",
            "O2",
        ],
        never_larger: false,
    },
    PipelinePreset {
        name: "Os",
        passes: &[
            "simplify-cfg",
            "adce",
            "inline-small",
            "private-to-local",
            "sroa",
            "mem2reg",
            "split-phis",
            "sccp",
            "gvn",
            "simplify-cfg",
            "sroa",
            "mem2reg",
            "dead-components",
            "adce",
            "if-convert",
            "gvn-hoist",
            "simplify-cfg",
            "dead-members",
            "dedup",
            "dead-stores",
            "adce",
            "trim-capabilities",
            "compact-ids",
        ],
        never_larger: true,
    },
    PipelinePreset {
        name: "legalize",
        passes: &[
            "simplify-cfg",
            "inline-all",
            "sroa",
            "mem2reg",
            "gvn",
            "simplify-cfg",
            "dedup",
            "adce",
            "compact-ids",
        ],
        never_larger: false,
    },
    PipelinePreset {
        name: "legalize-naga",
        passes: &[
            "strip-lines",
            "strip-reflection",
            "flatten-decorations",
            "freeze-spec-const",
            "expand",
            "readable-buffers",
            "legalize",
            "expand",
            "trim-capabilities",
        ],
        never_larger: false,
    },
];

impl PassPipeline {
    /// The pipeline of passes and presets, each written as in the text form.
    ///
    /// # Errors
    /// If a name is unknown, or an argument is missing or invalid.
    pub fn from_names<'n>(
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<PassPipeline, PipelineError> {
        let mut pipeline = PassPipeline::default();
        for name in names {
            pipeline.append_by_name(name)?;
        }
        Ok(pipeline)
    }

    /// The passes with their arguments.
    pub fn steps(&self) -> &[PipelineStep] {
        &self.steps
    }

    /// Appends a pass, written as in the text form, or the passes of a preset.
    fn append_by_name(&mut self, name: &str) -> Result<(), PipelineError> {
        let Some(preset) = PRESETS.iter().find(|p| p.name == name) else {
            self.steps.push(parse_step(name)?);
            return Ok(());
        };
        self.never_larger |= preset.never_larger;
        preset
            .passes
            .iter()
            .try_for_each(|name| self.append_by_name(name))
    }

    /// Inserts a pass that takes no argument before the others.
    pub fn push_front(&mut self, pass: &'static SpirvPass) {
        let argument = "".into();
        self.steps.insert(0, PipelineStep { pass, argument });
    }

    /// Whether a module that would become larger is left unchanged.
    pub fn is_never_larger(&self) -> bool {
        self.never_larger
    }

    /// Names of presets with the text form of their pipelines.
    pub fn presets() -> impl Iterator<Item = (&'static str, String)> {
        PRESETS.iter().map(|p| (p.name, p.passes.join(",")))
    }
}

/// A fault of the text form of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineError {
    /// No pass or preset has this name.
    Unknown(String),
    /// The argument of a pass is missing or invalid.
    Argument {
        /// The pass.
        pass: &'static str,
        /// The syntax of its argument; empty if it takes none.
        form: &'static str,
    },
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineError::Unknown(name) => {
                let passes = PASSES.iter().map(|p| p.name);
                let known = || passes.clone().chain(PRESETS.iter().map(|p| p.name));
                if let Some(near) = find_nearest(name, known()) {
                    return write!(f, "no pass is named {name}; did you mean {near}?");
                }
                let names: Vec<_> = known().collect();
                write!(
                    f,
                    "no pass is named {name}; there are: {}",
                    names.join(", ")
                )
            }
            PipelineError::Argument { pass, form: "" } => {
                write!(f, "the pass {pass} takes no argument")
            }
            PipelineError::Argument { pass, form } => {
                write!(f, "the pass {pass} has to be written {pass}={form}")
            }
        }
    }
}

impl std::error::Error for PipelineError {}

impl FromStr for PassPipeline {
    type Err = PipelineError;

    /// Names of passes and presets, separated by commas.
    fn from_str(text: &str) -> Result<Self, PipelineError> {
        let names = text.split(',').map(str::trim);
        PassPipeline::from_names(names.filter(|name| !name.is_empty()))
    }
}

fn parse_step(text: &str) -> Result<PipelineStep, PipelineError> {
    let (name, argument) = text.split_once('=').unwrap_or((text, ""));
    let pass = SpirvPass::by_name(name).ok_or_else(|| PipelineError::Unknown(name.to_owned()))?;
    let form = pass.required_argument().map_or("", |a| a.form);
    let is_valid = match pass.required_argument() {
        None => !text.contains('='),
        Some(known) => (known.is_valid)(argument),
    };
    if !is_valid {
        return Err(PipelineError::Argument {
            pass: pass.name,
            form,
        });
    }
    let argument = argument.into();
    Ok(PipelineStep { pass, argument })
}

impl fmt::Display for PassPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{}", step.pass.name)?;
            if !step.argument.is_empty() {
                write!(f, "={}", step.argument)?;
            }
        }
        Ok(())
    }
}
