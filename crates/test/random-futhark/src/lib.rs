//! Differential tests of Futhark source: random well-typed programs, and a comparison of what all forms of them mean.
//!
//! - [`generate_program()`]: generates a program with arguments of `main` from decisions. It is well-typed and does not fail,
//!   whatever they are.
//! - [`compare_forms`]: compares the evaluator of typed source with the soac form before and after its passes, and with the
//!   segmented form by both profiles.
//! - [`RandomProgram::print_test`]: the program with a test block, for devices and for other compilers.

mod compare;
mod generate;

pub use compare::{FormDifference, compare_forms};
pub use generate::{RandomProgram, generate_program};
