//! Interpreter of SPIR-V compute entry points, and their translation to WebAssembly: kernels and shaders run without machine
//! code, on any platform.
//!
//! [`KernelInterpreter::from_module`] decodes an entry point with all functions that it calls, and
//! [`KernelInterpreter::run_launch`] runs it over buffers. [`WasmKernel`] translates it for a [`WasmEngine`].
//! [`KernelExecutor`] chooses between both, and [`InterpreterMachine`] runs whole programs.
//!
//! # How it works
//!
//! Values are scalars of 64 bits: a vector, matrix or structure takes a register for each of its scalars. Each instruction
//! becomes one or a few steps over registers (`step`), with the function of `spirula_scalar` that computes it. So the
//! interpreter and the CPU device share the meaning of each operation.
//!
//! Invocations of a workgroup run in turns. One runs until it ends or waits for others. When all do, the exchange of
//! the point where they wait is computed, and they go on. Barriers may therefore stand in any control flow, and
//! subgroup operations see the lanes that are at the same point, as on the CPU device.
//!
//! A pointer has the number of a memory region in its upper bits. Each access is compared with the size of its region, so
//! an access outside ends the launch with the place of its instruction. So does a launch that exceeds its number of steps.
//!
//! | Module | Contents |
//! | --- | --- |
//! | `facts` | types, constants and layouts of a module |
//! | `operation` | operations on scalars, by the tables of `spirula_scalar` |
//! | `step` | decoded code |
//! | `decode` | instructions to steps |
//! | `memory` | regions of memory and accesses |
//! | `invocation` | steps of one invocation |
//! | `exchange` | barriers, group and subgroup operations |
//! | `waiting` | which of the invocations that wait go on |
//! | `launch_grid`, `placed_arguments` | index space and arguments of a launch |
//! | `launch` | launches and their workgroups |
//! | `wasm` | translation to WebAssembly, and launches of what was translated |
//! | `executor` | the choice between translation and interpreter |
//! | `machine` | whole programs |
//!
//! Images, pipes, `printf`, pointers to functions and cooperative matrices are refused by name.

mod decode;
mod exchange;
mod executor;
mod facts;
mod geometry;
mod invocation;
mod launch;
mod launch_grid;
mod machine;
mod memory;
mod operation;
mod placed_arguments;
mod step;
mod waiting;
mod wasm;

pub use executor::{ExecutorReport, KernelExecutor, PreparedKernel, StepLimits};
pub use launch::{
    InterpretedArgument, InterpretedLaunch, KernelInterpreter, ResourceSlot, find_buffer_address,
};
pub use machine::InterpreterMachine;
pub use wasm::{EngineImport, HOST_MODULE, HostFunctions, HostRow, WasmEngine, WasmKernel};
