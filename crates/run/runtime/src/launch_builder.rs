//! Launch builder: launches with typed arguments.

use crate::data::ElementType;
use crate::{
    BufferHandle, ComputeDevice, DeviceError, ImageHandle, IndexSpace, KernelArgument,
    KernelHandle, KernelLaunch, LaunchBinding, LaunchInputs, PipeHandle, ResourceHandle,
    SamplerHandle,
};
use bytemuck::{AnyBitPattern, NoUninit};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::verify;

/// Reads and verifies a module: binary SPIR-V, in either byte order.
///
/// # Errors
/// When it is not valid, with the first fault.
pub fn load_module(spirv: &[u8]) -> Result<SpirvModule, DeviceError> {
    let module = SpirvModule::from_bytes(spirv).map_err(|d| DeviceError::Module(Box::new(d)))?;
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    let faults = verify::verify_module(&module, &options).err();
    match faults.and_then(|faults| faults.into_iter().next()) {
        Some(first) => Err(DeviceError::Module(Box::new(first))),
        None => Ok(module),
    }
}

/// Number types that kernels take by value.
pub trait KernelScalar: NoUninit + AnyBitPattern {
    /// The element type of these numbers.
    const ELEMENT: ElementType;
}

macro_rules! scalars {
    ($($ty:ty => $element:ident,)*) => {
        $(
            impl KernelScalar for $ty {
                const ELEMENT: ElementType = ElementType::$element;
            }

            impl IntoArgument for $ty {
                fn into_argument(self) -> (KernelArgument, Option<ElementType>) {
                    let bytes = bytemuck::bytes_of(&self).to_vec();
                    (KernelArgument::Bytes(bytes), Some(ElementType::$element))
                }
            }
        )*
    };
}

scalars! {
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    f32 => F32,
    f64 => F64,
}

/// Values that [`LaunchBuilder::with_argument`] accepts: a resource, a number, an array of numbers for a vector,
/// [`WorkgroupBytes`], or a [`KernelArgument`].
pub trait IntoArgument {
    /// The argument, and the element type of its numbers.
    fn into_argument(self) -> (KernelArgument, Option<ElementType>);
}

impl<T: KernelScalar, const N: usize> IntoArgument for [T; N] {
    fn into_argument(self) -> (KernelArgument, Option<ElementType>) {
        let bytes = bytemuck::cast_slice::<T, u8>(&self).to_vec();
        (KernelArgument::Bytes(bytes), Some(T::ELEMENT))
    }
}

macro_rules! resource_arguments {
    ($($handle:ty,)*) => {
        $(
            impl IntoArgument for $handle {
                fn into_argument(self) -> (KernelArgument, Option<ElementType>) {
                    (self.into(), None)
                }
            }
        )*
    };
}

resource_arguments! {
    BufferHandle,
    ImageHandle,
    SamplerHandle,
    PipeHandle,
    ResourceHandle,
}

impl IntoArgument for KernelArgument {
    fn into_argument(self) -> (KernelArgument, Option<ElementType>) {
        (self, None)
    }
}

/// Workgroup memory of this many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkgroupBytes(pub u64);

impl IntoArgument for WorkgroupBytes {
    fn into_argument(self) -> (KernelArgument, Option<ElementType>) {
        (KernelArgument::Local(self.0), None)
    }
}

/// One to three sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchExtent {
    sizes: [u64; 3],
    dimensions: u32,
}

impl<const N: usize> From<[u64; N]> for LaunchExtent {
    /// Sizes beyond the third are ignored.
    fn from(given: [u64; N]) -> Self {
        let mut sizes = [1; 3];
        for (to, size) in sizes.iter_mut().zip(given) {
            *to = size;
        }
        let dimensions = N.clamp(1, 3) as u32;
        LaunchExtent { sizes, dimensions }
    }
}

impl From<u64> for LaunchExtent {
    fn from(size: u64) -> Self {
        LaunchExtent::from([size])
    }
}

