//! Trigonometric functions of angles in half turns: sin(πx), cos(πx), tan(πx).

use crate::elementary::ElementaryFloat;
use crate::real::NativeFloat;

/// The quarter turn nearest to `x` half turns, modulo four, and what remains, at most ¼ in magnitude.
/// Exact; NaN remains at infinities.
#[inline]
fn reduce_quarter_turns<T: NativeFloat>(x: T) -> (u32, T) {
    let two = T::from_f64(2.0);
    // Whole turns; every number is a whole number of turns from 2^53 on.
    let turns = (x * T::from_f64(0.5)).round_ties_even();
    let rest = x - turns * two;
    let quarter = (rest * two).round_ties_even();
    let angle = rest - quarter * T::from_f64(0.5);
    let four = [-2.0, -1.0, 0.0, 1.0, 2.0].map(T::from_f64);
    let index = four.iter().position(|&q| q == quarter).unwrap_or(2) as u32;
    ((index + 2) & 3, angle)
}

/// sin(πx); zero with the sign of `x` at integers.
pub extern "C" fn sinpi<T: ElementaryFloat>(x: T) -> T {
    let (quarter, angle) = reduce_quarter_turns(x);
    let value = match quarter {
        0 => angle.sin_small_turn(),
        1 => angle.cos_small_turn(),
        2 => -angle.sin_small_turn(),
        _ => -angle.cos_small_turn(),
    };
    if value == T::from_f64(0.0) {
        value.copysign(x)
    } else {
        value
    }
}

/// cos(πx); +0 at odd multiples of ½.
pub extern "C" fn cospi<T: ElementaryFloat>(x: T) -> T {
    let (quarter, angle) = reduce_quarter_turns(x);
    let value = match quarter {
        0 => angle.cos_small_turn(),
        1 => -angle.sin_small_turn(),
        2 => -angle.cos_small_turn(),
        _ => angle.sin_small_turn(),
    };
    if value == T::from_f64(0.0) {
        value.abs()
    } else {
        value
    }
}

/// tan(πx). It is zero with the sign of `x` at even integers and with the opposite one at odd ones. It is +∞ at 2n + ½,
/// −∞ at 2n + 3⁄2, and ±1 at odd multiples of ¼.
pub extern "C" fn tanpi<T: ElementaryFloat>(x: T) -> T {
    let (quarter, angle) = reduce_quarter_turns(x);
    let zero = T::from_f64(0.0);
    if angle.abs() == T::from_f64(0.25) {
        let one = T::from_f64(1.0).copysign(angle);
        return if quarter & 1 == 0 { one } else { -one };
    }
    match (quarter, angle == zero) {
        (0, true) => zero.copysign(x),
        (1, true) => T::INFINITY,
        (2, true) => zero.copysign(-x),
        (_, true) => -T::INFINITY,
        (0 | 2, false) => angle.tan_small_turn(),
        (_, false) => -angle.cot_small_turn(),
    }
}
