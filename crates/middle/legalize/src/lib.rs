//! Legalisation: SPIR-V modules changed into what a device takes.
//!
//! - [`compile_kernels`]: OpenCL kernels, from any producer, to compute shaders for Vulkan.
//! - [`device`]: a shader for one device, its limits and the errors of its driver.
//! - [`emulate`]: shaders for devices that lack numeric types.
//! - [`structurise_module`]: structured control flow for any control-flow graph.

mod classes;
mod compile;
pub mod device;
pub mod emulate;
mod error;
mod facts;
mod initial;
mod library;
mod lower;
mod opaque;
mod prepare;
mod program;
mod steps;
mod structurise;

pub use compile::{VulkanCompileOptions, compile_kernels, has_kernels, is_for_kernels};
pub use error::LegalizeError;
pub use structurise::{DEEPEST, structurise_module};
