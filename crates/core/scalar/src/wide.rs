//! Lane-wise functions: functions of several numbers at once, with the same bits as those of [`crate::math`].
//!
//! Alternatives that [`crate::math`] branches around are computed here and not selected, so that compilers
//! vectorise the code.

use crate::elementary::exponential::{exp2_clamped, log2};
use std::f64::consts::{LN_2, LOG2_E};

/// How many numbers.
pub const LANES: usize = 8;

/// The functions that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideFunction {
    /// e^x.
    Exp,
    /// 2^x.
    Exp2,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
}

impl WideFunction {
    /// The function that an instruction of GLSL.std.450 or OpenCL.std has for a name.
    pub fn by_name(name: &str) -> Option<WideFunction> {
        Some(match name {
            "Exp" | "exp" => WideFunction::Exp,
            "Exp2" | "exp2" => WideFunction::Exp2,
            "Log" | "log" => WideFunction::Log,
            "Log2" | "log2" => WideFunction::Log2,
            _ => return None,
        })
    }
}

/// e^x of each.
#[inline(always)]
pub fn exp(numbers: &mut [f32; LANES]) {
    for x in numbers {
        *x = exp2_clamped(f64::from(*x) * LOG2_E) as f32;
    }
}

/// 2^x of each.
#[inline(always)]
pub fn exp2(numbers: &mut [f32; LANES]) {
    for x in numbers {
        *x = exp2_clamped((*x).into()) as f32;
    }
}

/// The natural logarithm of each.
#[inline(always)]
pub fn log(numbers: &mut [f32; LANES]) {
    for x in numbers {
        *x = select_logarithm(*x, log2((*x).into()) * LN_2);
    }
}

/// The logarithm to base 2 of each.
#[inline(always)]
pub fn log2_of_each(numbers: &mut [f32; LANES]) {
    for x in numbers {
        *x = select_logarithm(*x, log2((*x).into()));
    }
}

/// A logarithm, or its value for arguments that are not positive finite numbers.
#[inline(always)]
fn select_logarithm(x: f32, logarithm: f64) -> f32 {
    let is_number = x.to_bits().wrapping_sub(1) < f32::MAX.to_bits();
    let not_positive = if x == 0.0 {
        f32::NEG_INFINITY
    } else {
        f32::NAN
    };
    let edge = if x <= 0.0 { not_positive } else { x };
    if is_number { logarithm as f32 } else { edge }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    /// A function of one number, and the same of several.
    type Pair = (fn(f32) -> f32, fn(&mut [f32; LANES]));

    #[test]
    fn bits_are_those_of_one_number() {
        let pairs: [Pair; 4] = [
            (|x| math::exp(x), exp),
            (|x| math::exp2(x), exp2),
            (|x| math::log(x), log),
            (|x| math::log2(x), log2_of_each),
        ];
        // A stride that is no power of two meets numbers of every kind.
        let all = (0..u32::MAX).step_by(40_009).map(f32::from_bits);
        let edges = [
            0.0,
            -0.0,
            1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            f32::MAX,
        ];
        let all: Vec<f32> = all.chain(edges).collect();
        for (one, several) in pairs {
            for numbers in all.chunks(LANES) {
                let mut found = [1.0; LANES];
                found[..numbers.len()].copy_from_slice(numbers);
                several(&mut found);
                for (x, found) in numbers.iter().zip(found) {
                    let wanted = one(*x);
                    let is_same = found.to_bits() == wanted.to_bits();
                    assert!(
                        is_same || (found.is_nan() && wanted.is_nan()),
                        "{x}: {found}"
                    );
                }
            }
        }
    }
}
