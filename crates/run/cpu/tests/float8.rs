//! Floats of 8 bits (`SPV_EXT_float8`): every value widened, and `f32` narrowed, in every way that kernels run.

mod common;

use common::{compile_with, in_every_mode, run_shader, shader};

/// The words that a shader of 256 invocations writes to `y`, by a conversion of `%given`, the words of `x`.
fn converted(encoding: &str, body: &str, words: &[u32], decoration: &str) -> Vec<u32> {
    let globals = format!("%byte = OpTypeInt 8 0\n%small = OpTypeFloat 8 {encoding}\n");
    let body = format!(
        "%px = OpAccessChain %puint %x %n0 %global\n%given = OpLoad %uint %px\n{body}\n\
         %py = OpAccessChain %puint %y %n0 %global\nOpStore %py %result"
    );
    let text = shader([64, 1, 1], &globals, &body);
    let text = text.replacen("OpDecorate", &format!("{decoration}OpDecorate"), 1);
    in_every_mode(|options| {
        let kernel = compile_with(&text, &[], options).unwrap_or_else(|f| panic!("{}", f[0]));
        let mut buffers = [words.to_vec(), vec![0; 256]];
        run_shader(&kernel, [4, 1, 1], &mut buffers, &[]).expect("the launch fits");
        let [_, y] = buffers;
        y
    })
}

const WIDEN: &str = "%low = OpUConvert %byte %given\n%as = OpBitcast %small %low\n\
                     %wide = OpFConvert %float %as\n%result = OpBitcast %uint %wide";
const NARROW: &str = "%as = OpBitcast %float %given\n%less = OpFConvert %small %as\n\
                      %bits = OpBitcast %byte %less\n%result = OpUConvert %uint %bits";

/// The number that 8 bits are, by the definition of their format.
fn defined(bits: u32, exponents: u32, has_infinity: bool) -> f32 {
    let fractions = 7 - exponents;
    let (exponent, fraction) = (
        (bits >> fractions) & ((1 << exponents) - 1),
        bits & ((1 << fractions) - 1),
    );
    let bias = (1 << (exponents - 1)) - 1;
    let scale = |power: i32| 2f32.powi(power);
    let part = fraction as f32 / scale(fractions as i32);
    let all = (1 << exponents) - 1;
    let magnitude = match (exponent == all, has_infinity) {
        (true, true) if fraction == 0 => f32::INFINITY,
        (true, true) => f32::NAN,
        (true, false) if fraction + 1 == 1 << fractions => f32::NAN,
        _ if exponent == 0 => part * scale(1 - bias),
        _ => (1.0 + part) * scale(exponent as i32 - bias),
    };
    if bits & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[test]
fn every_value_is_there_and_back() {
    for (encoding, exponents, has_infinity) in
        [("Float8E4M3EXT", 4, false), ("Float8E5M2EXT", 5, true)]
    {
        let all: Vec<u32> = (0..256).collect();
        let wide = converted(encoding, WIDEN, &all, "");
        for (bits, found) in all.iter().zip(&wide) {
            let (found, wanted) = (
                f32::from_bits(*found),
                defined(*bits, exponents, has_infinity),
            );
            let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
            assert!(same, "{encoding} {bits:#x}: {found}, not {wanted}");
        }
        let back = converted(encoding, NARROW, &wide, "");
        for ((bits, found), wide) in all.iter().zip(&back).zip(&wide) {
            let is_nan = f32::from_bits(*wide).is_nan();
            assert!(bits == found || is_nan, "{encoding} {bits:#x}: {found:#x}");
        }
    }
}

#[test]
fn numbers_that_are_too_large() {
    let numbers = [
        448f32,
        464.0,
        465.0,
        1e9,
        -1e9,
        f32::NAN,
        57344.0,
        61440.0,
        1.0625,
        1.1875,
    ];
    let words: Vec<u32> = (0..256)
        .map(|n| numbers[n % numbers.len()].to_bits())
        .collect();
    let first =
        |encoding, decoration| converted(encoding, NARROW, &words, decoration)[..10].to_vec();
    let e4m3 = [0x7e, 0x7e, 0x7f, 0x7f, 0xff, 0x7f, 0x7f, 0x7f, 0x38, 0x3a];
    assert_eq!(first("Float8E4M3EXT", ""), e4m3);
    let e5m2 = [0x5f, 0x5f, 0x5f, 0x7c, 0xfc, 0x7e, 0x7b, 0x7c, 0x3c, 0x3d];
    assert_eq!(first("Float8E5M2EXT", ""), e5m2);
    let saturated = "OpDecorate %less SaturatedToLargestFloat8NormalConversionEXT\n";
    let e4m3 = [0x7e, 0x7e, 0x7e, 0x7e, 0xfe, 0x7f, 0x7e, 0x7e, 0x38, 0x3a];
    assert_eq!(first("Float8E4M3EXT", saturated), e4m3);
    let e5m2 = [0x5f, 0x5f, 0x5f, 0x7b, 0xfb, 0x7e, 0x7b, 0x7b, 0x3c, 0x3d];
    assert_eq!(first("Float8E5M2EXT", saturated), e5m2);
}
