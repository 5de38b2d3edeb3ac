//! Typed data for buffers: element types, arrays, generators, and NumPy's file format.
//!
//! Knows no device and no module: the command line, tests and benchmarks describe with it what goes
//! into a buffer and what came out.

mod array;
mod element;
mod error;
mod generate;
mod npy;

pub use array::{Array, Shape, Statistics, extent};
pub use element::{Class, Element, Number};
pub use error::DataError;
pub use generate::{Fill, Order, generate, random_bits};
pub use npy::{read_npy, write_npy};
