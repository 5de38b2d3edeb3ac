//! The *soac* form: first-order programs on scalars and regular arrays, in which everything that may run in parallel is a
//! second-order array combinator (map, reduce, scan, scatter, histogram).
//!
//! - [`ir`]: the data. Functions are in A-normal form: operands are constants or variables.
//! - [`build`]: makes bodies, and folds constants on the way.
//! - [`mod@print`]: programs as text.
//! - [`verify`]: what holds of every program.
//! - [`simplify`]: removes what no result depends on.
//! - [`evaluate`]: what a program means, as a reference for tests.
//!
//! The crate knows no source language and no device.

pub mod build;
pub mod differentiate;
pub mod evaluate;
pub mod ir;
pub mod print;
pub mod simplify;
pub mod verify;
