//! The tables of instructions: order, names, and that the rows call what they say.

use spirula_scalar::fold::{FoldConstant, FoldType, eval_core, eval_extended, list_rules};
use spirula_scalar::table::{ExtInstBody, HalfFn, IntegerFn, RealFn, ScalarExtSet};
use spirula_scalar::{FloatEncoding, math};

const F16: FoldType = FoldType::Float(FloatEncoding::F16);
const BF16: FoldType = FoldType::Float(FloatEncoding::BF16);
const F32: FoldType = FoldType::Float(FloatEncoding::F32);
const F64: FoldType = FoldType::Float(FloatEncoding::F64);
const I8: FoldType = FoldType::Int { width: 8 };
const I16: FoldType = FoldType::Int { width: 16 };
const I32: FoldType = FoldType::Int { width: 32 };
const I64: FoldType = FoldType::Int { width: 64 };

fn single(value: f32) -> FoldConstant {
    FoldConstant {
        ty: F32,
        bits: value.to_bits().into(),
    }
}

fn double(value: f64) -> FoldConstant {
    FoldConstant {
        ty: F64,
        bits: value.to_bits(),
    }
}

fn int(ty: FoldType, bits: u64) -> FoldConstant {
    FoldConstant { ty, bits }
}

#[test]
fn rows_are_ordered() {
    for set in [ScalarExtSet::OpenCl, ScalarExtSet::Glsl] {
        assert!(
            set.functions()
                .windows(2)
                .all(|pair| pair[0].number < pair[1].number)
        );
        for row in set.functions() {
            assert_eq!(row.set, set);
            assert_eq!(
                set.find_function(row.number).map(|found| found.name),
                Some(row.name)
            );
        }
    }
    assert!(
        list_rules()
            .windows(2)
            .all(|pair| pair[0].opcode < pair[1].opcode)
    );
    assert_eq!(
        ScalarExtSet::from_name("OpenCL.std"),
        Some(ScalarExtSet::OpenCl)
    );
    assert_eq!(
        ScalarExtSet::from_name("GLSL.std.450"),
        Some(ScalarExtSet::Glsl)
    );
    assert_eq!(ScalarExtSet::from_name("DebugInfo"), None);
    assert!(
        ScalarExtSet::OpenCl.find_function(184).is_none(),
        "printf is no scalar function"
    );
}

#[test]
fn numbers_are_those_of_the_instruction_sets() {
    let known = [
        (ScalarExtSet::OpenCl, 0, "acos"),
        (ScalarExtSet::OpenCl, 26, "fma"),
        (ScalarExtSet::OpenCl, 48, "pow"),
        (ScalarExtSet::OpenCl, 66, "trunc"),
        (ScalarExtSet::OpenCl, 81, "native_cos"),
        (ScalarExtSet::OpenCl, 95, "fclamp"),
        (ScalarExtSet::OpenCl, 141, "s_abs"),
        (ScalarExtSet::OpenCl, 166, "popcount"),
        (ScalarExtSet::OpenCl, 187, "select"),
        (ScalarExtSet::OpenCl, 204, "u_mad_hi"),
        (ScalarExtSet::Glsl, 1, "Round"),
        (ScalarExtSet::Glsl, 26, "Pow"),
        (ScalarExtSet::Glsl, 50, "Fma"),
        (ScalarExtSet::Glsl, 58, "PackHalf2x16"),
        (ScalarExtSet::Glsl, 75, "FindUMsb"),
        (ScalarExtSet::Glsl, 81, "NClamp"),
    ];
    for (set, number, name) in known {
        assert_eq!(set.find_function(number).map(|row| row.name), Some(name));
    }
}

