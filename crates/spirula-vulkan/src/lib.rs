//! Kernel modules to Vulkan modules: OpenCL kernels in SPIR-V as compute shaders.
//!
//! - [`structurise`]: structured control flow for any graph.

mod structurise;

pub use structurise::{DEEPEST, structurise};
