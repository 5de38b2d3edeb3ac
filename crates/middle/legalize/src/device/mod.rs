//! Shaders for one device: the changes that a device's limits, or errors of its driver, make necessary.
//!
//! [`DeviceShader::fit_device`] applies all of them. Its input is a valid compute shader, facts of the device
//! ([`DeviceFacts`]) and the requirements of a launch; its output is a shader with the descriptors and the grid
//! that differ from the original's ([`FittedShader`]). The parts, each a pass or two over the module:
//!
//! - [`move_push_constants`]: push constants that exceed the device's limit are read from a storage buffer.
//! - [`address_buffers`]: storage buffers that are larger than a descriptor's range are accessed by address.
//! - [`fold_workgroups`]: a launch over more workgroups than a dimension allows is folded into three dimensions.
//! - [`drop_shared_non_writable`], [`select_parity_bits`], [`guard_wide_divisions`]: constructs that a driver is
//!   known to miscompile are replaced.
//! - [`replace_inexact_functions`]: sines of large angles and hyperbolic functions are exact.
//! - [`read_ahead`]: loops that wait for the workgroup issue the loads of later iterations early.
//! - [`spread_banks`]: arrays in workgroup memory are padded so that adjacent invocations use different banks.
//!
//! [`replace_inexact_remainders`] comes before all of them, since its functions may need types that a device lacks.
//!
//! Each part returns `None` where nothing has to change, or where the shader does something that prevents it.

mod bank_conflicts;
mod buffer_addresses;
mod exact_functions;
mod exact_remainders;
mod float_controls;
mod non_writable;
mod parity_bits;
mod push_constants;
mod shader_editor;
mod spec_constants;
#[cfg(test)]
mod tests;
mod wide_divisions;
mod workgroup_grid;

pub use bank_conflicts::spread_banks;
pub use buffer_addresses::{AddressSource, AddressedShader, address_buffers};
pub use exact_functions::replace_inexact_functions;
pub use exact_remainders::replace_inexact_remainders;
pub use float_controls::drop_missing_float_controls;
pub use non_writable::drop_shared_non_writable;
pub use parity_bits::select_parity_bits;
pub use push_constants::move_push_constants;
pub use spec_constants::{SpecialisedWorkgroup, fix_constants, specialise_constants};
pub use wide_divisions::guard_wide_divisions;
pub use workgroup_grid::{choose_grid, fold_workgroups};

use crate::emulate::{MissingNumericTypes, emulate_missing_types};
use crate::error::LegalizeError;
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{InstRef, SpirvModule};
use spirula_spirv::reflect::EntryInterface;

/// A descriptor of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorLocation {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
}

/// The facts of a device that decide how shaders are changed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Name of the device in messages.
    pub name: String,
    /// Whether the device is a processor, where memory of the workgroup has no banks.
    pub is_processor: bool,
    /// Whether shaders may access buffers by address.
    pub has_buffer_addresses: bool,
    /// Largest size of push constants, in bytes.
    pub push_constant_bytes: u32,
    /// Largest range of a storage buffer's descriptor, in bytes.
    pub storage_buffer_bytes: u32,
    /// Size of workgroup memory, in bytes.
    pub workgroup_memory_bytes: u64,
    /// Most workgroups in each dimension of a launch.
    pub workgroups: [u32; 3],
}

/// Requirements of a launch that the original shader does not meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchRequirements {
    /// Storage buffers are accessed by address.
    pub addresses: bool,
    /// The workgroups of the launch, which exceed the device's limit in a dimension.
    pub folded: Option<[u32; 3]>,
}

/// A shader with values for its specialisation constants, from which variants for launches are made.
#[derive(Clone, Debug)]
pub struct DeviceShader {
    module: SpirvModule,
    interface: EntryInterface,
    spec: Vec<(u32, u64)>,
    is_own: bool,
    is_emulated: bool,
}

