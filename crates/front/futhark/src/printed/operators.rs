//! Futhark's names of scalar operators.

use rustc_hash::FxHashMap;
use spirula_program::{ScalarOp, ScalarOpSignature, ScalarOperator, ScalarType};
use std::sync::OnceLock;

/// The suffix that turns a spelling into the name of an operator at a type.
#[derive(Clone, Copy)]
enum OperatorSuffix {
    /// The width in bits.
    Width,
    /// The type.
    Type,
    /// Nothing: the operator has one type only.
    None,
    /// The type of the operand, an underscore, and the type of the result.
    Types,
}
use OperatorSuffix::{None as Bare, Type, Types, Width};

const SPELLINGS: &[(&str, OperatorSuffix, ScalarOp)] = &[
    ("add", Width, ScalarOp::Add),
    ("add_nw", Width, ScalarOp::Add),
    ("sub", Width, ScalarOp::Sub),
    ("sub_nw", Width, ScalarOp::Sub),
    ("mul", Width, ScalarOp::Mul),
    ("mul_nw", Width, ScalarOp::Mul),
    ("sdiv", Width, ScalarOp::SDiv),
    ("smod", Width, ScalarOp::SMod),
    ("squot", Width, ScalarOp::SQuot),
    ("srem", Width, ScalarOp::SRem),
    ("udiv", Width, ScalarOp::UDiv),
    ("umod", Width, ScalarOp::UMod),
    ("sdiv_up", Width, ScalarOp::SDivUp),
    ("udiv_up", Width, ScalarOp::UDivUp),
    ("sdiv_safe", Width, ScalarOp::SDivSafe),
    ("smod_safe", Width, ScalarOp::SModSafe),
    ("squot_safe", Width, ScalarOp::SQuotSafe),
    ("srem_safe", Width, ScalarOp::SRemSafe),
    ("udiv_safe", Width, ScalarOp::UDivSafe),
    ("umod_safe", Width, ScalarOp::UModSafe),
    ("sdiv_up_safe", Width, ScalarOp::SDivUpSafe),
    ("udiv_up_safe", Width, ScalarOp::UDivUpSafe),
    ("shl", Width, ScalarOp::Shl),
    ("lshr", Width, ScalarOp::LShr),
    ("ashr", Width, ScalarOp::AShr),
    ("and", Width, ScalarOp::And),
    ("or", Width, ScalarOp::Or),
    ("xor", Width, ScalarOp::Xor),
    ("pow", Width, ScalarOp::Pow),
    ("smin", Width, ScalarOp::SMin),
    ("smax", Width, ScalarOp::SMax),
    ("umin", Width, ScalarOp::UMin),
    ("umax", Width, ScalarOp::UMax),
    ("complement", Width, ScalarOp::Complement),
    ("neg_", Type, ScalarOp::Neg),
    ("neg_", Type, ScalarOp::FNeg),
    ("neg_", Type, ScalarOp::Not),
    ("abs", Width, ScalarOp::Abs),
    ("ssignum", Width, ScalarOp::SSignum),
    ("usignum", Width, ScalarOp::USignum),
    ("popc", Width, ScalarOp::Popc),
    ("clz", Width, ScalarOp::Clz),
    ("ctz", Width, ScalarOp::Ctz),
    ("smul_hi", Width, ScalarOp::SMulHi),
    ("umul_hi", Width, ScalarOp::UMulHi),
    ("smad_hi", Width, ScalarOp::SMadHi),
    ("umad_hi", Width, ScalarOp::UMadHi),
    ("fadd", Width, ScalarOp::FAdd),
    ("fsub", Width, ScalarOp::FSub),
    ("fmul", Width, ScalarOp::FMul),
    ("fdiv", Width, ScalarOp::FDiv),
    ("fmod", Width, ScalarOp::FMod),
    ("fpow", Width, ScalarOp::FPow),
    ("fmin", Width, ScalarOp::FMin),
    ("fmax", Width, ScalarOp::FMax),
    ("fabs", Width, ScalarOp::FAbs),
    ("fsignum", Width, ScalarOp::FSignum),
    ("sqrt", Width, ScalarOp::Sqrt),
    ("rsqrt", Width, ScalarOp::Rsqrt),
    ("cbrt", Width, ScalarOp::Cbrt),
    ("exp", Width, ScalarOp::Exp),
    ("log", Width, ScalarOp::Log),
    ("log2_", Width, ScalarOp::Log2),
    ("log10_", Width, ScalarOp::Log10),
    ("log1p_", Width, ScalarOp::Log1p),
    ("sin", Width, ScalarOp::Sin),
    ("cos", Width, ScalarOp::Cos),
    ("tan", Width, ScalarOp::Tan),
    ("asin", Width, ScalarOp::Asin),
    ("acos", Width, ScalarOp::Acos),
    ("atan", Width, ScalarOp::Atan),
    ("sinh", Width, ScalarOp::Sinh),
    ("cosh", Width, ScalarOp::Cosh),
    ("tanh", Width, ScalarOp::Tanh),
    ("asinh", Width, ScalarOp::Asinh),
    ("acosh", Width, ScalarOp::Acosh),
    ("atanh", Width, ScalarOp::Atanh),
    ("sinpi", Width, ScalarOp::SinPi),
    ("cospi", Width, ScalarOp::CosPi),
    ("tanpi", Width, ScalarOp::TanPi),
    ("asinpi", Width, ScalarOp::AsinPi),
    ("acospi", Width, ScalarOp::AcosPi),
    ("atanpi", Width, ScalarOp::AtanPi),
    ("atan2_", Width, ScalarOp::Atan2),
    ("atan2pi_", Width, ScalarOp::Atan2Pi),
    ("hypot", Width, ScalarOp::Hypot),
    ("gamma", Width, ScalarOp::Gamma),
    ("lgamma", Width, ScalarOp::LGamma),
    ("erf", Width, ScalarOp::Erf),
    ("erfc", Width, ScalarOp::Erfc),
    ("round", Width, ScalarOp::Round),
    ("ceil", Width, ScalarOp::Ceil),
    ("floor", Width, ScalarOp::Floor),
    ("lerp", Width, ScalarOp::Lerp),
    ("mad", Width, ScalarOp::Mad),
    ("fma", Width, ScalarOp::Fma),
    ("copysign", Width, ScalarOp::CopySign),
    ("nextafter", Width, ScalarOp::NextAfter),
    ("ldexp", Width, ScalarOp::Ldexp),
    ("isnan", Width, ScalarOp::IsNan),
    ("isinf", Width, ScalarOp::IsInf),
    ("eq_", Type, ScalarOp::Eq),
    ("slt", Width, ScalarOp::SLt),
    ("sle", Width, ScalarOp::SLe),
    ("ult", Width, ScalarOp::ULt),
    ("ule", Width, ScalarOp::ULe),
    ("lt", Width, ScalarOp::FLt),
    ("le", Width, ScalarOp::FLe),
    ("llt", Bare, ScalarOp::BLt),
    ("lle", Bare, ScalarOp::BLe),
    ("logand", Bare, ScalarOp::LogAnd),
    ("logor", Bare, ScalarOp::LogOr),
    ("cond_", Type, ScalarOp::Cond),
    ("sext_", Types, ScalarOp::SExt),
    ("zext_", Types, ScalarOp::ZExt),
    ("fpconv_", Types, ScalarOp::FConv),
    ("sitofp_", Types, ScalarOp::SToF),
    ("uitofp_", Types, ScalarOp::UToF),
    ("fptosi_", Types, ScalarOp::FToS),
    ("fptoui_", Types, ScalarOp::FToU),
    ("fptobits_", Types, ScalarOp::Bits),
    ("bitstofp_", Types, ScalarOp::Bits),
    ("itob_", Types, ScalarOp::ToBool),
    ("ftob_", Types, ScalarOp::ToBool),
    ("btoi_", Types, ScalarOp::FromBool),
    ("btof_", Types, ScalarOp::FromBool),
];

/// All operators by name.
pub(super) fn operator_spellings() -> &'static FxHashMap<String, ScalarOperator> {
    static NAMES: OnceLock<FxHashMap<String, ScalarOperator>> = OnceLock::new();
    NAMES.get_or_init(build_spellings)
}

fn build_spellings() -> FxHashMap<String, ScalarOperator> {
    let mut names = FxHashMap::default();
    for (spelling, suffix, op) in SPELLINGS {
        let is_conversion = matches!(op.row().shape, ScalarOpSignature::Convert(_));
        for from in ScalarType::ALL {
            for to in ScalarType::ALL {
                let operator = if is_conversion {
                    ScalarOperator::from_conversion(*op, from, to)
                } else {
                    ScalarOperator::with_type(*op, from)
                };
                if !operator.is_valid() {
                    continue;
                }
                let name = match suffix {
                    Width => format!("{spelling}{}", from.width()),
                    Type => format!("{spelling}{from}"),
                    Types => format!("{spelling}{from}_{to}"),
                    Bare => (*spelling).to_owned(),
                };
                names.insert(name, operator);
            }
        }
    }
    names
}
