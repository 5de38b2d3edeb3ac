//! PJRT plugin: JAX and other users of PJRT run their programs on Spirula's devices.
//!
//! The library exports [`GetPjrtApi`], the table of functions that PJRT defines. Structs and table are generated from
//! the C header (`generated`). A function of the table is an implementation of [`boundary::PluginCall`] for its struct
//! of arguments. Every other function answers with the error `UNIMPLEMENTED` and its name.
//!
//! - `boundary`: calls from C: structs bounded by their `struct_size`, and panics caught. `handle`: objects that C refers to.
//! - `client`, `device`, `memory`, `topology`: the objects of a client.
//! - `queue`: the thread of a device, which runs all jobs on the device's memory in their order. `event`: their ends.
//! - `buffer`, `buffer_properties`, `transfer`: arrays that stay on the device.
//! - `module`, `executable`, `execute`: compiled programs and their executions.
//! - `module_sharding`, `sharded_run`: programs for several logical devices. They share one memory, so that the program
//!   of all runs once. Arguments are put together of the shards that the devices have, and results are cut into shards.
//!   A partitioned program takes and gives the shards themselves.
//! - `cluster`, `key_value`: the processes of a client, which find each other by a store of the caller. `process_run` runs a program
//!   for the devices of this process, and `exchange_site` and `group_exchange` move elements to those of others. They pass through memory of
//!   `host_pool`, to which devices copy directly (`exchange_memory`).
//! - `host_call`, `ffi`: functions of the host that programs call, and the extension that registers them.
//! - `layouts`: the extension for layouts of arrays. `profiler`: the extension for profiles.
//!
//! # Safety
//! One contract holds for every function. A pointer to a struct of arguments is null, or the struct has as many readable and
//! writable bytes as its `struct_size` says. Pointers to objects are null or come from this library and have not been freed.
//! Pointers to data are null or have as many elements as the struct says. Objects may be used by several threads at once.

#![allow(unsafe_code)] // Every function takes pointers of C.
#![allow(unsafe_op_in_unsafe_fn)] // The contract above is the reason of each operation on a pointer.

pub mod boundary;
mod buffer;
mod buffer_properties;
mod client;
mod cluster;
mod compile_options;
mod cost;
mod device;
mod device_state;
mod element;
mod error;
mod event;
mod exchange_memory;
mod exchange_site;
mod executable;
mod execute;
pub mod ffi;
pub mod generated;
mod group_exchange;
mod handle;
mod host_array;
mod host_call;
mod host_pool;
pub mod inspection;
mod key_value;
mod layouts;
mod memory;
mod module;
mod module_cache;
mod module_layout;
mod module_sharding;
mod named_value;
mod plugin;
mod process_run;
mod profiler;
mod protobuf;
mod queue;
mod run_time;
mod serialized;
mod sharded_run;
mod table;
mod topology;
mod transfer;
mod trip_count;

pub use ffi::FfiApi;

use generated::PjrtApi;

/// The table of functions, which lives as long as the process.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "PJRT defines the name")]
pub extern "C" fn GetPjrtApi() -> *const PjrtApi {
    table::plugin_table()
}

/// The table of XLA's foreign function interface, by which functions of the host and their types are registered. It lives as
/// long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_ffi_api() -> *const FfiApi {
    ffi::ffi_table()
}

/// Sets the function that takes the layouts which programs ask for while they are compiled. Null lets nobody take them.
#[unsafe(no_mangle)]
pub extern "C" fn spirula_set_layout_inspector(inspector: Option<inspection::LayoutInspector>) {
    inspection::set_inspector(inspector);
}
