//! Launches: their arguments and bindings, and the reasons why they fail.

use super::guard::TrapReason;
use crate::analysis::pointer_roots::ParameterIndex;
use crate::image::{HostImage, SamplerState};
use crate::layout::invocation_range::InvocationRange;
use crate::layout::launch_context::LaunchContext;
use crate::memory::memory_span::MemorySpan;
use std::fmt;
use std::time::Duration;

/// An argument of a `Kernel`.
#[derive(Clone, Copy, Debug)]
pub enum JitArgument<'a> {
    /// A pointer to memory.
    Memory(MemorySpan),
    /// A value: its bytes.
    Bytes(&'a [u8]),
    /// Workgroup memory of a size in bytes.
    Local(u64),
    /// An image.
    Image(HostImage),
    /// A sampler.
    Sampler(SamplerState),
}

impl JitArgument<'_> {
    /// Address and bytes of the memory that the argument points to.
    pub(super) fn memory(&self) -> Option<[u64; 2]> {
        match self {
            JitArgument::Memory(memory) => Some([memory.address as u64, memory.length]),
            _ => None,
        }
    }
}

/// A resource that is bound to a descriptor.
#[derive(Clone, Copy, Debug)]
pub enum DescriptorResource {
    /// A buffer.
    Memory(MemorySpan),
    /// An image, with a sampler where the descriptor has both.
    Image(HostImage),
    /// A sampler.
    Sampler(SamplerState),
}

impl DescriptorResource {
    /// The memory of the resource; none for samplers.
    pub fn memory(&self) -> Option<MemorySpan> {
        match self {
            DescriptorResource::Memory(memory) => Some(*memory),
            DescriptorResource::Image(image) => Some(image.memory),
            DescriptorResource::Sampler(_) => None,
        }
    }
}

/// A resource bound to a descriptor of a `GLCompute` shader.
#[derive(Clone, Copy, Debug)]
pub struct ResourceBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Element, where the binding is an array of descriptors.
    pub index: u32,
    /// The resource.
    pub resource: DescriptorResource,
}

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct JitLaunch<'a> {
    /// The invocations that run.
    pub size: InvocationRange,
    /// Arguments of a `Kernel`, in order.
    pub arguments: &'a [JitArgument<'a>],
    /// Buffers, images and samplers of a shader.
    pub bindings: &'a [ResourceBinding],
    /// Push constants of a shader.
    pub push: &'a [u8],
    /// Threads that run workgroups; 0 for as many as the thread pool has.
    pub threads: usize,
    /// The time limit, if there is one. It is kept on Linux only.
    pub timeout: Option<Duration>,
}

impl JitLaunch<'_> {
    /// Address and bytes of a parameter's memory. `bindings` is the launch's table of bindings.
    pub(super) fn find_memory(
        &self,
        index: ParameterIndex,
        bindings: &[[u64; 2]],
    ) -> Option<[u64; 2]> {
        match index {
            ParameterIndex::Argument(at) => self.arguments.get(at)?.memory(),
            ParameterIndex::Binding(row) => bindings.get(row).copied(),
        }
    }
}

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// Invocations of one workgroup wait at different barriers.
    BarrierDivergence {
        /// The kernel.
        kernel: String,
        /// Instruction and place of one barrier.
        first: String,
        /// Instruction and place of another barrier.
        second: String,
    },
    /// The kernel accesses an address where no memory is.
    Access {
        /// The kernel.
        kernel: String,
        /// The address.
        address: u64,
    },
    /// The kernel goes past the memory of its workgroup.
    PastWorkgroup {
        /// The kernel.
        kernel: String,
        /// Bytes from the beginning of the memory to the accessed byte.
        offset: i64,
        /// Bytes of the memory.
        length: u64,
    },
    /// The kernel goes past the private memory of its invocations.
    PastPrivate {
        /// The kernel.
        kernel: String,
    },
    /// The variables of the kernel need more than the stack of a thread has.
    Stack {
        /// The kernel.
        kernel: String,
    },
    /// The kernel was ended by a signal.
    Signal {
        /// The kernel.
        kernel: String,
        /// Number of the signal.
        signal: i32,
    },
    /// The launch has taken longer than it may.
    Late {
        /// The kernel.
        kernel: String,
    },
    /// A loop of an invocation does not end.
    EndlessLoop {
        /// The kernel.
        kernel: String,
    },
    /// The launch does not fit the kernel; a sentence without a full stop.
    Launch(String),
}

impl LaunchError {
    /// The error that a trap is in a kernel with this context.
    pub(crate) fn from_trap_in_context(
        context: &LaunchContext,
        trap: TrapReason,
        kernel: &str,
    ) -> LaunchError {
        let TrapReason::Access(address) = trap else {
            return LaunchError::from_trap(trap, kernel);
        };
        let kernel = kernel.to_owned();
        let is_in = |[low, high]: [u64; 2]| (low..high).contains(&address);
        if is_in(context.workgroup_span) {
            return LaunchError::PastWorkgroup {
                kernel,
                offset: address.wrapping_sub(context.workgroup as u64) as i64,
                length: context.workgroup_bytes,
            };
        }
        if is_in(context.private_span) {
            LaunchError::PastPrivate { kernel }
        } else {
            LaunchError::Access { kernel, address }
        }
    }

    /// The error that a trap in a kernel is.
    pub(crate) fn from_trap(trap: TrapReason, kernel: &str) -> LaunchError {
        let kernel = kernel.to_owned();
        match trap {
            TrapReason::Access(address) => LaunchError::Access { kernel, address },
            TrapReason::Stack => LaunchError::Stack { kernel },
            TrapReason::Signal(signal) => LaunchError::Signal { kernel, signal },
            TrapReason::Late => LaunchError::Late { kernel },
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::BarrierDivergence {
                kernel,
                first,
                second,
            } => write!(
                f,
                "barrier divergence in {kernel}: some invocations of a workgroup wait at {first}, others at {second}"
            ),
            LaunchError::Access { kernel, address } => write!(
                f,
                "{kernel} accesses the address {address:#x}, where no memory is; the device cpu+san says where"
            ),
            LaunchError::PastWorkgroup {
                kernel,
                offset,
                length,
            } => write!(
                f,
                "{kernel} goes past workgroup memory: it accesses byte {offset} of {length}; the device cpu+san says where"
            ),
            LaunchError::PastPrivate { kernel } => write!(
                f,
                "{kernel} goes past private memory; the device cpu+san says where"
            ),
            LaunchError::Stack { kernel } => {
                write!(f, "{kernel} needs more than the stack of a thread has")
            }
            LaunchError::Signal { kernel, signal } => {
                write!(f, "{kernel} was ended by the signal {signal}")
            }
            LaunchError::Late { kernel } => {
                write!(f, "{kernel} was ended, as its time was up")
            }
            LaunchError::EndlessLoop { kernel } => write!(f, "a loop in {kernel} does not end"),
            LaunchError::Launch(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LaunchError {}
