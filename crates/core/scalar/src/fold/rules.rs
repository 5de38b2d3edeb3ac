//! Table of folding rules: one rule by opcode for every core instruction on scalars that has one.

use super::{FoldConstant, FoldType, convert};
use crate::format::{DecodedFloat, FloatEncoding, decode_bits};
use crate::table::is_same_name;
use crate::{int, math};

/// One instruction's rule.
#[derive(Clone, Copy, Debug)]
pub struct FoldRule {
    /// The opcode.
    pub opcode: u32,
    /// The instruction's name.
    pub name: &'static str,
    /// Its meaning.
    pub fold: FoldOperation,
}

/// The types of operands and result, and the function that computes the result.
#[derive(Clone, Copy, Debug)]
pub enum FoldOperation {
    /// Integer to integer of one type.
    Int1(extern "C" fn(u64, u32) -> u64),
    /// Two integers to one of their type.
    Int2(extern "C" fn(u64, u64, u32) -> u64),
    /// An integer and an amount of any integer type.
    Shift(extern "C" fn(u64, u64, u32) -> u64),
    /// Boolean to Boolean.
    Logical1(extern "C" fn(u64, u32) -> u64),
    /// Two Booleans to one.
    Logical2(extern "C" fn(u64, u64, u32) -> u64),
    /// Two integers of one type to a Boolean.
    Compare(extern "C" fn(u64, u64, u32) -> bool),
    /// An integer to one of any type.
    Count(extern "C" fn(u64, u32) -> u64),
    /// Base, insert, offset, count.
    Insert(extern "C" fn(u64, u64, u64, u64, u32) -> u64),
    /// Base, offset, count.
    Extract(extern "C" fn(u64, u64, u64, u32) -> u64),
    /// Two packed vectors to an integer.
    Dot(extern "C" fn(u64, u64, u32) -> u64),
    /// Two packed vectors and an integer to one of its type.
    DotAccumulate(extern "C" fn(u64, u64, u64, u32) -> u64),
    /// Two numbers to one of their type; narrower formats compute in `f32`.
    Real2 {
        /// On `f32`.
        f32: extern "C" fn(f32, f32) -> f32,
        /// On `f64`.
        f64: extern "C" fn(f64, f64) -> f64,
    },
    /// a·b + c, rounded once.
    FusedMultiplyAdd,
    /// A number with its sign turned.
    Negate,
    /// A number's class.
    Test(fn(u64, FloatEncoding) -> bool),
    /// Two numbers of one format, compared as `f64`.
    RealCompare(fn(f64, f64) -> bool),
    /// A Boolean and two values of the result's type.
    Select,
    /// One operand, of another type than the result.
    Convert(fn(FoldConstant, FoldType) -> Option<u64>),
}

/// All rules, ordered by opcode.
pub fn list_rules() -> &'static [FoldRule] {
    RULES
}

/// The rule of a core instruction by its name, for tables that are built at compile time.
pub const fn find_named_rule(name: &str) -> Option<&'static FoldRule> {
    let mut index = 0;
    while index < RULES.len() {
        if is_same_name(RULES[index].name, name) {
            return Some(&RULES[index]);
        }
        index += 1;
    }
    None
}

macro_rules! arithmetic {
    ($($name:ident $operator:tt)*) => {$(
        extern "C" fn $name<T: crate::real::NativeFloat>(a: T, b: T) -> T {
            a $operator b
        }
    )*};
}

arithmetic! { add + sub - mul * div / }

fn is_nan(bits: u64, format: FloatEncoding) -> bool {
    matches!(decode_bits(bits, format), DecodedFloat::Nan { .. })
}

fn is_infinite(bits: u64, format: FloatEncoding) -> bool {
    matches!(decode_bits(bits, format), DecodedFloat::Infinite { .. })
}

fn is_finite(bits: u64, format: FloatEncoding) -> bool {
    bits & format.infinity() != format.infinity()
}

fn is_normal(bits: u64, format: FloatEncoding) -> bool {
    is_finite(bits, format) && bits & format.infinity() != 0
}

fn sign_bit(bits: u64, format: FloatEncoding) -> bool {
    bits & format.sign_bit() != 0
}

