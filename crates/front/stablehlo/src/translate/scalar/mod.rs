//! StableHLO's scalars as nodes of the tensor IR.
//!
//! - [`ScalarBuilder`] builds expressions. [`format`], [`convert`], [`compare`], [`integer`],
//!   [`real`] and [`complex`] define functions; [`number`] computes with real and complex numbers
//!   alike.
//! - [`ElementValue`] is a scalar of any of StableHLO's types.
//! - [`table`] has the operations.

mod bessel;
mod calc;
mod compare;
mod complex;
mod convert;
mod format;
mod integer;
mod number;
mod real;
mod table;
mod value;

pub use calc::ScalarBuilder;
pub use table::{ElementwiseCall, ElementwiseOperation, find_elementwise_function};
pub use value::{ComplexNodes, ElementValue};
