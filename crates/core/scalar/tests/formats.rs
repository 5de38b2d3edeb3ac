//! Conversions between formats and integers: exhaustive where a format is small, against native
//! conversions and against a search among all values elsewhere.

use proptest::prelude::*;
use spirula_scalar::convert::*;
use spirula_scalar::{FloatEncoding, FloatRounding};

/// Every finite value of a 16-bit format from zero up, with its bits being its index.
fn magnitudes(format: FloatEncoding) -> Vec<f64> {
    (0..format.infinity())
        .map(|bits| widen(bits, format))
        .collect()
}

fn widen(bits: u64, from: FloatEncoding) -> f64 {
    f64::from_bits(float_to_float(
        bits,
        from,
        FloatEncoding::F64,
        FloatRounding::NearestEven,
    ))
}

/// The bits of `value` in a format whose values are `magnitudes`, by search.
fn search(value: f64, magnitudes: &[f64], format: FloatEncoding, rounding: FloatRounding) -> u64 {
    let sign = if value.is_sign_negative() {
        format.sign_bit()
    } else {
        0
    };
    let magnitude = value.abs();
    let above = magnitudes.partition_point(|&m| m < magnitude);
    if magnitudes.get(above) == Some(&magnitude) {
        return sign | above as u64;
    }
    let below = above - 1;
    let up = match rounding {
        FloatRounding::TowardZero => false,
        FloatRounding::TowardPositive => sign == 0,
        FloatRounding::TowardNegative => sign != 0,
        FloatRounding::NearestEven => {
            let step = magnitudes[below] - magnitudes[below.wrapping_sub(1).min(below)];
            let next = magnitudes
                .get(above)
                .copied()
                .unwrap_or(magnitudes[below] + step);
            let middle = (magnitudes[below] + next) / 2.0;
            magnitude > middle || (magnitude == middle && below % 2 == 1)
        }
    };
    sign | if up { above as u64 } else { below as u64 }
}

#[test]
fn every_f16_survives_widening() {
    for bits in 0..=u16::MAX {
        let single = f16_to_f32(bits);
        let generic = float_to_float(
            bits.into(),
            FloatEncoding::F16,
            FloatEncoding::F32,
            FloatRounding::NearestEven,
        );
        assert_eq!(u64::from(single.to_bits()), generic, "f16 {bits:#06x}");
        let quiet = if single.is_nan() { bits | 0x0200 } else { bits };
        assert_eq!(f16_from_f32(single), quiet, "f16 {bits:#06x}");
        assert_eq!(f16_from_f64(f16_to_f64(bits)), quiet, "f16 {bits:#06x}");
    }
}

#[test]
fn every_bf16_survives_widening() {
    for bits in 0..=u16::MAX {
        let single = bf16_to_f32(bits);
        let quiet = if single.is_nan() { bits | 0x0040 } else { bits };
        assert_eq!(bf16_from_f32(single), quiet, "bf16 {bits:#06x}");
        assert_eq!(bf16_from_f64(f64::from(single)), quiet, "bf16 {bits:#06x}");
    }
}

#[test]
fn f16_values_are_those_of_the_definition() {
    for bits in 0..0x7C00u16 {
        let (exponent, fraction) = (i32::from(bits >> 10), f64::from(bits & 0x3FF));
        let value = match exponent {
            0 => fraction * 2f64.powi(-24),
            _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
        };
        assert_eq!(f16_to_f64(bits), value);
        assert_eq!(f16_to_f64(bits | 0x8000), -value);
    }
    assert_eq!(f16_to_f32(0x7C00), f32::INFINITY);
    assert!(f16_to_f32(0x7C01).is_nan());
}

