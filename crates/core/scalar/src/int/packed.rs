//! Dot products of four 8-bit components packed in 32 bits (`SPV_KHR_integer_dot_product`).
//!
//! Products and their sum are exact; the result is cut to the width, or, in the forms with an
//! accumulator, added to it exactly and saturated.

use super::{make_mask, saturate_to_width, sign_extend, to_exact_integer};

/// The sum of the products of the four components, each read as signed or not.
#[inline]
fn dot_packed(a: u64, b: u64, a_signed: bool, b_signed: bool) -> i128 {
    let component = |value: u64, signed: bool, index: u32| {
        let byte = (value >> (8 * index)) & 0xFF;
        if signed {
            sign_extend(byte, 8)
        } else {
            byte as i64
        }
    };
    (0..4)
        .map(|i| i128::from(component(a, a_signed, i) * component(b, b_signed, i)))
        .sum()
}

macro_rules! dots {
    ($($plain:ident, $saturating:ident: $a_signed:literal $b_signed:literal $signed:literal, $what:literal;)*) => {$(
        #[doc = concat!("Dot product of ", $what, ", cut to `width` bits.")]
        pub extern "C" fn $plain(a: u64, b: u64, width: u32) -> u64 {
            dot_packed(a, b, $a_signed, $b_signed) as u64 & make_mask(width)
        }

        #[doc = concat!("Dot product of ", $what, ", added to `accumulator`, saturating once.")]
        pub extern "C" fn $saturating(a: u64, b: u64, accumulator: u64, width: u32) -> u64 {
            let sum = dot_packed(a, b, $a_signed, $b_signed) + to_exact_integer(accumulator, width, $signed);
            saturate_to_width(sum, width, $signed)
        }
    )*};
}

dots! {
    s_dot, s_dot_acc_sat: true true true, "signed components";
    u_dot, u_dot_acc_sat: false false false, "unsigned components";
    su_dot, su_dot_acc_sat: true false true, "signed components of `a` with unsigned ones of `b`";
}
