//! Comparison of devices, launch by launch.
//!
//! Every buffer, copy and launch is repeated on each device. After a launch its resources are compared. If they differ beyond the
//! tolerance, the launch fails with [`LaunchMismatch`], which has everything that is needed to repeat that launch alone. If they differ
//! within the tolerance, all devices continue with the contents of the first. Small differences therefore do not accumulate, and each
//! launch is compared by itself. Cost: all resources of a launch are downloaded from every device, before and after it.

mod difference;
mod element_types;
#[cfg(test)]
mod tests;

pub use difference::FloatTolerance;

use crate::data::ElementType;
use crate::driver::{
    BufferCopy, DeviceDriver, DeviceInfo, DeviceLimits, KernelSource, PatternFill, ReachedMemory,
};
use crate::{
    BufferHandle, ComputeDevice, DeviceError, ImageHandle, ImageShape, IndexSpace, KernelArgument,
    KernelHandle, KernelLaunch, KernelModuleScope, LaunchBinding, LaunchInputs, PipeHandle,
    PipeShape, ResourceHandle, SamplerHandle, SamplerState,
};
use difference::{ComparedBuffer, ElementTypes, find_difference};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::Id;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{BindingKind, EntryInterface, ParamKind};

/// The first launch whose results differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchMismatch {
    /// Its number among all launches, from 1.
    pub launch: u64,
    /// Name of the entry point.
    pub kernel: String,
    /// The two devices.
    pub devices: [String; 2],
    /// The resource that differs: `argument 1`, or `set 0, binding 2`.
    pub place: String,
    /// The position of the first difference, and the two values.
    pub difference: String,
    /// The launch, for repeating it alone.
    pub case: LaunchCase,
}

impl std::fmt::Display for LaunchMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [one, other] = &self.devices;
        write!(
            f,
            "launch {}, of {}: {} on {one} and on {other} part: {}",
            self.launch, self.kernel, self.place, self.difference
        )
    }
}

/// A launch with all of its inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCase {
    /// Words of the module, specialised.
    pub module: Vec<u32>,
    /// The index space.
    pub size: IndexSpace,
    /// Arguments or bindings in order.
    pub inputs: Vec<CaseInput>,
    /// Push constants.
    pub push: Vec<u8>,
}

/// An input of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseInput {
    /// The bytes of a buffer, or those from an offset on, before the launch. Set, binding and element are those of the
    /// descriptor to which it is bound.
    Buffer(Option<(u32, u32, u32)>, Vec<u8>),
    /// A value. A null pointer is 8 zeros.
    Bytes(Vec<u8>),
    /// Bytes of workgroup memory.
    Local(u64),
}

/// A kernel with its handles on all devices.
struct ComparedKernel {
    module: SpirvModule,
    interface: EntryInterface,
    spec: Vec<(u32, u64)>,
    kernels: Vec<KernelHandle>,
}

/// The driver over several devices.
pub struct ComparisonDriver {
    devices: Vec<ComputeDevice>,
    info: DeviceInfo,
    tolerance: FloatTolerance,
    /// Size and handles on all devices of each resource.
    resources: Vec<Option<(u64, Vec<ResourceHandle>)>>,
    /// Element type of each resource that launches have shown.
    shown: Vec<Option<ElementType>>,
    kernels: Vec<ComparedKernel>,
    launches: u64,
}

impl ComparisonDriver {
    /// A driver over devices, each of which must be new; `None` if there are none.
    pub fn new(devices: Vec<ComputeDevice>, tolerance: FloatTolerance) -> Option<ComparisonDriver> {
        let mut info = devices.first()?.info().clone();
        for device in &devices[1..] {
            let other = device.info();
            info.id = format!("{},{}", info.id, other.id);
            info.name = format!("{}, {}", info.name, other.name);
            info.driver = format!("{}, {}", info.driver, other.driver);
            info.has_shuffles &= other.has_shuffles && info.subgroup_size == other.subgroup_size;
            (info.features).retain(|feature| other.features.contains(feature));
            info.has_forward_progress &= other.has_forward_progress;
            info.special_values &= other.special_values;
            info.has_dense_matrices &= other.has_dense_matrices;
            info.matrices.retain(|shape| other.matrices.contains(shape));
            info.limits = intersect_limits(&info.limits, &other.limits);
        }
        Some(ComparisonDriver {
            devices,
            info,
            tolerance,
            resources: Vec::new(),
            shown: Vec::new(),
            kernels: Vec::new(),
            launches: 0,
        })
    }

