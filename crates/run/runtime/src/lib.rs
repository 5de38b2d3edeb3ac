//! Devices, buffers and kernels.
//!
//! - [`Device`]: creates buffers and kernels and launches them, after everything was checked against
//!   the module's interface. [`Driver`] is what an implementation provides.
//! - [`DeviceMachine`]: runs whole programs (`spirula_program`) on a device.
//! - [`Call`]: launches with typed arguments, as `device.call(kernel).global(1024).arg(x).run()`.
//! - [`Device::comparing`]: several devices that do the same, compared launch by launch.
//! - [`probe`]: whether a device does what it claims.
//! - [`data`]: typed data for buffers.
//! - [`types`]: a module's types in the words of [`data`].
//!
//! A device is opened by name:
//!
//! ```
//! let device = spirula_runtime::Device::open("cpu", &Default::default())?;
//! assert_eq!(device.info().kind, spirula_runtime::DeviceKind::Cpu);
//! # Ok::<(), spirula_runtime::Error>(())
//! ```

mod arguments;
mod call;
mod check;
mod compare;
mod cpu;
pub mod data;
mod device;
mod driver;
mod error;
mod launch;
mod machine;
mod name;
#[cfg(feature = "opencl")]
#[allow(unsafe_code, reason = "OpenCL is a C interface")]
mod opencl;
mod printed;
pub mod probe;
mod program;
#[cfg(feature = "vulkan")]
mod rewrite;
mod specialised;
mod times;
pub mod types;
#[cfg(feature = "vulkan")]
#[allow(unsafe_code, reason = "Vulkan is a C interface")]
mod vulkan;
mod wishes;

pub use call::{Call, Extent, IntoArgument, Local, Scalar, load};
pub use compare::{Case, CaseInput, Parted, Tolerance};
pub use device::{Device, devices};
pub use driver::{
    DeviceInfo, DeviceKind, DeviceOptions, Driver, Limits, MatrixElement, MatrixShape,
};
pub use error::Error;
pub use launch::{Argument, Bound, Buffer, Inputs, Kernel, Launch, Size};
pub use machine::DeviceMachine;
pub use spirula_cpu::{Address, Border, Compare, Dimensions, Filter, Format};
pub use spirula_cpu::{CheckOptions, Invocation, Report, ReportKind, Site};
pub use spirula_cpu::{ImageShape, PipeShape, Sampler};
pub use spirula_program::Region;
pub use times::{KernelTime, Profile};
