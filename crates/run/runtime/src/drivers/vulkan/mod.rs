//! Vulkan devices: shaders through the system's Vulkan loader.
//!
//! The loader is opened at run time, so that a program starts where there is none. From the bottom:
//!
//! - `error`: results of Vulkan's calls as errors that name the call.
//! - `instance`, `validation_log`: the loader, the instance, messages of the validation layer.
//! - `physical_device`: the devices that there are, their limits, choosing one by name.
//! - `matrix_shapes`, `bfloat16_features`: products of matrices that they have; features that the bindings lack.
//! - `features`, `capabilities`: what a device is opened with, and which modules it may be given.
//! - `device`: the opened device, and handles that destroy themselves.
//! - `memory`, `command`, `dependency_levels`, `batch`, `queue`, `timestamps`, `staging`: buffers, what is done with them, what waits for what, recorded and submitted work, when it ran, copies
//!   in and out.
//! - `image_formats`, `samplers`, `image`, `resources`: texels, and what handles stand for.
//! - `specialisation`, `descriptors`, `pipeline_cache`, `pipeline`, `pipeline_variants`: from an entry point to what can be dispatched.
//! - `dispatch`: a launch as commands.
//! - `command_replay`: what a batch was recorded for, so that it can be handed over again.
//! - `driver`: the implementation of [`crate::Driver`].
//!
//! Invariants: a handle keeps alive what it was made from, so that the order of destruction is
//! right by construction; work that was submitted keeps alive the buffers and pipelines that it
//! uses; a command sees what all before it wrote. Vulkan 1.2 is required.

mod bfloat16_features;
mod capabilities;
mod descriptors;
mod device;
mod dispatch;
mod driver;
mod error;
mod features;
mod image;
mod image_formats;
mod instance;
mod matrix_shapes;
mod memory;
mod physical_device;
mod pipeline;
mod pipeline_cache;
mod pipeline_variants;
mod queue;
mod resources;
mod samplers;
mod specialisation;
mod staging;
#[cfg(test)]
mod tests;
mod validation_log;

use crate::drivers::DriverFactory;
use crate::drivers::device_names::is_of_driver;
use driver::VulkanDriver;

/// The row of this driver in the table of drivers.
pub const FACTORY: DriverFactory = DriverFactory {
    accepts_name: |name| is_of_driver(name, "vulkan"),
    list_devices: driver::list_devices,
    find_info: driver::find_device_info,
    open_device: |name, options| Ok(Box::new(VulkanDriver::open(name, options)?)),
};