    fn find_resource(
        &self,
        resource: ResourceHandle,
    ) -> Result<&(u64, Vec<ResourceHandle>), DeviceError> {
        let found = self.resources.get(resource.index());
        let found = found.and_then(Option::as_ref);
        found.ok_or(DeviceError::Handle("a buffer"))
    }

    /// The handle of a buffer on a device.
    fn find_buffer(
        &self,
        device: usize,
        buffer: BufferHandle,
    ) -> Result<BufferHandle, DeviceError> {
        match self.find_resource(buffer.into())?.1[device] {
            ResourceHandle::Buffer(own) => Ok(own),
            _ => Err(DeviceError::Handle("a buffer")),
        }
    }

    /// Translates a launch into the handles of a device.
    fn translate_launch(
        &self,
        device: usize,
        launch: &KernelLaunch,
    ) -> Result<KernelLaunch, DeviceError> {
        let mut launch = launch.clone();
        launch.kernel = self.kernels[launch.kernel.index()].kernels[device];
        match &mut launch.inputs {
            LaunchInputs::Arguments(arguments) => {
                for argument in arguments {
                    self.translate_argument(device, argument)?;
                }
            }
            LaunchInputs::Resources { bindings, .. } => {
                for bound in bindings {
                    bound.resource = self.find_resource(bound.resource)?.1[device];
                }
            }
        }
        Ok(launch)
    }

    /// Translates an argument into the handles of a device.
    fn translate_argument(
        &self,
        device: usize,
        argument: &mut KernelArgument,
    ) -> Result<(), DeviceError> {
        match argument {
            KernelArgument::Resource(resource) => {
                *resource = self.find_resource(*resource)?.1[device];
            }
            KernelArgument::Part { buffer, .. } => {
                *buffer = self.find_buffer(device, *buffer)?;
            }
            KernelArgument::Bytes(_) | KernelArgument::Local(_) | KernelArgument::Null => {}
            KernelArgument::Address(_) => {
                return self.refuse_addresses();
            }
        }
        Ok(())
    }

    fn refuse_addresses<T>(&self) -> Result<T, DeviceError> {
        let text = "addresses of buffers differ from device to device";
        let fault = SourceDiagnostic::error(SourceLocation::Unknown, text);
        Err(DeviceError::Unsupported(vec![fault]))
    }

    /// The inputs of a launch, as they are now on the first device, and its resources.
    fn capture_case(
        &mut self,
        launch: &KernelLaunch,
    ) -> Result<(LaunchCase, Vec<ComparedBuffer>), DeviceError> {
        let known = self.kernels.get(launch.kernel.index());
        let known = known.ok_or(DeviceError::Handle("a kernel"))?;
        let mut module = known.module.clone();
        spirula_legalize::device::specialise_constants(&mut module, &known.spec);
        let types = ElementTypes::from_module(&known.module);
        let mut used = Vec::new();
        let mut inputs = Vec::new();
        let mut push = Vec::new();
        match &launch.inputs {
            LaunchInputs::Arguments(arguments) => {
                for (number, argument) in arguments.iter().enumerate() {
                    inputs.push(match argument {
                        KernelArgument::Bytes(bytes) => CaseInput::Bytes(bytes.clone()),
                        KernelArgument::Local(bytes) => CaseInput::Local(*bytes),
                        KernelArgument::Resource(resource) => {
                            used.push(argument_used(&known.interface, &types, number, *resource));
                            CaseInput::Buffer(None, Vec::new())
                        }
                        KernelArgument::Part { buffer, offset } => {
                            let resource = ResourceHandle::from(*buffer);
                            used.push(ComparedBuffer {
                                start: *offset,
                                ..argument_used(&known.interface, &types, number, resource)
                            });
                            CaseInput::Buffer(None, Vec::new())
                        }
                        KernelArgument::Null => CaseInput::Bytes(vec![0; 8]),
                        KernelArgument::Address(_) => return self.refuse_addresses(),
                    });
                }
            }
            LaunchInputs::Resources {
                bindings,
                push: given,
            } => {
                push.clone_from(given);
                for bound in bindings {
                    used.push(resource_used(
                        &known.interface,
                        &types,
                        &mut self.shown,
                        bound,
                    ));
                    let at = Some((bound.set, bound.binding, bound.index));
                    inputs.push(CaseInput::Buffer(at, Vec::new()));
                }
            }
        }
        let mut contents = used.iter();
        for input in &mut inputs {
            if let CaseInput::Buffer(_, bytes) = input
                && let Some(used) = contents.next()
            {
                *bytes = self.download_from(0, used.resource)?;
                bytes.drain(..(used.start as usize).min(bytes.len()));
            }
        }
        let case = LaunchCase {
            module: module.to_words(),
            size: launch.size,
            inputs,
            push,
        };
        Ok((case, used))
    }

