//! Platforms: the OpenCL devices of the system.

use super::error::{NO_PLATFORM, OpenClCallResult, call_error};
use crate::DeviceError;
use crate::driver::{DeviceInfo, DeviceKind, DeviceLimits};
use crate::drivers::{OPENCL_PLATFORM_NAME, device_names};
use cl3::device::{self as cl, CL_DEVICE_TYPE_ALL};
use cl3::types::{cl_device_id, cl_device_info, cl_platform_id};
use spirula_spirv::grammar::SpirvVersion;
use std::sync::{Mutex, PoisonError};

/// Sizes of subgroups, of `cl_intel_required_subgroup_size`.
const SUB_GROUP_SIZES_INTEL: cl_device_info = 0x4108;

/// A device that is not opened yet.
pub struct OpenClDevice {
    /// Its handle, which lives as long as the process.
    pub raw: cl_device_id,
    /// Its platform.
    pub platform: cl_platform_id,
    /// Facts of the device for callers.
    pub info: DeviceInfo,
    /// Versions of SPIR-V that it takes, oldest first.
    pub versions: Vec<SpirvVersion>,
    /// Whether `clCreateProgramWithIL` is a call of its own, as of OpenCL 2.1.
    pub has_il: bool,
}

impl OpenClDevice {
    /// All devices of all platforms, numbered consecutively. Threads query one after the other. Drivers that initialise
    /// themselves at the first query, such as PoCL 3.1, crash when two threads do so at once.
    pub fn enumerate_devices() -> Result<Vec<OpenClDevice>, DeviceError> {
        static ASKING: Mutex<()> = Mutex::new(());
        let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(e) = cl3::load_library() {
            return Err(DeviceError::Failed(format!(
                "OpenCL is not installed: its loader cannot be opened: {e}"
            )));
        }
        let platforms = cl3::platform::get_platform_ids().map_err(|code| match code {
            NO_PLATFORM => DeviceError::Failed("no OpenCL driver is installed".to_owned()),
            code => call_error("clGetPlatformIDs", code),
        })?;
        let mut all = Vec::new();
        for platform in platforms.into_iter().filter(|p| !is_own_platform(*p)) {
            // A platform whose devices cannot be listed has no usable device.
            let devices = cl::get_device_ids(platform, CL_DEVICE_TYPE_ALL).unwrap_or_default();
            for raw in devices {
                let number = all.len();
                all.extend(OpenClDevice::query_device(platform, raw, number).ok());
            }
        }
        Ok(all)
    }

    /// The device with a name such as `opencl`, the first that takes SPIR-V, `opencl:1` or `opencl:intel`.
    pub fn find_named(name: &str) -> Result<OpenClDevice, DeviceError> {
        let mut all = OpenClDevice::enumerate_devices()?;
        if all.is_empty() {
            return Err(DeviceError::Failed(
                "no OpenCL device is present".to_owned(),
            ));
        }
        let found = match name.strip_prefix("opencl:") {
            None => all.iter().position(|d| !d.versions.is_empty()).or(Some(0)),
            Some(part) => device_names::find_position(all.iter().map(|d| &d.info), name, part),
        };
        match found {
            Some(found) => Ok(all.swap_remove(found)),
            None => Err(DeviceError::NoDevice {
                name: name.to_owned(),
                available: device_names::format_devices(all.iter().map(|d| &d.info)),
            }),
        }
    }

    /// Fails where the driver takes no SPIR-V.
    pub fn takes_modules(&self) -> Result<(), DeviceError> {
        if self.versions.is_empty() {
            Err(DeviceError::Failed(format!(
                "{} ({}) takes no SPIR-V: its driver, {}, has no clCreateProgramWithIL for it",
                self.info.id, self.info.name, self.info.driver
            )))
        } else {
            Ok(())
        }
    }

