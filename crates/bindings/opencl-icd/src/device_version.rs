//! Versions of OpenCL and of names, as numbers.

use opencl_sys::{cl_name_version, cl_version};

/// A version as a number.
pub const fn pack_version(major: u32, minor: u32, patch: u32) -> cl_version {
    (major << 22) | (minor << 12) | patch
}

/// The version of OpenCL that the platform has.
pub const VERSION_3_0: cl_version = pack_version(3, 0, 0);

/// Names with the version 1.0.0.
pub fn build_name_versions(names: &[&str]) -> Vec<cl_name_version> {
    let first = pack_version(1, 0, 0);
    names.iter().map(|name| name_version(name, first)).collect()
}

/// A name with a version.
pub fn name_version(name: &str, version: cl_version) -> cl_name_version {
    let mut row = cl_name_version {
        version,
        name: [0; 64],
    };
    for (to, from) in row.name.iter_mut().zip(name.bytes().take(63)) {
        *to = from as _;
    }
    row
}