    fn download_from(
        &mut self,
        device: usize,
        resource: ResourceHandle,
    ) -> Result<Vec<u8>, DeviceError> {
        let own = self.find_resource(resource)?.1[device];
        self.devices[device].download_resource(own)
    }
}

/// A resource that is an argument of a kernel.
fn argument_used(
    interface: &EntryInterface,
    types: &ElementTypes<'_>,
    number: usize,
    resource: ResourceHandle,
) -> ComparedBuffer {
    let pointee = interface.params.get(number).and_then(|p| match p.kind {
        ParamKind::Buffer { pointee, .. } => Some(pointee),
        _ => None,
    });
    ComparedBuffer {
        resource,
        start: 0,
        place: format!("argument {number}"),
        elements: types.list_elements(pointee.as_slice()),
    }
}

/// A resource that is bound. `shown` has the element types that launches have shown.
fn resource_used(
    interface: &EntryInterface,
    types: &ElementTypes<'_>,
    shown: &mut Vec<Option<ElementType>>,
    bound: &LaunchBinding,
) -> ComparedBuffer {
    let (set, binding) = (bound.set, bound.binding);
    let declared = interface.bindings.iter();
    let declared: Vec<_> = declared
        .filter(|b| (b.set, b.binding) == (set, binding))
        .collect();
    let variables: Vec<Id> = declared.iter().map(|b| b.variable).collect();
    let number = bound.resource.index();
    shown.resize(shown.len().max(number + 1), None);
    // A written resource may have another type than before.
    let is_kept = declared.iter().all(|b| b.read_only);
    let before = shown[number].filter(|_| is_kept);
    shown[number] = types.infer_float_type(&variables).or(before);
    let blocks = declared.iter().filter_map(|b| match b.kind {
        BindingKind::Storage(ty) | BindingKind::Uniform(ty) => Some(ty),
        BindingKind::Opaque(_) => None,
    });
    ComparedBuffer {
        resource: bound.resource,
        start: 0,
        place: format!("set {set}, binding {binding}"),
        elements: match shown[number] {
            Some(element) => vec![(element, true)],
            None => types.list_elements(&blocks.collect::<Vec<Id>>()),
        },
    }
}

/// Limits that both devices keep.
fn intersect_limits(one: &DeviceLimits, other: &DeviceLimits) -> DeviceLimits {
    let three = |a: [u32; 3], b: [u32; 3]| [0, 1, 2].map(|axis| a[axis].min(b[axis]));
    DeviceLimits {
        buffer_size: one.buffer_size.min(other.buffer_size),
        workgroup_size: three(one.workgroup_size, other.workgroup_size),
        workgroup_invocations: one.workgroup_invocations.min(other.workgroup_invocations),
        workgroup_memory: one.workgroup_memory.min(other.workgroup_memory),
        groups: three(one.groups, other.groups),
        push_constants: one.push_constants.min(other.push_constants),
        folds: one.folds && other.folds,
        partial_groups: one.partial_groups && other.partial_groups,
    }
}