fn is_ordered(a: f64, b: f64) -> bool {
    !a.is_nan() && !b.is_nan()
}

macro_rules! rule {
    ($opcode:literal, $name:literal, real $function:path) => {
        rule!(
            $opcode,
            $name,
            FoldOperation::Real2 {
                f32: $function,
                f64: $function
            }
        )
    };
    ($opcode:literal, $name:literal, compare $a:ident $b:ident $holds:expr) => {
        rule!($opcode, $name, FoldOperation::RealCompare(|$a, $b| $holds))
    };
    ($opcode:literal, $name:literal, $fold:expr) => {
        FoldRule {
            opcode: $opcode,
            name: $name,
            fold: $fold,
        }
    };
}

#[rustfmt::skip]
const RULES: &[FoldRule] = &[
    rule!(83, "OpCopyObject", FoldOperation::Convert(convert::fold_copy)),
    rule!(109, "OpConvertFToU", FoldOperation::Convert(convert::f_to_u)),
    rule!(110, "OpConvertFToS", FoldOperation::Convert(convert::f_to_s)),
    rule!(111, "OpConvertSToF", FoldOperation::Convert(convert::s_to_f)),
    rule!(112, "OpConvertUToF", FoldOperation::Convert(convert::u_to_f)),
    rule!(113, "OpUConvert", FoldOperation::Convert(convert::u_convert)),
    rule!(114, "OpSConvert", FoldOperation::Convert(convert::s_convert)),
    rule!(115, "OpFConvert", FoldOperation::Convert(convert::f_convert)),
    rule!(116, "OpQuantizeToF16", FoldOperation::Convert(convert::fold_quantize)),
    rule!(118, "OpSatConvertSToU", FoldOperation::Convert(convert::sat_s_to_u)),
    rule!(119, "OpSatConvertUToS", FoldOperation::Convert(convert::sat_u_to_s)),
    rule!(124, "OpBitcast", FoldOperation::Convert(convert::fold_bitcast)),
    rule!(126, "OpSNegate", FoldOperation::Int1(int::neg)),
    rule!(127, "OpFNegate", FoldOperation::Negate),
    rule!(128, "OpIAdd", FoldOperation::Int2(int::add)),
    rule!(129, "OpFAdd", real add),
    rule!(130, "OpISub", FoldOperation::Int2(int::sub)),
    rule!(131, "OpFSub", real sub),
    rule!(132, "OpIMul", FoldOperation::Int2(int::mul)),
    rule!(133, "OpFMul", real mul),
    rule!(134, "OpUDiv", FoldOperation::Int2(int::u_div)),
    rule!(135, "OpSDiv", FoldOperation::Int2(int::s_div)),
    rule!(136, "OpFDiv", real div),
    rule!(137, "OpUMod", FoldOperation::Int2(int::u_mod)),
    rule!(138, "OpSRem", FoldOperation::Int2(int::s_rem)),
    rule!(139, "OpSMod", FoldOperation::Int2(int::s_mod)),
    rule!(140, "OpFRem", real math::fmod),
    rule!(141, "OpFMod", real math::floor_mod),
    rule!(156, "OpIsNan", FoldOperation::Test(is_nan)),
    rule!(157, "OpIsInf", FoldOperation::Test(is_infinite)),
    rule!(158, "OpIsFinite", FoldOperation::Test(is_finite)),
    rule!(159, "OpIsNormal", FoldOperation::Test(is_normal)),
    rule!(160, "OpSignBitSet", FoldOperation::Test(sign_bit)),
    rule!(161, "OpLessOrGreater", compare a b is_ordered(a, b) && a != b),
    rule!(162, "OpOrdered", compare a b is_ordered(a, b)),
    rule!(163, "OpUnordered", compare a b !is_ordered(a, b)),
    rule!(164, "OpLogicalEqual", FoldOperation::Logical2(logical_equal)),
    rule!(165, "OpLogicalNotEqual", FoldOperation::Logical2(int::xor)),
    rule!(166, "OpLogicalOr", FoldOperation::Logical2(int::or)),
    rule!(167, "OpLogicalAnd", FoldOperation::Logical2(int::and)),
    rule!(168, "OpLogicalNot", FoldOperation::Logical1(int::not)),
    rule!(169, "OpSelect", FoldOperation::Select),
    rule!(170, "OpIEqual", FoldOperation::Compare(int::equal)),
    rule!(171, "OpINotEqual", FoldOperation::Compare(int::not_equal)),
    rule!(172, "OpUGreaterThan", FoldOperation::Compare(int::u_greater)),
    rule!(173, "OpSGreaterThan", FoldOperation::Compare(int::s_greater)),
    rule!(174, "OpUGreaterThanEqual", FoldOperation::Compare(int::u_greater_equal)),
    rule!(175, "OpSGreaterThanEqual", FoldOperation::Compare(int::s_greater_equal)),
    rule!(176, "OpULessThan", FoldOperation::Compare(int::u_less)),
    rule!(177, "OpSLessThan", FoldOperation::Compare(int::s_less)),
    rule!(178, "OpULessThanEqual", FoldOperation::Compare(int::u_less_equal)),
    rule!(179, "OpSLessThanEqual", FoldOperation::Compare(int::s_less_equal)),
    rule!(180, "OpFOrdEqual", compare a b a == b),
    rule!(181, "OpFUnordEqual", compare a b !is_ordered(a, b) || a == b),
    rule!(182, "OpFOrdNotEqual", compare a b is_ordered(a, b) && a != b),
    rule!(183, "OpFUnordNotEqual", compare a b a != b),
    rule!(184, "OpFOrdLessThan", compare a b a < b),
    rule!(185, "OpFUnordLessThan", compare a b !is_ordered(a, b) || a < b),
    rule!(186, "OpFOrdGreaterThan", compare a b a > b),
    rule!(187, "OpFUnordGreaterThan", compare a b !is_ordered(a, b) || a > b),
    rule!(188, "OpFOrdLessThanEqual", compare a b a <= b),
    rule!(189, "OpFUnordLessThanEqual", compare a b !is_ordered(a, b) || a <= b),
    rule!(190, "OpFOrdGreaterThanEqual", compare a b a >= b),
    rule!(191, "OpFUnordGreaterThanEqual", compare a b !is_ordered(a, b) || a >= b),
    rule!(194, "OpShiftRightLogical", FoldOperation::Shift(int::u_shr)),
    rule!(195, "OpShiftRightArithmetic", FoldOperation::Shift(int::s_shr)),
    rule!(196, "OpShiftLeftLogical", FoldOperation::Shift(int::shl)),
    rule!(197, "OpBitwiseOr", FoldOperation::Int2(int::or)),
    rule!(198, "OpBitwiseXor", FoldOperation::Int2(int::xor)),
    rule!(199, "OpBitwiseAnd", FoldOperation::Int2(int::and)),
    rule!(200, "OpNot", FoldOperation::Int1(int::not)),
    rule!(201, "OpBitFieldInsert", FoldOperation::Insert(int::bit_field_insert)),
    rule!(202, "OpBitFieldSExtract", FoldOperation::Extract(int::bit_field_s_extract)),
    rule!(203, "OpBitFieldUExtract", FoldOperation::Extract(int::bit_field_u_extract)),
    rule!(204, "OpBitReverse", FoldOperation::Int1(int::bit_reverse)),
    rule!(205, "OpBitCount", FoldOperation::Count(int::popcount)),
    rule!(4427, "OpFmaKHR", FoldOperation::FusedMultiplyAdd),
    rule!(4450, "OpSDot", FoldOperation::Dot(int::s_dot)),
    rule!(4451, "OpUDot", FoldOperation::Dot(int::u_dot)),
    rule!(4452, "OpSUDot", FoldOperation::Dot(int::su_dot)),
    rule!(4453, "OpSDotAccSat", FoldOperation::DotAccumulate(int::s_dot_acc_sat)),
    rule!(4454, "OpUDotAccSat", FoldOperation::DotAccumulate(int::u_dot_acc_sat)),
    rule!(4455, "OpSUDotAccSat", FoldOperation::DotAccumulate(int::su_dot_acc_sat)),
];

extern "C" fn logical_equal(a: u64, b: u64, _width: u32) -> u64 {
    int::equal(a, b, 1).into()
}
