//! Checks of the sizes of a launch against the limits of a device.

use crate::{DeviceError, DeviceInfo, IndexSpace};
use spirula_spirv::reflect::EntryInterface;

/// Checks that the sizes of a launch fit a kernel and a device.
pub fn check_size(
    interface: &EntryInterface,
    size: &IndexSpace,
    device: &DeviceInfo,
) -> Result<(), DeviceError> {
    let limits = &device.limits;
    let bad = |text: String| Err(DeviceError::Launch(text));
    match *size {
        IndexSpace::Groups(groups) => {
            for (axis, (n, most)) in groups.iter().zip(&limits.groups).enumerate() {
                if n > most && !limits.folds {
                    return bad(format!(
                        "{n} workgroups in dimension {axis}: {} takes {most}",
                        device.id
                    ));
                }
            }
            group_size(interface.workgroup_size.unwrap_or([1; 3]), device)
        }
        IndexSpace::Items {
            dimensions,
            global,
            local,
            offset,
        } => {
            let unused = |axis: usize| axis >= dimensions as usize;
            let is_one = |axis| global[axis] == 1 && local.is_none_or(|l| l[axis] == 1);
            let is_flat = (0..3).all(|axis| !unused(axis) || (is_one(axis) && offset[axis] == 0));
            if !(1..=3).contains(&dimensions) || !is_flat {
                return bad(format!(
                    "sizes of a launch of {dimensions} dimensions reach beyond them"
                ));
            }
            if let Some(wanted) = interface
                .workgroup_size
                .filter(|w| local.is_some_and(|l| l != *w))
            {
                let (given, wanted) = (format_size(local.unwrap_or([0; 3])), format_size(wanted));
                let name = &interface.name;
                return bad(format!(
                    "{name} demands workgroups of {wanted}, not {given}"
                ));
            }
            let Some(local) = local.or(interface.workgroup_size) else {
                return Ok(());
            };
            group_size(local, device)?;
            for (axis, (n, l)) in global.iter().zip(local).enumerate() {
                if n % u64::from(l) != 0 && !limits.partial_groups {
                    return bad(format!(
                        "the global size {n} in dimension {axis} is no multiple of the workgroup's {l}"
                    ));
                }
                let most = if limits.folds {
                    u32::MAX
                } else {
                    limits.groups[axis]
                };
                if n.div_ceil(u64::from(l)) > u64::from(most) {
                    return bad(format!(
                        "{} workgroups in dimension {axis}: {} takes {most}",
                        n.div_ceil(u64::from(l)),
                        device.id
                    ));
                }
            }
            Ok(())
        }
    }
}

fn group_size(local: [u32; 3], device: &DeviceInfo) -> Result<(), DeviceError> {
    let limits = &device.limits;
    let count = local.iter().map(|n| u128::from(*n)).product::<u128>();
    let fits = local
        .iter()
        .zip(&limits.workgroup_size)
        .all(|(n, most)| n <= most);
    if count == 0 {
        return Err(DeviceError::Launch(format!(
            "a workgroup of {} is empty",
            format_size(local)
        )));
    }
    if !fits || count > u128::from(limits.workgroup_invocations) {
        let most = limits.workgroup_invocations;
        let local = format_size(local);
        let each = format_size(limits.workgroup_size);
        return Err(DeviceError::Launch(format!(
            "a workgroup of {local} is too large: {} takes {most} invocations, at most {each}",
            device.id
        )));
    }
    Ok(())
}

fn format_size(size: [u32; 3]) -> String {
    format!("{}x{}x{}", size[0], size[1], size[2])
}
