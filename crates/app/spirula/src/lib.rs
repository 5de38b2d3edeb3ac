//! Compute programs in, SPIR-V out: the front ends of Spirula behind one function.
//!
//! - [`compile`]: from the bytes of any accepted input to a module, or to a program of kernels and
//!   the host's part that launches them; [`read`] and [`CompileInput::compile`] are its two halves.
//! - [`detect`]: what an input is, by its content.
//!
//! ```
//! let source = b"OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n";
//! let compiled = spirula::compile(source, &spirula::CompileOptions::default())?;
//! assert_eq!(compiled.input, spirula::InputKind::SpirvText);
//! assert_eq!(compiled.into_module()?.to_bytes()[..4], [3, 2, 0x23, 7]);
//! # Ok::<(), spirula::CompileError>(())
//! ```
//!
//! Nothing here reads files, prints, or knows a device: see `spirula-runtime` for running what comes out.

mod compile;
mod detect;
mod initialisers;
mod optimise;
mod tensors;

pub use compile::{
    CompileError, CompileInput, CompileOptions, CompileOutput, CompileStage, CompiledInput,
    IntermediateProgram, ScheduledProgram, StageObserver, compile, for_devices, read, stages,
};
pub use detect::{InputKind, detect};
pub use initialisers::warn_of_initialisers;
pub use spirula_kernel::ir::FragmentElement;
pub use spirula_stablehlo::translate::KnownArguments;
pub use spirula_tensor::schedule::{
    DispatchTuning, FragmentShape, MatrixProfile, ProfileSetting, ScheduleProfile,
    ScheduleStrategy, TensorDispatch,
};
pub use tensors::TensorSignature;
