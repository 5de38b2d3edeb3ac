//! OpenCL devices: kernels through the system's OpenCL loader.
//!
//! The loader is opened at run time, so that a program starts on systems without OpenCL. From the bottom:
//!
//! - `error`: codes of OpenCL's calls as errors that name the call.
//! - `owned_objects`: objects that are released with the value that holds them.
//! - `platform`: the devices of the system, the modules that they take, choosing one by name.
//! - `program`: from a module to a built program: verified, converted to a version that the driver takes.
//! - `driver`: the implementation of [`crate::DeviceDriver`].
//!
//! # Invariants
//! - A module that the verifier refuses never reaches a driver, since some drivers end the process over it.
//! - The queue is in order, so that a command sees the writes of all commands before it.

mod driver;
mod error;
mod owned_objects;
mod platform;
mod program;

use crate::drivers::DriverFactory;
use crate::drivers::device_names::is_of_driver;
use driver::OpenClDriver;

/// The row of this driver in the table of drivers.
pub const FACTORY: DriverFactory = DriverFactory {
    accepts_name: |name| is_of_driver(name, "opencl"),
    list_devices: driver::list_devices,
    find_info: driver::find_device_info,
    open_device: |name, options| Ok(Box::new(OpenClDriver::open(name, options)?)),
};
