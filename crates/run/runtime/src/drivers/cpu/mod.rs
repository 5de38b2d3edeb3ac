//! The CPU device: kernels compiled to machine code by `spirula-cpu`, buffers in the memory of this
//! process.

mod host_memory;

use crate::driver::{
    BufferCopy, DeviceDriver, DeviceInfo, DeviceKind, DeviceLimits, DeviceOptions, KernelSource,
    PatternFill, ReachedMemory,
};
use crate::drivers::DriverFactory;
use crate::numbered_objects::NumberedObjects;
use crate::profile::LaunchTime;
use crate::{
    BufferHandle, DeviceError, ImageHandle, ImageShape, ImportedMemory, IndexSpace, KernelArgument,
    KernelFeature, KernelHandle, KernelLaunch, KernelModuleScope, LaunchInputs, PipeHandle,
    PipeShape, ResourceHandle, SamplerHandle, SamplerState,
};
pub use host_memory::HostMemory;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirula_cpu as cpu;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::ModuleSection;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Share of the free memory that one buffer may take, in percent.
const BUFFER_SHARE: u64 = 90;

/// The row of this driver in the table of drivers.
pub const FACTORY: DriverFactory = DriverFactory {
    accepts_name: |name| cpu::CpuMode::from_device_name(name).is_some(),
    list_devices: || vec![CpuDriver::new(&DeviceOptions::default()).info],
    find_info: |name| Ok(open_mode(name, &DeviceOptions::default())?.info),
    open_device: |name, options| Ok(Box::new(open_mode(name, options)?)),
};

/// Opens the device in the mode that its name says.
fn open_mode(name: &str, options: &DeviceOptions) -> Result<CpuDriver, DeviceError> {
    let mode = cpu::CpuMode::from_device_name(name).ok_or_else(|| DeviceError::NoDevice {
        name: name.to_owned(),
        available: "cpu".to_owned(),
    })?;
    Ok(CpuDriver::with_mode(options, mode))
}

/// A resource of the device.
struct HostResource {
    memory: HostMemory,
    what: HostResourceKind,
}

enum HostResourceKind {
    Buffer,
    Image(ImageShape, SamplerState),
    Sampler(SamplerState),
}

impl HostResource {
    /// Lends the resource to a launch.
    fn lend_to_launch(&mut self) -> cpu::DescriptorResource {
        let memory = lend_memory(self.memory.bytes_mut());
        match self.what {
            HostResourceKind::Buffer => cpu::DescriptorResource::Memory(memory),
            HostResourceKind::Image(shape, sampler) => {
                cpu::DescriptorResource::Image(cpu::HostImage {
                    shape,
                    memory,
                    sampler,
                })
            }
            HostResourceKind::Sampler(sampler) => cpu::DescriptorResource::Sampler(sampler),
        }
    }
}

/// The driver of the CPU device.
pub struct CpuDriver {
    info: DeviceInfo,
    options: cpu::JitOptions,
    threads: usize,
    timeout: Option<Duration>,
    kernels: NumberedObjects<cpu::JitKernel>,
    /// Variables at program scope by their scope and the number that identifies them.
    variables: FxHashMap<(KernelModuleScope, u64), cpu::ModuleVariables>,
    /// Number of instructions that destroyed kernels have run.
    destroyed_count: u64,
    buffers: NumberedObjects<HostResource>,
    /// Bytes of all resources.
    used: u64,
    times: Option<Vec<LaunchTime>>,
    printed: Vec<u8>,
    /// The sanitizer, where kernels are checked.
    checker: Option<cpu::KernelSanitizer>,
}

impl CpuDriver {
    /// The device that vectorises, in [`cpu::CpuMode::Gangs`].
    pub fn new(options: &DeviceOptions) -> Self {
        CpuDriver::with_mode(options, cpu::CpuMode::Gangs)
    }

