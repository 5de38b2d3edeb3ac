//! Compilation of compute programs to SPIR-V: the front ends of Spirula in one function.
//!
//! - [`compile_input`] compiles the bytes of any accepted input to a module, or to a program of kernels and the host
//!   part that launches them. Its two halves are [`read_input`] and [`CompileInput::compile_with`].
//! - [`detect_input_format`] detects the format of an input from its content.
//! - [`generate_c_library`] writes the C interface of a Futhark program.
//! - [`FRONT_ENDS`] lists the input languages. A new one is a file in `front/` and a row of that table.
//!
//! ```
//! let source = b"OpCapability Kernel\nOpCapability Addresses\nOpMemoryModel Physical64 OpenCL\n";
//! let compiled = spirula::compile_input(source, &spirula::CompileOptions::default())?;
//! assert_eq!(compiled.format.name, "SPIR-V assembly");
//! assert_eq!(compiled.into_module()?.to_bytes()[..4], [3, 2, 0x23, 7]);
//! # Ok::<(), spirula::CompileError>(())
//! ```
//!
//! This crate reads no files, prints nothing, and knows no devices. `spirula-runtime` runs its outputs.
//!
//! Features:
//!
//! - `wgsl`: WGSL is an input language, by the front end of naga.
//! - `wgsl-output`: modules are also written as WGSL, by naga.

mod c_library;
mod compile;
mod error;
mod front;
mod initialisers;
mod link;
mod optimise;
mod options;
mod relocate;
mod signature;
mod stages;
mod vulkan;
#[cfg(feature = "wgsl-output")]
mod wgsl_output;

pub use c_library::{CLibraryFiles, CLibraryParts, generate_c_library};
pub use compile::{
    CompileInput, CompileOutput, CompiledInput, IntermediateProgram, ScheduledProgram,
    compile_combinators, compile_input, read_input, read_located_input,
};
pub use error::{CompileError, CompileStage};
pub use front::{
    FRONT_ENDS, FUTHARK_SOURCE, FrontEnd, InputFormat, SPIRV_BINARY, SPIRV_TEXT,
    detect_input_format, list_accepted_inputs, name_foreign_language,
};
pub use initialisers::warn_of_initialisers;
pub use link::link_program;
pub use options::{CompileOptions, ShardProgram};
pub use relocate::relocate_to_text;
pub use signature::TensorSignature;
pub use spirula_kernel::ir::FragmentElement;
pub use spirula_llvm::AllowedExtensions;
pub use spirula_partition::{
    EXCHANGE_TARGET, ElementMovement, InspectedLayout, PartitionOptions, asks_for_layouts,
    inspect_layouts,
};
pub use spirula_stablehlo::translate::{
    ForeignTargets, KnownArguments, NamedTargets, ScatterWindows,
};
pub use spirula_tensor::ir::ProductPrecision;
pub use spirula_tensor::schedule::{
    DispatchTuning, FragmentShape, MatrixProfile, ProfileSetting, ScheduleProfile,
    ScheduleStrategy, TensorDispatch,
};
pub use stages::{StageObserver, list_program_stages};
pub use vulkan::split_rare_types;
#[cfg(feature = "wgsl-output")]
pub use wgsl_output::{WgslShader, translate_to_wgsl};
