//! Scalar functions of the compiler, as operators of compiled programs.

use crate::check::types::PrimitiveType;
use crate::syntax::tree::NumberType;
use spirula_program::{ScalarOp, ScalarOperator};

/// The operators that a scalar function is, by the type of its operands. None where there is no such operator.
struct OperatorRow {
    name: &'static str,
    signed: Option<ScalarOp>,
    unsigned: Option<ScalarOp>,
    float: Option<ScalarOp>,
    bool: Option<ScalarOp>,
}

/// A row of [`OPERATORS`].
macro_rules! row {
    ($name:literal $signed:tt $unsigned:tt $float:tt $bool:tt) => {
        OperatorRow {
            name: $name,
            signed: row!(@ $signed),
            unsigned: row!(@ $unsigned),
            float: row!(@ $float),
            bool: row!(@ $bool),
        }
    };
    (@ _) => { None };
    (@ $op:ident) => { Some(ScalarOp::$op) };
}

/// The functions whose operands and result follow from one type: signed, unsigned, float, bool.
const OPERATORS: &[OperatorRow] = &[
    row!("+" Add Add FAdd _),
    row!("-" Sub Sub FSub _),
    row!("*" Mul Mul FMul _),
    row!("/" SDiv UDiv FDiv _),
    row!("%" SMod UMod FMod _),
    row!("//" SQuot UDiv _ _),
    row!("%%" SRem UMod _ _),
    row!("**" Pow Pow FPow _),
    row!("neg" Neg Neg FNeg _),
    row!("abs" Abs _ FAbs _),
    row!("sgn" SSignum USignum FSignum _),
    row!("min" SMin UMin FMin _),
    row!("max" SMax UMax FMax _),
    row!("&" And And _ LogAnd),
    row!("|" Or Or _ LogOr),
    row!("not" Complement Complement _ Not),
    row!("^" Xor Xor _ _),
    row!("&&" _ _ _ LogAnd),
    row!("||" _ _ _ LogOr),
    row!("<<" Shl Shl _ _),
    row!(">>" AShr LShr _ _),
    row!(">>>" LShr LShr _ _),
    row!("popc" Popc Popc _ _),
    row!("clz" Clz Clz _ _),
    row!("ctz" Ctz Ctz _ _),
    row!("mul_hi" SMulHi UMulHi _ _),
    row!("<" SLt ULt FLt BLt),
    row!("<=" SLe ULe FLe BLe),
    row!("sqrt" _ _ Sqrt _),
    row!("rsqrt" _ _ Rsqrt _),
    row!("cbrt" _ _ Cbrt _),
    row!("exp" _ _ Exp _),
    row!("sin" _ _ Sin _),
    row!("cos" _ _ Cos _),
    row!("tan" _ _ Tan _),
    row!("sinpi" _ _ SinPi _),
    row!("cospi" _ _ CosPi _),
    row!("tanpi" _ _ TanPi _),
    row!("asin" _ _ Asin _),
    row!("acos" _ _ Acos _),
    row!("atan" _ _ Atan _),
    row!("asinpi" _ _ AsinPi _),
    row!("acospi" _ _ AcosPi _),
    row!("atanpi" _ _ AtanPi _),
    row!("sinh" _ _ Sinh _),
    row!("cosh" _ _ Cosh _),
    row!("tanh" _ _ Tanh _),
    row!("asinh" _ _ Asinh _),
    row!("acosh" _ _ Acosh _),
    row!("atanh" _ _ Atanh _),
    row!("atan2" _ _ Atan2 _),
    row!("atan2pi" _ _ Atan2Pi _),
    row!("hypot" _ _ Hypot _),
    row!("gamma" _ _ Gamma _),
    row!("lgamma" _ _ LGamma _),
    row!("erf" _ _ Erf _),
    row!("erfc" _ _ Erfc _),
    row!("log" _ _ Log _),
    row!("log2" _ _ Log2 _),
    row!("log10" _ _ Log10 _),
    row!("log1p" _ _ Log1p _),
    row!("ceil" _ _ Ceil _),
    row!("floor" _ _ Floor _),
    row!("round" _ _ Round _),
    row!("fma" _ _ Fma _),
    row!("isinf" _ _ IsInf _),
    row!("isnan" _ _ IsNan _),
    row!("nextafter" _ _ NextAfter _),
    row!("ldexp" _ _ Ldexp _),
    row!("copysign" _ _ CopySign _),
];

/// The type of compiled programs that has the values of a scalar type.
pub fn machine_type(scalar: PrimitiveType) -> spirula_program::ScalarType {
    use spirula_program::ScalarType as Machine;
    match scalar {
        PrimitiveType::Bool => Machine::Bool,
        PrimitiveType::Number(number) => match number {
            NumberType::I8 | NumberType::U8 => Machine::I8,
            NumberType::I16 | NumberType::U16 => Machine::I16,
            NumberType::I32 | NumberType::U32 => Machine::I32,
            NumberType::I64 | NumberType::U64 => Machine::I64,
            NumberType::F16 => Machine::F16,
            NumberType::F32 => Machine::F32,
            NumberType::F64 => Machine::F64,
        },
    }
}

/// Whether a scalar type is an integer without sign.
pub fn is_unsigned(scalar: PrimitiveType) -> bool {
    use NumberType::{U8, U16, U32, U64};
    matches!(scalar, PrimitiveType::Number(U8 | U16 | U32 | U64))
}

/// The operator that a scalar function is at a type. None if the function is no single operator.
pub fn find_operator(name: &str, scalar: PrimitiveType) -> Option<ScalarOperator> {
    let row = OPERATORS.iter().find(|row| row.name == name)?;
    let machine = machine_type(scalar);
    let op = if machine.is_float() {
        row.float
    } else if scalar == PrimitiveType::Bool {
        row.bool
    } else if is_unsigned(scalar) {
        row.unsigned
    } else {
        row.signed
    };
    Some(ScalarOperator::with_type(op?, machine))
}

/// The operators that convert values of one scalar type to another, one after the other. None if the values stay as they
/// are. Numbers with a fraction become narrow unsigned integers by way of `i64`, so that negative numbers wrap around.
pub fn find_conversion(from: PrimitiveType, to: PrimitiveType) -> Vec<ScalarOperator> {
    use spirula_program::ScalarType as Machine;
    let (source, target) = (machine_type(from), machine_type(to));
    let single = |op| vec![ScalarOperator::from_conversion(op, source, target)];
    match (from, to) {
        _ if source == target => Vec::new(),
        (PrimitiveType::Bool, _) => single(ScalarOp::FromBool),
        (_, PrimitiveType::Bool) => single(ScalarOp::ToBool),
        _ => match (source.is_float(), target.is_float()) {
            (true, true) => single(ScalarOp::FConv),
            (true, false) if is_unsigned(to) && target == Machine::I64 => single(ScalarOp::FToU),
            (true, false) if is_unsigned(to) => vec![
                ScalarOperator::from_conversion(ScalarOp::FToS, source, Machine::I64),
                ScalarOperator::from_conversion(ScalarOp::SExt, Machine::I64, target),
            ],
            (true, false) => single(ScalarOp::FToS),
            (false, true) if is_unsigned(from) => single(ScalarOp::UToF),
            (false, true) => single(ScalarOp::SToF),
            (false, false) if is_unsigned(from) || is_unsigned(to) => single(ScalarOp::ZExt),
            (false, false) => single(ScalarOp::SExt),
        },
    }
}
