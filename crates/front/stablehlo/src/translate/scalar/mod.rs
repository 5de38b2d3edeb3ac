//! StableHLO's scalars as nodes of the tensor IR.
//!
//! - [`Calc`] writes expressions; [`format`], [`convert`], [`compare`], [`integer`], [`real`] and
//!   [`complex`] say what functions mean, [`number`] computes with real and complex ones alike.
//! - [`Val`] is a scalar of any of StableHLO's types.
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

pub use calc::Calc;
pub use table::{Call, Function, function};
pub use value::Val;
