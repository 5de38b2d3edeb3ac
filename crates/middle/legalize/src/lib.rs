//! Legalisation: SPIR-V modules changed into what a device takes.
//!
//! - [`compile_kernels`]: OpenCL kernels, from any producer, to compute shaders for Vulkan.
//! - [`device`]: a shader for one device, its limits and the errors of its driver.
//! - [`emulate`]: shaders for devices that lack numeric types.
//! - [`structurise_module`]: structured control flow for any control-flow graph.

mod component_calls;
pub mod device;
pub mod emulate;
mod error;
mod kernels;
mod passes;
mod remainders;
mod structurise;

/// Most scalars of a value that is loaded or stored as a whole.
const MOST_VALUE_SCALARS: usize = 4096;

pub use error::LegalizeError;
pub use kernels::{VulkanCompileOptions, compile_kernels, has_kernels, is_for_kernels};
pub use structurise::{DEEPEST, structurise_module};