    /// The device in a mode. With the sanitizer, faults of kernels become errors when the host waits for the launch.
    pub fn with_mode(options: &DeviceOptions, mode: cpu::CpuMode) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.threads.unwrap_or(processors).max(1);
        let compiler = cpu::JitOptions {
            mode,
            ..cpu::JitOptions::default()
        };
        let version = env!("CARGO_PKG_VERSION");
        let memory = host_memory::query_available_memory();
        let info = DeviceInfo {
            id: mode.device_name().to_owned(),
            name: format!("{} processor, {threads} threads", std::env::consts::ARCH),
            kind: DeviceKind::Cpu,
            driver: format!("spirula-cpu {version}"),
            newest_module: Some(SpirvVersion::NEWEST),
            subgroup_size: compiler.subgroup_size,
            subgroup_sizes: cpu::JitOptions::SUBGROUP_SIZES.to_vec(),
            has_shuffles: true,
            features: KernelFeature::ALL.to_vec(),
            has_forward_progress: true,
            special_values: 16 | 32 | 64,
            matrices: Vec::new(),
            has_dense_matrices: mode == cpu::CpuMode::Gangs,
            compute_units: threads as u32,
            memory_size: memory,
            limits: DeviceLimits {
                buffer_size: memory / 100 * BUFFER_SHARE,
                workgroup_size: [1024; 3],
                workgroup_invocations: 1024,
                workgroup_memory: 1 << 20,
                groups: [u32::MAX; 3],
                push_constants: 1 << 16,
                folds: false,
                partial_groups: true,
            },
        };
        let is_checked = mode == cpu::CpuMode::Sanitizer;
        let checker = is_checked.then(|| cpu::KernelSanitizer::new(options.check.clone()));
        CpuDriver {
            info,
            options: compiler,
            threads,
            timeout: options.timeout,
            kernels: NumberedObjects::default(),
            variables: FxHashMap::default(),
            destroyed_count: 0,
            buffers: NumberedObjects::default(),
            used: 0,
            times: options.times.then(Vec::new),
            printed: Vec::new(),
            checker,
        }
    }

    /// The variables at program scope of a module.
    fn find_variables(&mut self, source: KernelSource<'_>) -> cpu::ModuleVariables {
        let mut globals = source.module.section_insts(ModuleSection::Globals);
        let has_variables = globals.any(|inst| {
            inst.op() == Op::Variable && inst.operand_word(0) == StorageClass::CrossWorkgroup.0
        });
        if !has_variables {
            return cpu::ModuleVariables::default();
        }
        let scope = source.scope;
        let key = (scope, scope.hash_module(source.module, source.spec));
        self.variables.entry(key).or_default().clone()
    }

    /// Runs an initialiser of a kernel, once before the kernel.
    fn run_initialiser(&mut self, initialiser: &cpu::JitKernel) -> Result<(), DeviceError> {
        let work = cpu::JitLaunch {
            size: cpu::InvocationRange::Groups([1; 3]),
            arguments: &[],
            bindings: &[],
            push: &[],
            threads: 1,
            timeout: self.timeout,
        };
        let done = execute_launch(initialiser, &work, self.checker.as_mut());
        self.printed.extend(initialiser.take_printed());
        done
    }

    fn find_memory(&mut self, resource: ResourceHandle) -> Result<&mut HostMemory, DeviceError> {
        Ok(&mut find_resource(&mut self.buffers, resource)?.memory)
    }

    /// A range of a buffer.
    fn find_range(
        &mut self,
        buffer: BufferHandle,
        offset: u64,
        length: u64,
    ) -> Result<&mut [u8], DeviceError> {
        let memory = self.find_memory(buffer.into())?;
        let (size, end) = (memory.size(), offset.saturating_add(length));
        let range = memory.bytes_mut().get_mut(offset as usize..end as usize);
        range.ok_or(DeviceError::Range { offset, end, size })
    }

    /// Creates the memory of a resource.
    fn create_memory(&mut self, size: u64, what: HostResourceKind) -> Result<(), DeviceError> {
        // The system may promise memory that it does not have, so all buffers together have to fit.
        let limit = self.info.limits.buffer_size.saturating_sub(self.used);
        let memory = (size <= limit)
            .then(|| HostMemory::with_zeros(size))
            .flatten();
        let memory = memory.ok_or(DeviceError::Memory { size, limit })?;
        self.add_resource(memory, what);
        Ok(())
    }

    fn add_resource(&mut self, mut memory: HostMemory, what: HostResourceKind) {
        if let Some(checker) = self.checker.as_mut().filter(|_| memory.size() > 0) {
            checker.add_memory(lend_memory(memory.bytes_mut()));
        }
        self.used += memory.allocated_bytes();
        self.buffers.insert(HostResource { memory, what });
    }
}