impl DeviceDriver for ComparisonDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn forwards_launches(&self) -> bool {
        true
    }

    fn create_buffer(&mut self, _: BufferHandle, size: u64) -> Result<(), DeviceError> {
        let made = self
            .devices
            .iter_mut()
            .map(|d| d.create_buffer(size).map(Into::into));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        self.resources.push(Some((size, made)));
        Ok(())
    }

    fn create_image(
        &mut self,
        _: ImageHandle,
        shape: &ImageShape,
        sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        let devices = self.devices.iter_mut();
        let made = devices.map(|d| d.create_image(shape, sampler).map(Into::into));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        self.resources
            .push(Some((shape.total_bytes().unwrap_or(0), made)));
        Ok(())
    }

    fn create_sampler(
        &mut self,
        _: SamplerHandle,
        sampler: &SamplerState,
    ) -> Result<(), DeviceError> {
        let made = self
            .devices
            .iter_mut()
            .map(|d| d.create_sampler(sampler).map(Into::into));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        self.resources.push(Some((0, made)));
        Ok(())
    }

    fn create_pipe(&mut self, _: PipeHandle, shape: PipeShape) -> Result<(), DeviceError> {
        let made = self
            .devices
            .iter_mut()
            .map(|d| d.create_pipe(shape).map(Into::into));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        self.resources
            .push(Some((shape.memory_bytes().unwrap_or(0), made)));
        Ok(())
    }

    fn destroy_resource(&mut self, resource: ResourceHandle) {
        if let Some(shown) = self.shown.get_mut(resource.index()) {
            *shown = None;
        }
        let slot = self.resources.get_mut(resource.index());
        if let Some((_, own)) = slot.and_then(Option::take) {
            for (device, resource) in self.devices.iter_mut().zip(own) {
                // Each device has its own handle.
                let _ = device.destroy_resource(resource);
            }
        }
    }

    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let own = self.find_resource(resource)?.1.clone();
        let mut all = self.devices.iter_mut().zip(own);
        all.try_for_each(|(device, own)| device.write_resource(own, offset, data))
    }

    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        let own = self.find_resource(resource)?.1[0];
        self.devices[0].read_resource(own, offset, out)
    }

    fn copy_buffer(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        for device in 0..self.devices.len() {
            let from = self.find_buffer(device, copy.from)?;
            let to = self.find_buffer(device, copy.to)?;
            let (from_offset, to_offset) = (copy.from_offset, copy.to_offset);
            self.devices[device].copy_buffer(from, from_offset, to, to_offset, copy.size)?;
        }
        Ok(())
    }

    fn fill_buffer(&mut self, fill: &PatternFill<'_>) -> Result<(), DeviceError> {
        for device in 0..self.devices.len() {
            let buffer = self.find_buffer(device, fill.buffer)?;
            self.devices[device].fill_buffer(buffer, fill.offset, fill.size, fill.pattern)?;
        }
        Ok(())
    }

    fn buffer_address(&mut self, _: BufferHandle) -> Result<u64, DeviceError> {
        self.refuse_addresses()
    }

    fn create_kernel(
        &mut self,
        _: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        let KernelSource {
            module,
            interface,
            spec,
            scope,
        } = source;
        let devices = self.devices.iter_mut();
        let kernels = devices.map(|d| d.create_scoped_kernel(scope, module, &interface.name, spec));
        self.kernels.push(ComparedKernel {
            kernels: kernels.collect::<Result<_, _>>()?,
            module: module.clone(),
            interface: interface.clone(),
            spec: spec.to_vec(),
        });
        Ok(())
    }

    fn end_scope(&mut self, scope: KernelModuleScope) {
        for device in &mut self.devices {
            // An error says that a resource of a kernel is destroyed already.
            let _ = device.end_scope(scope);
        }
    }

    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        _: ReachedMemory<'_>,
    ) -> Result<(), DeviceError> {
        let (case, used) = self.capture_case(launch)?;
        self.launches += 1;
        for device in 0..self.devices.len() {
            let own = self.translate_launch(device, launch)?;
            self.devices[device].launch_kernel(&own)?;
        }
        for used in &used {
            let first = self.download_from(0, used.resource)?;
            for device in 1..self.devices.len() {
                let other = self.download_from(device, used.resource)?;
                if let Some(difference) = find_difference(&first, &other, used, &self.tolerance) {
                    let known = &self.kernels[launch.kernel.index()];
                    return Err(DeviceError::Parted(Box::new(LaunchMismatch {
                        launch: self.launches,
                        kernel: known.interface.name.clone(),
                        devices: [0, device].map(|n| self.devices[n].info().id.clone()),
                        place: used.place.clone(),
                        difference,
                        case,
                    })));
                }
                if first != other {
                    let own = self.find_resource(used.resource)?.1[device];
                    self.devices[device].write_resource(own, 0, &first)?;
                }
            }
        }
        Ok(())
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        self.devices
            .iter_mut()
            .try_for_each(ComputeDevice::wait_idle)
    }

    fn take_printed(&mut self) -> Vec<u8> {
        let mut printed = self.devices.iter_mut().map(ComputeDevice::take_printed);
        printed.next().unwrap_or_default()
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.devices
            .iter_mut()
            .flat_map(ComputeDevice::take_warnings)
            .collect()
    }
}
