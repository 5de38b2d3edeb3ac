//! Drivers: the interface that an implementation of a device provides, and the facts of a device.

use crate::profile::LaunchTime;
use crate::{
    BufferHandle, DeviceError, ImageHandle, ImageShape, ImportedMemory, KernelFeature,
    KernelHandle, KernelLaunch, KernelModuleScope, PipeHandle, PipeShape, ResourceHandle,
    SamplerHandle, SamplerState, SanitizerOptions,
};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::EntryInterface;
use std::path::PathBuf;
use std::ptr::NonNull;
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

/// An entry point that a driver compiles.
#[derive(Clone, Copy, Debug)]
pub struct KernelSource<'a> {
    /// The module of the entry point.
    pub module: &'a SpirvModule,
    /// Its interface.
    pub interface: &'a EntryInterface,
    /// Values of existing specialisation constants by `SpecId`.
    pub spec: &'a [(u32, u64)],
    /// The scope in which kernels share variables.
    pub scope: KernelModuleScope,
}

/// Facts of a device: its names, capabilities and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The name that [`crate::ComputeDevice::open`] takes.
    pub id: String,
    /// Name for display.
    pub name: String,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Name and version of its driver.
    pub driver: String,
    /// Newest version of SPIR-V that it accepts; `None` where it accepts none.
    pub newest_module: Option<SpirvVersion>,
    /// Invocations of a subgroup; 0 where the driver does not say.
    pub subgroup_size: u32,
    /// Sizes of subgroups that kernels can demand by the execution mode `SubgroupSize`; none where they cannot.
    pub subgroup_sizes: Vec<u32>,
    /// Whether subgroups have shuffles such as `OpGroupNonUniformShuffleXor`.
    pub has_shuffles: bool,
    /// Optional operations that its kernels may use; none where the driver does not say.
    pub features: Vec<KernelFeature>,
    /// Whether a workgroup that has begun makes progress independently of others, so that later workgroups may wait for it. Vulkan
    /// does not guarantee this; it is known for some drivers.
    pub has_forward_progress: bool,
    /// The widths of floats, a bit each (16, 32, 64), whose signed zeros, infinities and NaNs
    /// kernels can rely on.
    pub special_values: u32,
    /// Matrix products that a subgroup can compute.
    pub matrices: Vec<MatrixShape>,
    /// Whether a subgroup that is a workgroup multiplies matrices of 32-bit floats of any size in memory. Factors may
    /// consist of 16-bit floats.
    pub has_dense_matrices: bool,
    /// Processors, or compute units of a graphics processor; 0 where the driver does not say.
    pub compute_units: u32,
    /// Bytes of the memory that buffers are in.
    pub memory_size: u64,
    /// Limits of launches and buffers.
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

/// Limits of launches and buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Most bytes of a buffer.
    pub buffer_size: u64,
    /// Most invocations of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// Most invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Most bytes of workgroup memory.
    pub workgroup_memory: u64,
    /// Most workgroups in each dimension.
    pub groups: [u32; 3],
    /// Most bytes of push constants.
    pub push_constants: u32,
    /// Whether launches may exceed `groups` in a dimension; they are then folded into the other dimensions.
    pub folds: bool,
    /// Whether the last workgroups of a launch may be smaller than the others.
    pub partial_groups: bool,
}

impl DeviceLimits {
    /// Chooses the size of workgroups: the largest divisors of the global size, with a given number of invocations at
    /// most.
    pub fn choose_workgroup_size(&self, global: [u64; 3], most: u32) -> [u32; 3] {
        let mut left = most.min(self.workgroup_invocations);
        let mut local = [1; 3];
        for axis in 0..3 {
            let most = left.min(self.workgroup_size[axis]).max(1);
            let divides = |n: &u32| global[axis].is_multiple_of(u64::from(*n));
            local[axis] = (1..=most).rev().find(divides).unwrap_or(1);
            left /= local[axis];
        }
        local
    }
}

/// Options for opening a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Threads of a CPU device; by default one for each processor.
    pub threads: Option<usize>,
    /// Whether Vulkan's validation layer checks calls of a Vulkan device. Its findings become errors.
    pub validation: bool,
    /// Whether the validation layer also checks shaders on the device, which is slow.
    pub gpu_checks: bool,
    /// Whether the time that each launch takes on the device is measured.
    pub times: bool,
    /// Folder for data that is kept between runs, such as compiled pipelines. Without a folder nothing is kept.
    pub cache: Option<PathBuf>,
    /// Longest time of a launch on a CPU device, and longest time to wait for work of a GPU. A GPU is unusable after
    /// that time.
    pub timeout: Option<Duration>,
    /// Options of the sanitizer, `cpu+san`.
    pub check: SanitizerOptions,
}

