//! Shaders written anew for what a device's limits are too small for, or its driver gets wrong.
//!
//! - `pushes`: push constants that are too many come from a storage buffer.
//! - `addresses`: storage buffers that are larger than a descriptor reaches come by their addresses.
//! - `promises`: what a driver understands wrongly is not said.
//! - `parities`: lowest bits of 64, which a driver computes wrongly, are said in another way.
//! - `ahead`: what loops that wait for the workgroup read is asked for some rounds before.
//! - `banks`: words of workgroup memory lie so that invocations side by side do not wait for each other.
//! - `exact`: sines of large angles and hyperbolic functions, which drivers compute as they like, are exact.
//! - `divisions`: quotients of 64 bits, which a driver computes wrongly, are of 32 where these are enough.
//! - `grid`: launches over more workgroups than a dimension takes are folded into all three.
//!
//! Each takes a compute shader that is valid and gives one, or `None` where the shader does something that
//! stands in the way; what is bound besides is told. Cost: a pass or two over the module.

mod addresses;
mod ahead;
mod banks;
mod divisions;
mod editor;
mod exact;
mod grid;
mod parities;
mod promises;
mod pushes;
#[cfg(test)]
mod testing;

pub use addresses::{AddressSource, by_address};
pub use ahead::with_reads_ahead;
pub use banks::with_banks_spread;
pub use divisions::with_divisions_guarded;
pub use exact::with_exact_functions;
pub use grid::{choose_grid, fold_workgroups};
pub use parities::with_parities_chosen;
pub use promises::without_shared;
pub use pushes::from_buffer;

/// A descriptor that a rewritten shader has besides its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorLocation {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
}
