//! Each operation that is made of instructions of WebAssembly has the results of `spirula_scalar`, on numbers at the edges.

use crate::{run_both, write_kernel};

/// Bits of operands: zeros, ones, extremes of all widths, infinities, NaN and numbers of both formats.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    7,
    31,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbfc0_0000,
    0x7f80_0000,
    0x7fc0_0000,
    0x4f00_0000_0000_0001,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x3ff8_0000_0000_0000,
    0xfff0_0000_0000_0000,
];

/// Core instructions on two integers of a width.
const INTEGER_PAIRS: &[&str] = &[
    "OpIAdd",
    "OpISub",
    "OpIMul",
    "OpUDiv",
    "OpSDiv",
    "OpUMod",
    "OpSRem",
    "OpSMod",
    "OpShiftLeftLogical",
    "OpShiftRightLogical",
    "OpShiftRightArithmetic",
    "OpBitwiseAnd",
    "OpBitwiseOr",
    "OpBitwiseXor",
];

const INTEGER_SINGLES: &[&str] = &["OpSNegate", "OpNot", "OpBitCount"];

const INTEGER_COMPARISONS: &[&str] = &[
    "OpIEqual",
    "OpINotEqual",
    "OpUGreaterThan",
    "OpUGreaterThanEqual",
    "OpULessThan",
    "OpULessThanEqual",
    "OpSGreaterThan",
    "OpSGreaterThanEqual",
    "OpSLessThan",
    "OpSLessThanEqual",
];

/// Functions of OpenCL.std on integers, with the number of operands.
const INTEGER_FUNCTIONS: &[(&str, usize)] = &[
    ("s_abs", 1),
    ("u_abs", 1),
    ("clz", 1),
    ("popcount", 1),
    ("s_max", 2),
    ("s_min", 2),
    ("u_max", 2),
    ("u_min", 2),
    ("rotate", 2),
    ("s_mul_hi", 2),
    ("u_mul_hi", 2),
    ("s_clamp", 3),
    ("u_clamp", 3),
];

const FLOAT_PAIRS: &[&str] = &["OpFAdd", "OpFSub", "OpFMul", "OpFDiv"];

const FLOAT_COMPARISONS: &[&str] = &[
    "OpFOrdEqual",
    "OpFUnordEqual",
    "OpFOrdNotEqual",
    "OpFUnordNotEqual",
    "OpFOrdLessThan",
    "OpFUnordLessThan",
    "OpFOrdGreaterThan",
    "OpFUnordGreaterThan",
    "OpFOrdLessThanEqual",
    "OpFUnordLessThanEqual",
    "OpFOrdGreaterThanEqual",
    "OpFUnordGreaterThanEqual",
];