/// A shader that fits a device and a launch.
#[derive(Clone, Debug)]
pub struct FittedShader {
    /// The module.
    pub module: SpirvModule,
    /// Interface of its entry point.
    pub interface: EntryInterface,
    /// The storage buffer that holds the push constants, where they are not pushed.
    pub push_buffer: Option<DescriptorLocation>,
    /// Source of the addresses of storage buffers, and the descriptors that they replace, in order.
    pub addressed: Option<(AddressSource, Vec<DescriptorLocation>)>,
    /// The grid of the launch, where it is not that of the original shader.
    pub grid: Option<[u32; 3]>,
}

impl DeviceShader {
    /// A shader without the numeric types that a device lacks. A shader that needs none of `missing` keeps its
    /// specialisation constants; otherwise the values of `spec` become constants.
    ///
    /// `is_own` says that the shader was lowered by this toolchain for this run. Such a shader stays within its
    /// buffers; its functions are made exact and its accesses to memory faster.
    ///
    /// # Errors
    /// When the module is malformed, or uses a missing type in a way that cannot be emulated.
    pub fn new(
        module: &SpirvModule,
        interface: &EntryInterface,
        spec: &[(u32, u64)],
        missing: MissingNumericTypes,
        is_own: bool,
    ) -> Result<DeviceShader, LegalizeError> {
        if missing == MissingNumericTypes::default() {
            return Ok(DeviceShader {
                module: module.clone(),
                interface: interface.clone(),
                spec: spec.to_vec(),
                is_own,
                is_emulated: false,
            });
        }
        let fixed = fix_constants(module, spec)?;
        let module = emulate_missing_types(&fixed, missing).map_err(LegalizeError::Unsupported)?;
        let interface = EntryInterface::from_module(&module, &interface.name)?;
        Ok(DeviceShader {
            module,
            interface,
            spec: Vec::new(),
            is_own,
            is_emulated: true,
        })
    }

    /// The module before it is fitted to a launch.
    pub fn module(&self) -> &SpirvModule {
        &self.module
    }

    /// The interface of its entry point.
    pub fn interface(&self) -> &EntryInterface {
        &self.interface
    }

    /// Values of specialisation constants by `SpecId`.
    pub fn spec(&self) -> &[(u32, u64)] {
        &self.spec
    }

    /// Whether types that the device lacks are emulated; buffers are then accessed as whole words.
    pub fn is_emulated(&self) -> bool {
        self.is_emulated
    }

    /// Fits the shader to a device and a launch.
    ///
    /// # Errors
    /// When the device has a limit that the shader cannot be changed for.
    pub fn fit_device(
        &self,
        facts: &DeviceFacts,
        needs: LaunchRequirements,
    ) -> Result<FittedShader, LegalizeError> {
        let mut shader = ShaderUnderChange {
            facts,
            spec: &self.spec,
            module: self.module.clone(),
            interface: self.interface.clone(),
        };
        let push_buffer = shader.fit_push_constants()?;
        let addressed = if needs.addresses {
            Some(shader.address_buffers()?)
        } else {
            None
        };
        let grid = match needs.folded {
            Some(total) => Some(shader.fold_workgroups(total)?),
            None => None,
        };
        shader.avoid_driver_errors();
        if self.is_own {
            if let Some(exact) = replace_inexact_functions(&shader.module) {
                shader.module = exact;
            }
            if !facts.is_processor {
                shader.optimise_memory_access();
            }
        }
        Ok(FittedShader {
            module: shader.module,
            interface: shader.interface,
            push_buffer,
            addressed,
            grid,
        })
    }
}

/// A shader that is being fitted.
struct ShaderUnderChange<'a> {
    facts: &'a DeviceFacts,
    spec: &'a [(u32, u64)],
    module: SpirvModule,
    interface: EntryInterface,
}