#[test]
fn bodies_can_be_called() {
    let body = |set: ScalarExtSet, number| set.find_function(number).unwrap().body;
    let ExtInstBody::Real {
        f32: RealFn::Unary(sin),
        f64: RealFn::Unary(sin_64),
        f16: None,
    } = body(ScalarExtSet::OpenCl, 57)
    else {
        panic!("sin has another shape")
    };
    assert_eq!(
        (sin(0.5), sin_64(0.5)),
        (math::sin(0.5f32), math::sin(0.5f64))
    );
    let ExtInstBody::Real {
        f32: RealFn::AndInt(frexp),
        ..
    } = body(ScalarExtSet::Glsl, 52)
    else {
        panic!("Frexp has another shape")
    };
    let mut exponent = 0;
    assert_eq!((frexp(8.0, &mut exponent), exponent), (0.5, 4));
    let ExtInstBody::Integer(IntegerFn::Ternary(mad_sat)) = body(ScalarExtSet::OpenCl, 155) else {
        panic!("s_mad_sat has another shape")
    };
    assert_eq!(mad_sat(100, 100, 1, 8), 127);
    let ExtInstBody::Real {
        f16: Some(HalfFn::AndReal(fract)),
        ..
    } = body(ScalarExtSet::OpenCl, 30)
    else {
        panic!("fract has another shape")
    };
    let mut whole = 0;
    // −2^-24: one less than that rounds to one in f16, which fract must not give.
    assert_eq!((fract(0x8001, &mut whole), whole), (0x3BFF, 0xBC00));
}

/// Exact fused multiply-add of `f16` by integers in units of 2^-48, rounded by the conversion.
#[test]
fn half_precision_fma_rounds_once() {
    let fma = ScalarExtSet::OpenCl.find_function(26).unwrap();
    let units = |bits: u64| -> i128 {
        let exponent = (bits >> 10 & 31) as u32;
        let significand = i128::from(bits & 0x3FF) + if exponent > 0 { 1024 } else { 0 };
        let magnitude = significand << exponent.max(1);
        if bits & 0x8000 != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    let mut state = 7u64;
    for _ in 0..200_000 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let [a, b, c] = [state >> 16 & 0xFFFF, state >> 32 & 0xFFFF, state >> 48];
        if [a, b, c].iter().any(|bits| bits & 0x7C00 == 0x7C00) {
            continue;
        }
        let operands = [a, b, c].map(|bits| int(F16, bits));
        let got = eval_extended(fma, F16, &operands).unwrap();
        // Units of 2^-25 each, so products are in 2^-50.
        let exact = units(a) * units(b) + (units(c) << 25);
        let magnitude = exact.unsigned_abs();
        // Odd in the last place stands for what is cut off.
        let cut = 64u32.saturating_sub(magnitude.leading_zeros().min(64)) as i32;
        let kept = (magnitude >> cut) as u64 | u64::from(magnitude & ((1 << cut) - 1) != 0);
        if exact == 0 {
            assert_eq!(got & 0x7FFF, 0);
            continue;
        }
        let expected = spirula_scalar::round_to_format(
            exact < 0,
            kept,
            cut - 50,
            FloatEncoding::F16,
            Default::default(),
        );
        assert_eq!(got, expected, "{a:#06x} × {b:#06x} + {c:#06x}");
    }
}

/// Opcode, type of the result, operands, and the bits that come out.
type FoldCase<'a> = (u32, FoldType, &'a [FoldConstant], u64);