fn find_resource(
    buffers: &mut NumberedObjects<HostResource>,
    resource: ResourceHandle,
) -> Result<&mut HostResource, DeviceError> {
    let found = buffers.get_mut(resource.index());
    found.ok_or(DeviceError::Handle("a buffer"))
}

/// Lends an argument to a launch.
fn lend_argument<'a>(
    buffers: &mut NumberedObjects<HostResource>,
    argument: &'a KernelArgument,
) -> Result<cpu::JitArgument<'a>, DeviceError> {
    Ok(match argument {
        KernelArgument::Resource(resource) => {
            match find_resource(buffers, *resource)?.lend_to_launch() {
                cpu::DescriptorResource::Memory(memory) => cpu::JitArgument::Memory(memory),
                cpu::DescriptorResource::Image(image) => cpu::JitArgument::Image(image),
                cpu::DescriptorResource::Sampler(sampler) => cpu::JitArgument::Sampler(sampler),
            }
        }
        KernelArgument::Part { buffer, offset } => {
            let memory = &mut find_resource(buffers, (*buffer).into())?.memory;
            let (offset, size) = (*offset, memory.size());
            let part = memory.bytes_mut().get_mut(offset as usize..);
            let end = offset;
            cpu::JitArgument::Memory(lend_memory(part.ok_or(DeviceError::Range {
                offset,
                end,
                size,
            })?))
        }
        KernelArgument::Bytes(bytes) => cpu::JitArgument::Bytes(bytes),
        KernelArgument::Local(bytes) => cpu::JitArgument::Local(*bytes),
        KernelArgument::Null => cpu::JitArgument::Bytes(&[0; 8]),
        // Kernels may also access the memory before an address, so no memory is lent for it.
        KernelArgument::Address(address) => cpu::JitArgument::Bytes(bytemuck::bytes_of(address)),
    })
}