impl ShaderUnderChange<'_> {
    /// The beginning of a refusal: the entry point and the device.
    fn refusal_prefix(&self) -> String {
        format!("{} on {}:", self.interface.name, self.facts.name)
    }

    fn replace_module(&mut self, module: SpirvModule) -> Result<(), LegalizeError> {
        self.interface = EntryInterface::from_module(&module, &self.interface.name)?;
        self.module = module;
        Ok(())
    }

    /// Moves push constants that exceed the device's limit into a storage buffer, whose descriptor is returned.
    fn fit_push_constants(&mut self) -> Result<Option<DescriptorLocation>, LegalizeError> {
        let bytes = self.interface.push_constant_bytes;
        let most = self.facts.push_constant_bytes;
        if bytes.next_multiple_of(4) <= most {
            return Ok(None);
        }
        let Some((module, location)) = move_push_constants(&self.module) else {
            let prefix = self.refusal_prefix();
            return Err(LegalizeError::unsupported(format!(
                "{prefix} {bytes} bytes of push constants, {most} at most, and the shader cannot take them otherwise"
            )));
        };
        self.replace_module(module)?;
        Ok(Some(location))
    }

    /// Has storage buffers accessed by address.
    fn address_buffers(
        &mut self,
    ) -> Result<(AddressSource, Vec<DescriptorLocation>), LegalizeError> {
        let prefix = self.refusal_prefix();
        let most = self.facts.storage_buffer_bytes;
        let refused = |why: &str| {
            LegalizeError::unsupported(format!(
                "{prefix} {most} bytes of a storage buffer are bound at most, and {why}"
            ))
        };
        if !self.facts.has_buffer_addresses {
            return Err(refused("the device has no buffer addresses"));
        }
        let pushed = self.facts.push_constant_bytes;
        let addressed = address_buffers(&self.module, &self.interface, pushed)
            .ok_or_else(|| refused("the shader cannot take them by address"))?;
        self.replace_module(addressed.module)?;
        Ok((addressed.table, addressed.buffers))
    }

    /// Folds a launch over `total` workgroups into a grid within the device's limits, which is returned.
    fn fold_workgroups(&mut self, total: [u32; 3]) -> Result<[u32; 3], LegalizeError> {
        let prefix = self.refusal_prefix();
        let limits = self.facts.workgroups;
        let refused = |why: &str| {
            LegalizeError::Launch(format!(
                "{prefix} {total:?} workgroups, {limits:?} at most, and {why}"
            ))
        };
        let grid =
            choose_grid(total, limits).ok_or_else(|| refused("they are too many altogether"))?;
        let local =
            SpecialisedWorkgroup::from_module(&self.module, &self.interface, self.spec).size;
        let module = fold_workgroups(&self.module, &self.interface.name, total, grid, local)
            .ok_or_else(|| refused("the shader passes its ids around"))?;
        self.replace_module(module)?;
        Ok(grid)
    }

    /// Replaces the constructs that drivers are known to miscompile.
    fn avoid_driver_errors(&mut self) {
        for replace in [
            drop_shared_non_writable,
            select_parity_bits,
            guard_wide_divisions,
        ] {
            if let Some(changed) = replace(&self.module) {
                self.module = changed;
            }
        }
    }

    /// Makes a shader that waits for its workgroup faster: its loops read ahead, and its workgroup memory is padded
    /// where there is room.
    fn optimise_memory_access(&mut self) {
        let is_barrier = |inst: InstRef<'_>| inst.op() == Op::ControlBarrier;
        if !self.module.all_insts().any(is_barrier) {
            return;
        }
        if let Some(changed) = read_ahead(&self.module) {
            self.module = changed;
        }
        let mut module = self.module.clone();
        specialise_constants(&mut module, self.spec);
        let used = SpecialisedWorkgroup::from_module(&module, &self.interface, self.spec);
        let room = self.facts.workgroup_memory_bytes;
        if let Some(spread) = spread_banks(&module, room.saturating_sub(used.memory_bytes)) {
            self.module = spread;
        }
    }
}

/// The pass over shaders for graphics cards: four iterations are issued one after the other. Such devices have registers
/// for what was read, and otherwise wait for memory in every iteration.
const READ_AHEAD: &str = "read-ahead=4";

/// The shader with the loads of loops that wait for the workgroup issued ahead; `None` where it has no such loop. Results
/// stay the same.
pub fn read_ahead(module: &SpirvModule) -> Option<SpirvModule> {
    let pipeline: PassPipeline = READ_AHEAD.parse().ok()?;
    let mut changed = module.clone();
    let report = optimise_module(&mut changed, &pipeline, &mut PipelineOptions::default()).ok()?;
    report.has_changed().then_some(changed)
}