/// Functions of OpenCL.std on floating-point numbers.
const FLOAT_FUNCTIONS: &[(&str, usize)] = &[
    ("sqrt", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("rint", 1),
    ("fabs", 1),
    ("rsqrt", 1),
    ("native_recip", 1),
    ("half_divide", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("step", 2),
    ("fclamp", 3),
    ("mad", 3),
    ("mix", 3),
];

/// Checks an instruction on operands at the edges. `typed` is its text with operands `%a`, `%b`, `%c` of a type.
fn check_operation(operand: &str, result: &str, typed: &str) {
    let globals = format!(
        "%to_operand = OpTypePointer CrossWorkgroup %{operand}\n\
         %to_long = OpTypePointer CrossWorkgroup %u64\n\
         %long_zero = OpConstant %u64 0\n\
         %long_one = OpConstant %u64 1\n\
         %edges = OpConstant %u64 24\n\
         %five = OpConstant %u64 5"
    );
    // Each invocation takes one first operand and all second ones. Results follow the operands.
    let store = match result {
        "bool" => "%wide = OpSelect %u64 %made %long_one %long_zero",
        "f32" => "%cast = OpBitcast %u32 %made\n%wide = OpUConvert %u64 %cast",
        "f64" => "%wide = OpBitcast %u64 %made",
        "u64" => "%wide = OpCopyObject %u64 %made",
        _ => "%wide = OpUConvert %u64 %made",
    };
    let body = format!(
        "%first = OpBitcast %to_long %data
%pa = OpPtrAccessChain %to_long %first %number64
%qa = OpBitcast %to_operand %pa
%a = OpLoad %{operand} %qa
OpBranch %head
%head = OpLabel
%n = OpPhi %u64 %long_zero %entry %n1 %head
%pb = OpPtrAccessChain %to_long %first %n
%qb = OpBitcast %to_operand %pb
%b = OpLoad %{operand} %qb
%n5 = OpIAdd %u64 %n %five
%third = OpUMod %u64 %n5 %edges
%pc = OpPtrAccessChain %to_long %first %third
%qc = OpBitcast %to_operand %pc
%c = OpLoad %{operand} %qc
%made = {typed}
{store}
%row = OpIMul %u64 %number64 %edges
%row1 = OpIAdd %u64 %row %n
%row2 = OpIAdd %u64 %row1 %edges
%to = OpPtrAccessChain %to_long %first %row2
OpStore %to %wide
%n1 = OpIAdd %u64 %n %long_one
%more = OpULessThan %bool %n1 %edges
OpBranchConditional %more %head %done
%done = OpLabel
OpReturn"
    );
    let text = write_kernel(&globals, &body, "");
    let mut bytes: Vec<u8> = EDGES.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    bytes.resize(8 * 24 * 25, 0);
    let [interpreted, translated] = run_both(&text, 12, &bytes);
    let interpreted = interpreted.expect("the interpreter runs it");
    let translated = translated.unwrap_or_else(|error| panic!("{typed}: {error}"));
    let pairs = interpreted.chunks(8).zip(translated.chunks(8));
    for (at, (expected, found)) in pairs.enumerate() {
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let (expected, found) = (word(expected), word(found));
        let is_nan = |bits: u64| match result {
            "f32" => f32::from_bits(bits as u32).is_nan(),
            "f64" => f64::from_bits(bits).is_nan(),
            _ => false,
        };
        let is_equal = expected == found || (is_nan(expected) && is_nan(found));
        assert!(
            is_equal,
            "{typed}, {at}: {expected:#x}, WebAssembly {found:#x}"
        );
    }
}

#[test]
fn integers_of_all_widths() {
    for ty in ["u8", "u16", "u32", "u64"] {
        for op in INTEGER_PAIRS {
            check_operation(ty, ty, &format!("{op} %{ty} %a %b"));
        }
        for op in INTEGER_SINGLES {
            check_operation(ty, ty, &format!("{op} %{ty} %a"));
        }
        for op in INTEGER_COMPARISONS {
            check_operation(ty, "bool", &format!("{op} %bool %a %b"));
        }
        for (name, count) in INTEGER_FUNCTIONS {
            let operands = ["%a", "%b", "%c"][..*count].join(" ");
            check_operation(ty, ty, &format!("OpExtInst %{ty} %std {name} {operands}"));
        }
    }
}

#[test]
fn divisors_that_are_constants() {
    for divisor in ["zero", "one", "three", "ten"] {
        for op in ["OpUDiv", "OpSDiv", "OpUMod", "OpSRem", "OpSMod"] {
            check_operation("u32", "u32", &format!("{op} %u32 %a %{divisor}"));
        }
    }
}

#[test]
fn floating_point_numbers_of_both_widths() {
    for ty in ["f32", "f64"] {
        for op in FLOAT_PAIRS {
            check_operation(ty, ty, &format!("{op} %{ty} %a %b"));
        }
        check_operation(ty, ty, &format!("OpFNegate %{ty} %a"));
        check_operation(ty, "bool", "OpIsNan %bool %a");
        for op in FLOAT_COMPARISONS {
            check_operation(ty, "bool", &format!("{op} %bool %a %b"));
        }
        for (name, count) in FLOAT_FUNCTIONS {
            let operands = ["%a", "%b", "%c"][..*count].join(" ");
            check_operation(ty, ty, &format!("OpExtInst %{ty} %std {name} {operands}"));
        }
    }
}

#[test]
fn conversions_between_all_types() {
    let integers = ["u8", "u16", "u32", "u64"];
    for from in integers {
        for to in integers.iter().filter(|to| **to != from) {
            check_operation(from, to, &format!("OpUConvert %{to} %a"));
            check_operation(from, to, &format!("OpSConvert %{to} %a"));
        }
        for to in ["f32", "f64"] {
            check_operation(from, to, &format!("OpConvertSToF %{to} %a"));
            check_operation(from, to, &format!("OpConvertUToF %{to} %a"));
            check_operation(to, from, &format!("OpConvertFToS %{from} %a"));
            check_operation(to, from, &format!("OpConvertFToU %{from} %a"));
        }
    }
    check_operation("f32", "f64", "OpFConvert %f64 %a");
    check_operation("f64", "f32", "OpFConvert %f32 %a");
}
