//! The pass manager: runs a pipeline over a module.

use crate::analyses::AnalysisCache;
use crate::check;
use crate::pass::{PassFunction, PassOutcome, SpirvPass};
use crate::pipeline::PassPipeline;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use std::borrow::Cow;
use std::fmt;

/// An observer of passes, such as a printer or a clock.
pub trait PassObserver {
    /// Called before a pass runs.
    fn before_pass(&mut self, _pass: &SpirvPass, _module: &SpirvModule) {}

    /// Called after a pass has run.
    fn after_pass(&mut self, _pass: &SpirvPass, _module: &SpirvModule, _outcome: &PassOutcome) {}
}

/// Options of a pipeline run.
#[derive(Default)]
pub struct PipelineOptions<'a> {
    /// Whether the module and the kept analyses are checked after each pass.
    pub verify_each: bool,
    /// The observer of each pass.
    pub observer: Option<&'a mut dyn PassObserver>,
}

/// One execution of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRun {
    /// Name of the pass.
    pub name: &'static str,
    /// Outcome of the pass.
    pub outcome: PassOutcome,
}

/// The report of a pipeline run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PipelineReport {
    /// The passes in execution order.
    pub runs: Vec<PassRun>,
    /// The module was left unchanged, because it has unknown instructions. Their ids cannot be distinguished
    /// from their numbers.
    pub skipped: bool,
    /// The module was left unchanged, because it became larger under a pipeline that does not allow this.
    pub reverted: bool,
}

impl PipelineReport {
    /// Whether any pass changed the module.
    pub fn has_changed(&self) -> bool {
        !self.reverted && self.runs.iter().any(|r| r.outcome.has_changed())
    }
}

impl fmt::Display for PipelineReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.skipped {
            writeln!(f, "left as it is: it has instructions that are not known")?;
        }
        if self.reverted {
            writeln!(f, "left as it is: it would become larger")?;
        }
        for run in &self.runs {
            write!(f, "{:>14}", run.name)?;
            for (what, number) in run.outcome.statistics.iter().filter(|(_, n)| *n > 0) {
                write!(f, "  {number} {what}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// The reason why a pipeline stopped.
#[derive(Debug)]
pub enum OptimiseError {
    /// The module is malformed.
    Module(Box<SourceDiagnostic>),
    /// A pass broke a rule of the module, or does not keep an analysis that it claims to keep. This is a bug of
    /// the pass.
    Pass {
        /// Name of the pass.
        pass: &'static str,
        /// Description of the fault.
        fault: String,
    },
}

impl fmt::Display for OptimiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptimiseError::Module(error) => error.fmt(f),
            OptimiseError::Pass { pass, fault } => write!(f, "after the pass {pass}: {fault}"),
        }
    }
}

impl std::error::Error for OptimiseError {}

impl From<SourceDiagnostic> for OptimiseError {
    fn from(error: SourceDiagnostic) -> Self {
        OptimiseError::Module(Box::new(error))
    }
}

/// The number of unused ids that a module may have, beyond 16 for each instruction, before its ids are
/// compacted.
const SPARE_IDS: usize = 1 << 16;

/// Runs a pipeline over a module.
///
/// Modules with unknown instructions are left unchanged. If the pipeline must never enlarge a module, one that
/// grew is restored. Modules of which few ids are used are compacted first, because passes have tables of all
/// ids.
///
/// # Errors
/// If the module is malformed, or, with [`PipelineOptions::verify_each`], if a pass has a bug.
pub fn optimise_module(
    module: &mut SpirvModule,
    pipeline: &PassPipeline,
    options: &mut PipelineOptions<'_>,
) -> Result<PipelineReport, OptimiseError> {
    let mut report = PipelineReport::default();
    if !module.is_known() {
        report.skipped = true;
        return Ok(report);
    }
    let before = pipeline.is_never_larger().then(|| module.to_words());
    let mut cache = AnalysisCache::new();
    let mut pipeline = Cow::Borrowed(pipeline);
    let is_sparse = module.bound() as usize > SPARE_IDS + 16 * module.inst_count();
    if is_sparse
        && !pipeline.steps().is_empty()
        && let Some(compaction) = SpirvPass::by_name("compact-ids")
    {
        pipeline.to_mut().push_front(compaction);
    }
    for step in pipeline.steps() {
        let pass = step.pass;
        if let Some(observer) = &mut options.observer {
            observer.before_pass(pass, module);
        }
        let outcome = match pass.run {
            PassFunction::Plain(run) => run(module, &mut cache)?,
            PassFunction::With(_, run) => run(module, &mut cache, &step.argument)?,
        };
        if outcome.has_changed() {
            cache.retain_analyses(pass.keeps);
        }
        if let Some(observer) = &mut options.observer {
            observer.after_pass(pass, module, &outcome);
        }
        if options.verify_each {
            verify_after_pass(pass, module, &mut cache)?;
        }
        report.runs.push(PassRun {
            name: pass.name,
            outcome,
        });
    }
    if let Some(before) = before
        && before.len() < module.to_words().len()
    {
        *module = SpirvModule::from_words(before)?;
        report.reverted = true;
    }
    Ok(report)
}

fn verify_after_pass(
    pass: &SpirvPass,
    module: &SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<(), OptimiseError> {
    let fault = |fault| OptimiseError::Pass {
        pass: pass.name,
        fault,
    };
    check::verify_module(module).map_err(|e| fault(e.to_string()))?;
    cache
        .verify_cached(module)
        .map_err(|name| fault(format!("the kept analysis of {name} is out of date")))?;
    let words = module.to_words();
    let again = SpirvModule::from_words(words.clone()).map_err(|e| fault(e.to_string()))?;
    if again.to_words() != words {
        return Err(fault(
            "the module changes when it is written and read".to_owned(),
        ));
    }
    Ok(())
}