/// A copy of bytes within a buffer, or from one to another. Parts of one buffer do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCopy {
    /// The source.
    pub from: BufferHandle,
    /// The first byte there.
    pub from_offset: u64,
    /// The target.
    pub to: BufferHandle,
    /// The first byte there.
    pub to_offset: u64,
    /// Number of bytes, at least one.
    pub size: u64,
}

/// Repetitions of a pattern in a part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternFill<'a> {
    /// The buffer.
    pub buffer: BufferHandle,
    /// The first byte.
    pub offset: u64,
    /// Number of bytes, at least one, a multiple of the pattern's.
    pub size: u64,
    /// The bytes that are repeated.
    pub pattern: &'a [u8],
}

impl PatternFill<'_> {
    /// The word of which the fill consists, in memory order, if it has whole words at multiples of a word.
    pub fn find_word(&self) -> Option<u32> {
        let is_whole = (self.offset | self.size).is_multiple_of(4);
        let byte = |at: usize| self.pattern[at % self.pattern.len()];
        let word = [0, 1, 2, 3].map(byte);
        // The pattern and the word agree over their least common multiple.
        let mut all = 0..4 * self.pattern.len();
        (is_whole && all.all(|at| byte(at) == word[at % 4])).then(|| u32::from_ne_bytes(word))
    }
}

/// Most bytes that the default copies and fills hold at a time.
const COPIED_AT_ONCE: u64 = 1 << 20;

/// Memory that a launch accesses by addresses among its push constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReachedMemory<'a> {
    /// Buffers whose addresses are among the push constants.
    pub buffers: &'a [BufferHandle],
    /// Whether there are other addresses, so that the launch may access any buffer.
    pub is_unbounded: bool,
}

/// The error that a device does not support a kind of resource or argument.
pub fn refuse_unsupported<T>(device: &str, what: String) -> Result<T, DeviceError> {
    let text = format!("{what} are not supported by {device}");
    Err(DeviceError::Unsupported(vec![SourceDiagnostic::error(
        SourceLocation::Unknown,
        text,
    )]))
}

/// An implementation of a device.
///
/// [`crate::ComputeDevice`] checks all calls before: handles are alive, ranges are within buffers, launches fit the
/// kernel's interface and the limits. The caller numbers resources and kernels from 0 and creates them in that order.
pub trait DeviceDriver: Send {
    /// The device that it drives.
    fn info(&self) -> &DeviceInfo;

    /// Whether it runs OpenCL kernels. Otherwise it gets them as compute shaders.
    fn runs_kernels(&self) -> bool {
        true
    }

    /// Whether it forwards launches to other devices, which pass the arguments themselves.
    fn forwards_launches(&self) -> bool {
        false
    }

    /// Creates a buffer of zeros, aligned to at least 128 bytes.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn create_buffer(&mut self, buffer: BufferHandle, size: u64) -> Result<(), DeviceError>;

