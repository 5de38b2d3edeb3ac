//! Handles of what a device holds: a type for each kind of thing, and one for all that kernels are given.

/// Declares handle types: positions in a driver's tables.
macro_rules! declare_handles {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub struct $name(pub(crate) u32);

            impl $name {
                /// Position in a driver's tables. Numbers begin at 0, follow the order of creation, and are never used
                /// again.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

declare_handles! {
    /// A buffer of a device. Buffers, images, samplers and pipes are numbered together.
    BufferHandle,
    /// An image of a device, numbered as buffers are.
    ImageHandle,
    /// A sampler of a device, numbered as buffers are.
    SamplerHandle,
    /// A pipe of a device, numbered as buffers are.
    PipeHandle,
    /// A kernel of a device: an entry point of a module, specialised and compiled.
    KernelHandle,
}

/// A resource that kernels are given: a buffer, an image, a sampler or a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceHandle {
    /// A buffer.
    Buffer(BufferHandle),
    /// An image.
    Image(ImageHandle),
    /// A sampler.
    Sampler(SamplerHandle),
    /// A pipe.
    Pipe(PipeHandle),
}

impl ResourceHandle {
    /// Position in a driver's tables, in which all resources are numbered together.
    pub fn index(self) -> usize {
        match self {
            ResourceHandle::Buffer(buffer) => buffer.index(),
            ResourceHandle::Image(image) => image.index(),
            ResourceHandle::Sampler(sampler) => sampler.index(),
            ResourceHandle::Pipe(pipe) => pipe.index(),
        }
    }
}

impl From<BufferHandle> for ResourceHandle {
    fn from(buffer: BufferHandle) -> ResourceHandle {
        ResourceHandle::Buffer(buffer)
    }
}

impl From<ImageHandle> for ResourceHandle {
    fn from(image: ImageHandle) -> ResourceHandle {
        ResourceHandle::Image(image)
    }
}

impl From<SamplerHandle> for ResourceHandle {
    fn from(sampler: SamplerHandle) -> ResourceHandle {
        ResourceHandle::Sampler(sampler)
    }
}

impl From<PipeHandle> for ResourceHandle {
    fn from(pipe: PipeHandle) -> ResourceHandle {
        ResourceHandle::Pipe(pipe)
    }
}
