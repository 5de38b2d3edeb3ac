//! Versions of OpenCL and of names, as numbers.

use opencl_sys::{cl_name_version, cl_version};

/// A version as a number.
pub const fn pack_version(major: u32, minor: u32, patch: u32) -> cl_version {
    (major << 22) | (minor << 12) | patch
}

/// The version of OpenCL that the platform has.
pub const VERSION_3_0: cl_version = pack_version(3, 0, 0);

/// Extensions with their versions.
pub fn build_name_versions(names: &[&str]) -> Vec<cl_name_version> {
    let row = |name: &&str| name_version(name, extension_version(name));
    names.iter().map(row).collect()
}

/// The version of an extension, which is 1.0.0 for most.
const fn extension_version(name: &str) -> cl_version {
    match name.as_bytes() {
        b"cl_khr_command_buffer" => pack_version(0, 9, 8),
        b"cl_khr_integer_dot_product" => pack_version(2, 0, 0),
        _ => pack_version(1, 0, 0),
    }
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
