//! Runs SPIR-V compute entry points on the CPU.
//!
//! [`JitKernel::compile_entry_point`] turns an entry point of a module, `Kernel` or `GLCompute`, into machine code
//! through Cranelift's JIT; [`JitKernel::run_launch`] launches it. Everything that is not supported is found by
//! the former.
//!
//! # How it works
//!
//! The entry function is generated with a loop over the invocations of a workgroup around it. One
//! thread runs a workgroup; threads take workgroups in order. Where invocations wait for each other
//! (barriers, group and subgroup operations), the code returns to a scheduler: each invocation keeps
//! what is alive in a frame of its own and goes on when the scheduler calls it again. So barriers may
//! stand in any control flow, and subgroup operations see the lanes that are at the same point.
//!
//! # Semantics
//!
//! What SPIR-V leaves undefined is defined as in `spirula_scalar`: no instruction on values traps.
//! Floating-point operations are never contracted. Accesses to memory are not checked, but those to
//! addresses where no memory is end the launch, not the process.
//!
//! # Map
//!
//! - `program`, `types`, `constants`, `functions`, `promote`, `liveness`: what is known of a module
//!   before code is made.
//! - `lower`: from instructions to Cranelift's IR, one file for each class of instructions.
//! - `bundle`: from the code of one invocation to that of several at once, in vectors. `loops`: what compilers want
//!   of either.
//! - `check`: the checking mode, which tells what kernels do wrong.
//! - `image`: images and samplers. `pipe`: pipes. `enqueue`: kernels
//!   that kernels enqueue. `print`: what kernels print.
//! - `suspend`, `context`, `groups`, `product`, `schedule`: suspension points, frames, exchanges, workgroups.
//! - `guard`: calls of generated code that come back whatever it does.
//! - `compile`, `launch`, `run`, `count`: the interface. `arguments`, `worker`: one launch. `jit`, `memory`, `pages`: generated code and raw memory.

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
pub use exec::jit_kernel::JitKernel;
pub use exec::launch::{DescriptorResource, JitArgument, JitLaunch, LaunchError, ResourceBinding};
pub use image::{
    BorderColour, DepthComparison, HostImage, ImageDimensions, ImageShape, ImageType,
    SamplerAddressing, SamplerFilter, SamplerState, TexelFormat,
};
pub use layout::invocation_range::InvocationRange;
pub use memory::guarded_pages::GuardedPages;
pub use memory::memory_span::MemorySpan;
pub use pipe::PipeShape;
pub use sanitizer::kernel_sanitizer::{CheckOptions, KernelSanitizer};
pub use sanitizer::report::{FaultKind as ReportKind, FaultReport, InstructionSite, InvocationId};
