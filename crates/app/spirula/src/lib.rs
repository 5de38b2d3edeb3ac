//! Compute programs in, SPIR-V out: the front ends of Spirula behind one function.
//!
//! - [`compile_input`]: from the bytes of any accepted input to a module, or to a program of kernels and
//!   the host's part that launches them; [`read_input`] and [`CompileInput::compile_with`] are its two halves.
//! - [`detect_input_kind`]: what an input is, by its content.
//!
//! ```
//! let source = b"OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n";
//! let compiled = spirula::compile_input(source, &spirula::CompileOptions::default())?;
//! assert_eq!(compiled.input, spirula::InputKind::SpirvText);
//! assert_eq!(compiled.into_module()?.to_bytes()[..4], [3, 2, 0x23, 7]);
//! # Ok::<(), spirula::CompileError>(())
//! ```
//!
//! Nothing here reads files, prints, or knows a device: see `spirula-runtime` for running what comes out.

mod compile;
mod front;
mod initialisers;
mod optimise;
mod signature;

pub use compile::{
    CompileError, CompileInput, CompileOptions, CompileOutput, CompileStage, CompiledInput,
    IntermediateProgram, ScheduledProgram, StageObserver, compile_input, for_devices, read_input,
    stablehlo_stages,
};
pub use front::detect::{InputKind, detect_input_kind};
pub use initialisers::warn_of_initialisers;
pub use signature::TensorSignature;
pub use spirula_kernel::ir::FragmentElement;
pub use spirula_stablehlo::translate::KnownArguments;
pub use spirula_tensor::schedule::{
    DispatchTuning, FragmentShape, MatrixProfile, ProfileSetting, ScheduleProfile,
    ScheduleStrategy, TensorDispatch,
};
