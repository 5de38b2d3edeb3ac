//! What compilation ends in and what the runtime runs.
//!
//! - [`Scalar`], [`Literal`]: types and values of scalars.
//! - [`Parameter`]: tuning parameters.
//! - [`Operator`]: the scalar operators, one table for compilers and for the steps of the host.

mod eval;
mod operator;
mod parameter;
mod scalar;

pub use operator::{Class, Op, Operator, ROWS, Row, Shape};
pub use parameter::{Parameter, SizeClass};
pub use scalar::{Literal, Scalar};
