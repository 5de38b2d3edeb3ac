//! What compilation ends in and what the runtime runs.
//!
//! - [`CompiledProgram`]: kernels, steps of the host, entry points. [`program`] has its parts.
//! - [`archive`]: programs as files.
//! - [`ProgramSession`]: runs the steps on a [`KernelMachine`].
//! - [`ProgramValue`]: what entry points take and give; [`read_string`] reads literals of strings.
//! - [`ScalarType`], [`ScalarLiteral`]: types and values of scalars.
//! - [`ScalarOperator`]: the scalar operators, one table for compilers and for the steps of the host.
//! - [`ProgramParameter`]: tuning parameters.
//! - [`ByteRegion`]: the part of a block that a command touches.

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
pub use machine::{BlockBinding, BlockRead, KernelMachine, LaunchRequest, ProgramError};
pub use operator::{
    ROWS, ScalarOp, ScalarOpInfo, ScalarOpSignature, ScalarOperator, ScalarTypeClass,
};
pub use parameter::{ProgramParameter, SizeClass};
pub use program::CompiledProgram;
pub use region::ByteRegion;
pub use scalar::{ScalarLiteral, ScalarType};
pub use session::{CallValue, CompletedCall, PreparedCall, ProgramSession};
pub use value::{ProgramValue, ValueError};