#[track_caller]
fn fold(cases: &[FoldCase<'_>]) {
    for (opcode, result, operands, expected) in cases {
        assert_eq!(
            eval_core(*opcode, *result, operands),
            Some(*expected),
            "opcode {opcode} {operands:x?}"
        );
    }
}

#[test]
fn integer_arithmetic_folds() {
    fold(&[
        (128, I32, &[int(I32, 0xFFFF_FFFF), int(I32, 2)], 1),
        (130, I8, &[int(I8, 1), int(I8, 2)], 0xFF),
        (132, I16, &[int(I16, 0x100), int(I16, 0x100)], 0),
        (134, I32, &[int(I32, 7), int(I32, 0)], 7),
        (
            135,
            I32,
            &[int(I32, 0x8000_0000), int(I32, 0xFFFF_FFFF)],
            0x8000_0000,
        ),
        (137, I32, &[int(I32, 7), int(I32, 0)], 0),
        (
            138,
            I32,
            &[int(I32, -7i32 as u32 as u64), int(I32, 3)],
            -1i32 as u32 as u64,
        ),
        (139, I32, &[int(I32, -7i32 as u32 as u64), int(I32, 3)], 2),
        (126, I64, &[int(I64, 5)], 5u64.wrapping_neg()),
        (196, I32, &[int(I32, 1), int(I8, 33)], 2),
        (
            195,
            I32,
            &[int(I32, 0x8000_0000), int(I64, 31)],
            0xFFFF_FFFF,
        ),
        (
            201,
            I32,
            &[int(I32, 0), int(I32, 0xFF), int(I8, 4), int(I8, 4)],
            0xF0,
        ),
        (
            202,
            I32,
            &[int(I32, 0xF0), int(I32, 4), int(I32, 4)],
            0xFFFF_FFFF,
        ),
        (205, I32, &[int(I64, u64::MAX)], 64),
    ]);
}

#[test]
fn integer_tests_and_conversions_fold() {
    fold(&[
        (
            170,
            FoldType::Bool,
            &[int(I32, 1), int(I32, 0xFFFF_0000_0000_0001)],
            1,
        ),
        (177, FoldType::Bool, &[int(I8, 0x80), int(I8, 0)], 1),
        (176, FoldType::Bool, &[int(I8, 0x80), int(I8, 0)], 0),
        (
            164,
            FoldType::Bool,
            &[int(FoldType::Bool, 1), int(FoldType::Bool, 0)],
            0,
        ),
        (168, FoldType::Bool, &[int(FoldType::Bool, 0)], 1),
        (
            169,
            I32,
            &[int(FoldType::Bool, 0), int(I32, 5), int(I32, 6)],
            6,
        ),
        (113, I64, &[int(I32, 0xFFFF_FFFF)], 0xFFFF_FFFF),
        (114, I64, &[int(I32, 0xFFFF_FFFF)], u64::MAX),
        (118, I8, &[int(I32, 0xFFFF_FFFF)], 0),
        (119, I8, &[int(I32, 0xFFFF_FFFF)], 127),
        (
            4450,
            I32,
            &[int(I32, 0xFF), int(I32, 0x02)],
            -2i32 as u32 as u64,
        ),
        (
            4454,
            I8,
            &[int(I32, 0xFF), int(I32, 0xFF), int(I8, 1)],
            0xFF,
        ),
    ]);
}

#[test]
fn floating_point_arithmetic_folds() {
    fold(&[
        (
            129,
            F32,
            &[single(1.5), single(2.0)],
            3.5f32.to_bits().into(),
        ),
        (
            136,
            F64,
            &[double(1.0), double(3.0)],
            (1.0f64 / 3.0).to_bits(),
        ),
        (136, F32, &[single(0.0), single(0.0)], 0x7FC0_0000),
        (
            131,
            F64,
            &[double(f64::INFINITY), double(f64::INFINITY)],
            0x7FF8_0000_0000_0000,
        ),
        (127, F32, &[single(0.0)], 0x8000_0000),
        (
            140,
            F32,
            &[single(-5.5), single(2.0)],
            (-1.5f32).to_bits().into(),
        ),
        (
            141,
            F32,
            &[single(-5.5), single(2.0)],
            0.5f32.to_bits().into(),
        ),
        // 2048 + 1 is a tie in f16; 256 + 1 one in bf16.
        (129, F16, &[int(F16, 0x6800), int(F16, 0x3C00)], 0x6800),
        (129, BF16, &[int(BF16, 0x4380), int(BF16, 0x3F80)], 0x4380),
        (133, F16, &[int(F16, 0x7BFF), int(F16, 0x4000)], 0x7C00),
        (
            4427,
            F32,
            &[single(2.0), single(3.0), single(1.0)],
            7f32.to_bits().into(),
        ),
    ]);
}

#[test]
fn floating_point_tests_and_conversions_fold() {
    let nan = single(f32::NAN);
    fold(&[
        (109, I8, &[single(300.0)], 255),
        (110, I32, &[nan], 0),
        (110, I16, &[int(F16, 0xC100)], (-2i16) as u16 as u64),
        (111, F16, &[int(I32, 0xFFFF_FFFF)], 0xBC00),
        (
            112,
            F32,
            &[int(I32, 0xFFFF_FFFF)],
            (u32::MAX as f32).to_bits().into(),
        ),
        (
            115,
            F16,
            &[double(1.0 + 2f64.powi(-11) + 2f64.powi(-40))],
            0x3C01,
        ),
        (
            116,
            F32,
            &[single(1.0 + f32::EPSILON)],
            1f32.to_bits().into(),
        ),
        (124, I32, &[single(1.0)], 0x3F80_0000),
        (156, FoldType::Bool, &[nan], 1),
        (158, FoldType::Bool, &[nan], 0),
        (159, FoldType::Bool, &[single(1e-40)], 0),
        (159, FoldType::Bool, &[single(1.0)], 1),
        (160, FoldType::Bool, &[single(-0.0)], 1),
        (180, FoldType::Bool, &[single(0.0), single(-0.0)], 1),
        (181, FoldType::Bool, &[nan, single(0.0)], 1),
        (182, FoldType::Bool, &[nan, single(0.0)], 0),
        (183, FoldType::Bool, &[nan, nan], 1),
        (184, FoldType::Bool, &[single(1.0), single(2.0)], 1),
        (185, FoldType::Bool, &[single(1.0), nan], 1),
        (191, FoldType::Bool, &[single(1.0), single(2.0)], 0),
    ]);
}

#[test]
fn what_does_not_fit_is_refused() {
    assert_eq!(eval_core(128, I32, &[int(I32, 1)]), None, "operand missing");
    assert_eq!(
        eval_core(128, I32, &[int(I32, 1), int(I64, 1)]),
        None,
        "two widths"
    );
    assert_eq!(
        eval_core(128, F32, &[single(1.0), single(1.0)]),
        None,
        "integer addition of floats"
    );
    assert_eq!(
        eval_core(129, I32, &[int(I32, 1), int(I32, 1)]),
        None,
        "float addition of integers"
    );
    assert_eq!(
        eval_core(124, I64, &[single(1.0)]),
        None,
        "bitcast to another width"
    );
    assert_eq!(eval_core(999, I32, &[int(I32, 1)]), None, "unknown opcode");
    let wide = FoldType::Int { width: 65 };
    assert_eq!(
        eval_core(128, wide, &[int(wide, 1), int(wide, 1)]),
        None,
        "too wide"
    );
    let nothing = FoldType::Int { width: 0 };
    assert_eq!(
        eval_core(128, nothing, &[int(nothing, 1), int(nothing, 1)]),
        None,
        "no bits"
    );
}

#[test]
fn extended_instructions_fold() {
    let fold = |set: ScalarExtSet, number, result, operands: &[FoldConstant]| {
        eval_extended(set.find_function(number).unwrap(), result, operands)
    };
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 61, F32, &[single(4.0)]),
        Some(2f32.to_bits().into())
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 61, F16, &[int(F16, 0x4400)]),
        Some(0x4000)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 61, F64, &[double(-1.0)]),
        Some(0x7FF8_0000_0000_0000)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 34, F32, &[single(1.0), int(I32, 3)]),
        Some(8f32.to_bits().into())
    );
    assert_eq!(fold(ScalarExtSet::OpenCl, 33, I32, &[single(8.0)]), Some(3));
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 46, F32, &[int(I32, 1)]),
        Some(0x7FC0_0001)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 46, F64, &[int(I64, 1)]),
        Some(0x7FF8_0000_0000_0001)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 46, F16, &[int(I16, 1)]),
        Some(0x7E01)
    );
    assert_eq!(
        fold(
            ScalarExtSet::OpenCl,
            47,
            F16,
            &[int(F16, 0x3C00), int(F16, 0)]
        ),
        Some(0x3BFF)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 141, I8, &[int(I8, 0xFF)]),
        Some(1)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 164, I16, &[int(I8, 1), int(I8, 2)]),
        Some(0x0102)
    );
    assert_eq!(
        fold(
            ScalarExtSet::OpenCl,
            186,
            F32,
            &[single(1.0), single(2.0), int(I32, 0)]
        ),
        Some(0x3F80_0000)
    );
    assert_eq!(
        fold(ScalarExtSet::Glsl, 73, I32, &[int(I32, 0)]),
        Some(0xFFFF_FFFF)
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 58, F32, &[single(1.0)]),
        None,
        "two results"
    );
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 61, F32, &[double(1.0)]),
        None,
        "another type"
    );
    assert_eq!(fold(ScalarExtSet::OpenCl, 61, F32, &[]), None, "no operand");
    assert_eq!(
        fold(ScalarExtSet::OpenCl, 141, I8, &[int(I16, 1)]),
        None,
        "another width"
    );
}
