//! OpenCL devices: kernels through the system's OpenCL loader.
//!
//! The loader is opened at run time, so that a program starts where there is none. From the bottom:
//!
//! - `error`: codes of OpenCL's calls as errors that name the call.
//! - `owned_objects`: objects that are released with the value that holds them.
//! - `platform`: the devices that there are, what they take, choosing one by name.
//! - `program`: from a module to a kernel: verified, brought to a version that the driver takes, built.
//! - `driver`: the implementation of [`crate::Driver`].
//!
//! Invariants: a module that the verifier refuses never reaches a driver, as some end the process over
//! it; the queue is in order, so that a command sees what those before it wrote.

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
