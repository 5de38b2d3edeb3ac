//! What compilation ends in and what the runtime runs.
//!
//! - [`Program`]: kernels, steps of the host, entry points. [`program`] has its parts.
//! - [`Session`]: runs the steps on a [`Machine`].
//! - [`Value`]: what entry points take and give.
//! - [`Scalar`], [`Literal`]: types and values of scalars.
//! - [`Operator`]: the scalar operators, one table for compilers and for the steps of the host.
//! - [`Parameter`]: tuning parameters.

mod blocks;
mod eval;
mod operator;
mod parameter;
pub mod program;
mod scalar;
mod session;
mod value;

pub use operator::{Class, Op, Operator, ROWS, Row, Shape};
pub use parameter::{Parameter, SizeClass};
pub use program::Program;
pub use scalar::{Literal, Scalar};
pub use session::{Machine, Request, RunError, Session};
pub use value::{Value, ValueError};
