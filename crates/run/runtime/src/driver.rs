//! What an implementation of devices provides.

use crate::{
    CheckOptions, DeviceBuffer, DeviceError, DeviceKernel, ImageShape, KernelLaunch, PipeShape,
    SamplerState,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::EntryInterface;
use std::path::PathBuf;
use std::time::Duration;

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
    /// Newest version of SPIR-V that it takes; `None` where it takes none.
    pub newest_module: Option<SpirvVersion>,
    /// Invocations of a subgroup; 0 where it does not tell.
    pub subgroup_size: u32,
    /// Whether the invocations of a subgroup hand values to each other by `OpGroupNonUniformShuffleXor` and the like.
    pub has_shuffles: bool,
    /// Whether a workgroup that has begun goes on whatever others do, so that those that begin later may wait for it. Vulkan
    /// promises nothing of the kind; it is known of drivers.
    pub has_forward_progress: bool,
    /// The widths of floats, a bit each (16, 32, 64), whose signed zeros, infinities and NaNs
    /// kernels can rely on.
    pub special_values: u32,
    /// Matrices that a subgroup can multiply together.
    pub matrices: Vec<MatrixShape>,
    /// Whether a subgroup that is a workgroup multiplies matrices of 32-bit floats of any size, which lie in memory;
    /// factors may be of 16-bit floats.
    pub has_dense_matrices: bool,
    /// What must not be exceeded.
    pub limits: DeviceLimits,
}

/// A product of matrices that a subgroup can compute: `sum + factors[0] * factors[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    /// Rows and columns of the sum, and columns of the first factor.
    pub size: [u32; 3],
    /// Types of the factors' elements.
    pub factors: [MatrixElement; 2],
    /// Type of the sum's elements.
    pub sum: MatrixElement,
}

/// Types of the elements of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the types are")]
pub enum MatrixElement {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

/// What a launch or a buffer must not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
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
    /// Whether launches may exceed `groups` in a dimension; they are folded into the others then.
    pub folds: bool,
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
    /// Whether the validation layer also checks what shaders do on the device, which is slow.
    pub gpu_checks: bool,
    /// Whether the time that each launch takes on the device is measured.
    pub times: bool,
    /// Folder for what is kept between runs, such as compiled pipelines; nothing is kept without one.
    pub cache: Option<PathBuf>,
    /// Longest time that a launch may take on a CPU device, and that work of a GPU is waited for; after
    /// it a GPU is of no use any more.
    pub timeout: Option<Duration>,
    /// How `cpu+san` checks.
    pub check: CheckOptions,
}

/// The error that a device has none of something.
fn refuse_unsupported<T>(device: &str, what: String) -> Result<T, DeviceError> {
    let text = format!("{what} are not supported by {device}");
    Err(DeviceError::Unsupported(vec![SourceDiagnostic::error(
        SourceLocation::Unknown,
        text,
    )]))
}

/// An implementation of a device.
///
/// [`crate::Device`] calls it with what was checked: handles are alive, ranges are inside of
/// buffers, launches fit the kernel's interface and the limits. Buffers and kernels are numbered by
/// the caller, from 0 on, and created in that order.
pub trait DeviceDriver: Send {
    /// What it drives.
    fn info(&self) -> &DeviceInfo;

    /// Whether it runs kernels; else they come to it as compute shaders.
    fn runs_kernels(&self) -> bool {
        true
    }

    /// Whether it hands launches on to devices, which see to how arguments are passed.
    fn forwards_launches(&self) -> bool {
        false
    }

    /// Makes a buffer of zeros, aligned to 128 bytes at least.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn create_buffer(&mut self, buffer: DeviceBuffer, size: u64) -> Result<(), DeviceError>;

