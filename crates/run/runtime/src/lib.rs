//! Devices, buffers and kernels.
//!
//! - [`ComputeDevice`]: creates buffers and kernels and launches them, after everything was checked against
//!   the module's interface. [`DeviceDriver`] is what an implementation provides.
//! - [`DeviceMachine`]: runs whole programs (`spirula_program`) on a device.
//! - [`LaunchBuilder`]: launches with typed arguments, as `device.call(kernel).global(1024).arg(x).run()`.
//! - [`ComputeDevice::with_comparison`]: several devices that do the same, compared launch by launch.
//! - [`probe`]: whether a device does what it claims.
//! - [`data`]: typed data for buffers.
//! - [`type_names`]: a module's types in the words of [`data`].
//!
//! A device is opened by name:
//!
//! ```
//! let device = spirula_runtime::ComputeDevice::open("cpu", &Default::default())?;
//! assert_eq!(device.info().kind, spirula_runtime::DeviceKind::Cpu);
//! # Ok::<(), spirula_runtime::DeviceError>(())
//! ```

mod compare;
pub mod data;
mod device;
mod driver;
mod drivers;
mod error;
mod launch;
mod launch_builder;
mod machine;
pub mod probe;
mod profile;
pub mod type_names;

pub use compare::{CaseInput, FloatTolerance, LaunchCase, LaunchMismatch};
pub use device::ComputeDevice;
pub use driver::{
    DeviceDriver, DeviceInfo, DeviceKind, DeviceLimits, DeviceOptions, MatrixElement, MatrixShape,
};
pub use drivers::list_devices;
pub use error::DeviceError;
pub use launch::{
    DeviceBuffer, DeviceKernel, IndexSpace, KernelArgument, KernelLaunch, LaunchBinding,
    LaunchInputs,
};
pub use launch_builder::{
    IntoArgument, KernelScalar, LaunchBuilder, LaunchExtent, WorkgroupBytes, load_module,
};
pub use machine::DeviceMachine;
pub use profile::{DeviceProfile, KernelTime};
pub use spirula_cpu::{
    BorderColour, DepthComparison, ImageDimensions, SamplerAddressing, SamplerFilter, TexelFormat,
};
pub use spirula_cpu::{CheckOptions, FaultReport, InstructionSite, InvocationId, ReportKind};
pub use spirula_cpu::{ImageShape, PipeShape, SamplerState};
pub use spirula_program::ByteRegion;
