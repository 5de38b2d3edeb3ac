//! Pass records: name, help, analyses, function.

use crate::analyses::{AnalysisCache, AnalysisSet};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;

/// The outcome of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOutcome {
    /// Descriptions of changes with their counts. If all counts are 0, the module was not changed.
    pub statistics: Vec<(&'static str, usize)>,
}

impl PassOutcome {
    /// Whether any pass changed the module.
    pub fn has_changed(&self) -> bool {
        self.statistics.iter().any(|(_, n)| *n > 0)
    }
}

/// The record of a pass, from which the manager, the command line and tests run it.
#[derive(Clone, Copy, Debug)]
pub struct SpirvPass {
    /// Name in pipelines.
    pub name: &'static str,
    /// Help text in one line: the name of the optimisation, then its effect.
    pub help: &'static str,
    /// Analyses that it requests.
    pub needs: AnalysisSet,
    /// Analyses that remain valid after it changed a module.
    pub keeps: AnalysisSet,
    /// The function that runs it.
    pub run: PassFunction,
}

/// The function of a pass, with or without an argument.
#[derive(Clone, Copy, Debug)]
pub enum PassFunction {
    /// Takes no argument.
    Plain(fn(&mut SpirvModule, &mut AnalysisCache) -> Result<PassOutcome, SourceDiagnostic>),
    /// Takes an argument, which pipelines give after `=`.
    With(
        PassArgument,
        fn(&mut SpirvModule, &mut AnalysisCache, &str) -> Result<PassOutcome, SourceDiagnostic>,
    ),
}

/// The argument of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassArgument {
    /// Its syntax, for help texts.
    pub form: &'static str,
    /// An argument that is valid for any module, for tests.
    pub example: &'static str,
    /// Whether a text is a valid argument.
    pub is_valid: fn(&str) -> bool,
}

impl SpirvPass {
    /// The argument that it requires.
    pub fn required_argument(&self) -> Option<PassArgument> {
        match self.run {
            PassFunction::Plain(_) => None,
            PassFunction::With(argument, _) => Some(argument),
        }
    }

    /// A pipeline of this pass alone, with the example argument if it takes one.
    pub fn example_pipeline(&self) -> String {
        match self.required_argument() {
            None => self.name.to_owned(),
            Some(argument) => format!("{}={}", self.name, argument.example),
        }
    }
}
