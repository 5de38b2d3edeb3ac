//! Compiled programs: the result of compilation, and the input of the runtime.
//!
//! - [`CompiledProgram`]: kernels, steps of the host, entry points. [`program`] has its parts.
//! - [`archive`]: programs as files.
//! - [`ProgramSession`]: runs the host's steps on a [`KernelMachine`].
//! - [`ResidentValue`]: arguments and results that stay on the machine between calls.
//! - [`ProgramHeap`]: memory of a machine that several programs use in turns; [`SuspendedSession`] is a program between calls.
//! - [`ForeignFunctionTable`]: functions that programs call by name, and whoever runs them registers ([`ForeignSignature`]).
//! - [`ProgramValue`]: arguments and results of entry points; [`read_string`] reads string literals.
//! - [`ScalarType`], [`ScalarLiteral`]: types and values of scalars.
//! - [`ScalarOperator`]: the scalar operators, one table for compilers and for the steps of the host.
//! - [`ProgramParameter`]: tuning parameters.
//! - [`ByteRegion`]: the part of a block that a command accesses.

pub mod archive;
mod block_pool;
mod byte_region;
mod copy_call;
mod evaluate;
mod foreign;
mod heap;
mod machine;
mod operator;
mod owned_or_lent;
pub mod program;
mod program_value;
mod resident;
mod scalar;
mod session;
mod string_literal;
mod tuning_parameter;
mod validate;

pub use byte_region::ByteRegion;
pub use foreign::{
    ForeignArrayType, ForeignAttribute, ForeignFailure, ForeignFailureKind, ForeignFunction,
    ForeignFunctionCall, ForeignFunctionError, ForeignFunctionTable, ForeignSignature,
};
pub use heap::{HeapUse, MachineResult, ProgramHeap};
pub use machine::{BlockBinding, BlockRead, KernelMachine, LaunchRequest, ProgramError};
pub use operator::{
    GlslWidths, ROWS, ScalarInstruction, ScalarOp, ScalarOpInfo, ScalarOpSignature, ScalarOperator,
    ScalarTypeClass,
};
pub use owned_or_lent::OwnedOrLent;
pub use program::CompiledProgram;
pub use program_value::{ProgramValue, ValueError, element_type_name, parse_element_type};
pub use resident::ResidentValue;
pub use scalar::{ScalarLiteral, ScalarType};
pub use session::{
    CallProgress, CallValue, CompletedCall, ForeignResult, PausedCall, PreparedCall,
    ProgramSession, SuspendedSession,
};
pub use string_literal::read_string;
pub use tuning_parameter::{ProgramParameter, SizeClass};
pub use validate::ProgramFault;
