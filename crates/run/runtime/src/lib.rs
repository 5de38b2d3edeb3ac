//! Devices, buffers and kernels.
//!
//! - [`ComputeDevice`]: creates buffers and kernels and launches them, after everything was checked against
//!   the module's interface. [`DeviceDriver`] is what an implementation provides.
//! - [`DeviceMachine`]: runs whole programs (`spirula_program`) on a device.
//! - [`LaunchBuilder`]: launches with typed arguments, as `device.call(kernel).global(1024).arg(x).run()`.
//! - [`ComputeDevice::with_comparison`]: several devices that do the same, compared launch by launch.
//! - [`probe`]: whether a device does what it claims.
//! - [`data`]: typed data for buffers.
//! - [`types`]: a module's types in the words of [`data`].
//!
//! A device is opened by name:
//!
//! ```
//! let device = spirula_runtime::ComputeDevice::open("cpu", &Default::default())?;
//! assert_eq!(device.info().kind, spirula_runtime::DeviceKind::Cpu);
//! # Ok::<(), spirula_runtime::DeviceError>(())
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
mod times;
pub mod types;
#[cfg(feature = "vulkan")]
#[allow(unsafe_code, reason = "Vulkan is a C interface")]
mod vulkan;

pub use call::{
    IntoArgument, KernelScalar, LaunchBuilder, LaunchExtent, WorkgroupBytes, load_module,
};
pub use compare::{CaseInput, FloatTolerance, LaunchCase, LaunchMismatch};
pub use device::{ComputeDevice, list_devices};
pub use driver::{
    DeviceDriver, DeviceInfo, DeviceKind, DeviceLimits, DeviceOptions, MatrixElement, MatrixShape,
};
pub use error::DeviceError;
pub use launch::{
    DeviceBuffer, DeviceKernel, IndexSpace, KernelArgument, KernelLaunch, LaunchBinding,
    LaunchInputs,
};
pub use machine::DeviceMachine;
pub use spirula_cpu::{
    BorderColour, DepthComparison, ImageDimensions, SamplerAddressing, SamplerFilter, TexelFormat,
};
pub use spirula_cpu::{CheckOptions, FaultReport, InstructionSite, InvocationId, ReportKind};
pub use spirula_cpu::{ImageShape, PipeShape, SamplerState};
pub use spirula_program::ByteRegion;
pub use times::{DeviceProfile, KernelTime};
