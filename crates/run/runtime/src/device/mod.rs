//! Devices as callers see them: a driver whose calls are checked and timed.
//!
//! - `buffers`, `resources`: buffers; images, samplers and pipes.
//! - `imported_memory`: buffers and images over memory of the caller.
//! - `kernels`, `kernel_shader`: kernels of the driver, and kernels that became shaders.
//! - `launches`, `checks`: launches, checked against interfaces and limits.
//! - `program_variables`, `printf_records`, `sampler_variants`: the hidden resources of kernels that became shaders.

mod buffers;
mod checks;
mod imported_memory;
mod kernel_shader;
mod kernels;
mod launches;
mod printf_records;
mod program_variables;
mod resources;
mod sampler_variants;

pub use imported_memory::ImportedMemory;

use crate::compare::{ComparisonDriver, FloatTolerance};
use crate::driver::{DeviceDriver, DeviceInfo, DeviceOptions};
use crate::numbered_objects::NumberedObjects;
use crate::profile::{DeviceProfile, KernelTime};
use crate::{DeviceError, drivers};
use kernels::KernelRecord;
use program_variables::ProgramVariableBuffers;
use resources::{DeviceResource, DeviceResourceKind};
use sampler_variants::SamplerVariants;

/// A device with its resources and kernels.
///
/// Calls are checked before the driver sees them, so that a driver only gets valid requests.
pub struct ComputeDevice {
    driver: Box<dyn DeviceDriver>,
    /// The resources that exist.
    resources: NumberedObjects<DeviceResource>,
    kernels: NumberedObjects<KernelRecord>,
    /// Times of the driver's kernels, also of those that were destroyed, unless their scope has ended.
    compiled: NumberedObjects<KernelTime>,
    profile: DeviceProfile,
    programs: ProgramVariableBuffers,
    /// States of samplers.
    samplers: SamplerVariants,
    /// Output of `printf` in shaders.
    printed: Vec<u8>,
}

impl ComputeDevice {
    /// Opens a device by name:
    ///
    /// - `cpu`: the processor.
    /// - `cpu+scalar`: the processor without vectors across invocations.
    /// - `cpu+count`: the processor, counting the instructions that run.
    /// - `cpu+san`: the processor with the sanitizer, whose faults are [`DeviceError::Faults`] when the host waits.
    /// - `vulkan`, `vulkan:N`, `vulkan:NAME`: the first Vulkan device, another one, or the first with this in its name.
    /// - `opencl`, `opencl:N`, `opencl:NAME`: the first OpenCL device that takes SPIR-V, or as above.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn open(name: &str, options: &DeviceOptions) -> Result<ComputeDevice, DeviceError> {
        let driver = drivers::open_device(name, options)?;
        Ok(ComputeDevice::with_driver(driver))
    }

    /// Whether the device was lost: no further work can run on it, and the contents of its buffers are gone.
    pub fn is_lost(&self) -> bool {
        self.driver.is_lost()
    }

    /// Facts of the device that [`ComputeDevice::open`] would open by this name, without opening it.
    ///
    /// # Errors
    /// When there is none.
    pub fn find_info(name: &str) -> Result<DeviceInfo, DeviceError> {
        drivers::find_device_info(name)
    }

    /// A device over a driver.
    pub fn with_driver(driver: Box<dyn DeviceDriver>) -> ComputeDevice {
        ComputeDevice {
            driver,
            resources: NumberedObjects::default(),
            kernels: NumberedObjects::default(),
            compiled: NumberedObjects::default(),
            profile: DeviceProfile::default(),
            programs: ProgramVariableBuffers::default(),
            samplers: SamplerVariants::default(),
            printed: Vec::new(),
        }
    }

    /// A device that repeats everything on several devices and compares their results after each launch; see
    /// [`crate::LaunchMismatch`]. Copies out are from the first. The devices must be new.
    ///
    /// # Errors
    /// When there are none.
    pub fn with_comparison(
        devices: Vec<ComputeDevice>,
        tolerance: FloatTolerance,
    ) -> Result<ComputeDevice, DeviceError> {
        let driver = ComparisonDriver::new(devices, tolerance);
        let driver = driver
            .ok_or_else(|| DeviceError::Launch("there is no device to compare".to_owned()))?;
        Ok(ComputeDevice::with_driver(Box::new(driver)))
    }

    /// Facts of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.driver.info()
    }

    /// Times so far.
    pub fn profile(&self) -> DeviceProfile {
        self.profile
    }

    /// Number of SPIR-V instructions that all invocations of all launches so far have run. Labels, phis, variables and instructions
    /// without effect do not count. Only `cpu+count` counts.
    pub fn instruction_count(&self) -> Option<u64> {
        self.driver.instruction_count()
    }

    /// The number of the next resource.
    fn next_number(&self) -> u32 {
        self.resources.next_number() as u32
    }

    fn register_resource(&mut self, size: u64, what: DeviceResourceKind) {
        self.resources.insert(DeviceResource { size, what });
    }

    /// Returns the warnings since the last call: caches of pipelines that could not be read, messages of a validation layer.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.driver.take_warnings()
    }
}
