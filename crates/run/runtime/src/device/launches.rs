//! Launches on a device: checked, and translated for the driver where a kernel became a shader.

use super::kernels::{KernelImplementation, ModuleProvenance};
use super::{ComputeDevice, checks, printf_records};
use crate::driver::KernelSource;
use crate::profile::add_elapsed_time;
use crate::{
    BufferHandle, DeviceError, IndexSpace, KernelHandle, KernelLaunch, LaunchBuilder, LaunchInputs,
    ReachedMemory,
};

/// A launch as the driver gets it.
struct TranslatedLaunch {
    launch: KernelLaunch,
    /// Buffers that it reaches by address.
    reached: Vec<BufferHandle>,
    /// Whether it may reach any buffer.
    is_unbounded: bool,
}

impl ComputeDevice {
    /// Prepares a launch of a kernel, whose size and arguments follow.
    pub fn prepare_launch(&mut self, kernel: KernelHandle) -> LaunchBuilder<'_> {
        LaunchBuilder::new(self, kernel)
    }

    /// Begins a launch. A launch over no invocations does nothing.
    ///
    /// # Errors
    /// When the launch does not fit the kernel or the device.
    pub fn launch_kernel(&mut self, launch: &KernelLaunch) -> Result<(), DeviceError> {
        let slot = self.kernels.get(launch.kernel.index());
        let slot = slot.ok_or(DeviceError::Handle("a kernel"))?;
        let (info, opaque) = (self.driver.info(), &slot.opaque);
        checks::check_launch(&slot.interface, opaque, launch, info, &self.resources)?;
        if launch.size.is_empty() {
            return Ok(());
        }
        if matches!(slot.how, KernelImplementation::Driver(kernel) if kernel == launch.kernel) {
            let driver = &mut self.driver;
            return add_elapsed_time(&mut self.profile.run, || {
                driver.launch_kernel(launch, ReachedMemory::default())
            });
        }
        let translated = self.translate_for_driver(launch)?;
        let reached = ReachedMemory {
            buffers: &translated.reached,
            is_unbounded: translated.is_unbounded,
        };
        let driver = &mut self.driver;
        add_elapsed_time(&mut self.profile.run, || {
            driver.launch_kernel(&translated.launch, reached)
        })?;
        self.collect_printed(launch.kernel)
    }

    /// Waits for a launch of a shader that prints, and collects its output.
    fn collect_printed(&mut self, kernel: KernelHandle) -> Result<(), DeviceError> {
        let how = self.kernels.get(kernel.index()).map(|record| &record.how);
        let Some(KernelImplementation::Shader(shader)) = how else {
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
            driver.read_resource(buffer.into(), 0, &mut count)
        })?;
        let words = u64::from(u32::from_le_bytes(count));
        let size = (4 + 4 * words).min(u64::from(printf.size));
        let mut records = vec![0; size as usize];
        driver.read_resource(buffer.into(), 0, &mut records)?;
        driver.write_resource(buffer.into(), 0, &printf_records::build_empty_buffer(size))?;
        printf_records::print_records(printf, &records, &mut self.printed);
        Ok(())
    }

    /// Returns the output of all launches that were waited for, since the last call.
    pub fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = std::mem::take(&mut self.printed);
        printed.extend(self.driver.take_printed());
        printed
    }

    /// Translates a launch for the driver: into its own kernel, or the shader that a kernel became.
    fn translate_for_driver(
        &mut self,
        launch: &KernelLaunch,
    ) -> Result<TranslatedLaunch, DeviceError> {
        let slot = self.kernels.get(launch.kernel.index());
        let slot = slot.ok_or(DeviceError::Handle("a kernel"))?;
        let shader = match &slot.how {
            KernelImplementation::Driver(kernel) => {
                let launch = KernelLaunch {
                    kernel: *kernel,
                    ..launch.clone()
                };
                return Ok(TranslatedLaunch {
                    launch,
                    reached: Vec::new(),
                    is_unbounded: false,
                });
            }
            KernelImplementation::Shader(shader) => shader,
        };
        let limits = &self.driver.info().limits;
        let mut plan = shader.plan_launch(
            launch,
            slot.interface.workgroup_size,
            limits,
            &self.resources,
        )?;
        let mut reached = Vec::new();
        for pushed in std::mem::take(&mut plan.addresses) {
            reached.push(pushed.buffer);
            let address = self.driver.argument_address(pushed.buffer)? + pushed.offset;
            plan.write_push_constants(pushed.at, &address.to_le_bytes());
        }
        self.push_sampler_states(&mut plan)?;
        let record = self.kernels.get(launch.kernel.index());
        let record = record.ok_or(DeviceError::Handle("a kernel"))?;
        let KernelImplementation::Shader(shader) = &record.how else {
            return Err(DeviceError::Handle("a kernel"));
        };
        let scope = record.scope;
        let kernel = match shader.find_compiled(&plan.spec) {
            Some(known) => known,
            None => {
                let (module, interface) = (shader.module.clone(), shader.interface.clone());
                let source = KernelSource {
                    module: &module,
                    interface: &interface,
                    spec: &plan.spec,
                    scope,
                };
                let made = self.compile_entry(source, ModuleProvenance::Elsewhere)?;
                let slot = self.kernels.get_mut(launch.kernel.index());
                if let Some(KernelImplementation::Shader(shader)) = slot.map(|slot| &mut slot.how) {
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
        Ok(TranslatedLaunch {
            launch,
            reached,
            is_unbounded: plan.is_unbounded,
        })
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
