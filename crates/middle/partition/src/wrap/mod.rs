//! Wrapping of a local program as a manual computation, by which one device runs the parts of all.
//!
//! - `entry`: entry points with a manual computation that calls the local program.
//! - `manual`: entry points that take and give whole tensors.
//! - `shards`: entry points that take and give the parts of all devices.

mod entry;
mod manual;
mod shards;

pub use manual::wrap_as_manual;
pub use shards::wrap_for_shards;
