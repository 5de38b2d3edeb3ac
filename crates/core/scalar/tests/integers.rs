//! Integer operations against Rust's own, for every pair of 8-bit operands and for random ones of
//! 16, 32 and 64 bits; and against exact arithmetic at odd widths.

use proptest::prelude::*;
use spirula_scalar::int::*;

/// Checks every operation that Rust's integers have a counterpart for.
macro_rules! check_native {
    ($check:ident, $unsigned:ident, $signed:ident, $wide:ident, $wide_unsigned:ident) => {
        fn $check(a: $unsigned, b: $unsigned, c: $unsigned) {
            const WIDTH: u32 = $unsigned::BITS;
            let (x, y, z) = (a as $signed, b as $signed, c as $signed);
            // Bits above the width must not matter.
            let noise = if WIDTH < 64 {
                0xA5A5_A5A5_A5A5_A5A5 << (WIDTH % 64)
            } else {
                0
            };
            let (p, q, r) = (
                u64::from(a) | noise,
                u64::from(b) | noise,
                u64::from(c) | noise,
            );
            let s = |value: $signed| u64::from(value as $unsigned);
            let u = |value: $unsigned| u64::from(value);
            let (wx, wy, wz) = (x as $wide, y as $wide, z as $wide);
            let (wa, wb, wc) = (
                a as $wide_unsigned,
                b as $wide_unsigned,
                c as $wide_unsigned,
            );

            assert_eq!(add(p, q, WIDTH), u(a.wrapping_add(b)));
            assert_eq!(sub(p, q, WIDTH), u(a.wrapping_sub(b)));
            assert_eq!(mul(p, q, WIDTH), u(a.wrapping_mul(b)));
            assert_eq!(neg(p, WIDTH), u(a.wrapping_neg()));
            assert_eq!(u_div(p, q, WIDTH), u(a.checked_div(b).unwrap_or(a)));
            assert_eq!(u_mod(p, q, WIDTH), u(a.checked_rem(b).unwrap_or(0)));
            assert_eq!(
                s_div(p, q, WIDTH),
                s(if y == 0 { x } else { x.wrapping_div(y) }),
                "{x}/{y}"
            );
            assert_eq!(
                s_rem(p, q, WIDTH),
                s(if y == 0 { 0 } else { x.wrapping_rem(y) }),
                "{x}%{y}"
            );
            let floor = if y == 0 {
                0
            } else {
                ((wx % wy + wy) % wy) as $signed
            };
            assert_eq!(s_mod(p, q, WIDTH), s(floor), "{x} mod {y}");
            assert_eq!(s_add_sat(p, q, WIDTH), s(x.saturating_add(y)));
            assert_eq!(u_add_sat(p, q, WIDTH), u(a.saturating_add(b)));
            assert_eq!(s_sub_sat(p, q, WIDTH), s(x.saturating_sub(y)));
            assert_eq!(u_sub_sat(p, q, WIDTH), u(a.saturating_sub(b)));
            assert_eq!(s_mul_hi(p, q, WIDTH), s(((wx * wy) >> WIDTH) as $signed));
            assert_eq!(u_mul_hi(p, q, WIDTH), u(((wa * wb) >> WIDTH) as $unsigned));
            assert_eq!(s_hadd(p, q, WIDTH), s(((wx + wy) >> 1) as $signed));
            assert_eq!(u_hadd(p, q, WIDTH), u(((wa + wb) >> 1) as $unsigned));
            assert_eq!(s_rhadd(p, q, WIDTH), s(((wx + wy + 1) >> 1) as $signed));
            assert_eq!(u_rhadd(p, q, WIDTH), u(((wa + wb + 1) >> 1) as $unsigned));
            assert_eq!(s_abs_diff(p, q, WIDTH), u(x.abs_diff(y)));
            assert_eq!(u_abs_diff(p, q, WIDTH), u(a.abs_diff(b)));
            assert_eq!(s_abs(p, WIDTH), u(x.unsigned_abs()));
            assert_eq!(u_abs(p, WIDTH), u(a));
            assert_eq!(s_sign(p, WIDTH), s(x.signum()));
            assert_eq!(
                (s_min(p, q, WIDTH), s_max(p, q, WIDTH)),
                (s(x.min(y)), s(x.max(y)))
            );
            assert_eq!(
                (u_min(p, q, WIDTH), u_max(p, q, WIDTH)),
                (u(a.min(b)), u(a.max(b)))
            );
            assert_eq!(s_clamp(p, q, r, WIDTH), s(x.max(y).min(z)));
            assert_eq!(u_clamp(p, q, r, WIDTH), u(a.max(b).min(c)));
            let sum = (wx * wy + wz).clamp($signed::MIN.into(), $signed::MAX.into());
            assert_eq!(s_mad_sat(p, q, r, WIDTH), s(sum as $signed));
            let sum = (wa * wb + wc).min($unsigned::MAX.into());
            assert_eq!(u_mad_sat(p, q, r, WIDTH), u(sum as $unsigned));
            assert_eq!(
                s_mad_hi(p, q, r, WIDTH),
                s((((wx * wy) >> WIDTH) as $signed).wrapping_add(z))
            );
            assert_eq!(
                u_mad_hi(p, q, r, WIDTH),
                u((((wa * wb) >> WIDTH) as $unsigned).wrapping_add(c))
            );

            assert_eq!((s_less(p, q, WIDTH), u_less(p, q, WIDTH)), (x < y, a < b));
            assert_eq!(
                (s_greater(p, q, WIDTH), u_greater(p, q, WIDTH)),
                (x > y, a > b)
            );
            assert_eq!(
                (s_less_equal(p, q, WIDTH), u_less_equal(p, q, WIDTH)),
                (x <= y, a <= b)
            );
            assert_eq!(
                (s_greater_equal(p, q, WIDTH), u_greater_equal(p, q, WIDTH)),
                (x >= y, a >= b)
            );
            assert_eq!(
                (equal(p, q, WIDTH), not_equal(p, q, WIDTH)),
                (a == b, a != b)
            );

            let by = u64::from(b) as u32 % WIDTH;
            assert_eq!(shl(p, b.into(), WIDTH), u(a << by));
            assert_eq!(u_shr(p, b.into(), WIDTH), u(a >> by));
            assert_eq!(s_shr(p, b.into(), WIDTH), s(x >> by));
            assert_eq!(rotate(p, b.into(), WIDTH), u(a.rotate_left(by)));
            assert_eq!((and(p, q, WIDTH), or(p, q, WIDTH)), (u(a & b), u(a | b)));
            assert_eq!((xor(p, q, WIDTH), not(p, WIDTH)), (u(a ^ b), u(!a)));
            assert_eq!(bitselect(p, q, r, WIDTH), u((a & !c) | (b & c)));
            assert_eq!(select(p, q, r, WIDTH), u(if c != 0 { b } else { a }));
            assert_eq!(select_by_sign(p, q, r, WIDTH), u(if z < 0 { b } else { a }));
            assert_eq!(popcount(p, WIDTH), a.count_ones().into());
            assert_eq!(clz(p, WIDTH), a.leading_zeros().into());
            assert_eq!(ctz(p, WIDTH), a.trailing_zeros().into());
            assert_eq!(bit_reverse(p, WIDTH), u(a.reverse_bits()));
            let position = |bits: Option<u32>| bits.map_or(u($unsigned::MAX), u64::from);
            assert_eq!(
                find_lsb(p, WIDTH),
                position((a != 0).then(|| a.trailing_zeros()))
            );
            assert_eq!(find_umsb(p, WIDTH), position(a.checked_ilog2()));
            let differing = if x < 0 { !a } else { a };
            assert_eq!(find_smsb(p, WIDTH), position(differing.checked_ilog2()));
        }
    };
}

