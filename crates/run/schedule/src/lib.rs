//! Schedules that suit devices.
//!
//! A tensor program is scheduled for a kind of device, by a [`ScheduleProfile`]: sizes of tiles, of workgroups and of
//! fragments of matrices. The runtime knows devices and has no compiler; the compiler knows profiles and has no devices.
//! [`choose_device_profile`] is between them.

use spirula_kernel::ir::FragmentElement;
use spirula_runtime::{DeviceInfo, DeviceKind, MatrixElement, MatrixShape};
use spirula_tensor::schedule::{FragmentShape, MatrixProfile, ScheduleProfile};

/// A kind of device that programs are scheduled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleDevice {
    /// A processor, with vectors and caches.
    Cpu,
    /// A graphics processor.
    Gpu,
}

impl ScheduleDevice {
    /// The kind of a device.
    pub fn from_info(device: &DeviceInfo) -> ScheduleDevice {
        match device.kind {
            DeviceKind::Gpu => ScheduleDevice::Gpu,
            DeviceKind::Cpu | DeviceKind::Other => ScheduleDevice::Cpu,
        }
    }
}

/// Best number of invocations for large work on a processor, as far as its limit allows.
const WIDE: u64 = 1024;

/// The profile that suits a device.
pub fn choose_device_profile(device: &DeviceInfo) -> ScheduleProfile {
    choose_kind_profile(ScheduleDevice::from_info(device), Some(device))
}

/// The profile of a kind, with the facts of a device where one is known.
pub fn choose_kind_profile(kind: ScheduleDevice, device: Option<&DeviceInfo>) -> ScheduleProfile {
    let mut profile = match kind {
        ScheduleDevice::Cpu => ScheduleProfile::CPU,
        ScheduleDevice::Gpu => ScheduleProfile::GPU,
    };
    match kind {
        ScheduleDevice::Gpu => {
            profile.matrices = device.and_then(choose_matrix_profile);
            let shuffling = device.filter(|device| device.has_shuffles);
            profile.look_back &= device.is_none_or(|device| device.has_forward_progress);
            profile.subgroup = shuffling.map_or(1, |device| device.subgroup_size.into());
        }
        ScheduleDevice::Cpu => {
            let is_dense = device.is_some_and(|device| device.has_dense_matrices);
            profile.dense = is_dense.then_some(ScheduleProfile::DENSE);
            profile.wide = device.map_or(profile.wide, |_| WIDE);
        }
    }
    match device {
        Some(device) => profile.with_workgroup_limit(device.limits.workgroup_invocations.into()),
        None => profile,
    }
}

/// The cooperative matrices of a device.
fn choose_matrix_profile(device: &DeviceInfo) -> Option<MatrixProfile> {
    let shapes = device.matrices.iter().filter_map(to_fragment_shape);
    let memory = device.limits.workgroup_memory;
    MatrixProfile::new(device.subgroup_size.into(), memory, shapes)
}

fn to_fragment_shape(of: &MatrixShape) -> Option<FragmentShape> {
    let [a, b] = of.factors;
    Some(FragmentShape {
        size: of.size,
        factors: [to_fragment_element(a)?, to_fragment_element(b)?],
        sum: to_fragment_element(of.sum)?,
    })
}

fn to_fragment_element(element: MatrixElement) -> Option<FragmentElement> {
    match element {
        MatrixElement::F16 => Some(FragmentElement::F16),
        MatrixElement::Bf16 => Some(FragmentElement::Bf16),
        MatrixElement::F32 => Some(FragmentElement::F32),
        MatrixElement::I8 => Some(FragmentElement::I8),
        MatrixElement::U8 => Some(FragmentElement::U8),
        MatrixElement::I32 => Some(FragmentElement::I32),
        _ => None,
    }
}
