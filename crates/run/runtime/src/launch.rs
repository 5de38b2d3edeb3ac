//! What is launched, over how many invocations, with what.

use spirula_program::ByteRegion;

/// A buffer of a device, or an image, a sampler or a pipe, which kernels are given in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceBuffer(pub(crate) u32);

/// A kernel of a device: an entry point of a module, specialised and compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceKernel(pub(crate) u32);

impl DeviceBuffer {
    /// Position in a driver's tables: buffers are numbered from 0 in the order of their creation,
    /// and numbers are not used again.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl DeviceKernel {
    /// Position in a driver's tables, as [`DeviceBuffer::index`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch {
    /// What runs.
    pub kernel: DeviceKernel,
    /// Over how many invocations.
    pub size: IndexSpace,
    /// With what.
    pub inputs: LaunchInputs,
}

/// The index space of a launch; sizes of dimensions that are not used are 1, their offsets 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexSpace {
    /// Invocations, as OpenCL counts.
    Items {
        /// Number of dimensions, 1 to 3, which kernels may ask for.
        dimensions: u32,
        /// Invocations of each dimension.
        global: [u64; 3],
        /// Invocations of a workgroup; `None` lets the device choose.
        local: Option<[u32; 3]>,
        /// Added to global ids.
        offset: [u64; 3],
    },
    /// Workgroups, as Vulkan counts; their size is the module's.
    Groups([u32; 3]),
}

/// What a kernel gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchInputs {
    /// Parameters of a `Kernel` in order.
    Arguments(Vec<KernelArgument>),
    /// Resources of a `GLCompute` shader.
    Resources {
        /// Buffers by descriptor.
        bindings: Vec<LaunchBinding>,
        /// Push constants.
        push: Vec<u8>,
    },
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelArgument {
    /// A pointer to a buffer, an image, a sampler or a pipe.
    Buffer(DeviceBuffer),
    /// A value, as its bytes.
    Bytes(Vec<u8>),
    /// A pointer to so many bytes of workgroup memory.
    Local(u64),
}

/// A buffer, image or sampler at a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors; else 0.
    pub index: u32,
    /// What is bound.
    pub buffer: DeviceBuffer,
    /// What of a buffer the launch touches, where that is known: launches that touch different parts may run side by side.
    pub region: Option<ByteRegion>,
}

impl LaunchBinding {
    /// All of a buffer at a binding of the first set.
    pub fn with_whole_buffer(binding: u32, buffer: DeviceBuffer) -> LaunchBinding {
        LaunchBinding {
            set: 0,
            binding,
            index: 0,
            buffer,
            region: None,
        }
    }
}

impl IndexSpace {
    /// Whether there is no invocation.
    pub fn is_empty(&self) -> bool {
        match self {
            IndexSpace::Items { global, .. } => global.contains(&0),
            IndexSpace::Groups(groups) => groups.contains(&0),
        }
    }
}