impl LaunchExtent {
    fn narrow_sizes(self, what: &str) -> Result<[u32; 3], DeviceError> {
        let mut out = [1; 3];
        for (to, size) in out.iter_mut().zip(self.sizes) {
            let size = u32::try_from(size);
            *to = size.map_err(|_| {
                DeviceError::Launch(format!("{what} {:?} are too many", self.sizes))
            })?;
        }
        Ok(out)
    }
}

/// Builder of a launch, which [`LaunchBuilder::run_and_wait`] or [`LaunchBuilder::begin_launch`] begins.
///
/// ```
/// use spirula_runtime::{ComputeDevice, DeviceOptions, load_module};
/// # use spirula_spirv::{binary, ir::SpirvModule, text};
/// # let text = include_str!("../tests/opencl/factor.spvasm");
/// # let words = text::parse_assembly(text, &Default::default()).unwrap();
/// # let spirv = SpirvModule::from_words(words).unwrap().to_bytes();
///
/// // kernel void factor(global int *out) { out[get_global_id(0)] = get_global_id(0) * 3; }
/// let mut device = ComputeDevice::open("cpu", &DeviceOptions::default())?;
/// let kernel = device.create_kernel(&load_module(&spirv)?, "factor", &[])?;
/// let out = device.upload_data(&[0_i32; 4])?;
/// device.prepare_launch(kernel).with_global_size(4).with_argument(out).run_and_wait()?;
/// assert_eq!(device.download_as::<i32>(out)?, [0, 3, 6, 9]);
///
/// // The 3 is the specialisation constant 7.
/// let kernel = device.create_kernel(&load_module(&spirv)?, "factor", &[(7, 5)])?;
/// device.prepare_launch(kernel).with_global_size(4).with_local_size(2).with_argument(out).run_and_wait()?;
/// assert_eq!(device.download_as::<i32>(out)?, [0, 5, 10, 15]);
///
/// // A mismatch is reported by name before anything runs.
/// let error = device.prepare_launch(kernel).with_global_size(4).with_argument(2.5_f32).run_and_wait().unwrap_err();
/// assert_eq!(error.to_string(), "argument 0 (out): it takes a buffer, a value of 4 bytes is given");
/// # Ok::<(), spirula_runtime::DeviceError>(())
/// ```
#[must_use = "nothing is launched before `run` or `begin`"]
pub struct LaunchBuilder<'d> {
    device: &'d mut ComputeDevice,
    kernel: KernelHandle,
    global: Option<LaunchExtent>,
    groups: Option<LaunchExtent>,
    local: Option<LaunchExtent>,
    offset: [u64; 3],
    arguments: Vec<(KernelArgument, Option<ElementType>)>,
    bindings: Vec<LaunchBinding>,
    push: Vec<u8>,
}

