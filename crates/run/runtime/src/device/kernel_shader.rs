//! Kernel shaders: kernels on devices that run shaders. Arguments become push constants, specialisation constants and
//! descriptors, as the shader's module says.

use super::resources::{DeviceResource, DeviceResourceKind};
use crate::driver::{DeviceInfo, DeviceLimits, refuse_unsupported};
use crate::numbered_objects::NumberedObjects;
use crate::{
    BufferHandle, DeviceError, IndexSpace, KernelArgument, KernelFeature, KernelHandle,
    KernelLaunch, LaunchBinding, LaunchInputs, ResourceHandle, SamplerHandle, SamplerState,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{
    ClspvArgument, ClspvInterface, EntryInterface, ImageFact, LiteralSampler,
};

/// Bytes to which workgroup memory is rounded up.
const ALIGN: u64 = 16;

/// Preferred size of workgroups where the launch does not give one.
const USUAL: u32 = 64;

/// A kernel as a shader, compiled for each set of specialisation constants that it is launched with.
pub struct KernelShader {
    pub module: SpirvModule,
    pub interface: EntryInterface,
    spec: Vec<(u32, u64)>,
    pub made: Vec<(Vec<(u32, u64)>, KernelHandle)>,
    /// Buffers that are passed besides the arguments, and the offsets of their addresses in the push constants.
    pub hidden: Vec<(BufferHandle, u32)>,
    /// The buffer that it prints to.
    pub printed: Option<BufferHandle>,
    /// Samplers that the kernel declares.
    pub samplers: Vec<LaunchBinding>,
}

/// A launch of a kernel, translated into a launch of its shader.
pub struct ShaderLaunchPlan {
    pub spec: Vec<(u32, u64)>,
    pub groups: [u32; 3],
    pub push: Vec<u8>,
    /// Addresses that are pushed.
    pub addresses: Vec<PushedAddress>,
    /// Whether an address of unknown memory is pushed.
    pub is_unbounded: bool,
    /// Resources at descriptors.
    pub bindings: Vec<LaunchBinding>,
    /// Samplers whose state is pushed, and the offsets in `push`.
    pub masks: Vec<(SamplerHandle, u32)>,
}

/// A pushed address of memory in a buffer.
pub struct PushedAddress {
    pub buffer: BufferHandle,
    /// Bytes from the beginning of the buffer.
    pub offset: u64,
    /// Position in the push constants.
    pub at: u32,
}

/// Compiles an entry point to a shader for a device.
pub fn compile_shader(
    module: &SpirvModule,
    entry: &str,
    info: &DeviceInfo,
) -> Result<SpirvModule, DeviceError> {
    let options = spirula_legalize::VulkanCompileOptions {
        entry: Some(entry.to_owned()),
        has_fused_products: info.features.contains(&KernelFeature::FusedProducts),
        ..spirula_legalize::VulkanCompileOptions::default()
    };
    spirula_legalize::compile_kernels(module, &options).map_err(DeviceError::Unsupported)
}

impl KernelShader {
    /// A shader whose interface says how arguments are passed.
    pub fn new(
        module: SpirvModule,
        interface: EntryInterface,
        spec: &[(u32, u64)],
    ) -> KernelShader {
        KernelShader {
            module,
            interface,
            spec: spec.to_vec(),
            made: Vec::new(),
            hidden: Vec::new(),
            printed: None,
            samplers: Vec::new(),
        }
    }

    /// The driver's kernel for a set of specialisation constants.
    pub fn find_compiled(&self, spec: &[(u32, u64)]) -> Option<KernelHandle> {
        let found = self.made.iter().find(|(known, _)| known == spec);
        found.map(|(_, kernel)| *kernel)
    }

    /// Translates a checked launch. `demanded` is the size of workgroups that the kernel demands, `resources` those of the device.
    pub fn plan_launch(
        &self,
        launch: &KernelLaunch,
        demanded: Option<[u32; 3]>,
        limits: &DeviceLimits,
        resources: &NumberedObjects<DeviceResource>,
    ) -> Result<ShaderLaunchPlan, DeviceError> {
        let LaunchInputs::Arguments(given) = &launch.inputs else {
            let text = format!("{} takes arguments in order", self.interface.name);
            return Err(DeviceError::Launch(text));
        };
        let mut plan = ShaderLaunchPlan {
            spec: self.spec.clone(),
            groups: [1; 3],
            push: vec![0; self.interface.push_constant_bytes as usize],
            addresses: Vec::new(),
            is_unbounded: false,
            bindings: self.samplers.clone(),
            masks: Vec::new(),
        };
        let Some(passing) = &self.interface.passing else {
            return Ok(plan);
        };
        let (dimensions, local, offset) = plan.plan_sizes(launch.size, demanded, limits)?;
        for (ids, size) in passing.workgroup_size.iter().zip([local]) {
            plan.spec
                .extend(ids.iter().zip(size).map(|(id, n)| (*id, n.into())));
        }
        plan.spec
            .extend(passing.dimensions.map(|id| (id, dimensions.into())));
        if let Some(at) = passing.global_offset {
            for (n, value) in offset.iter().enumerate() {
                plan.write_push_constants(at + 4 * n as u32, &(*value as u32).to_le_bytes());
            }
        }
        for (buffer, offset) in &self.hidden {
            plan.push_address(*buffer, 0, *offset);
        }
        for (passed, argument) in passing.arguments.iter().zip(given) {
            plan.pass_argument(*passed, argument)?;
        }
        plan.answer_queries(passing, given, resources);
        for mask in &passing.masks {
            if let Some(KernelArgument::Resource(ResourceHandle::Sampler(sampler))) =
                given.get(mask.ordinal as usize)
            {
                plan.masks.push((*sampler, mask.offset));
            }
        }
        Ok(plan)
    }
}

/// Binds a resource to a descriptor that is no array.
pub fn bind_descriptor(set: u32, binding: u32, resource: ResourceHandle) -> LaunchBinding {
    LaunchBinding {
        set,
        binding,
        index: 0,
        resource,
        region: None,
    }
}

/// A sampler that a kernel declares.
pub fn convert_literal_sampler(sampler: LiteralSampler) -> SamplerState {
    let mask = sampler.mask;
    SamplerState::of_module(mask >> 1 & 7, mask & 1, mask >> 5 & 1)
}

impl ShaderLaunchPlan {
    /// Writes the facts of images that the kernel queries.
    fn answer_queries(
        &mut self,
        passing: &ClspvInterface,
        given: &[KernelArgument],
        resources: &NumberedObjects<DeviceResource>,
    ) {
        for query in &passing.queries {
            let Some(KernelArgument::Resource(image)) = given.get(query.ordinal as usize) else {
                continue;
            };
            let resource = resources.get(image.index());
            let Some(DeviceResourceKind::Image(format)) = resource.map(|r| r.what) else {
                continue;
            };
            let number = match query.what {
                ImageFact::ChannelOrder => format.opencl_order(),
                ImageFact::ChannelType => format.opencl_type(),
            };
            self.write_push_constants(query.offset, &number.to_le_bytes());
        }
    }

    /// Passes an argument as the shader takes it. Resources that the shader does not access have no descriptor.
    fn pass_argument(
        &mut self,
        passed: ClspvArgument,
        argument: &KernelArgument,
    ) -> Result<(), DeviceError> {
        match (passed, argument) {
            (ClspvArgument::Pushed { offset, .. }, KernelArgument::Bytes(bytes)) => {
                self.write_push_constants(offset, bytes);
            }
            (
                ClspvArgument::Address { offset },
                KernelArgument::Resource(ResourceHandle::Buffer(buffer)),
            ) => self.push_address(*buffer, 0, offset),
            (ClspvArgument::Address { offset: at }, KernelArgument::Part { buffer, offset }) => {
                self.push_address(*buffer, *offset, at);
            }
            (ClspvArgument::Address { offset }, KernelArgument::Address(address)) => {
                self.write_push_constants(offset, &address.to_le_bytes());
                self.is_unbounded = true;
            }
            (ClspvArgument::Workgroup { spec_id, element }, KernelArgument::Local(bytes)) => {
                let count = bytes.next_multiple_of(ALIGN) / u64::from(element.max(1));
                self.spec.push((spec_id, count));
            }
            (ClspvArgument::Bound { set, binding }, KernelArgument::Resource(resource)) => {
                self.bindings.push(bind_descriptor(set, binding, *resource));
            }
            (
                ClspvArgument::Bound { .. },
                KernelArgument::Part { .. } | KernelArgument::Null | KernelArgument::Address(_),
            ) => {
                let shaders = "shaders that take buffers at descriptors";
                return refuse_unsupported(shaders, "pointers other than to buffers".to_owned());
            }
            // Null pointers are the zeros that push constants consist of at first.
            _ => {}
        }
        Ok(())
    }

    /// Pushes the address of memory in a buffer. Arguments that the shader does not read have no place.
    fn push_address(&mut self, buffer: BufferHandle, offset: u64, at: u32) {
        if at as usize + 8 <= self.push.len() {
            self.addresses.push(PushedAddress { buffer, offset, at });
        }
    }

    /// Writes bytes into the push constants.
    pub fn write_push_constants(&mut self, at: u32, bytes: &[u8]) {
        let at = at as usize;
        if let Some(room) = self.push.get_mut(at..at + bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// Number of dimensions, size of workgroups and global offset; sets the number of workgroups.
    fn plan_sizes(
        &mut self,
        size: IndexSpace,
        demanded: Option<[u32; 3]>,
        limits: &DeviceLimits,
    ) -> Result<(u32, [u32; 3], [u64; 3]), DeviceError> {
        let (dimensions, global, local, offset) = match size {
            IndexSpace::Groups(groups) => {
                self.groups = groups;
                return Ok((3, demanded.unwrap_or([1; 3]), [0; 3]));
            }
            IndexSpace::Items {
                dimensions,
                global,
                local,
                offset,
            } => (dimensions, global, local, offset),
        };
        let local = local
            .or(demanded)
            .unwrap_or_else(|| limits.choose_workgroup_size(global, USUAL));
        for axis in 0..3 {
            let groups = global[axis] / u64::from(local[axis].max(1));
            let whole = groups * u64::from(local[axis]) == global[axis];
            let most = if limits.folds {
                u32::MAX
            } else {
                limits.groups[axis]
            };
            let fits = groups <= most.into() && global[axis] <= u32::MAX.into();
            if !whole || !fits {
                let text = format!(
                    "{} invocations in workgroups of {} in dimension {axis}",
                    global[axis], local[axis]
                );
                return Err(DeviceError::Launch(text));
            }
            self.groups[axis] = groups as u32;
        }
        Ok((dimensions, local, offset))
    }
}
