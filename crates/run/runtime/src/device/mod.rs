//! Devices as callers see them: a driver behind checks, with times.

pub mod checks;
pub mod kernel_shader;
mod printf_records;
mod program_variables;
mod resources;
mod sampler_variants;

use self::checks::{self, AcceptedResource, DeviceResource, DeviceResourceKind};
use self::kernel_shader::{self, KernelShader};
use self::program_variables::{self, ProgramVariableBuffers};
use self::sampler_variants::SamplerVariants;
use crate::compare::{ComparisonDriver, FloatTolerance};
use crate::data::ElementType;
use crate::driver::{DeviceDriver, DeviceInfo, DeviceOptions};
use crate::drivers;
use crate::profile::{DeviceProfile, KernelTime, add_elapsed_time};
use crate::type_names::TypeNames;
use crate::{
    DeviceBuffer, DeviceError, DeviceKernel, IndexSpace, KernelLaunch, KernelScalar, LaunchBuilder,
    LaunchInputs,
};
use bytemuck::NoUninit;
use spirula_cpu::CpuMode;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, InterfaceParam};
use std::time::Duration;

/// A device with its buffers and kernels.
///
/// Calls are checked before the driver sees them, so that a driver is never asked for nonsense.
pub struct ComputeDevice {
    driver: Box<dyn DeviceDriver>,
    /// What each handle stands for; `None` once it is destroyed.
    buffers: Vec<Option<DeviceResource>>,
    kernels: Vec<KernelRecord>,
    /// The kernels that the driver has.
    compiled: Vec<KernelTime>,
    profile: DeviceProfile,
    programs: ProgramVariableBuffers,
    /// What samplers are.
    samplers: SamplerVariants,
    /// What shaders printed.
    printed: Vec<u8>,
}

/// A kernel as callers see it, and what runs it.
struct KernelRecord {
    interface: EntryInterface,
    /// What the elements of each parameter that is a value are, where they are all the same and known.
    elements: Vec<Option<ElementType>>,
    /// What its opaque types take.
    opaque: Vec<(Id, AcceptedResource)>,
    how: KernelImplementation,
}

/// What runs a kernel.
enum KernelImplementation {
    /// A kernel of the driver.
    Driver(DeviceKernel),
    /// A shader that was made of it.
    Shader(Box<KernelShader>),
}

/// Who made a module.
#[derive(Clone, Copy)]
enum ModuleProvenance {
    /// A lowering, for this run.
    Here,
    /// Somebody else.
    Elsewhere,
}

