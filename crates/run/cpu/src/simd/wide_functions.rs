//! Functions of a gang's numbers at once, which code for gangs calls in place of those of one number.
//!
//! # Unsafe code
//! They are called by generated code alone, with the address of a room on its stack for as many numbers; vector
//! instructions are used after asking the processor.
#![allow(unsafe_code)]

use spirula_scalar::wide::{self, LANES, WideFunction};

/// The address of a function; it changes numbers in place.
pub(crate) fn function_address(function: WideFunction) -> usize {
    match function {
        WideFunction::Exp => exp::address(),
        WideFunction::Exp2 => exp2::address(),
        WideFunction::Log => log::address(),
        WideFunction::Log2 => log2::address(),
    }
}

/// A function for what vectors the processor has. Wider ones than of 256 bits take longer, as tables are read one by one.
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
}
