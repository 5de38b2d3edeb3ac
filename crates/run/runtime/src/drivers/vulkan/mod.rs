//! Vulkan devices: compute shaders through the system's Vulkan loader.
//!
//! The loader is opened at run time, so that a program starts on systems without Vulkan. From the bottom:
//!
//! - `error`: results of Vulkan's calls as errors that name the call.
//! - `instance`, `validation_log`: the loader, the instance, messages of the validation layer.
//! - `physical_device`: the devices of the system, their limits, choosing one by name.
//! - `matrix_shapes`, `bfloat16_features`: matrix products of a device; features that the bindings lack.
//! - `kernel_features`: optional operations of kernels; the size of subgroups.
//! - `features`, `capabilities`: the features that a device is opened with, and the modules that it can run.
//! - `device`: the opened device, and handles that destroy themselves.
//! - `memory`, `staging`: buffers, and copies between them and the host.
//! - `queue`: recording, submitting and replaying commands.
//! - `image_formats`, `samplers`, `image`, `resources`: images, and what handles stand for.
//! - `specialisation`, `descriptors`, `pipeline_cache`, `pipeline`, `pipeline_variants`: from an entry point to a pipeline.
//! - `dispatch`: a launch as a command.
//! - `driver`: the implementation of [`crate::DeviceDriver`].
//!
//! # Invariants
//! - A handle keeps alive the objects that it was made from, so that the order of destruction is right by construction.
//! - Submitted work keeps alive the buffers and pipelines that it uses.
//! - A command sees the writes of all commands before it.
//!
//! Vulkan 1.2 is required.

mod bfloat16_features;
mod capabilities;
mod compute_units;
mod descriptors;
mod device;
mod dispatch;
mod driver;
mod error;
mod features;
mod image;
mod image_formats;
mod instance;
mod kernel_features;
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
