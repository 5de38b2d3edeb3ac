//! Passes that make SPIR-V modules small and quick to run, and the manager that runs them.
//!
//! - [`optimise`]: runs a [`Pipeline`] over a module.
//! - [`PASSES`]: every pass, one record each.
//! - [`Cache`]: the analyses that passes share.
//! - [`check`]: the structural rules that every pass keeps.
//!
//! A pass is one file under `passes/` and one row of [`PASSES`]; names in pipelines, help texts and
//! tests come from the row.

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
mod replaced;
mod rules;
mod sroa;
mod strip;
mod structure;
mod users;
mod values;

pub use analyses::{Analyses, Cache};
pub use manager::{Error, Observer, Options, PassRun, Report, optimise};
pub use pass::{Argument, Outcome, PASSES, Pass, Run};
pub use pipeline::{Pipeline, PipelineError, Step};
