//! Typed data for buffers: element types, arrays, generators, and NumPy's file format.
//!
//! It knows no device and no module. The command line, tests and benchmarks use it to describe the contents of buffers.

mod array;
mod element;
mod error;
mod generate;
mod npy;
mod npy_header;

pub use array::{ArrayStatistics, ArrayTypeDisplay, ElementArray, measure_shape};
pub use element::{ElementClass, ElementNumber, ElementType};
pub use error::DataError;
pub use generate::{BufferFill, RandomOrder, generate_elements, random_bits};
pub use npy::{read_npy, write_npy};
