//! Launches: a kernel, its index space and its arguments or resources.

use crate::{BufferHandle, ImageHandle, KernelHandle, PipeHandle, ResourceHandle, SamplerHandle};
use spirula_program::ByteRegion;

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLaunch {
    /// The kernel.
    pub kernel: KernelHandle,
    /// The index space.
    pub size: IndexSpace,
    /// Arguments or resources.
    pub inputs: LaunchInputs,
}

/// The index space of a launch. Unused dimensions have size 1 and offset 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexSpace {
    /// Invocations, as in OpenCL.
    Items {
        /// Number of dimensions, 1 to 3, which kernels can query.
        dimensions: u32,
        /// Invocations of each dimension.
        global: [u64; 3],
        /// Invocations of a workgroup; `None` lets the device choose.
        local: Option<[u32; 3]>,
        /// Added to global ids.
        offset: [u64; 3],
    },
    /// Workgroups, as in Vulkan. The module says their size.
    Groups([u32; 3]),
}

/// Inputs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchInputs {
    /// Arguments of a `Kernel` in order.
    Arguments(Vec<KernelArgument>),
    /// Resources of a `GLCompute` shader.
    Resources {
        /// Resources by descriptor.
        bindings: Vec<LaunchBinding>,
        /// Push constants.
        push: Vec<u8>,
    },
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelArgument {
    /// A pointer to a buffer, an image, a sampler or a pipe.
    Resource(ResourceHandle),
    /// A value, as its bytes.
    Bytes(Vec<u8>),
    /// A pointer to workgroup memory of this many bytes.
    Local(u64),
    /// A pointer into a buffer, which the kernel accesses from there to its end.
    Part {
        /// The buffer.
        buffer: BufferHandle,
        /// Bytes from its beginning.
        offset: u64,
    },
    /// A null pointer, where the kernel takes a buffer.
    Null,
    /// An address, where the kernel takes a buffer. It may be within any buffer whose address
    /// [`crate::ComputeDevice::buffer_address`] has returned, or what else kernels of the device can access.
    Address(u64),
}

/// The binding of a buffer, an image or a sampler to a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors; 0 for a single descriptor.
    pub index: u32,
    /// The resource.
    pub resource: ResourceHandle,
    /// The region of a buffer that the launch accesses, where it is known. Launches that access disjoint regions may run
    /// concurrently.
    pub region: Option<ByteRegion>,
}

macro_rules! resource_arguments {
    ($($handle:ty,)*) => {
        $(
            impl From<$handle> for KernelArgument {
                fn from(resource: $handle) -> KernelArgument {
                    KernelArgument::Resource(resource.into())
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

impl LaunchBinding {
    /// Binds a whole buffer to a binding of set 0.
    pub fn with_whole_buffer(binding: u32, buffer: BufferHandle) -> LaunchBinding {
        LaunchBinding {
            set: 0,
            binding,
            index: 0,
            resource: buffer.into(),
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