/// Around every value and every midpoint, in every mode and with both signs.
fn check_narrowing(format: FloatEncoding) {
    let magnitudes = magnitudes(format);
    for pair in magnitudes.windows(2) {
        let middle = (pair[0] + pair[1]) / 2.0;
        for near in [middle, pair[1]] {
            for value in [near, near.next_up(), near.next_down()] {
                for value in [value, -value] {
                    for rounding in FloatRounding::ALL {
                        let got =
                            float_to_float(value.to_bits(), FloatEncoding::F64, format, rounding);
                        let expected = search(value, &magnitudes, format, rounding);
                        assert_eq!(got, expected, "{value:e} {rounding:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn narrowing_to_f16_rounds_once() {
    check_narrowing(FloatEncoding::F16);
}

#[test]
fn narrowing_to_bf16_rounds_once() {
    check_narrowing(FloatEncoding::BF16);
}

#[test]
fn f32_to_f16_agrees_with_search() {
    let magnitudes = magnitudes(FloatEncoding::F16);
    // A step that meets every exponent and walks through the fractions.
    for bits in (0x3200_0000..0x4790_0000u32).step_by(9973) {
        let value = f32::from_bits(bits);
        let expected = search(
            value.into(),
            &magnitudes,
            FloatEncoding::F16,
            FloatRounding::NearestEven,
        );
        assert_eq!(u64::from(f16_from_f32(value)), expected, "{value:e}");
        assert_eq!(
            u64::from(f16_from_f32(-value)),
            expected | 0x8000,
            "{value:e}"
        );
    }
}

#[test]
fn overflow_goes_where_the_mode_says() {
    let f16 = |value: f64, rounding| {
        float_to_float(
            value.to_bits(),
            FloatEncoding::F64,
            FloatEncoding::F16,
            rounding,
        )
    };
    // 65504 is the largest; 65520 is half way to what would follow.
    assert_eq!(f16(65519.999, FloatRounding::NearestEven), 0x7BFF);
    assert_eq!(f16(65520.0, FloatRounding::NearestEven), 0x7C00);
    for (value, zero, positive, negative) in [
        (1e300, 0x7BFF, 0x7C00, 0x7BFF),
        (-1e300, 0xFBFF, 0xFBFF, 0xFC00),
        (65505.0, 0x7BFF, 0x7C00, 0x7BFF),
    ] {
        assert_eq!(f16(value, FloatRounding::TowardZero), zero);
        assert_eq!(f16(value, FloatRounding::TowardPositive), positive);
        assert_eq!(f16(value, FloatRounding::TowardNegative), negative);
    }
    // Far below the smallest subnormal number.
    assert_eq!(f16(1e-300, FloatRounding::NearestEven), 0);
    assert_eq!(f16(1e-300, FloatRounding::TowardPositive), 1);
    assert_eq!(f16(-1e-300, FloatRounding::TowardNegative), 0x8001);
    assert_eq!(f16(-1e-300, FloatRounding::TowardPositive), 0x8000);
    assert_eq!(f16(f64::NEG_INFINITY, FloatRounding::TowardZero), 0xFC00);
}

#[test]
fn direct_narrowing_differs_from_two_steps() {
    // Just above a midpoint of f16 by less than f32 can hold.
    let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    assert_eq!(f16_from_f64(value), 0x3C01);
    assert_eq!(f16_from_f32(value as f32), 0x3C00);
}

#[test]
fn saturation_and_nan() {
    let int = |value: f64, width, signed| {
        float_to_int(
            value.to_bits(),
            FloatEncoding::F64,
            width,
            signed,
            FloatRounding::TowardZero,
        )
    };
    assert_eq!(int(f64::NAN, 32, true), 0);
    assert_eq!(int(300.0, 8, false), 255);
    assert_eq!(int(-1.0, 8, false), 0);
    assert_eq!(int(-0.9, 8, true), 0);
    assert_eq!(int(-300.0, 8, true), 0x80);
    assert_eq!(int(127.9, 8, true), 127);
    assert_eq!(int(f64::INFINITY, 64, false), u64::MAX);
    assert_eq!(int(f64::NEG_INFINITY, 64, true), 1 << 63);
    assert_eq!(int(-1.0, 16, true), 0xFFFF);
    assert_eq!(int(1e300, 64, true), i64::MAX as u64);
    assert_eq!(int_to_int_saturating(0xFFFF_FF80, 32, true, 8, false), 0);
    assert_eq!(int_to_int_saturating(200, 8, false, 8, true), 127);
    assert_eq!(int_to_int_saturating(0xFF00, 16, true, 8, true), 0x80);
}

/// Rounding to an integer by the standard library.
fn nearest(value: f64, rounding: FloatRounding) -> f64 {
    match rounding {
        FloatRounding::NearestEven => value.round_ties_even(),
        FloatRounding::TowardZero => value.trunc(),
        FloatRounding::TowardPositive => value.ceil(),
        FloatRounding::TowardNegative => value.floor(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn f64_to_f32_is_native(bits in any::<u64>(), exponent in 850u64..1160) {
        for value in [f64::from_bits(bits), f64::from_bits(bits >> 12 | exponent << 52)] {
            let got = float_to_float(value.to_bits(), FloatEncoding::F64, FloatEncoding::F32, FloatRounding::NearestEven);
            let native = value as f32;
            prop_assert!(got == u64::from(native.to_bits()) || native.is_nan());
            let down = float_to_float(value.to_bits(), FloatEncoding::F64, FloatEncoding::F32, FloatRounding::TowardNegative);
            let up = float_to_float(value.to_bits(), FloatEncoding::F64, FloatEncoding::F32, FloatRounding::TowardPositive);
            let (down, up) = (f32::from_bits(down as u32), f32::from_bits(up as u32));
            if !value.is_nan() {
                prop_assert!(f64::from(down) <= value && value <= f64::from(up));
                prop_assert!(down == up || down.next_up() == up);
            }
        }
    }

    #[test]
    fn integers_to_floats(value in any::<u64>(), shift in 0u32..64) {
        let value = value >> shift;
        let to = |signed, format, rounding| int_to_float(value, 64, signed, format, rounding);
        let nearest = FloatRounding::NearestEven;
        prop_assert_eq!(to(false, FloatEncoding::F64, nearest), (value as f64).to_bits());
        prop_assert_eq!(to(true, FloatEncoding::F64, nearest), (value as i64 as f64).to_bits());
        prop_assert_eq!(to(false, FloatEncoding::F32, nearest), u64::from((value as f32).to_bits()));
        prop_assert_eq!(to(true, FloatEncoding::F32, nearest), u64::from((value as i64 as f32).to_bits()));
        prop_assert_eq!(
            int_to_float(value, 16, true, FloatEncoding::F16, nearest),
            u64::from(f16_from_f64((value as i16).into()))
        );
        let single = |signed, rounding| f32::from_bits(to(signed, FloatEncoding::F32, rounding) as u32);
        for (signed, exact) in [(false, i128::from(value)), (true, i128::from(value as i64))] {
            let down = single(signed, FloatRounding::TowardNegative);
            let up = single(signed, FloatRounding::TowardPositive);
            prop_assert!(down as i128 <= exact && exact <= up as i128);
            prop_assert!(down == up || down.next_up() == up);
            let zero = if exact < 0 { up } else { down };
            prop_assert_eq!(single(signed, FloatRounding::TowardZero), zero);
        }
    }

    #[test]
    fn floats_to_integers(bits in any::<u64>(), exponent in 1000u64..1100, negative in any::<bool>()) {
        let value = f64::from_bits(bits >> 12 | exponent << 52 | u64::from(negative) << 63);
        for rounding in FloatRounding::ALL {
            let to = |width, signed| float_to_int(value.to_bits(), FloatEncoding::F64, width, signed, rounding);
            let whole = nearest(value, rounding);
            prop_assert_eq!(to(64, true), whole as i64 as u64);
            prop_assert_eq!(to(64, false), whole as u64);
            prop_assert_eq!(to(32, true), u64::from(whole as i32 as u32));
            prop_assert_eq!(to(32, false), u64::from(whole as u32));
            prop_assert_eq!(to(8, true), u64::from(whole as i8 as u8));
            prop_assert_eq!(to(16, false), u64::from(whole as u16));
        }
    }
}