    /// Creates an image of zeros. Its bytes are its texels in the order that [`ImageShape`] defines. `_sampler` is the sampler
    /// of descriptors that combine an image with a sampler.
    ///
    /// # Errors
    /// When there is no memory for it, or the device has no such images.
    fn create_image(
        &mut self,
        _: ImageHandle,
        shape: &ImageShape,
        _sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, format!("images of {}", shape.format))
    }

    /// Creates a sampler.
    ///
    /// # Errors
    /// When the device has no such samplers.
    fn create_sampler(
        &mut self,
        _: SamplerHandle,
        _sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, "samplers".to_owned())
    }

    /// Creates an empty pipe.
    ///
    /// # Errors
    /// When there is no memory for it, or the device has no pipes.
    fn create_pipe(&mut self, _: PipeHandle, _shape: PipeShape) -> Result<(), DeviceError> {
        refuse_unsupported(&self.info().id, "pipes".to_owned())
    }

    /// Creates a buffer with undefined contents, aligned to at least 128 bytes.
    ///
    /// # Errors
    /// When there is no memory for it.
    fn create_scratch(&mut self, buffer: BufferHandle, size: u64) -> Result<(), DeviceError> {
        self.create_buffer(buffer, size)
    }

    /// Creates a buffer over memory of the caller.
    ///
    /// # Errors
    /// When the device cannot use that memory.
    fn import_buffer(
        &mut self,
        _: BufferHandle,
        _memory: ImportedMemory,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(
            &self.info().id,
            "buffers over memory of the caller".to_owned(),
        )
    }

    /// Creates an image over memory of the caller, whose texels lie in the order that [`ImageShape`] defines.
    ///
    /// # Errors
    /// When the device cannot use that memory, or has no such images.
    fn import_image(
        &mut self,
        _: ImageHandle,
        _shape: &ImageShape,
        _sampler: &SamplerState,
        _memory: ImportedMemory,
    ) -> Result<(), DeviceError> {
        refuse_unsupported(
            &self.info().id,
            "images over memory of the caller".to_owned(),
        )
    }

    /// Where the host accesses the bytes of a buffer or an image while the device is idle; `None` where it cannot.
    ///
    /// # Errors
    /// When there is no such resource.
    fn host_address(&mut self, _: ResourceHandle) -> Result<Option<NonNull<u8>>, DeviceError> {
        Ok(None)
    }

    /// Destroys a resource and frees its memory, unless that is the caller's.
    fn destroy_resource(&mut self, resource: ResourceHandle);

    /// Copies into a buffer, or into the texels of an image.
    ///
    /// # Errors
    /// When the device fails.
    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError>;

    /// Copies out of a buffer, or of the texels of an image, after all launches that may write it.
    ///
    /// # Errors
    /// When the device fails.
    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError>;

    /// Copies out of several buffers, from an offset each, after all launches that may write them.
    ///
    /// # Errors
    /// When the device fails.
    fn read_all(
        &mut self,
        parts: &mut [(BufferHandle, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        let mut parts = parts.iter_mut();
        parts.try_for_each(|(buffer, offset, out)| {
            self.read_resource((*buffer).into(), *offset, out)
        })
    }

    /// Copies between buffers, ordered after all earlier launches and copies.
    ///
    /// # Errors
    /// When the device fails.
    fn copy_buffer(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        let mut bytes = vec![0; copy.size.min(COPIED_AT_ONCE) as usize];
        let mut done = 0;
        while done < copy.size {
            let piece = &mut bytes[..(copy.size - done).min(COPIED_AT_ONCE) as usize];
            self.read_resource(copy.from.into(), copy.from_offset + done, piece)?;
            self.write_resource(copy.to.into(), copy.to_offset + done, piece)?;
            done += piece.len() as u64;
        }
        Ok(())
    }

    /// Fills a part of a buffer, ordered after all earlier launches and copies.
    ///
    /// # Errors
    /// When the device fails.
    fn fill_buffer(&mut self, fill: &PatternFill<'_>) -> Result<(), DeviceError> {
        let length = fill.pattern.len();
        let bytes = fill.pattern.repeat(COPIED_AT_ONCE as usize / length);
        let mut done = 0;
        while done < fill.size {
            let piece = &bytes[..(fill.size - done).min(bytes.len() as u64) as usize];
            self.write_resource(fill.buffer.into(), fill.offset + done, piece)?;
            done += piece.len() as u64;
        }
        Ok(())
    }

    /// The address by which kernels access a buffer. Any later launch may access it.
    ///
    /// # Errors
    /// When the device has no addresses.
    fn buffer_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError>;

    /// The address by which one launch accesses a buffer; that launch names the buffer among those that it reaches.
    ///
    /// # Errors
    /// When the device has no addresses.
    fn argument_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        self.buffer_address(buffer)
    }

    /// Compiles an entry point.
    ///
    /// # Errors
    /// When the module needs something that the device lacks, or is not valid.
    fn create_kernel(
        &mut self,
        kernel: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError>;

    /// Compiles a kernel that this toolchain lowered for this run. Such a kernel stays within its buffers.
    ///
    /// # Errors
    /// As [`DeviceDriver::create_kernel`].
    fn create_own_kernel(
        &mut self,
        kernel: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        self.create_kernel(kernel, source)
    }

    /// Destroys a kernel that no launch uses any more. A driver may keep it until the device is closed.
    fn destroy_kernel(&mut self, _: KernelHandle) {}

    /// Destroys the variables at program scope of a scope, whose kernels are destroyed.
    fn end_scope(&mut self, _: KernelModuleScope) {}

    /// Begins a launch, ordered after all earlier launches and copies. `reached` is the memory that it accesses by addresses.
    ///
    /// # Errors
    /// When the device cannot run it.
    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        reached: ReachedMemory<'_>,
    ) -> Result<(), DeviceError>;

    /// Number of instructions that all launches so far have run, where the device counts them.
    fn instruction_count(&self) -> Option<u64> {
        None
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// When some of it failed.
    fn wait_idle(&mut self) -> Result<(), DeviceError>;

    /// Whether the device was lost, so that no further work can run.
    fn is_lost(&self) -> bool {
        false
    }

    /// Whether a kernel came from a cache when it was created; `None` where the driver does not say.
    fn was_cached(&self, _: KernelHandle) -> Option<bool> {
        None
    }

    /// Returns the warnings since the last call.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the output of kernels since the last call. A driver that runs shaders has none, since
    /// [`crate::ComputeDevice`] reads the output of shaders.
    fn take_printed(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Measures the times of launches from now on, as [`DeviceOptions::times`] does from the beginning, or no longer. Nothing
    /// runs.
    fn measure_times(&mut self, _is_on: bool) {}

    /// Returns the device times of launches that ended since the last call, where they are measured.
    fn take_times(&mut self) -> Vec<LaunchTime> {
        Vec::new()
    }
}
