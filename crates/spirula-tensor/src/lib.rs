//! The data-parallel IR that array front ends share: from tensors to kernels.
//!
//! - [`ir`]: the data.
//! - [`Builder`]: making functions.
//! - [`print()`]: their text.

mod build;
pub mod ir;
mod print;

pub use build::Builder;
pub use print::print;
