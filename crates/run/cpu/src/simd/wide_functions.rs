//! Wide functions: functions on the numbers of all lanes, which replace functions on one number.
//!
//! # Unsafe code
//! Only generated code calls them, with the address of as many numbers on its stack. Vector instructions are used
//! only if the processor has them.
#![allow(unsafe_code)]

use spirula_scalar::wide::{self, LANES, WideFunction};

/// The address of a function that replaces numbers in memory.
pub(crate) fn function_address(function: WideFunction) -> usize {
    match function {
        WideFunction::Exp => exp::address(),
        WideFunction::Exp2 => exp2::address(),
        WideFunction::Log => log::address(),
        WideFunction::Log2 => log2::address(),
        WideFunction::Expm1 => expm1::address(),
        WideFunction::Tanh => tanh::address(),
        WideFunction::Sin => sin::address(),
        WideFunction::Cos => cos::address(),
        WideFunction::Erf => erf::address(),
        WideFunction::Erfc => erfc::address(),
    }
}

/// Defines functions for the vectors that the processor has. Vectors wider than 256 bits take longer, as tables are
/// read number by number.
macro_rules! functions {
    ($($name:ident $function:path;)*) => {$(
        mod $name {
            use super::{LANES, wide};

            pub(super) fn address() -> usize {
                #[cfg(target_arch = "x86_64")]
                {
                    if is_x86_feature_detected!("avx2") {
                        return wide_256 as *const () as usize;
                    }
                }
                plain as *const () as usize
            }

            unsafe extern "C" fn plain(numbers: *mut [f32; LANES]) {
                // SAFETY: the caller's promise.
                $function(unsafe { &mut *numbers });
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            unsafe extern "C" fn wide_256(numbers: *mut [f32; LANES]) {
                // SAFETY: the caller's promise.
                $function(unsafe { &mut *numbers });
            }
        }
    )*};
}

functions! {
    exp wide::exp;
    exp2 wide::exp2;
    log wide::log;
    log2 wide::log2_of_each;
    expm1 wide::expm1;
    tanh wide::tanh;
    sin wide::sin;
    cos wide::cos;
    erf wide::erf;
    erfc wide::erfc;
}