impl DeviceDriver for CpuDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_buffer(&mut self, _: BufferHandle, size: u64) -> Result<(), DeviceError> {
        self.create_memory(size, HostResourceKind::Buffer)
    }

    fn create_image(
        &mut self,
        _: ImageHandle,
        shape: &ImageShape,
        sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        let size = shape.total_bytes().unwrap_or(u64::MAX);
        self.create_memory(size, HostResourceKind::Image(*shape, *sampler))
    }

    fn create_sampler(
        &mut self,
        _: SamplerHandle,
        sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        self.create_memory(0, HostResourceKind::Sampler(*sampler))
    }

    fn create_pipe(&mut self, pipe: PipeHandle, shape: PipeShape) -> Result<(), DeviceError> {
        let size = shape.memory_bytes().unwrap_or(u64::MAX);
        self.create_memory(size, HostResourceKind::Buffer)?;
        self.write_resource(pipe.into(), 0, &shape.encode_header())
    }

    fn import_buffer(
        &mut self,
        _: BufferHandle,
        memory: ImportedMemory,
    ) -> Result<(), DeviceError> {
        self.add_resource(HostMemory::Imported(memory), HostResourceKind::Buffer);
        Ok(())
    }

    fn import_image(
        &mut self,
        _: ImageHandle,
        shape: &ImageShape,
        sampler: &SamplerState,
        memory: ImportedMemory,
    ) -> Result<(), DeviceError> {
        let what = HostResourceKind::Image(*shape, *sampler);
        self.add_resource(HostMemory::Imported(memory), what);
        Ok(())
    }

    fn host_address(
        &mut self,
        resource: ResourceHandle,
    ) -> Result<Option<NonNull<u8>>, DeviceError> {
        let bytes = self.find_memory(resource)?.bytes_mut();
        Ok(NonNull::new(bytes.as_mut_ptr()))
    }

    fn destroy_resource(&mut self, resource: ResourceHandle) {
        let Some(mut held) = self.buffers.remove(resource.index()) else {
            return;
        };
        self.used -= held.memory.allocated_bytes();
        if let Some(checker) = &mut self.checker {
            checker.remove_memory(held.memory.bytes_mut().as_ptr());
        }
    }

    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let at = offset as usize;
        self.find_memory(resource)?.bytes_mut()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        let at = offset as usize;
        out.copy_from_slice(&self.find_memory(resource)?.bytes_mut()[at..at + out.len()]);
        Ok(())
    }

    #[allow(unsafe_code)]
    fn copy_buffer(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        let from = lend_memory(self.find_range(copy.from, copy.from_offset, copy.size)?);
        let to = lend_memory(self.find_range(copy.to, copy.to_offset, copy.size)?);
        // SAFETY: both ranges are memory of this device, which is borrowed mutably. Imported memory may overlap.
        unsafe { std::ptr::copy(from.address, to.address, copy.size as usize) };
        Ok(())
    }

    fn fill_buffer(&mut self, fill: &PatternFill<'_>) -> Result<(), DeviceError> {
        let bytes = self.find_range(fill.buffer, fill.offset, fill.size)?;
        let mut done = fill.pattern.len();
        bytes[..done].copy_from_slice(fill.pattern);
        // The filled bytes are copied to those that follow.
        while done < bytes.len() {
            let more = done.min(bytes.len() - done);
            bytes.copy_within(..more, done);
            done += more;
        }
        Ok(())
    }

    fn buffer_address(&mut self, buffer: BufferHandle) -> Result<u64, DeviceError> {
        Ok(self.find_memory(buffer.into())?.bytes_mut().as_mut_ptr() as u64)
    }

    fn create_kernel(
        &mut self,
        _: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        let variables = self.find_variables(source);
        let compiled = cpu::JitKernel::compile_with_variables(
            source.module,
            &source.interface.name,
            source.interface.model,
            source.spec,
            &self.options,
            &variables,
        );
        let kernel = compiled.map_err(to_compile_error)?;
        for initialiser in kernel.initialisers() {
            self.run_initialiser(initialiser)?;
        }
        self.kernels.insert(kernel);
        Ok(())
    }

    fn destroy_kernel(&mut self, kernel: KernelHandle) {
        let destroyed = self.kernels.remove(kernel.index());
        if let Some(kernel) = destroyed.filter(|_| self.options.mode == cpu::CpuMode::Counting) {
            let count = kernel.instruction_count();
            self.destroyed_count = self.destroyed_count.saturating_add(count);
        }
    }

    fn end_scope(&mut self, scope: KernelModuleScope) {
        self.variables.retain(|(of, _), _| *of != scope);
    }

    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        _: ReachedMemory<'_>,
    ) -> Result<(), DeviceError> {
        let mut arguments: SmallVec<[cpu::JitArgument<'_>; 4]> = SmallVec::new();
        let mut bindings: SmallVec<[cpu::ResourceBinding; 4]> = SmallVec::new();
        let mut constants: &[u8] = &[];
        match &launch.inputs {
            LaunchInputs::Arguments(given) => {
                for argument in given {
                    arguments.push(lend_argument(&mut self.buffers, argument)?);
                }
            }
            LaunchInputs::Resources {
                bindings: given,
                push,
            } => {
                constants = push;
                for bound in given {
                    bindings.push(cpu::ResourceBinding {
                        set: bound.set,
                        binding: bound.binding,
                        index: bound.index,
                        resource: find_resource(&mut self.buffers, bound.resource)?
                            .lend_to_launch(),
                    });
                }
            }
        }
        let work = cpu::JitLaunch {
            size: to_invocation_range(launch.size),
            arguments: &arguments,
            bindings: &bindings,
            push: constants,
            threads: self.threads,
            timeout: self.timeout,
        };
        let kernel = self.kernels.get(launch.kernel.index());
        let kernel = kernel.ok_or(DeviceError::Handle("a kernel"))?;
        let start = self.times.is_some().then(Instant::now);
        let done = execute_launch(kernel, &work, self.checker.as_mut());
        if let (Some(times), Some(begin)) = (&mut self.times, start) {
            times.push(LaunchTime {
                kernel: launch.kernel,
                begin,
                run: begin.elapsed(),
            });
        }
        self.printed.extend(kernel.take_printed());
        done
    }

    fn instruction_count(&self) -> Option<u64> {
        let kernels = self.kernels.iter();
        let counted = kernels.map(|(_, kernel)| kernel.instruction_count());
        let counts = self.options.mode == cpu::CpuMode::Counting;
        counts.then(|| counted.fold(self.destroyed_count, u64::saturating_add))
    }

    /// Launches return when they have ended.
    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        let reports = self
            .checker
            .as_mut()
            .map(cpu::KernelSanitizer::take_reports);
        match reports {
            Some(reports) if !reports.is_empty() => Err(DeviceError::Faults(reports)),
            _ => Ok(()),
        }
    }

    fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    fn measure_times(&mut self, is_on: bool) {
        self.times = is_on.then(|| self.times.take().unwrap_or_default());
    }

    fn take_times(&mut self) -> Vec<LaunchTime> {
        self.times.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// Runs a launch to its end.
#[allow(unsafe_code)]
fn execute_launch(
    kernel: &cpu::JitKernel,
    work: &cpu::JitLaunch<'_>,
    mut checker: Option<&mut cpu::KernelSanitizer>,
) -> Result<(), DeviceError> {
    // SAFETY: the memory is that of buffers of this device, which is borrowed mutably until the
    // launch has ended. That a kernel stays within its buffers is the kernel's own duty, as it
    // is on every device without robust access.
    let done = match &mut checker {
        Some(checker) => unsafe { kernel.run_checked(work, checker) },
        None => unsafe { kernel.run_launch(work) },
    };
    let found = checker.is_some_and(|c| !c.reports().is_empty());
    match done {
        // The reports of the sanitizer say more; they are returned when the host waits for the launch.
        Err(_) if found => Ok(()),
        Err(cpu::LaunchError::Launch(problem)) => Err(DeviceError::Launch(problem)),
        done => done.map_err(|e| DeviceError::Failed(e.to_string())),
    }
}

fn lend_memory(bytes: &mut [u8]) -> cpu::MemorySpan {
    cpu::MemorySpan {
        address: bytes.as_mut_ptr(),
        length: bytes.len() as u64,
    }
}

fn to_invocation_range(size: IndexSpace) -> cpu::InvocationRange {
    match size {
        IndexSpace::Groups(groups) => cpu::InvocationRange::Groups(groups),
        IndexSpace::Items {
            dimensions,
            global,
            local,
            offset,
        } => cpu::InvocationRange::Items {
            global,
            local,
            offset,
            dimensions,
        },
    }
}

/// A module that is refused is unsupported. A bug of the compiler is a failure.
fn to_compile_error(error: cpu::JitError) -> DeviceError {
    match error {
        cpu::JitError::Unsupported(faults) => DeviceError::Unsupported(faults),
        cpu::JitError::Bug(bug) => DeviceError::Failed(bug.to_string()),
    }
}
