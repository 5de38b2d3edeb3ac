//! Profiles: when programs and their kernels ran, in the format of `jax.profiler`.
//!
//! - `extension`: the extension of PJRT by which JAX begins and ends a profile.
//! - `session`: a profile of all devices. `timeline`: the part of one device, which its queue writes.
//! - `space`: the profile as XLA's protocol buffer `XSpace`.

mod extension;
mod session;
mod space;
mod timeline;

pub use extension::ProfilerExtension;
pub use timeline::DeviceTimeline;
