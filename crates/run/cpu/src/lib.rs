//! CPU device: runs SPIR-V compute entry points as machine code that Cranelift's JIT compiles.
//!
//! [`JitKernel::compile_entry_point`] turns an entry point of a module, a `Kernel` or `GLCompute` shader, into machine
//! code. [`JitKernel::run_launch`] launches it. The former reports everything that is not supported.
//!
//! # How it works
//!
//! A loop over the invocations of a workgroup is generated around the entry function. One thread runs a workgroup, and
//! threads take workgroups in order. Where invocations wait for each other (barriers, group and subgroup operations),
//! the code returns to a scheduler. Each invocation keeps its live values in a frame of its own, and goes on when the
//! scheduler calls it again. Therefore barriers may stand in any control flow, and subgroup operations see the lanes
//! that are at the same point.
//!
//! # Semantics
//!
//! Behaviour that SPIR-V leaves undefined is defined as in `spirula_scalar`: no instruction on values traps.
//! Floating-point operations are never contracted. Accesses to memory are not checked. An access to an address without
//! memory ends the launch, not the process.
//!
//! # Layers
//!
//! Each folder is a layer. It imports only the layers of its row; `cargo xtask test` checks this (`xtask/src/tidy/layers.rs`).
//!
//! | Layer | Contents | Imports |
//! | --- | --- | --- |
//! | `memory` | memory spans, guard pages, memory of threads and of code | none |
//! | `image` | images, samplers, and their functions that generated code calls | `memory` |
//! | `pipe` | pipes, and their functions that generated code calls | `memory` |
//! | `module` | a SPIR-V module with its types, constants and entry point | `image` |
//! | `matrix` | cooperative matrices, and their functions that generated code calls | `module` |
//! | `analysis` | analyses of the functions that an entry point reaches | `module`, `matrix`, `pipe` |
//! | `layout` | launch context, frames, parameters, places of variables | `analysis` and what it imports, `memory`, `image` |
//! | `host` | `printf` and device-side enqueue, which generated code calls | `layout` |
//! | `codegen` | lowering of instructions to Cranelift's IR, JIT compilation | all above |
//! | `simd` | vectorisation of that IR for SIMD gangs | `module`, `layout`, `codegen` |
//! | `sanitizer` | checks that the lowering emits through hooks, shadow memory, reports | `memory`, `module`, `analysis`, `layout`, `codegen` |
//! | `exec` | compiled kernels, launches, threads, the scheduler of a workgroup | all above |

mod analysis;
mod codegen;
mod exec;
mod host;
mod image;
mod layout;
mod matrix;
mod memory;
mod module;
mod pipe;
mod sanitizer;
mod simd;

pub use analysis::block_counters::BlockCount;
pub use exec::compile::JitOptions;
pub use exec::cpu_mode::CpuMode;
pub use exec::jit_error::JitError;
pub use exec::jit_kernel::JitKernel;
pub use exec::launch::{DescriptorResource, JitArgument, JitLaunch, LaunchError, ResourceBinding};
pub use image::{
    BorderColour, DepthComparison, HostImage, ImageDimensions, ImageShape, ImageType,
    SamplerAddressing, SamplerFilter, SamplerState, TexelFormat,
};
pub use layout::invocation_range::InvocationRange;
pub use layout::module_variables::ModuleVariables;
pub use memory::guarded_pages::GuardedPages;
pub use memory::memory_span::MemorySpan;
pub use pipe::PipeShape;
pub use sanitizer::kernel_sanitizer::KernelSanitizer;
pub use spirula_resource::{
    FaultKind, FaultReport, InstructionSite, InvocationId, SanitizerOptions,
};
