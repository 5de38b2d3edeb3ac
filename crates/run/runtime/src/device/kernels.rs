//! Kernels of a device: compiled by the driver, or to shaders where the driver runs no kernels.

use super::checks::{self, AcceptedResource};
use super::kernel_shader::{self, KernelShader};
use super::{ComputeDevice, printf_records, program_variables};
use crate::data::ElementType;
use crate::driver::KernelSource;
use crate::profile::{KernelTime, LaunchTime, MeasuredLaunch, add_elapsed_time};
use crate::type_names::TypeNames;
use crate::{DeviceError, KernelHandle, KernelModuleScope};
use spirula_legalize::device::{drop_missing_float_controls, fix_constants};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{EntryInterface, InterfaceParam, first_entry_label};
use std::borrow::Cow;
use std::time::Duration;

/// A kernel as callers see it, and its implementation.
pub(super) struct KernelRecord {
    pub(super) interface: EntryInterface,
    /// Element types of the parameters that are values, where all elements have one known type.
    pub(super) elements: Vec<Option<ElementType>>,
    /// Resources that its opaque types accept.
    pub(super) opaque: Vec<(Id, AcceptedResource)>,
    pub(super) how: KernelImplementation,
    pub(super) scope: KernelModuleScope,
}

/// Implementations of a kernel.
pub(super) enum KernelImplementation {
    /// A kernel of the driver.
    Driver(KernelHandle),
    /// A shader that the kernel was compiled to.
    Shader(Box<KernelShader>),
}

/// Origin of a module.
#[derive(Clone, Copy)]
pub(super) enum ModuleProvenance {
    /// Lowered by this toolchain for this run.
    Here,
    /// Given by the caller.
    Elsewhere,
}

