//! The functions of OpenCL, a file for each kind of object.
//!
//! A function checks its arguments in the order in which the specification lists their errors, and hands the work to the
//! object.

pub mod buffer;
pub mod buffer_box_commands;
pub mod buffer_commands;
pub mod command_buffer;
pub mod command_buffer_commands;
pub mod context;
pub mod device;
pub mod device_extensions;
pub mod device_facts;
pub mod event;
pub mod extension;
pub mod image;
pub mod image_commands;
pub mod kernel;
pub mod launch;
pub mod map;
pub mod memory;
pub mod native_kernel;
pub mod pipe;
pub mod platform;
pub mod program;
pub mod program_build;
pub mod queue;
pub mod region_work;
pub mod sampler;
pub mod sub_device;
pub mod svm;
pub mod user_address;
pub mod usm;
