//! What compilation ends in and what the runtime runs.
//!
//! - [`Program`]: kernels, steps of the host, entry points. [`program`] has its parts.
//! - [`archive`]: programs as files.
//! - [`Session`]: runs the steps on a [`Machine`].
//! - [`Value`]: what entry points take and give; [`read_string`] reads literals of strings.
//! - [`Scalar`], [`Literal`]: types and values of scalars.
//! - [`Operator`]: the scalar operators, one table for compilers and for the steps of the host.
//! - [`Parameter`]: tuning parameters.
//! - [`Region`]: the part of a block that a command touches.

pub mod archive;
mod blocks;
mod check;
mod copy;
mod escapes;
mod eval;
mod machine;
mod operator;
mod parameter;
mod pool;
pub mod program;
mod region;
mod scalar;
mod session;
mod value;

pub use check::ProgramFault;
pub use escapes::read_string;
pub use machine::{Given, Machine, Part, Request, RunError};
pub use operator::{Class, Op, Operator, ROWS, Row, Shape};
pub use parameter::{Parameter, SizeClass};
pub use program::Program;
pub use region::Region;
pub use scalar::{Literal, Scalar};
pub use session::{Ended, Item, Prepared, Session};
pub use value::{Value, ValueError};