    /// Makes an image of zeros. Its bytes are its texels, as [`ImageShape`] says, which are read and written
    /// as a buffer's are; so are handles. Where a descriptor takes a sampler, too, it is this one.
    ///
    /// # Errors
    /// When there is no memory for it, or the device has no such images.
    fn create_image(
        &mut self,
        _: DeviceBuffer,
        shape: &ImageShape,
        _sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, format!("images of {}", shape.format))
    }

    /// Makes a sampler, whose handle is numbered as a buffer's.
    ///
    /// # Errors
    /// When the device has no such samplers.
    fn create_sampler(
        &mut self,
        _: DeviceBuffer,
        _sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, "samplers".to_owned())
    }

    /// Makes an empty pipe, whose handle is numbered as a buffer's.
    ///
    /// # Errors
    /// When there is no memory for it, or the device has no pipes.
    fn create_pipe(&mut self, _: DeviceBuffer, _shape: PipeShape) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, "pipes".to_owned())
    }

    /// Makes a buffer of any contents, aligned likewise.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn create_scratch(&mut self, buffer: DeviceBuffer, size: u64) -> Result<(), DeviceError> {
        self.create_buffer(buffer, size)
    }

    /// Gives the memory of a buffer, an image, a sampler or a pipe back.
    fn destroy_buffer(&mut self, buffer: DeviceBuffer);

    /// Copies into a buffer.
    ///
    /// # Errors
    /// When the device fails.
    fn write_buffer(
        &mut self,
        buffer: DeviceBuffer,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError>;

    /// Copies out of a buffer, after all launches that may write it.
    ///
    /// # Errors
    /// When the device fails.
    fn read_buffer(
        &mut self,
        buffer: DeviceBuffer,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError>;

    /// Copies out of several buffers, from an offset each, after all launches that may write them.
    ///
    /// # Errors
    /// When the device fails.
    fn read_all(
        &mut self,
        parts: &mut [(DeviceBuffer, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        let mut parts = parts.iter_mut();
        parts.try_for_each(|(buffer, offset, out)| self.read_buffer(*buffer, *offset, out))
    }

    /// The address by which kernels reach a buffer, which any launch from then on may do.
    ///
    /// # Errors
    /// When the device has no addresses.
    fn buffer_address(&mut self, buffer: DeviceBuffer) -> Result<u64, DeviceError>;

    /// The address of a buffer that a launch reaches it by, which is told of it.
    ///
    /// # Errors
    /// When the device has no addresses.
    fn argument_address(&mut self, buffer: DeviceBuffer) -> Result<u64, DeviceError> {
        self.buffer_address(buffer)
    }

    /// Compiles an entry point. `spec` has values by `SpecId`, known to exist.
    ///
    /// # Errors
    /// When the module needs something that the device lacks, or is not valid.
    fn create_kernel(
        &mut self,
        kernel: DeviceKernel,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
    ) -> Result<(), DeviceError>;

    /// The same of a kernel that was lowered for this run, and stays within its buffers.
    ///
    /// # Errors
    /// As [`DeviceDriver::create_kernel`].
    fn create_own_kernel(
        &mut self,
        kernel: DeviceKernel,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
    ) -> Result<(), DeviceError> {
        self.create_kernel(kernel, module, interface, spec)
    }

    /// Begins a launch, after all launches and copies before it. `reached` are buffers whose addresses
    /// are among the push constants.
    ///
    /// # Errors
    /// When the device cannot run it.
    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        reached: &[DeviceBuffer],
    ) -> Result<(), DeviceError>;

    /// Instructions that all launches so far have run, where the device counts them.
    fn instruction_count(&self) -> Option<u64> {
        None
    }

    /// Waits for all that was begun.
    ///
    /// # Errors
    /// When something that was begun failed.
    fn wait_idle(&mut self) -> Result<(), DeviceError>;

    /// Whether a kernel was compiled already when it was created; `None` where the driver does not tell.
    fn was_cached(&self, _: DeviceKernel) -> Option<bool> {
        None
    }

    /// What is worth telling and no error, since this was last asked.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What kernels printed, since this was last asked; a driver that runs shaders has none, as
    /// [`crate::Device`] reads what shaders print.
    fn take_printed(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Device time of launches that have ended since this was last asked, where it is measured.
    fn take_times(&mut self) -> Vec<(DeviceKernel, Duration)> {
        Vec::new()
    }
}