    fn query_device(
        platform: cl_platform_id,
        raw: cl_device_id,
        number: usize,
    ) -> Result<OpenClDevice, DeviceError> {
        let facts = OpenClDeviceQuery { raw };
        let version = facts.query_text(cl::CL_DEVICE_VERSION)?;
        let (major, minor) = parse_version_numbers(&version);
        let extensions = facts.query_text(cl::CL_DEVICE_EXTENSIONS)?;
        let has_il = (major, minor) >= (2, 1);
        let versions = if has_il || extensions.contains("cl_khr_il_program") {
            parse_spirv_versions(
                &facts
                    .query_text(cl::CL_DEVICE_IL_VERSION)
                    .unwrap_or_default(),
            )
        } else {
            Vec::new()
        };
        let sizes = facts.query_words(cl::CL_DEVICE_MAX_WORK_ITEM_SIZES)?;
        let size = |axis| {
            sizes
                .get(axis)
                .map_or(1, |n| u32::try_from(*n).unwrap_or(u32::MAX))
        };
        let partial_groups = match major {
            3.. => facts.query_number(cl::CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT)? != 0,
            _ => major == 2,
        };
        let platform_name = query_platform_name(platform)?;
        let driver = facts.query_text(cl::CL_DRIVER_VERSION)?;
        let subgroups = facts.query_words(SUB_GROUP_SIZES_INTEL).unwrap_or_default();
        let invocations = facts.query_number(cl::CL_DEVICE_MAX_WORK_GROUP_SIZE)?;
        let info = DeviceInfo {
            id: format!("opencl:{number}"),
            name: facts.query_text(cl::CL_DEVICE_NAME)?,
            kind: to_device_kind(facts.query_number(cl::CL_DEVICE_TYPE)?),
            driver: format!("{platform_name} {driver}, {}", version.trim()),
            newest_module: versions.last().copied(),
            subgroup_size: subgroups.first().map_or(0, |n| *n as u32),
            subgroup_sizes: subgroups.iter().map(|n| *n as u32).collect(),
            has_shuffles: false,
            features: Vec::new(),
            has_forward_progress: false,
            special_values: 16 | 32 | 64,
            matrices: Vec::new(),
            has_dense_matrices: false,
            compute_units: facts.query_number(cl::CL_DEVICE_MAX_COMPUTE_UNITS)? as u32,
            memory_size: facts.query_number(cl::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            limits: DeviceLimits {
                buffer_size: facts.query_number(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE)?,
                workgroup_size: [size(0), size(1), size(2)],
                workgroup_invocations: u32::try_from(invocations).unwrap_or(u32::MAX),
                workgroup_memory: facts.query_number(cl::CL_DEVICE_LOCAL_MEM_SIZE)?,
                groups: [u32::MAX; 3],
                push_constants: 0,
                folds: false,
                partial_groups,
            },
        };
        Ok(OpenClDevice {
            raw,
            platform,
            info,
            versions,
            has_il,
        })
    }
}

fn query_platform_name(platform: cl_platform_id) -> Result<String, DeviceError> {
    let name = cl3::platform::get_platform_data(platform, cl3::platform::CL_PLATFORM_NAME);
    Ok(decode_text(name.check_call("clGetPlatformInfo")?))
}

/// Whether a platform is that of Spirula's own driver, whose devices are those of the other drivers here.
fn is_own_platform(platform: cl_platform_id) -> bool {
    query_platform_name(platform).is_ok_and(|name| name == OPENCL_PLATFORM_NAME)
}

/// Queries of a device.
struct OpenClDeviceQuery {
    raw: cl_device_id,
}

impl OpenClDeviceQuery {
    fn query_bytes(&self, what: cl_device_info) -> Result<Vec<u8>, DeviceError> {
        cl::get_device_data(self.raw, what).check_call("clGetDeviceInfo")
    }

    fn query_text(&self, what: cl_device_info) -> Result<String, DeviceError> {
        Ok(decode_text(self.query_bytes(what)?))
    }

    /// An unsigned number of 4 or 8 bytes.
    fn query_number(&self, what: cl_device_info) -> Result<u64, DeviceError> {
        let mut bytes = self.query_bytes(what)?;
        bytes.resize(8, 0);
        let (words, _) = bytes.as_chunks();
        Ok(words.first().map_or(0, |w| u64::from_ne_bytes(*w)))
    }

    /// Numbers as wide as addresses.
    fn query_words(&self, what: cl_device_info) -> Result<Vec<u64>, DeviceError> {
        let bytes = self.query_bytes(what)?;
        let (words, _) = bytes.as_chunks();
        Ok(words
            .iter()
            .map(|w| usize::from_ne_bytes(*w) as u64)
            .collect())
    }
}

fn decode_text(mut bytes: Vec<u8>) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// The numbers in `OpenCL 3.0 ...`.
fn parse_version_numbers(version: &str) -> (u32, u32) {
    let word = version.split_whitespace().nth(1).unwrap_or_default();
    let (major, minor) = word.split_once('.').unwrap_or((word, ""));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// The versions in `SPIR-V_1.0 SPIR-V_1.2`, oldest first.
fn parse_spirv_versions(list: &str) -> Vec<SpirvVersion> {
    let words = list.split_whitespace();
    let numbers = words.filter_map(|w| w.strip_prefix("SPIR-V_")?.split_once('.'));
    let versions = numbers.filter_map(|(major, minor)| {
        Some(SpirvVersion::new(major.parse().ok()?, minor.parse().ok()?))
    });
    let mut versions: Vec<_> = versions.collect();
    versions.sort_unstable();
    versions
}

fn to_device_kind(kind: u64) -> DeviceKind {
    match kind {
        _ if kind & cl::CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
        _ if kind & cl::CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(parse_version_numbers("OpenCL 3.0 PoCL HSTR: cpu"), (3, 0));
        assert_eq!(parse_version_numbers("rubbish"), (0, 0));
        let wanted = [SpirvVersion::new(1, 0), SpirvVersion::new(1, 2)];
        assert_eq!(
            parse_spirv_versions("SPIR-V_1.2 SPIR-V_1.0 SPIR_1.2"),
            wanted
        );
        assert_eq!(parse_spirv_versions(""), []);
    }
}
