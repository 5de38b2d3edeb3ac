//! Lane-wise functions: functions of several numbers at once, with the same bits as those of [`crate::math`].
//!
//! Alternatives that [`crate::math`] branches around are computed here and not selected, so that compilers
//! vectorise the code.

use crate::elementary::circular::{self, cos_kernel, is_reduced_simply, reduce_small, sin_kernel};
use crate::elementary::error::{erf_kernel, erfc_tail};
use crate::elementary::exponential::{exp2_clamped, log2};
use crate::elementary::hyperbolic::{EXPM1_NEAR, TANH_NEAR, expm1_kernel, tanh_kernel};
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
    /// e^x − 1.
    Expm1,
    /// Hyperbolic tangent.
    Tanh,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Error function.
    Erf,
    /// 1 less the error function.
    Erfc,
}

impl WideFunction {
    /// The function that an instruction of GLSL.std.450 or OpenCL.std has for a name.
    pub fn by_name(name: &str) -> Option<WideFunction> {
        Some(match name {
            "Exp" | "exp" => WideFunction::Exp,
            "Exp2" | "exp2" => WideFunction::Exp2,
            "Log" | "log" => WideFunction::Log,
            "Log2" | "log2" => WideFunction::Log2,
            "expm1" => WideFunction::Expm1,
            "Tanh" | "tanh" => WideFunction::Tanh,
            "Sin" | "sin" => WideFunction::Sin,
            "Cos" | "cos" => WideFunction::Cos,
            "erf" => WideFunction::Erf,
            "erfc" => WideFunction::Erfc,
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

/// One of two numbers. Compilers would branch around the computation of the other, and then not vectorise the code.
#[inline(always)]
fn choose(condition: bool, one: f64, other: f64) -> f64 {
    let mask = u64::from(condition).wrapping_neg();
    f64::from_bits(one.to_bits() & mask | other.to_bits() & !mask)
}

/// e^x − 1 of each.
#[inline(always)]
pub fn expm1(numbers: &mut [f32; LANES]) {
    for number in numbers {
        let x = f64::from(*number);
        let far = exp2_clamped(x * LOG2_E) - 1.0;
        let near = expm1_kernel(x);
        *number = choose(x.abs() > EXPM1_NEAR, far, near) as f32;
    }
}

/// The hyperbolic tangent of each.
#[inline(always)]
pub fn tanh(numbers: &mut [f32; LANES]) {
    for number in numbers {
        let x = f64::from(*number);
        let far = 1.0 - 2.0 / (exp2_clamped(2.0 * x * LOG2_E) + 1.0);
        let near = tanh_kernel(x);
        *number = choose(x.abs() > TANH_NEAR, far, near) as f32;
    }
}

/// The error function of each.
#[inline(always)]
pub fn erf(numbers: &mut [f32; LANES]) {
    for number in numbers {
        let x = f64::from(*number);
        let tail: f64 = 1.0 - erfc_tail(x.abs());
        let far = tail.copysign(x);
        let near = erf_kernel(x);
        *number = choose(x.abs() <= 1.0, near, far) as f32;
    }
}

/// 1 less the error function of each.
#[inline(always)]
pub fn erfc(numbers: &mut [f32; LANES]) {
    for number in numbers {
        let x = f64::from(*number);
        let tail = erfc_tail(x.abs());
        let far = choose(x < 0.0, 2.0 - tail, tail);
        let near = 1.0 - erf_kernel(x);
        *number = choose(x.abs() <= 1.0, near, far) as f32;
    }
}

/// The sine of each.
#[inline(always)]
pub fn sin(numbers: &mut [f32; LANES]) {
    turn_each(numbers, 0, circular::sin);
}

/// The cosine of each.
#[inline(always)]
pub fn cos(numbers: &mut [f32; LANES]) {
    turn_each(numbers, 1, circular::cos);
}

/// The sine of each with some quarter turns added. `single` is the same function of one number, for large ones.
#[inline(always)]
fn turn_each(numbers: &mut [f32; LANES], added: u64, single: fn(f32) -> f32) {
    let given = *numbers;
    for x in numbers.iter_mut() {
        let (quarters, r) = reduce_small(*x);
        let quarters = quarters.wrapping_add(added);
        let (sine, cosine) = (sin_kernel(r), cos_kernel(r));
        let value = choose(quarters & 1 == 0, sine, cosine);
        let sign = quarters >> 1 << 63;
        *x = f64::from_bits(value.to_bits() ^ sign) as f32;
    }
    if !given.iter().all(|x| is_reduced_simply(*x)) {
        replace_large(numbers, &given, single);
    }
}

/// Replaces the results for arguments that are reduced by more bits of π, or are no finite numbers.
#[cold]
fn replace_large(results: &mut [f32; LANES], given: &[f32; LANES], single: fn(f32) -> f32) {
    for (result, x) in results.iter_mut().zip(given) {
        if !is_reduced_simply(*x) {
            *result = single(*x);
        }
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
        let pairs: [Pair; 10] = [
            (|x| math::exp(x), exp),
            (|x| math::exp2(x), exp2),
            (|x| math::log(x), log),
            (|x| math::log2(x), log2_of_each),
            (|x| math::expm1(x), expm1),
            (|x| math::tanh(x), tanh),
            (|x| math::sin(x), sin),
            (|x| math::cos(x), cos),
            (|x| math::erf(x), erf),
            (|x| math::erfc(x), erfc),
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
