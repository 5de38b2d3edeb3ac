//! Kernel modules to Vulkan modules: OpenCL kernels in SPIR-V as compute shaders.
//!
//! - [`compile_kernels`]: a kernel module, from any producer, to a module for Vulkan.
//! - [`emulate`]: shaders for devices that lack types.
//! - [`with_reads_ahead`]: shaders for graphics cards, whose loops wait less for memory.
//! - [`structurise_module`]: structured control flow for any graph.

mod ahead;
mod classes;
mod compile;
pub mod emulate;
mod facts;
mod initial;
mod library;
mod lower;
mod opaque;
mod prepare;
mod program;
mod steps;
mod structurise;

pub use ahead::with_reads_ahead;
pub use compile::{VulkanCompileOptions, compile_kernels, has_kernels, is_for_kernels};
pub use structurise::{DEEPEST, structurise_module};
