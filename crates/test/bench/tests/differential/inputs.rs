//! Generated inputs for entry points of which only the interface is known.

use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceError, IndexSpace, KernelArgument, KernelHandle,
    KernelLaunch, LaunchBinding, LaunchInputs,
};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use spirula_spirv::reflect::{BindingKind, EntryInterface, ParamKind};

/// Bytes of each buffer. Most blocks of fixed size are smaller.
const BUFFER_BYTES: usize = 1 << 16;
/// Bytes of workgroup memory, if the launch sets its size.
const LOCAL_BYTES: u64 = 1 << 12;
/// Elements of a descriptor array.
const MOST_DESCRIPTORS: u32 = 8;

/// The contents of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferentialFill {
    /// Small integers, which serve as sizes and indices.
    Integers,
    /// Numbers between one and two.
    Reals,
    /// Zeros.
    Zeros,
}

impl DifferentialFill {
    pub const ALL: [DifferentialFill; 3] = [
        DifferentialFill::Integers,
        DifferentialFill::Reals,
        DifferentialFill::Zeros,
    ];

    /// Bytes that depend on a seed.
    fn bytes(self, size: usize, seed: u32) -> Vec<u8> {
        let word = |at: u32| match self {
            DifferentialFill::Integers => (at.wrapping_mul(7).wrapping_add(seed)) % 5,
            DifferentialFill::Reals => {
                (1.0 + (at.wrapping_mul(5).wrapping_add(seed) % 13) as f32 / 16.0).to_bits()
            }
            DifferentialFill::Zeros => 0,
        };
        let words = (0..size.div_ceil(4) as u32).flat_map(|at| word(at).to_le_bytes());
        words.take(size).collect()
    }
}

/// Whether inputs can be generated for an entry point: it takes memory and numbers only.
pub fn can_be_given(interface: &EntryInterface) -> bool {
    let launched = matches!(
        interface.model,
        ExecutionModel::GLCompute | ExecutionModel::Kernel
    );
    let opaque = interface
        .bindings
        .iter()
        .any(|b| matches!(b.kind, BindingKind::Opaque(_)));
    let params = interface.params.iter();
    launched
        && !opaque
        && !params
            .into_iter()
            .any(|p| matches!(p.kind, ParamKind::Opaque { .. }))
}

/// Launches a kernel with generated inputs, and returns the final contents of all buffers.
pub fn run(
    device: &mut ComputeDevice,
    kernel: KernelHandle,
    interface: &EntryInterface,
    fill: DifferentialFill,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let mut buffers = Vec::new();
    let inputs = give(device, interface, fill, &mut buffers)?;
    let size = match interface.model {
        ExecutionModel::Kernel => IndexSpace::Items {
            dimensions: 1,
            global: [64, 1, 1],
            local: interface.workgroup_size.is_none().then_some([16, 1, 1]),
            offset: [0; 3],
        },
        _ => IndexSpace::Groups([2, 1, 1]),
    };
    let launch = KernelLaunch {
        kernel,
        size,
        inputs,
    };
    let ran = device
        .launch_kernel(&launch)
        .and_then(|()| device.wait_idle());
    let found = ran.and_then(|()| buffers.iter().map(|b| device.download_buffer(*b)).collect());
    for buffer in buffers {
        // A device that has failed has lost its buffers.
        _ = device.destroy_buffer(buffer);
    }
    found
}

fn give(
    device: &mut ComputeDevice,
    interface: &EntryInterface,
    fill: DifferentialFill,
    buffers: &mut Vec<BufferHandle>,
) -> Result<LaunchInputs, DeviceError> {
    let mut upload = |buffers: &mut Vec<BufferHandle>| {
        let seed = buffers.len() as u32;
        let buffer = device.upload_data(&fill.bytes(BUFFER_BYTES, seed))?;
        buffers.push(buffer);
        Ok::<BufferHandle, DeviceError>(buffer)
    };
    if interface.model == ExecutionModel::Kernel {
        let mut arguments = Vec::new();
        for (at, param) in interface.params.iter().enumerate() {
            arguments.push(match param.kind {
                ParamKind::Value { size, .. } => {
                    KernelArgument::Bytes(fill.bytes(size as usize, at as u32))
                }
                ParamKind::Buffer { .. } => KernelArgument::from(upload(buffers)?),
                _ => KernelArgument::Local(LOCAL_BYTES),
            });
        }
        return Ok(LaunchInputs::Arguments(arguments));
    }
    let mut bindings = Vec::new();
    for binding in &interface.bindings {
        let count = if binding.count == 0 { 1 } else { binding.count };
        for index in 0..count.min(MOST_DESCRIPTORS) {
            bindings.push(LaunchBinding {
                set: binding.set,
                binding: binding.binding,
                index,
                resource: upload(buffers)?.into(),
                region: None,
            });
        }
    }
    let push = fill.bytes(interface.push_constant_bytes as usize, 1);
    Ok(LaunchInputs::Resources { bindings, push })
}