impl ComputeDevice {
    /// Opens the device with this name: `cpu`, or `cpu+scalar`, the same without vectors across
    /// invocations, `cpu+count`, which counts the instructions that run, or `cpu+san`, which checks what
    /// kernels do and fails with [`DeviceError::Faults`] when they are waited for; `vulkan` for the first Vulkan device, `vulkan:N` for another, `vulkan:NAME` for the first with this in its name; `opencl` for the
    /// first OpenCL device that takes SPIR-V, `opencl:N` and `opencl:NAME` as above.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn open(name: &str, options: &DeviceOptions) -> Result<ComputeDevice, DeviceError> {
        if let Some(mode) = CpuMode::from_device_name(name) {
            let driver = CpuDriver::with_mode(options, mode);
            return Ok(ComputeDevice::with_driver(Box::new(driver)));
        }
        match name {
            #[cfg(feature = "vulkan")]
            _ if name == "vulkan" || name.starts_with("vulkan:") => {
                let driver = crate::drivers::vulkan::VulkanDriver::open(name, options)?;
                Ok(ComputeDevice::with_driver(Box::new(driver)))
            }
            #[cfg(feature = "opencl")]
            _ if name == "opencl" || name.starts_with("opencl:") => {
                let driver = crate::drivers::opencl::OpenClDriver::open(name, options)?;
                Ok(ComputeDevice::with_driver(Box::new(driver)))
            }
            _ => {
                let ids: Vec<_> = list_devices().into_iter().map(|d| d.id).collect();
                Err(DeviceError::NoDevice {
                    name: name.to_owned(),
                    available: ids.join(", "),
                })
            }
        }
    }

    /// What [`ComputeDevice::open`] would open by this name, without opening it.
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
            buffers: Vec::new(),
            kernels: Vec::new(),
            compiled: Vec::new(),
            profile: DeviceProfile::default(),
            programs: ProgramVariableBuffers::default(),
            samplers: SamplerVariants::default(),
            printed: Vec::new(),
        }
    }

    /// Several devices that do the same, whose results are compared after each launch; see
    /// [`crate::LaunchMismatch`]. Copies out are from the first. Devices must be fresh.
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

    /// What the device is and can do.
    pub fn info(&self) -> &DeviceInfo {
        self.driver.info()
    }

    /// Times so far.
    pub fn profile(&self) -> DeviceProfile {
        self.profile
    }

    /// Instructions of SPIR-V that all launches so far have run, by all invocations together; labels,
    /// phis, variables and what changes nothing do not count. Only `cpu+count` tells.
    pub fn instruction_count(&self) -> Option<u64> {
        self.driver.instruction_count()
    }

    /// Makes a buffer of zeros.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create_buffer(&mut self, size: u64) -> Result<DeviceBuffer, DeviceError> {
        self.create_by(size, |driver, buffer| driver.create_buffer(buffer, size))
    }

    /// Makes a buffer of any contents, for what writes all that it reads.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn create_scratch(&mut self, size: u64) -> Result<DeviceBuffer, DeviceError> {
        self.create_by(size, |driver, buffer| driver.create_scratch(buffer, size))
    }

    fn create_by(
        &mut self,
        size: u64,
        create: impl FnOnce(&mut dyn DeviceDriver, DeviceBuffer) -> Result<(), DeviceError>,
    ) -> Result<DeviceBuffer, DeviceError> {
        let limit = self.driver.info().limits.buffer_size;
        if size > limit {
            return Err(DeviceError::Memory { size, limit });
        }
        let buffer = DeviceBuffer(self.buffers.len() as u32);
        create(&mut *self.driver, buffer)?;
        Ok(self.register_resource(size, DeviceResourceKind::Buffer))
    }

    fn register_resource(&mut self, size: u64, what: DeviceResourceKind) -> DeviceBuffer {
        self.buffers.push(Some(DeviceResource { size, what }));
        DeviceBuffer(self.buffers.len() as u32 - 1)
    }

    /// Makes a buffer of these numbers, or of whatever else consists of bytes only.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn upload_data<T: NoUninit>(&mut self, data: &[T]) -> Result<DeviceBuffer, DeviceError> {
        let data: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.create_buffer(data.len() as u64)?;
        self.write_buffer(buffer, 0, data)?;
        Ok(buffer)
    }

    /// Gives a buffer's memory back.
    ///
    /// # Errors
    /// When it is no buffer of this device.
    pub fn destroy_buffer(&mut self, buffer: DeviceBuffer) -> Result<(), DeviceError> {
        self.buffer_size(buffer)?;
        self.driver.destroy_buffer(buffer);
        self.buffers[buffer.index()] = None;
        if let Some(twin) = self.samplers.forget_sampler(buffer) {
            self.driver.destroy_buffer(twin);
            self.buffers[twin.index()] = None;
        }
        Ok(())
    }

    /// Bytes of a buffer.
    ///
    /// # Errors
    /// When it is no buffer of this device.
    pub fn buffer_size(&self, buffer: DeviceBuffer) -> Result<u64, DeviceError> {
        let size = self.buffers.get(buffer.index()).copied().flatten();
        size.map(|r| r.size).ok_or(DeviceError::Handle("a buffer"))
    }

    /// Copies into a buffer.
    ///
    /// # Errors
    /// When the bytes do not fit, or the device fails.
    pub fn write_buffer(
        &mut self,
        buffer: DeviceBuffer,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        checks::check_range(offset, data.len(), self.buffer_size(buffer)?)?;
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || {
            driver.write_buffer(buffer, offset, data)
        })
    }

    /// Copies out of a buffer, after all launches so far that may write it.
    ///
    /// # Errors
    /// When the range is not within the buffer, or the device fails.
    pub fn read_buffer(
        &mut self,
        buffer: DeviceBuffer,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        checks::check_range(offset, out.len(), self.buffer_size(buffer)?)?;
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || {
            driver.read_buffer(buffer, offset, out)
        })
    }

    /// Copies out of several buffers, from an offset each, waiting once.
    ///
    /// # Errors
    /// When a range is not within its buffer, or the device fails.
    pub fn read_all(
        &mut self,
        parts: &mut [(DeviceBuffer, u64, &mut [u8])],
    ) -> Result<(), DeviceError> {
        for (buffer, offset, out) in &*parts {
            checks::check_range(*offset, out.len(), self.buffer_size(*buffer)?)?;
        }
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.copy, || driver.read_all(parts))
    }

    /// All of a buffer's bytes.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_buffer(&mut self, buffer: DeviceBuffer) -> Result<Vec<u8>, DeviceError> {
        let size = self.buffer_size(buffer)?;
        let mut out = Vec::new();
        let full = DeviceError::Memory { size, limit: 0 };
        let length = usize::try_from(size).map_err(|_| full.clone())?;
        out.try_reserve_exact(length).map_err(|_| full)?;
        out.resize(length, 0);
        self.read_buffer(buffer, 0, &mut out)?;
        Ok(out)
    }

    /// A buffer's contents as numbers; bytes behind the last whole one are left out.
    ///
    /// # Errors
    /// When there is no memory for a copy, or the device fails.
    pub fn download_as<T: KernelScalar>(
        &mut self,
        buffer: DeviceBuffer,
    ) -> Result<Vec<T>, DeviceError> {
        let bytes = self.download_buffer(buffer)?;
        let whole = bytes.chunks_exact(size_of::<T>());
        Ok(whole.map(bytemuck::pod_read_unaligned).collect())
    }

    /// A launch of a kernel, whose size and arguments are given next.
    pub fn prepare_launch(&mut self, kernel: DeviceKernel) -> LaunchBuilder<'_> {
        LaunchBuilder::new(self, kernel)
    }

    /// The address by which kernels reach a buffer.
    ///
    /// # Errors
    /// When it is no buffer of this device, or the device has no addresses.
    pub fn buffer_address(&mut self, buffer: DeviceBuffer) -> Result<u64, DeviceError> {
        self.buffer_size(buffer)?;
        self.driver.buffer_address(buffer)
    }

    /// Compiles an entry point, with values of specialisation constants by `SpecId`.
    ///
    /// # Errors
    /// When there is no such entry point or constant, a value is too large for its constant, or
    /// the device refuses the module.
    pub fn create_kernel(
        &mut self,
        module: &SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
    ) -> Result<DeviceKernel, DeviceError> {
        self.new_kernel(module, entry, spec, ModuleProvenance::Elsewhere)
    }

    /// The same of a module from somewhere.
    fn new_kernel(
        &mut self,
        module: &SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
        origin: ModuleProvenance,
    ) -> Result<DeviceKernel, DeviceError> {
        let of = |module| {
            EntryInterface::from_module(module, entry).map_err(|d| DeviceError::Module(Box::new(d)))
        };
        let interface = of(module)?;
        checks::check_specialisation(module, spec)?;
        let is_kernel = interface.model == ExecutionModel::Kernel;
        let as_shader = match is_kernel && !self.driver.runs_kernels() {
            true => {
                let mut shader = kernel_shader::compile_shader(module, entry)?;
                drop_missing_float_controls(&mut shader, self.info().special_values);
                let interface = of(&shader)?;
                Some((shader, interface))
            }
            false if interface.passing.is_some() && !self.driver.forwards_launches() => {
                Some((module.clone(), interface.clone()))
            }
            false => None,
        };
        let how = match as_shader {
            Some((made, shader)) => {
                let mut shader = KernelShader::new(made, shader, spec);
                self.create_hidden_buffers(module, &mut shader)?;
                KernelImplementation::Shader(Box::new(shader))
            }
            None => {
                KernelImplementation::Driver(self.compile_entry(module, &interface, spec, origin)?)
            }
        };
        let types = TypeNames::from_module(module);
        let element = |p: &InterfaceParam| types.param_value(p).map(|v| v.element);
        let elements = interface.params.iter().map(element).collect();
        self.kernels.push(KernelRecord {
            opaque: AcceptedResource::list_opaque_types(&interface, &types),
            interface,
            elements,
            how,
        });
        Ok(DeviceKernel(self.kernels.len() as u32 - 1))
    }

    /// Makes the buffers that a shader is passed besides its arguments. `module` is the one that its
    /// kernel is of.
    fn create_hidden_buffers(
        &mut self,
        module: &SpirvModule,
        shader: &mut KernelShader,
    ) -> Result<(), DeviceError> {
        let Some(passing) = &shader.interface.passing else {
            return Ok(());
        };
        if let Some(memory) = &passing.program {
            let key = program_variables::hash_module(module);
            let buffer = match self.programs.get(key) {
                Some(known) => known,
                None => {
                    let made = self.create_buffer(memory.bytes.len().max(1) as u64)?;
                    let address = self.driver.buffer_address(made)?;
                    let contents = program_variables::build_contents(memory, address);
                    self.driver.write_buffer(made, 0, &contents)?;
                    self.programs.insert_buffer(key, made);
                    made
                }
            };
            shader.hidden.push((buffer, memory.offset));
        }
        if let Some(printf) = &passing.printf {
            let empty = printf_records::build_empty_buffer(u64::from(printf.size).max(4));
            let buffer = self.create_buffer(empty.len() as u64)?;
            self.driver.write_buffer(buffer, 0, &empty)?;
            shader.hidden.push((buffer, printf.offset));
            shader.printed = Some(buffer);
        }
        for sampler in &passing.samplers {
            let made = self.create_sampler(&kernel_shader::convert_literal_sampler(*sampler))?;
            let bound = kernel_shader::bind_descriptor(sampler.set, sampler.binding, made);
            shader.samplers.push(bound);
        }
        Ok(())
    }

    /// As [`ComputeDevice::create_kernel`], of a module that was lowered for this run, which can do without
    /// what it only wishes for; `name` is what times call it.
    pub(crate) fn create_own_kernel(
        &mut self,
        mut module: SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
        name: String,
    ) -> Result<DeviceKernel, DeviceError> {
        drop_missing_float_controls(&mut module, self.info().special_values);
        let kernel = self.new_kernel(&module, entry, spec, ModuleProvenance::Here)?;
        if let Some(compiled) = self.compiled.last_mut() {
            compiled.name = name;
        }
        Ok(kernel)
    }

    /// Has the driver compile an entry point.
    fn compile_entry(
        &mut self,
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
        origin: ModuleProvenance,
    ) -> Result<DeviceKernel, DeviceError> {
        let kernel = DeviceKernel(self.compiled.len() as u32);
        let driver = &mut self.driver;
        let mut compile = Duration::ZERO;
        let made = add_elapsed_time(&mut compile, || match origin {
            ModuleProvenance::Here => driver.create_own_kernel(kernel, module, interface, spec),
            ModuleProvenance::Elsewhere => driver.create_kernel(kernel, module, interface, spec),
        });
        self.profile.compile += compile;
        made?;
        self.compiled.push(KernelTime {
            name: interface.name.clone(),
            compile,
            was_cached: self.driver.was_cached(kernel),
            launches: 0,
            run: Duration::ZERO,
        });
        Ok(kernel)
    }

    /// What each kernel that the driver compiled has cost, in the order of their creation. A kernel
    /// that became a shader is there once for each size of its workgroups.
    pub fn kernel_times(&mut self) -> &[KernelTime] {
        for (kernel, time) in self.driver.take_times() {
            if let Some(row) = self.compiled.get_mut(kernel.index()) {
                row.launches += 1;
                row.run += time;
            }
        }
        &self.compiled
    }

    /// What is worth telling and no error, since this was last asked: files of pipelines that could not be
    /// read, warnings of a validation layer.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.driver.take_warnings()
    }

    /// The interface of a kernel.
    ///
    /// # Errors
    /// When it is no kernel of this device.
    pub fn kernel_interface(&self, kernel: DeviceKernel) -> Result<&EntryInterface, DeviceError> {
        let found = self.kernels.get(kernel.index());
        found
            .map(|k| &k.interface)
            .ok_or(DeviceError::Handle("a kernel"))
    }

    /// What the elements of a parameter that is a value are, where the module tells.
    pub(crate) fn parameter_element(
        &self,
        kernel: DeviceKernel,
        parameter: usize,
    ) -> Option<ElementType> {
        let slot = self.kernels.get(kernel.index())?;
        slot.elements.get(parameter).copied().flatten()
    }

    /// Begins a launch. A launch over no invocations does nothing.
    ///
    /// # Errors
    /// When the launch does not fit the kernel or the device.
    pub fn launch_kernel(&mut self, launch: &KernelLaunch) -> Result<(), DeviceError> {
        let slot = self.kernels.get(launch.kernel.index());
        let slot = slot.ok_or(DeviceError::Handle("a kernel"))?;
        let (info, opaque) = (self.driver.info(), &slot.opaque);
        checks::check_launch(&slot.interface, opaque, launch, info, &self.buffers)?;
        if launch.size.is_empty() {
            return Ok(());
        }
        if matches!(slot.how, KernelImplementation::Driver(kernel) if kernel == launch.kernel) {
            let driver = &mut self.driver;
            return add_elapsed_time(&mut self.profile.run, || driver.launch_kernel(launch, &[]));
        }
        let (for_driver, reached) = self.for_driver(launch)?;
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.run, || {
            driver.launch_kernel(&for_driver, &reached)
        })?;
        self.collect_printed(launch.kernel)
    }

    /// Takes what a launch of a shader has printed, after waiting for it.
    fn collect_printed(&mut self, kernel: DeviceKernel) -> Result<(), DeviceError> {
        let KernelImplementation::Shader(shader) = &self.kernels[kernel.index()].how else {
            return Ok(());
        };
        let printf = shader.interface.passing.as_ref();
        let printf = printf.and_then(|p| p.printf.as_ref());
        let (Some(buffer), Some(printf)) = (shader.printed, printf) else {
            return Ok(());
        };
        let driver = &mut self.driver;
        let mut count = [0; 4];
        add_elapsed_time(&mut self.profile.run, || {
            driver.read_buffer(buffer, 0, &mut count)
        })?;
        let words = u64::from(u32::from_le_bytes(count));
        let size = (4 + 4 * words).min(u64::from(printf.size));
        let mut records = vec![0; size as usize];
        driver.read_buffer(buffer, 0, &mut records)?;
        driver.write_buffer(buffer, 0, &printf_records::build_empty_buffer(size))?;
        printf_records::print_records(printf, &records, &mut self.printed);
        Ok(())
    }

    /// What kernels have printed since this was last asked, by all launches that were waited for.
    pub fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.printed);
        printed.extend(self.driver.take_printed());
        printed
    }

    /// A launch as the driver takes it: of its own kernel, and of a shader where a kernel became one; and
    /// the buffers that it reaches by their addresses.
    fn for_driver(
        &mut self,
        launch: &KernelLaunch,
    ) -> Result<(KernelLaunch, Vec<DeviceBuffer>), DeviceError> {
        let slot = &mut self.kernels[launch.kernel.index()];
        let shader = match &slot.how {
            KernelImplementation::Driver(kernel) => {
                let launch = KernelLaunch {
                    kernel: *kernel,
                    ..launch.clone()
                };
                return Ok((launch, Vec::new()));
            }
            KernelImplementation::Shader(shader) => shader,
        };
        let limits = &self.driver.info().limits;
        let mut plan =
            shader.plan_launch(launch, slot.interface.workgroup_size, limits, &self.buffers)?;
        let mut reached = Vec::new();
        for (buffer, at) in std::mem::take(&mut plan.addresses) {
            reached.push(buffer);
            let address = self.driver.argument_address(buffer)?;
            plan.push[at..at + 8].copy_from_slice(&address.to_le_bytes());
        }
        self.tell_samplers(&mut plan)?;
        let KernelImplementation::Shader(shader) = &self.kernels[launch.kernel.index()].how else {
            return Err(DeviceError::Handle("a kernel"));
        };
        let kernel = match shader.find_compiled(&plan.spec) {
            Some(known) => known,
            None => {
                let (module, interface) = (shader.module.clone(), shader.interface.clone());
                let made = self.compile_entry(
                    &module,
                    &interface,
                    &plan.spec,
                    ModuleProvenance::Elsewhere,
                )?;
                let slot = &mut self.kernels[launch.kernel.index()];
                if let KernelImplementation::Shader(shader) = &mut slot.how {
                    shader.made.push((plan.spec.clone(), made));
                }
                made
            }
        };
        let launch = KernelLaunch {
            kernel,
            size: IndexSpace::Groups(plan.groups),
            inputs: LaunchInputs::Resources {
                bindings: plan.bindings,
                push: plan.push,
            },
        };
        Ok((launch, reached))
    }

    /// Waits for all launches.
    ///
    /// # Errors
    /// When one of them failed.
    pub fn wait_idle(&mut self) -> Result<(), DeviceError> {
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.run, || driver.wait_idle())
    }
}
