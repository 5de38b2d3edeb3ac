//! Remainders of floats: the functions that compute them exactly.
//!
//! Vulkan derives `OpFRem` and `OpFMod` from a product and a difference. The remainder of 1e9 by 7 is 64 then, and that by infinity is no
//! number.

use spirula_spirv::grammar::Op;

/// The modules of exact remainders, in assembly, by the width of their floats.
pub const REMAINDERS: [(u32, &str); 2] = [
    (
        32,
        concat!(
            include_str!("../library/remainder-32.spvasm"),
            include_str!("../library/remainder.spvasm")
        ),
    ),
    (
        64,
        concat!(
            include_str!("../library/remainder-64.spvasm"),
            include_str!("../library/remainder.spvasm")
        ),
    ),
];

/// The function that an instruction computes, without the prefix and the width of its name.
pub fn find_remainder(op: Op) -> Option<&'static str> {
    match op {
        Op::FRem => Some("fmod"),
        Op::FMod => Some("floor_mod"),
        _ => None,
    }
}
