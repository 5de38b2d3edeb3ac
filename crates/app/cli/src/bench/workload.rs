//! Workloads: calls of entry points that are measured.

use spirula_program::{CallValue, CompiledProgram};
use std::path::PathBuf;
use std::rc::Rc;

/// Workload: a call of an entry point that is measured.
pub struct BenchWorkload {
    /// The program's name, and that of the entry point where it is not `main`.
    pub program: String,
    /// Name of the data set.
    pub dataset: String,
    /// The program.
    pub compiled: Rc<CompiledProgram>,
    /// The entry point.
    pub entry: String,
    /// The arguments.
    pub items: Vec<CallValue>,
    /// The file of the program's source, if it is a file of its own.
    pub source: Option<PathBuf>,
    /// Values of tuning parameters, by their names or those of their classes.
    pub sizes: Vec<(String, u64)>,
}
