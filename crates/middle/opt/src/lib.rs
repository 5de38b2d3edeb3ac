//! Optimisation passes over SPIR-V modules, and the manager that runs them.
//!
//! - [`optimise_module`]: runs a [`PassPipeline`] over a module.
//! - [`PASSES`]: every pass, one record each.
//! - [`AnalysisCache`]: the analyses that passes share.
//! - [`check`]: the structural rules that every pass keeps.
//!
//! A pass is one file under `passes/` and one row of [`PASSES`]. Its name in pipelines, its help text and its tests
//! come from the row.

mod adce;
mod analyses;
pub mod check;
mod gvn;
mod inline;
mod loops;
mod manager;
mod merge_return;
mod pass;
mod passes;
mod pipeline;
mod pool;
mod replacements;
mod rules;
mod sroa;
mod strip;
mod structure;
mod use_lists;
mod values;

pub use analyses::{AnalysisCache, AnalysisSet};
pub use manager::{
    OptimiseError, PassObserver, PassRun, PipelineOptions, PipelineReport, optimise_module,
};
pub use pass::{PassArgument, PassFunction, PassOutcome, SpirvPass};
pub use passes::PASSES;
pub use pipeline::{PassPipeline, PipelineError, PipelineStep};
