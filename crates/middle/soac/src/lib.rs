//! The *soac* form: first-order programs on scalars and regular arrays. Everything that may run in parallel is a
//! second-order array combinator (map, reduce, scan, scatter, histogram).
//!
//! - [`ir`]: the data. Functions are in A-normal form: operands are constants or variables.
//! - [`build`]: makes bodies, and folds constants on the way.
//! - [`mod@print`]: programs as text. [`parse`] reads it back.
//! - [`visit`]: the parts of operations. [`rename`]: copies of code with fresh variables.
//! - [`calls`]: the calls in code.
//! - [`verify`]: what holds of every program. [`consumption`]: no array is used after it was changed in place.
//! - [`ownership`]: which arguments calls consume, and copies of results.
//! - [`tail_call`]: functions that end with calls of themselves as loops.
//! - [`simplify`]: folds constants, removes copies, repetitions, checks that hold, and what no result depends on.
//! - [`fuse`]: combinators and those that use their results become one.
//! - [`optimise`]: the order of the passes.
//! - [`evaluate`]: what a program means, as a reference for tests.
//!
//! The crate knows no source language and no device.

pub mod build;
pub mod calls;
pub mod consumption;
pub mod differentiate;
pub mod evaluate;
pub mod fuse;
pub mod ir;
pub mod optimise;
pub mod ownership;
pub mod parse;
pub mod print;
pub mod rename;
pub mod simplify;
pub mod tail_call;
pub mod verify;
pub mod visit;
