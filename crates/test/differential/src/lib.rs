//! Differential tests of LLVM IR: random programs, their evaluation, and a comparison of all ways to execute them.
//!
//! - [`generate_kernel()`]: generates a kernel from decisions; it is well-formed whatever they are.
//! - [`LlvmEvaluator`]: evaluates a module of LLVM IR by LLVM's reference manual. It shares only the reader and the data
//!   layout with the translator.
//! - [`verify_variant`]: runs a kernel in an [`ExecutionVariant`] and compares the output with the evaluation.

mod evaluate;
mod generate;
mod variants;

pub use evaluate::{EvaluationStop, LlvmEvaluator};
pub use generate::{ARGUMENTS, INPUT, ITEMS, KERNEL, OUTPUT, generate_kernel};
pub use variants::{
    DifferentialFault, EXECUTION_VARIANTS, ExecutionVariant, compile_variant, evaluate_module,
    verify_variant,
};
