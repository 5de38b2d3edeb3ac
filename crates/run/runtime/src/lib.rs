//! Runtime: devices, their buffers and kernels, and whole programs on them.
//!
//! - [`ComputeDevice`]: creates resources and kernels and launches them. Each launch is checked against the module's
//!   interface. [`DeviceDriver`] is the interface of implementations.
//! - [`DeviceMachine`]: runs whole programs (`spirula_program`) on a device.
//! - [`LaunchBuilder`]: launches with typed arguments.
//! - [`ComputeDevice::with_comparison`]: several devices, compared launch by launch.
//! - [`probe`]: tests of the capabilities that a device claims.
//! - [`data`]: typed data for buffers.
//! - [`type_names`]: the element types of a module's types.
//!
//! A device is opened by name:
//!
//! ```
//! let device = spirula_runtime::ComputeDevice::open("cpu", &Default::default())?;
//! assert_eq!(device.info().kind, spirula_runtime::DeviceKind::Cpu);
//! # Ok::<(), spirula_runtime::DeviceError>(())
//! ```
//!
//! Features:
//!
//! - `opencl` (default): devices of OpenCL drivers, which are loaded at run time.
//! - `vulkan` (default): devices of Vulkan drivers, which are loaded at run time.

mod cache_folder;
mod compare;
pub mod data;
mod device;
mod driver;
mod drivers;
mod error;
mod handles;
mod kernel_feature;
mod launch;
mod launch_builder;
mod machine;
mod module_scope;
mod numbered_objects;
pub mod probe;
mod profile;
pub mod type_names;

pub use cache_folder::find_cache_folder;
pub use compare::{CaseInput, FloatTolerance, LaunchCase, LaunchMismatch};
pub use device::{ComputeDevice, ImportedMemory};
pub use driver::{
    BufferCopy, DeviceDriver, DeviceInfo, DeviceKind, DeviceLimits, DeviceOptions, KernelSource,
    MatrixElement, MatrixShape, PatternFill, ReachedMemory,
};
pub use drivers::{HostMemory, OPENCL_PLATFORM_NAME, list_devices};
pub use error::DeviceError;
pub use handles::{
    BufferHandle, ImageHandle, KernelHandle, PipeHandle, ResourceHandle, SamplerHandle,
};
pub use kernel_feature::KernelFeature;
pub use launch::{IndexSpace, KernelArgument, KernelLaunch, LaunchBinding, LaunchInputs};
pub use launch_builder::{
    IntoArgument, KernelScalar, LaunchBuilder, LaunchExtent, WorkgroupBytes, load_module,
};
pub use machine::DeviceMachine;
pub use module_scope::KernelModuleScope;
pub use profile::{DeviceProfile, KernelTime, MeasuredLaunch};
pub use spirula_program::ByteRegion;
pub use spirula_resource::{
    BorderColour, DepthComparison, FaultKind, FaultReport, ImageDimensions, ImageShape,
    InstructionSite, InvocationId, PipeShape, SamplerAddressing, SamplerFilter, SamplerState,
    SanitizerOptions, TexelFormat,
};