impl<'d> LaunchBuilder<'d> {
    pub(crate) fn new(device: &'d mut ComputeDevice, kernel: KernelHandle) -> LaunchBuilder<'d> {
        LaunchBuilder {
            device,
            kernel,
            global: None,
            groups: None,
            local: None,
            offset: [0; 3],
            arguments: Vec::new(),
            bindings: Vec::new(),
            push: Vec::new(),
        }
    }

    /// Sets the number of invocations: a number, or an array of one to three.
    pub fn with_global_size(mut self, size: impl Into<LaunchExtent>) -> Self {
        self.global = Some(size.into());
        self
    }

    /// Sets the invocations of a workgroup. The default is the module's size, or one that the device chooses.
    pub fn with_local_size(mut self, size: impl Into<LaunchExtent>) -> Self {
        self.local = Some(size.into());
        self
    }

    /// Sets the number of workgroups, of the size that the module or [`LaunchBuilder::with_local_size`] says.
    pub fn with_workgroups(mut self, size: impl Into<LaunchExtent>) -> Self {
        self.groups = Some(size.into());
        self
    }

    /// Sets the offset that is added to global ids.
    pub fn with_global_offset(mut self, offset: impl Into<LaunchExtent>) -> Self {
        let offset = offset.into();
        for axis in 0..offset.dimensions as usize {
            self.offset[axis] = offset.sizes[axis];
        }
        self
    }

    /// Appends an argument of a kernel.
    pub fn with_argument(mut self, argument: impl IntoArgument) -> Self {
        self.arguments.push(argument.into_argument());
        self
    }

    /// Binds a buffer, an image or a sampler to a descriptor of a shader.
    pub fn bind_resource(
        mut self,
        set: u32,
        binding: u32,
        resource: impl Into<ResourceHandle>,
    ) -> Self {
        self.bindings.push(LaunchBinding {
            set,
            binding,
            index: 0,
            resource: resource.into(),
            region: None,
        });
        self
    }

    /// Appends a push constant of a shader, at the next multiple of its size.
    pub fn push_constant<T: KernelScalar>(mut self, value: T) -> Self {
        let at = self.push.len().next_multiple_of(size_of::<T>());
        self.push.resize(at, 0);
        self.push.extend_from_slice(bytemuck::bytes_of(&value));
        self
    }

    /// Launches, and waits for the end.
    ///
    /// # Errors
    /// When it does not fit the kernel or the device, or the device fails.
    pub fn run_and_wait(self) -> Result<(), DeviceError> {
        let (device, launch) = self.into_launch()?;
        device.launch_kernel(&launch)?;
        device.wait_idle()
    }

    /// Begins the launch, ordered after all earlier launches and copies. Copies out of buffers that it writes wait for it, as
    /// does [`ComputeDevice::wait_idle`].
    ///
    /// # Errors
    /// When it does not fit the kernel or the device.
    pub fn begin_launch(self) -> Result<(), DeviceError> {
        let (device, launch) = self.into_launch()?;
        device.launch_kernel(&launch)
    }

    fn into_launch(self) -> Result<(&'d mut ComputeDevice, KernelLaunch), DeviceError> {
        let interface = self.device.kernel_interface(self.kernel)?;
        let is_kernel = interface.takes_arguments() || !self.arguments.is_empty();
        let own = interface.workgroup_size;
        for (number, (argument, given)) in self.arguments.iter().enumerate() {
            let wanted = self.device.parameter_element(self.kernel, number);
            let (Some(given), Some(wanted), KernelArgument::Bytes(_)) = (given, wanted, argument)
            else {
                continue;
            };
            if given.is_float() != wanted.is_float() || given.size() != wanted.size() {
                let name = interface.params.get(number).and_then(|p| p.name.clone());
                let problem = format!("it takes {wanted}, {given} is given");
                return Err(DeviceError::Argument {
                    number,
                    name,
                    problem,
                });
            }
        }
        let local = self
            .local
            .map(|l| l.narrow_sizes("invocations"))
            .transpose()?;
        let size = match (self.global, self.groups) {
            (Some(global), None) => IndexSpace::Items {
                dimensions: global.dimensions,
                global: global.sizes,
                local,
                offset: self.offset,
            },
            (None, Some(groups)) if !is_kernel => {
                IndexSpace::Groups(groups.narrow_sizes("workgroups")?)
            }
            (None, Some(groups)) => {
                let local = local.or(own).unwrap_or([1; 3]);
                let size = |axis: usize| groups.sizes[axis].saturating_mul(local[axis].into());
                IndexSpace::Items {
                    dimensions: 3,
                    global: [0, 1, 2].map(size),
                    local: Some(local),
                    offset: self.offset,
                }
            }
            _ => {
                let name = &interface.name;
                let text = format!("{name} is launched over either invocations or workgroups");
                return Err(DeviceError::Launch(text));
            }
        };
        let inputs = if is_kernel {
            LaunchInputs::Arguments(self.arguments.into_iter().map(|(a, _)| a).collect())
        } else {
            LaunchInputs::Resources {
                bindings: self.bindings,
                push: self.push,
            }
        };
        let launch = KernelLaunch {
            kernel: self.kernel,
            size,
            inputs,
        };
        Ok((self.device, launch))
    }
}