impl ComputeDevice {
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
    ) -> Result<KernelHandle, DeviceError> {
        self.create_scoped_kernel(KernelModuleScope::default(), module, entry, spec)
    }

    /// As [`ComputeDevice::create_kernel`], with the scope in which kernels share variables.
    ///
    /// # Errors
    /// As above.
    pub fn create_scoped_kernel(
        &mut self,
        scope: KernelModuleScope,
        module: &SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
    ) -> Result<KernelHandle, DeviceError> {
        self.new_kernel(module, entry, spec, ModuleProvenance::Elsewhere, scope)
    }

    /// Compiles an entry point of a module of some origin.
    fn new_kernel(
        &mut self,
        module: &SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
        origin: ModuleProvenance,
        scope: KernelModuleScope,
    ) -> Result<KernelHandle, DeviceError> {
        let of = |module| {
            EntryInterface::from_module(module, entry).map_err(|d| DeviceError::Module(Box::new(d)))
        };
        let interface = of(module)?;
        checks::check_specialisation(module, spec)?;
        let is_kernel = interface.model == ExecutionModel::Kernel;
        let as_shader = if is_kernel && !self.driver.runs_kernels() {
            let fixed = fix_constants(module, spec)?;
            let mut shader = kernel_shader::compile_shader(&fixed, entry, self.info())?;
            drop_missing_float_controls(&mut shader, self.info().special_values);
            let interface = of(&shader)?;
            let shader = KernelShader::new(shader, interface, &[]);
            Some((Cow::Owned(fixed), shader))
        } else if interface.passing.is_some() && !self.driver.forwards_launches() {
            let shader = KernelShader::new(module.clone(), interface.clone(), spec);
            Some((Cow::Borrowed(module), shader))
        } else {
            None
        };
        let how = match as_shader {
            Some((source, mut shader)) => {
                self.create_hidden_buffers(scope, &source, &mut shader)?;
                KernelImplementation::Shader(Box::new(shader))
            }
            None => {
                let source = KernelSource {
                    module,
                    interface: &interface,
                    spec,
                    scope,
                };
                KernelImplementation::Driver(self.compile_entry(source, origin)?)
            }
        };
        let types = TypeNames::from_module(module);
        let element = |p: &InterfaceParam| types.param_value(p).map(|v| v.element);
        let elements = interface.params.iter().map(element).collect();
        let number = self.kernels.insert(KernelRecord {
            opaque: AcceptedResource::list_opaque_types(&interface, &types),
            interface,
            elements,
            how,
            scope,
        });
        Ok(KernelHandle(number as u32))
    }

    /// Creates the buffers that a shader gets besides its arguments. `module` is the module of its kernel, with fixed constants.
    fn create_hidden_buffers(
        &mut self,
        scope: KernelModuleScope,
        module: &SpirvModule,
        shader: &mut KernelShader,
    ) -> Result<(), DeviceError> {
        let Some(passing) = &shader.interface.passing else {
            return Ok(());
        };
        if let Some(memory) = &passing.program {
            let key = scope.hash_module(module, &[]);
            let buffer = match self.programs.get(key) {
                Some(known) => known,
                None => {
                    let made = self.create_buffer(memory.bytes.len().max(1) as u64)?;
                    let address = self.driver.buffer_address(made)?;
                    let contents = program_variables::build_contents(memory, address);
                    self.driver.write_resource(made.into(), 0, &contents)?;
                    self.programs.insert_buffer(scope, key, made);
                    made
                }
            };
            shader.hidden.push((buffer, memory.offset));
        }
        if let Some(printf) = &passing.printf {
            let empty = printf_records::build_empty_buffer(u64::from(printf.size).max(4));
            let buffer = self.create_buffer(empty.len() as u64)?;
            self.driver.write_resource(buffer.into(), 0, &empty)?;
            shader.hidden.push((buffer, printf.offset));
            shader.printed = Some(buffer);
        }
        for sampler in &passing.samplers {
            let made = self.create_sampler(&kernel_shader::convert_literal_sampler(*sampler))?;
            let bound = kernel_shader::bind_descriptor(sampler.set, sampler.binding, made.into());
            shader.samplers.push(bound);
        }
        Ok(())
    }

    /// As [`ComputeDevice::create_kernel`], for a module that this toolchain lowered for this run. Float controls that the device
    /// lacks are dropped. The kernel has a number in its program.
    pub(crate) fn create_own_kernel(
        &mut self,
        mut module: SpirvModule,
        entry: &str,
        spec: &[(u32, u64)],
        in_program: usize,
    ) -> Result<KernelHandle, DeviceError> {
        let name = match first_entry_label(&module) {
            Some(label) => format!("{label}.{in_program}"),
            None => in_program.to_string(),
        };
        drop_missing_float_controls(&mut module, self.info().special_values);
        let scope = KernelModuleScope::default();
        let number = self.compiled.next_number();
        let kernel = self.new_kernel(&module, entry, spec, ModuleProvenance::Here, scope)?;
        if let Some(compiled) = self.compiled.get_mut(number) {
            compiled.name = name;
            compiled.number = Some(in_program);
        }
        Ok(kernel)
    }

    /// Compiles an entry point with the driver.
    pub(super) fn compile_entry(
        &mut self,
        source: KernelSource<'_>,
        origin: ModuleProvenance,
    ) -> Result<KernelHandle, DeviceError> {
        let kernel = KernelHandle(self.compiled.next_number() as u32);
        let driver = &mut self.driver;
        let mut compile = Duration::ZERO;
        let made = add_elapsed_time(&mut compile, || match origin {
            ModuleProvenance::Here => driver.create_own_kernel(kernel, source),
            ModuleProvenance::Elsewhere => driver.create_kernel(kernel, source),
        });
        self.profile.compile += compile;
        made?;
        self.compiled.insert(KernelTime {
            name: source.interface.name.clone(),
            number: None,
            compile,
            was_cached: self.driver.was_cached(kernel),
            launches: 0,
            run: Duration::ZERO,
        });
        Ok(kernel)
    }

    /// Destroys a kernel with its code. Launches so far still run.
    ///
    /// # Errors
    /// When it is no kernel of this device.
    pub fn destroy_kernel(&mut self, kernel: KernelHandle) -> Result<(), DeviceError> {
        self.remove_kernel(kernel).map(|_| ())
    }

    /// Destroys a kernel. Returns the kernels of the driver that it was.
    fn remove_kernel(&mut self, kernel: KernelHandle) -> Result<Vec<KernelHandle>, DeviceError> {
        let removed = self.kernels.remove(kernel.index());
        let compiled = match removed.ok_or(DeviceError::Handle("a kernel"))?.how {
            KernelImplementation::Driver(kernel) => vec![kernel],
            KernelImplementation::Shader(shader) => {
                if let Some(buffer) = shader.printed {
                    self.destroy_buffer(buffer)?;
                }
                for sampler in &shader.samplers {
                    self.destroy_resource(sampler.resource)?;
                }
                shader.made.into_iter().map(|(_, made)| made).collect()
            }
        };
        for kernel in &compiled {
            self.driver.destroy_kernel(*kernel);
        }
        Ok(compiled)
    }

    /// Destroys the kernels of a scope with their variables at program scope and their times. No kernel is created in the
    /// scope any more. Launches so far still run.
    ///
    /// # Errors
    /// When a resource of a kernel was destroyed before.
    pub fn end_scope(&mut self, scope: KernelModuleScope) -> Result<(), DeviceError> {
        let kernels = self
            .kernels
            .iter()
            .filter(|(_, kernel)| kernel.scope == scope);
        let ended: Vec<usize> = kernels.map(|(number, _)| number).collect();
        for number in ended {
            for compiled in self.remove_kernel(KernelHandle(number as u32))? {
                self.compiled.remove(compiled.index());
            }
        }
        for buffer in self.programs.remove_scope(scope) {
            self.destroy_buffer(buffer)?;
        }
        self.driver.end_scope(scope);
        Ok(())
    }

    /// Times of all kernels that the driver compiled, in the order of their creation. A kernel that became a shader appears once
    /// for each size of its workgroups.
    pub fn kernel_times(&mut self) -> Vec<KernelTime> {
        self.take_device_time();
        let mut times: Vec<(usize, &KernelTime)> = self.compiled.iter().collect();
        times.sort_unstable_by_key(|(number, _)| *number);
        times.into_iter().map(|(_, time)| time.clone()).collect()
    }

    /// Measures the times of launches from now on, where the device can, or no longer.
    ///
    /// # Errors
    /// When earlier work failed, which is awaited.
    pub fn measure_times(&mut self, is_on: bool) -> Result<(), DeviceError> {
        self.wait_idle()?;
        self.driver.measure_times(is_on);
        Ok(())
    }

    /// The time on the device of all launches that ended since the last call, if any were measured.
    pub fn take_device_time(&mut self) -> Option<Duration> {
        let launches = self.take_launch_times();
        let times = launches.iter().map(|launch| launch.run);
        times.reduce(|total, time| total + time)
    }

    /// All launches that ended since the last call, if any were measured. Their times are added to those of their kernels, as
    /// by [`ComputeDevice::take_device_time`].
    pub fn take_launches(&mut self) -> Vec<MeasuredLaunch> {
        let launches = self.take_launch_times();
        let named = launches.into_iter().filter_map(|launch| {
            let kernel = self.compiled.get(launch.kernel.index())?;
            Some(MeasuredLaunch {
                kernel: kernel.name.clone(),
                begin: launch.begin,
                run: launch.run,
            })
        });
        named.collect()
    }

    /// Takes the times of launches from the driver, and adds them to those of their kernels.
    fn take_launch_times(&mut self) -> Vec<LaunchTime> {
        let launches = self.driver.take_times();
        for launch in &launches {
            if let Some(row) = self.compiled.get_mut(launch.kernel.index()) {
                row.launches += 1;
                row.run += launch.run;
            }
        }
        launches
    }

    /// The interface of a kernel.
    ///
    /// # Errors
    /// When it is no kernel of this device.
    pub fn kernel_interface(&self, kernel: KernelHandle) -> Result<&EntryInterface, DeviceError> {
        let found = self.kernels.get(kernel.index());
        found
            .map(|k| &k.interface)
            .ok_or(DeviceError::Handle("a kernel"))
    }

    /// The element type of a parameter that is a value, where the module says so.
    pub(crate) fn parameter_element(
        &self,
        kernel: KernelHandle,
        parameter: usize,
    ) -> Option<ElementType> {
        let slot = self.kernels.get(kernel.index())?;
        slot.elements.get(parameter).copied().flatten()
    }
}
