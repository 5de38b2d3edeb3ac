//! Every operation takes every operand: no panic, no overflow check, and results within their width.

use proptest::prelude::*;
use spirula_scalar::fold::{FoldConstant, FoldType, eval_core, eval_extended, list_rules};
use spirula_scalar::table::{ExtInstBody, HalfFn, IntegerFn, PackingFn, RealFn, ScalarExtSet};
use spirula_scalar::{FloatEncoding, FloatRounding, convert, int};

/// Bits of numbers, special ones among them.
fn bits() -> impl Strategy<Value = u64> {
    let specials = prop::sample::select(vec![
        0u64,
        1,
        1 << 63,
        u64::MAX,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FF8_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFF,
        0x0010_0000_0000_0000,
        0x3FF0_0000_0000_0000,
        0xBFF0_0000_0000_0000,
        0x7F80_0000_FF80_0000,
        0x7F7F_FFFF_7FC0_0000,
        0x3F80_0000_8000_0000,
        0x0080_0000_007F_FFFF,
        0xBF80_0000_4F00_0000,
    ]);
    prop_oneof![
        any::<u64>(),
        specials.clone(),
        specials.prop_map(|bits| bits.rotate_left(32))
    ]
}

fn ty() -> impl Strategy<Value = FoldType> {
    prop_oneof![
        Just(FoldType::Bool),
        (0u32..=70).prop_map(|width| FoldType::Int { width }),
        prop::sample::select(vec![8u32, 16, 32, 64]).prop_map(|width| FoldType::Int { width }),
        prop::sample::select(vec![
            FloatEncoding::F16,
            FloatEncoding::BF16,
            FloatEncoding::F32,
            FloatEncoding::F64
        ])
        .prop_map(FoldType::Float),
    ]
}

/// Calls a function on numbers made of bits.
fn call<T: spirula_scalar::NativeFloat>(function: RealFn<T>, [a, b, c]: [u64; 3]) {
    let (x, y, z) = (T::from_raw(a), T::from_raw(b), T::from_raw(c));
    let (mut real, mut int) = (x, 0);
    match function {
        RealFn::Unary(f) => drop(f(x)),
        RealFn::Binary(f) => drop(f(x, y)),
        RealFn::Ternary(f) => drop(f(x, y, z)),
        RealFn::WithInt(f) => drop(f(x, b as i32)),
        RealFn::ToInt(f) => drop(f(x)),
        RealFn::FromBits(f) => assert!(f(a).is_nan()),
        RealFn::AndReal(f) => drop(f(x, &mut real)),
        RealFn::AndInt(f) => drop(f(x, &mut int)),
        RealFn::BinaryAndInt(f) => drop(f(x, y, &mut int)),
    }
}

fn call_half(function: HalfFn, [a, b, c]: [u16; 3]) {
    match function {
        HalfFn::Binary(f) => drop(f(a, b)),
        HalfFn::Ternary(f) => drop(f(a, b, c)),
        HalfFn::FromBits(f) => drop(f(a)),
        HalfFn::AndReal(f) => drop(f(a, &mut 0)),
    }
}

fn call_packing(function: PackingFn, [a, b, c]: [u64; 3]) {
    let single = |bits: u64| f32::from_bits(bits as u32);
    match function {
        PackingFn::Pack2(f) => drop(f(single(a), single(b))),
        PackingFn::Pack4(f) => drop(f(single(a), single(b), single(c), single(a >> 32))),
        PackingFn::Unpack(f) => assert!(f(a as u32, b as u32).to_bits() != 1),
        PackingFn::PackDouble(f) => drop(f(a as u32, b as u32)),
        PackingFn::UnpackDouble(f) => drop(f(f64::from_bits(a), b as u32)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_function_takes_every_operand(
        operands in [bits(), bits(), bits()], width in 1u32..=64,
    ) {
        let [a, b, c] = operands;
        for row in ScalarExtSet::OpenCl.functions().iter().chain(ScalarExtSet::Glsl.functions()) {
            match row.body {
                ExtInstBody::Real { f32, f64, f16 } => {
                    call(f32, operands);
                    call(f64, operands);
                    if let Some(function) = f16 {
                        call_half(function, operands.map(|bits| bits as u16));
                    }
                }
                ExtInstBody::Integer(function) => {
                    let result = match function {
                        IntegerFn::Unary(f) => f(a, width),
                        IntegerFn::Binary(f) => f(a, b, width),
                        IntegerFn::Ternary(f) => f(a, b, c, width),
                    };
                    let wide = if row.name.ends_with("upsample") { 2 * width } else { width };
                    prop_assert_eq!(result & !int::make_mask(wide), 0, "{}", row.name);
                }
                ExtInstBody::Packing(function) => call_packing(function, operands),
            }
        }
    }

    #[test]
    fn every_instruction_takes_every_operand(
        result in ty(), types in [ty(), ty(), ty(), ty()], values in [bits(), bits(), bits(), bits()],
        count in 0usize..5, same in any::<bool>(),
    ) {
        let operands: Vec<FoldConstant> = (0..count)
            .map(|i| FoldConstant { ty: if same { types[0] } else { types[i] }, bits: values[i] })
            .collect();
        for result in [result, types[0], FoldType::Bool] {
            for rule in list_rules() {
                if let Some(bits) = eval_core(rule.opcode, result, &operands) {
                    prop_assert_eq!(bits & !int::make_mask(result.width()), 0, "{}", rule.name);
                }
            }
            for row in ScalarExtSet::OpenCl.functions().iter().chain(ScalarExtSet::Glsl.functions()) {
                if let Some(bits) = eval_extended(row, result, &operands) {
                    prop_assert_eq!(bits & !int::make_mask(result.width()), 0, "{}", row.name);
                }
            }
        }
    }

    #[test]
    fn every_conversion_takes_every_operand(value in bits(), width in 1u32..=64, signed in any::<bool>()) {
        let formats = [FloatEncoding::F16, FloatEncoding::BF16, FloatEncoding::F32, FloatEncoding::F64];
        for rounding in FloatRounding::ALL {
            for from in formats {
                for to in formats {
                    let bits = convert::float_to_float(value, from, to, rounding);
                    prop_assert_eq!(bits & !int::make_mask(to.width()), 0);
                }
                let bits = convert::float_to_int(value, from, width, signed, rounding);
                prop_assert_eq!(bits & !int::make_mask(width), 0);
                let bits = convert::int_to_float(value, width, signed, from, rounding);
                prop_assert_eq!(bits & !int::make_mask(from.width()), 0);
            }
        }
    }
}
