//! Vulkan devices: shaders through the system's Vulkan loader.
//!
//! The loader is opened at run time, so that a program starts where there is none. From the bottom:
//!
//! - `error`: results of Vulkan's calls as errors that name the call.
//! - `instance`, `debug`: the loader, the instance, messages of the validation layer.
//! - `physical`: the devices that there are, their limits, choosing one by name.
//! - `matrices`, `bfloat`: products of matrices that they have; features that the bindings lack.
//! - `features`, `capabilities`: what a device is opened with, and which modules it may be given.
//! - `device`: the opened device, and handles that destroy themselves.
//! - `memory`, `command`, `waves`, `batch`, `queue`, `stamps`, `transfer`: buffers, what is done with them, what waits for what, recorded and submitted work, when it ran, copies
//!   in and out.
//! - `format`, `sampler`, `image`, `resource`: texels, and what handles stand for.
//! - `specialise`, `descriptors`, `cache`, `pipeline`, `variant`: from an entry point to what can be dispatched.
//! - `dispatch`: a launch as commands.
//! - `tape`: what a batch was recorded for, so that it can be handed over again.
//! - `driver`: the implementation of [`crate::Driver`].
//!
//! Invariants: a handle keeps alive what it was made from, so that the order of destruction is
//! right by construction; work that was submitted keeps alive the buffers and pipelines that it
//! uses; a command sees what all before it wrote. Vulkan 1.2 is required.

mod batch;
mod bfloat;
mod cache;
mod capabilities;
mod command;
mod debug;
mod descriptors;
mod device;
mod dispatch;
mod driver;
mod error;
#[cfg(test)]
mod faults;
mod features;
mod format;
#[cfg(test)]
mod hooks;
mod image;
mod instance;
mod matrices;
mod memory;
mod physical;
mod pipeline;
mod queue;
#[cfg(test)]
mod repeats;
mod resource;
mod sampler;
mod specialise;
mod stamps;
mod supply;
mod tape;
mod transfer;
#[cfg(test)]
mod trial;
mod variant;
mod waves;

pub use driver::{VulkanDriver, find_device_info, list_devices};