check_native!(check_8, u8, i8, i32, u32);
check_native!(check_16, u16, i16, i64, u64);
check_native!(check_32, u32, i32, i128, u128);
check_native!(check_64, u64, i64, i128, u128);

#[test]
fn every_pair_of_bytes() {
    for a in 0..=u8::MAX {
        for b in 0..=u8::MAX {
            check_8(a, b, a.wrapping_mul(31).wrapping_add(b));
        }
    }
}

/// Integers with extremes and small values among them.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        any::<u64>().prop_map(|v| v >> (v % 61)),
        (0u64..4).prop_map(|v| v.wrapping_sub(2)),
        Just(1 << 63),
        Just(1 << 31),
        Just(1 << 15),
        Just(u64::MAX >> 1),
        Just(u64::from(u32::MAX >> 1)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn native_widths(a in value(), b in value(), c in value()) {
        check_16(a as u16, b as u16, c as u16);
        check_32(a as u32, b as u32, c as u32);
        // The exact product of 64-bit numbers plus a third may leave i128 and u128 only at extremes
        // that neither reaches: (2^64 − 1)² + 2^64 − 1 < 2^128.
        check_64(a, b, c);
    }

    #[test]
    fn odd_widths_wrap_exactly(a in value(), b in value(), width in 1u32..=64) {
        let modulus = 1i128 << width;
        let (x, y) = (i128::from(sign_extend(a, width)), i128::from(sign_extend(b, width)));
        prop_assert_eq!(i128::from(add(a, b, width)), (x + y).rem_euclid(modulus));
        prop_assert_eq!(i128::from(sub(a, b, width)), (x - y).rem_euclid(modulus));
        prop_assert_eq!(i128::from(mul(a, b, width)), (x * y).rem_euclid(modulus));
        let quotient = if y == 0 { x } else { x / y };
        prop_assert_eq!(i128::from(s_div(a, b, width)), quotient.rem_euclid(modulus));
        prop_assert_eq!(i128::from(s_mul_hi(a, b, width)), (x * y).div_euclid(modulus).rem_euclid(modulus));
        let half = modulus / 2;
        let saturated = (x + y).clamp(-half, half - 1);
        prop_assert_eq!(i128::from(s_add_sat(a, b, width)), saturated.rem_euclid(modulus));
        prop_assert_eq!(clz(a, width), u64::from((a & make_mask(width)).leading_zeros() - (64 - width)));
        prop_assert_eq!(rotate(rotate(a, b % 64, width), u64::from(width) - b % 64 % u64::from(width), width), a & make_mask(width));
        prop_assert_eq!(bit_reverse(bit_reverse(a, width), width), a & make_mask(width));
    }

    #[test]
    fn bit_fields_go_bit_by_bit(
        base in value(), insert in value(), offset in 0u64..70, count in 0u64..70, width in 1u32..=64,
    ) {
        let inside = |bit: u64| bit >= offset && bit < offset + count;
        let bit = |value: u64, index: u64| value >> index & 1;
        let width_64 = u64::from(width);
        let mut inserted = 0;
        let mut extracted = 0;
        for index in 0..width_64 {
            let source = if inside(index) { bit(insert, index - offset) } else { bit(base, index) };
            inserted |= source << index;
            if inside(index) {
                extracted |= bit(base, index) << (index - offset);
            }
        }
        prop_assert_eq!(bit_field_insert(base, insert, offset, count, width), inserted);
        prop_assert_eq!(bit_field_u_extract(base, offset, count, width), extracted);
        let held = count.min(width_64.saturating_sub(offset)) as u32;
        let signed = if held == 0 { 0 } else { sign_extend(extracted, held) as u64 & make_mask(width) };
        prop_assert_eq!(bit_field_s_extract(base, offset, count, width), signed);
    }

    #[test]
    fn dot_products(a in any::<[u8; 4]>(), b in any::<[u8; 4]>(), sum in any::<u32>()) {
        let (p, q) = (u32::from_le_bytes(a).into(), u32::from_le_bytes(b).into());
        let dot = |f: fn(u8, u8) -> i64| (0..4).map(|i| f(a[i], b[i])).sum::<i64>();
        let signed = dot(|x, y| i64::from(x as i8) * i64::from(y as i8));
        let unsigned = dot(|x, y| i64::from(x) * i64::from(y));
        let mixed = dot(|x, y| i64::from(x as i8) * i64::from(y));
        prop_assert_eq!(s_dot(p, q, 32), u64::from(signed as u32));
        prop_assert_eq!(u_dot(p, q, 32), unsigned as u64);
        prop_assert_eq!(su_dot(p, q, 32), u64::from(mixed as u32));
        prop_assert_eq!(u_dot(p, q, 8), unsigned as u64 & 0xFF);
        let clamp = |total: i64| u64::from(total.clamp(i32::MIN.into(), i32::MAX.into()) as u32);
        let start = i64::from(sum as i32);
        prop_assert_eq!(s_dot_acc_sat(p, q, sum.into(), 32), clamp(signed + start));
        prop_assert_eq!(su_dot_acc_sat(p, q, sum.into(), 32), clamp(mixed + start));
        let total = (unsigned as u64 + u64::from(sum)).min(u32::MAX.into());
        prop_assert_eq!(u_dot_acc_sat(p, q, sum.into(), 32), total);
    }

    #[test]
    fn products_of_24_bits(a in any::<u32>(), b in any::<u32>(), c in any::<u32>()) {
        let signed = |v: u32| (v << 8) as i32 >> 8;
        let (p, q, r) = (a.into(), b.into(), c.into());
        let product = signed(a).wrapping_mul(signed(b)) as u32;
        prop_assert_eq!(s_mul24(p, q, 32), u64::from(product));
        prop_assert_eq!(s_mad24(p, q, r, 32), u64::from(product.wrapping_add(c)));
        let product = (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF);
        prop_assert_eq!(u_mul24(p, q, 32), u64::from(product));
        prop_assert_eq!(u_mad24(p, q, r, 32), u64::from(product.wrapping_add(c)));
    }
}

#[test]
fn upsampling_joins_halves() {
    assert_eq!(upsample(0xFF, 0x01, 8), 0xFF01);
    assert_eq!(upsample(0x1234, 0xFFFF_5678, 16), 0x1234_5678);
    assert_eq!(upsample(0xFFFF_FFFF, 1, 32), 0xFFFF_FFFF_0000_0001);
}
