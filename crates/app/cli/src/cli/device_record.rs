//! Devices in JSON.

use serde::Serialize;
use spirula_runtime::{DeviceInfo, MatrixShape};

/// A device in JSON. Sizes are in bytes.
#[derive(Serialize)]
pub struct DeviceRecord<'a> {
    id: &'a str,
    name: &'a str,
    kind: String,
    driver: &'a str,
    /// Newest version of SPIR-V; null where the driver takes none.
    newest_spirv: Option<String>,
    compute_units: u32,
    memory_bytes: u64,
    subgroup_size: u32,
    subgroup_sizes: &'a [u32],
    has_shuffles: bool,
    has_forward_progress: bool,
    has_dense_matrices: bool,
    matrices: Vec<MatrixRecord>,
    limits: LimitRecord,
}

/// Limits of launches and buffers in JSON.
#[derive(Serialize)]
struct LimitRecord {
    buffer_bytes: u64,
    workgroup_size: [u32; 3],
    workgroup_invocations: u32,
    workgroup_memory_bytes: u64,
    workgroups: [u32; 3],
    push_constant_bytes: u32,
}

/// A product of matrices in JSON.
#[derive(Serialize)]
struct MatrixRecord {
    size: [u32; 3],
    factors: [String; 2],
    sum: String,
}

impl<'a> DeviceRecord<'a> {
    /// The record of a device.
    pub fn new(device: &'a DeviceInfo) -> Self {
        let limits = &device.limits;
        DeviceRecord {
            id: &device.id,
            name: &device.name,
            kind: format!("{:?}", device.kind).to_lowercase(),
            driver: &device.driver,
            newest_spirv: device.newest_module.map(|version| version.to_string()),
            compute_units: device.compute_units,
            memory_bytes: device.memory_size,
            subgroup_size: device.subgroup_size,
            subgroup_sizes: &device.subgroup_sizes,
            has_shuffles: device.has_shuffles,
            has_forward_progress: device.has_forward_progress,
            has_dense_matrices: device.has_dense_matrices,
            matrices: device.matrices.iter().map(MatrixRecord::new).collect(),
            limits: LimitRecord {
                buffer_bytes: limits.buffer_size,
                workgroup_size: limits.workgroup_size,
                workgroup_invocations: limits.workgroup_invocations,
                workgroup_memory_bytes: limits.workgroup_memory,
                workgroups: limits.groups,
                push_constant_bytes: limits.push_constants,
            },
        }
    }
}

impl MatrixRecord {
    fn new(shape: &MatrixShape) -> Self {
        let name = |element: &dyn std::fmt::Debug| format!("{element:?}").to_lowercase();
        let [left, right] = &shape.factors;
        MatrixRecord {
            size: shape.size,
            factors: [name(left), name(right)],
            sum: name(&shape.sum),
        }
    }
}
