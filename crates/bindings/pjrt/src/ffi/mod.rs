//! Functions of the host that programs call: handlers of XLA's foreign function interface.
//!
//! - `registry`: functions by name. `extension`: the extension of PJRT that registers them.
//! - `interface`: the structs of the interface. `api`: functions that handlers call back.
//! - `call`: calls of a function, with buffers and attributes in the form of C.

mod api;
mod call;
pub mod extension;
pub mod interface;
mod registry;

pub use call::{HostCallSites, HostMemoryCall};
pub use extension::{FfiExtension, SharedUserData};
pub use interface::FfiApi;
pub use registry::{find_target, list_targets};

/// The table of functions for handlers.
pub fn ffi_table() -> *const FfiApi {
    &raw const api::API.0
}
