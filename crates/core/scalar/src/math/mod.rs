//! Real-number functions of OpenCL.std and GLSL.std.450, for `f32` and `f64`.
//!
//! Every function is generic over the type and has the C calling convention, so that its instance
//! (`math::sin::<f32>`) can be called from machine code. Edge cases are those of C99 annex F and the
//! OpenCL C specification, section 7.5.1; where GLSL.std.450 leaves a result undefined, it is that of
//! the OpenCL function.

mod common;
mod elementary;
mod half_turns;
mod number_parts;
mod packing;
mod power;
mod rounding;

pub use common::*;
pub use elementary::*;
pub use half_turns::*;
pub use number_parts::*;
pub use packing::*;
pub use power::*;
pub use rounding::*;
