//! Calls of the driver through its table, as the loader of OpenCL makes them.
//!
//! Tests of two devices need a Vulkan device, and tests of sources need Clang. Where one is missing they say so and pass, unless
//! `SPIRULA_REQUIRE_VULKAN` or `SPIRULA_REQUIRE_CLANG` is set.

#![allow(unsafe_code)] // The table is an interface of C.

#[macro_use]
mod caller;

mod alone;
mod buffer_boxes;
mod buffer_maps;
mod buffer_sequences;
mod buffers;
mod callbacks;
mod command_buffers;
mod depth_images;
mod device_pairs;
mod device_queues;
mod devices;
mod endings;
mod events;
mod extension_kernels;
mod group_kernels;
mod handles;
mod image_kernels;
mod images;
mod kernels;
mod launches;
mod lifetimes;
mod memory_kernels;
mod memory_use;
mod native_kernels;
mod objects;
mod pipes;
mod pitched_images;
mod program_sources;
mod programs;
mod queues;
mod session;
mod shared_memory;
mod sub_devices;
mod threads;
mod uniform_groups;
