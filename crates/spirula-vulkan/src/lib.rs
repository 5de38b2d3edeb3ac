//! Kernel modules to Vulkan modules: OpenCL kernels in SPIR-V as compute shaders.
//!
//! - [`compile`]: a kernel module, from any producer, to a module for Vulkan.
//! - [`emulate`]: shaders for devices that lack types.
//! - [`structurise`]: structured control flow for any graph.

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

pub use compile::{Options, compile, has_kernels, is_for_kernels};
pub use structurise::{DEEPEST, structurise};
