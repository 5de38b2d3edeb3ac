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

pub use driver::{OpenClDriver, find_device_info, list_devices};
