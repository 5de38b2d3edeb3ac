//! What an implementation of devices provides.

use crate::{Buffer, Error, Kernel, Launch};
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::Interface;

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// The processor that this program runs on.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Something else.
    Other,
}

/// A device and what it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name that [`crate::Device::open`] takes.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Kind.
    pub kind: DeviceKind,
    /// Who drives it, with version.
    pub driver: String,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The widths of floats, a bit each (16, 32, 64), whose signed zeros, infinities and NaNs
    /// kernels can rely on.
    pub special_values: u32,
    /// What must not be exceeded.
    pub limits: Limits,
}

/// What a launch or a buffer must not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a buffer.
    pub buffer_size: u64,
    /// Invocations of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Bytes of memory shared by a workgroup.
    pub workgroup_memory: u64,
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
    /// Bytes of push constants.
    pub push_constants: u32,
    /// Whether the last workgroups of a launch may be smaller than the others.
    pub partial_groups: bool,
}

/// How a device is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Threads of a CPU device; by default one for each processor.
    pub threads: Option<usize>,
    /// Whether a Vulkan device is watched by Vulkan's validation layer, whose complaints become
    /// errors.
    pub validation: bool,
}

/// An implementation of a device.
///
/// [`crate::Device`] calls it with what was checked: handles are alive, ranges are inside of
/// buffers, launches fit the kernel's interface and the limits. Buffers and kernels are numbered by
/// the caller, from 0 on, and created in that order.
pub trait Driver: Send {
    /// What it drives.
    fn info(&self) -> &DeviceInfo;

    /// Whether it runs kernels; else they come to it as compute shaders.
    fn runs_kernels(&self) -> bool {
        true
    }

    /// Makes a buffer of zeros, aligned to 128 bytes at least.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn create_buffer(&mut self, buffer: Buffer, size: u64) -> Result<(), Error>;

    /// Gives a buffer's memory back.
    fn destroy_buffer(&mut self, buffer: Buffer);

    /// Copies into a buffer.
    ///
    /// # Errors
    /// When the device fails.
    fn write(&mut self, buffer: Buffer, offset: u64, data: &[u8]) -> Result<(), Error>;

    /// Copies out of a buffer.
    ///
    /// # Errors
    /// When the device fails.
    fn read(&mut self, buffer: Buffer, offset: u64, out: &mut [u8]) -> Result<(), Error>;

    /// The address by which kernels reach a buffer.
    ///
    /// # Errors
    /// When the device has no addresses.
    fn address(&mut self, buffer: Buffer) -> Result<u64, Error>;

    /// Compiles an entry point. `spec` has values by `SpecId`, known to exist.
    ///
    /// # Errors
    /// When the module needs something that the device lacks, or is not valid.
    fn create_kernel(
        &mut self,
        kernel: Kernel,
        module: &Module,
        interface: &Interface,
        spec: &[(u32, u64)],
    ) -> Result<(), Error>;

    /// Begins a launch, after all launches and copies before it.
    ///
    /// # Errors
    /// When the device cannot run it.
    fn launch(&mut self, launch: &Launch) -> Result<(), Error>;

    /// Instructions that all launches so far have run, where the device counts them.
    fn instructions(&self) -> Option<u64> {
        None
    }

    /// Waits for all that was begun.
    ///
    /// # Errors
    /// When something that was begun failed.
    fn wait(&mut self) -> Result<(), Error>;
}
