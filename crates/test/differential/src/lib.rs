//! LLVM IR made at random, what it computes, and whether every way to run it agrees.
//!
//! - [`generate_kernel()`]: a kernel from a source of decisions, well-formed whatever they are.
//! - [`LlvmEvaluator`]: what a module of LLVM IR computes, by LLVM's reference manual alone. It shares
//!   nothing with the translator but the reader and the layout of data.
//! - [`verify_way`]: runs a kernel in one of several [`ExecutionVariant`]s and compares with the evaluation.
//! - [`reduce_input`]: a smaller source of decisions for which something still holds.

mod evaluate;
mod generate;
mod reduce;
mod variants;

pub use evaluate::{EvaluationStop, LlvmEvaluator};
pub use generate::{ARGUMENTS, INPUT, ITEMS, KERNEL, OUTPUT, generate_kernel};
pub use reduce::reduce_input;
pub use variants::{
    DifferentialFault, ExecutionVariant, WAYS, evaluate_module, module_of, verify_way,
};
