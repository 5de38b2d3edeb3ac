//! Semantics of scalar operations: the meaning of each operation on each type.
//!
//! One set of definitions for everything that computes with scalars:
//!
//! - [`fold`]: folding of constants and of specialisation-constant operations
//! - [`convert`]: conversions between types
//! - [`int`]: integer operations at every width
//! - [`math`]: the mathematical functions of OpenCL.std and GLSL.std.450 for `f32`, `f64` and `f16`
//! - [`table`]: these functions by instruction number, with bodies that generated code can call
//! - [`wide`]: some of them for several numbers at once
//! - [`printf`]: scalars as `printf` prints them
//!
//! # Semantics
//!
//! Everything is total and gives the same bits on every platform. Results that SPIR-V leaves undefined are defined
//! here, and no operation calls the platform's mathematical library.
//!
//! | matter | meaning |
//! | --- | --- |
//! | integer overflow | wraps, unless the operation saturates |
//! | division by zero | the divisor counts as 1: `x / 0 = x`, `x % 0 = 0` |
//! | smallest number / −1 | the divisor counts as 1 again: the quotient wraps, the remainder is 0 |
//! | shift amount at or above the width | taken modulo the width |
//! | bit field beyond the width | cut to the width |
//! | float arithmetic | IEEE 754, to nearest even; subnormal numbers are kept |
//! | `f16` and `bf16` | computed in `f32`, then rounded to nearest even; for + − × ÷ √ that is correct rounding |
//! | float to integer | truncates (or rounds as asked), then saturates; NaN gives 0 |
//! | NaN | from folding, the positive quiet NaN without payload; from functions, some quiet NaN |
//! | minimum, maximum | the operand that is not NaN; −0 is below +0 |
//! | GLSL `Round` | ties to even |
//!
//! # Accuracy
//!
//! `f32` functions are computed in `f64` and rounded once: at most 0.51 units in the last place. Exceptions are `rsqrt`
//! and the few that are composed of rounded operations by definition (`mad`, `mix`, `smoothstep`, `degrees`,
//! `radians`). `f64` functions are within one to a few units, below the limits of the OpenCL C specification's table
//! for the full profile. Rounding, remainders, `fma`, `sqrt`, `cbrt` in `f32`, and the functions on parts of numbers
//! are exact or correctly rounded.
//!
//! # Invariants
//!
//! This crate knows scalars and instruction numbers, no modules: it depends on no crate of the
//! workspace. It has no state, threads, clocks or files.

pub mod convert;
mod elementary;
pub mod fold;
mod format;
mod half_float;
pub mod int;
pub mod math;
pub mod printf;
mod real;
pub mod table;
pub mod wide;

pub use elementary::ElementaryFloat;
pub use format::{
    DecodedFloat, FloatEncoding, FloatRounding, decode_bits, encode_value, round_to_format,
};
pub use real::NativeFloat;
