//! What is launched, over how many invocations, with what.

use spirula_program::Region;

/// A buffer of a device, or an image, a sampler or a pipe, which kernels are given in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer(pub(crate) u32);

/// A kernel of a device: an entry point of a module, specialised and compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(pub(crate) u32);

impl Buffer {
    /// Position in a driver's tables: buffers are numbered from 0 in the order of their creation,
    /// and numbers are not used again.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Kernel {
    /// Position in a driver's tables, as [`Buffer::index`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What runs.
    pub kernel: Kernel,
    /// Over how many invocations.
    pub size: Size,
    /// With what.
    pub inputs: Inputs,
}

/// The index space of a launch; sizes of dimensions that are not used are 1, their offsets 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
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
pub enum Inputs {
    /// Parameters of a `Kernel` in order.
    Arguments(Vec<Argument>),
    /// Resources of a `GLCompute` shader.
    Resources {
        /// Buffers by descriptor.
        bindings: Vec<Bound>,
        /// Push constants.
        push: Vec<u8>,
    },
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A pointer to a buffer, an image, a sampler or a pipe.
    Buffer(Buffer),
    /// A value, as its bytes.
    Bytes(Vec<u8>),
    /// A pointer to so many bytes of workgroup memory.
    Local(u64),
}

/// A buffer, image or sampler at a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors; else 0.
    pub index: u32,
    /// What is bound.
    pub buffer: Buffer,
    /// What of a buffer the launch touches, where that is known: launches that touch different parts may run side by side.
    pub region: Option<Region>,
}

impl Bound {
    /// All of a buffer at a binding of the first set.
    pub fn whole(binding: u32, buffer: Buffer) -> Bound {
        Bound {
            set: 0,
            binding,
            index: 0,
            buffer,
            region: None,
        }
    }
}

impl Size {
    /// Whether there is no invocation.
    pub fn is_empty(&self) -> bool {
        match self {
            Size::Items { global, .. } => global.contains(&0),
            Size::Groups(groups) => groups.contains(&0),
        }
    }
}
