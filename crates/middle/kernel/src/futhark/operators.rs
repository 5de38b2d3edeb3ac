//! How Futhark spells operators.

use rustc_hash::FxHashMap;
use spirula_program::{Op, ScalarOpSignature, ScalarOperator, ScalarType};
use std::sync::OnceLock;

/// What is glued to a spelling to make the name of an operator at a type.
#[derive(Clone, Copy)]
enum OperatorSuffix {
    /// The width in bits.
    Width,
    /// The type.
    Type,
    /// Nothing: there is one type only.
    None,
    /// The type of the operand, an underscore, and the type of the result.
    Types,
}
use OperatorSuffix::{None as Bare, Type, Types, Width};

const SPELLINGS: &[(&str, OperatorSuffix, Op)] = &[
    ("add", Width, Op::Add),
    ("add_nw", Width, Op::Add),
    ("sub", Width, Op::Sub),
    ("sub_nw", Width, Op::Sub),
    ("mul", Width, Op::Mul),
    ("mul_nw", Width, Op::Mul),
    ("sdiv", Width, Op::SDiv),
    ("smod", Width, Op::SMod),
    ("squot", Width, Op::SQuot),
    ("srem", Width, Op::SRem),
    ("udiv", Width, Op::UDiv),
    ("umod", Width, Op::UMod),
    ("sdiv_up", Width, Op::SDivUp),
    ("udiv_up", Width, Op::UDivUp),
    ("sdiv_safe", Width, Op::SDivSafe),
    ("smod_safe", Width, Op::SModSafe),
    ("squot_safe", Width, Op::SQuotSafe),
    ("srem_safe", Width, Op::SRemSafe),
    ("udiv_safe", Width, Op::UDivSafe),
    ("umod_safe", Width, Op::UModSafe),
    ("sdiv_up_safe", Width, Op::SDivUpSafe),
    ("udiv_up_safe", Width, Op::UDivUpSafe),
    ("shl", Width, Op::Shl),
    ("lshr", Width, Op::LShr),
    ("ashr", Width, Op::AShr),
    ("and", Width, Op::And),
    ("or", Width, Op::Or),
    ("xor", Width, Op::Xor),
    ("pow", Width, Op::Pow),
    ("smin", Width, Op::SMin),
    ("smax", Width, Op::SMax),
    ("umin", Width, Op::UMin),
    ("umax", Width, Op::UMax),
    ("complement", Width, Op::Complement),
    ("neg_", Type, Op::Neg),
    ("neg_", Type, Op::FNeg),
    ("neg_", Type, Op::Not),
    ("abs", Width, Op::Abs),
    ("ssignum", Width, Op::SSignum),
    ("usignum", Width, Op::USignum),
    ("popc", Width, Op::Popc),
    ("clz", Width, Op::Clz),
    ("ctz", Width, Op::Ctz),
    ("smul_hi", Width, Op::SMulHi),
    ("umul_hi", Width, Op::UMulHi),
    ("smad_hi", Width, Op::SMadHi),
    ("umad_hi", Width, Op::UMadHi),
    ("fadd", Width, Op::FAdd),
    ("fsub", Width, Op::FSub),
    ("fmul", Width, Op::FMul),
    ("fdiv", Width, Op::FDiv),
    ("fmod", Width, Op::FMod),
    ("fpow", Width, Op::FPow),
    ("fmin", Width, Op::FMin),
    ("fmax", Width, Op::FMax),
    ("fabs", Width, Op::FAbs),
    ("fsignum", Width, Op::FSignum),
    ("sqrt", Width, Op::Sqrt),
    ("rsqrt", Width, Op::Rsqrt),
    ("cbrt", Width, Op::Cbrt),
    ("exp", Width, Op::Exp),
    ("log", Width, Op::Log),
    ("log2_", Width, Op::Log2),
    ("log10_", Width, Op::Log10),
    ("log1p_", Width, Op::Log1p),
    ("sin", Width, Op::Sin),
    ("cos", Width, Op::Cos),
    ("tan", Width, Op::Tan),
    ("asin", Width, Op::Asin),
    ("acos", Width, Op::Acos),
    ("atan", Width, Op::Atan),
    ("sinh", Width, Op::Sinh),
    ("cosh", Width, Op::Cosh),
    ("tanh", Width, Op::Tanh),
    ("asinh", Width, Op::Asinh),
    ("acosh", Width, Op::Acosh),
    ("atanh", Width, Op::Atanh),
    ("sinpi", Width, Op::SinPi),
    ("cospi", Width, Op::CosPi),
    ("tanpi", Width, Op::TanPi),
    ("asinpi", Width, Op::AsinPi),
    ("acospi", Width, Op::AcosPi),
    ("atanpi", Width, Op::AtanPi),
    ("atan2_", Width, Op::Atan2),
    ("atan2pi_", Width, Op::Atan2Pi),
    ("hypot", Width, Op::Hypot),
    ("gamma", Width, Op::Gamma),
    ("lgamma", Width, Op::LGamma),
    ("erf", Width, Op::Erf),
    ("erfc", Width, Op::Erfc),
    ("round", Width, Op::Round),
    ("ceil", Width, Op::Ceil),
    ("floor", Width, Op::Floor),
    ("lerp", Width, Op::Lerp),
    ("mad", Width, Op::Mad),
    ("fma", Width, Op::Fma),
    ("copysign", Width, Op::CopySign),
    ("nextafter", Width, Op::NextAfter),
    ("ldexp", Width, Op::Ldexp),
    ("isnan", Width, Op::IsNan),
    ("isinf", Width, Op::IsInf),
    ("eq_", Type, Op::Eq),
    ("slt", Width, Op::SLt),
    ("sle", Width, Op::SLe),
    ("ult", Width, Op::ULt),
    ("ule", Width, Op::ULe),
    ("lt", Width, Op::FLt),
    ("le", Width, Op::FLe),
    ("llt", Bare, Op::BLt),
    ("lle", Bare, Op::BLe),
    ("logand", Bare, Op::LogAnd),
    ("logor", Bare, Op::LogOr),
    ("cond_", Type, Op::Cond),
    ("sext_", Types, Op::SExt),
    ("zext_", Types, Op::ZExt),
    ("fpconv_", Types, Op::FConv),
    ("sitofp_", Types, Op::SToF),
    ("uitofp_", Types, Op::UToF),
    ("fptosi_", Types, Op::FToS),
    ("fptoui_", Types, Op::FToU),
    ("fptobits_", Types, Op::Bits),
    ("bitstofp_", Types, Op::Bits),
    ("itob_", Types, Op::ToBool),
    ("ftob_", Types, Op::ToBool),
    ("btoi_", Types, Op::FromBool),
    ("btof_", Types, Op::FromBool),
];

/// All operators by their names.
pub(super) fn spellings() -> &'static FxHashMap<String, ScalarOperator> {
    static NAMES: OnceLock<FxHashMap<String, ScalarOperator>> = OnceLock::new();
    NAMES.get_or_init(all)
}

fn all() -> FxHashMap<String, ScalarOperator> {
    let mut names = FxHashMap::default();
    for (spelling, suffix, op) in SPELLINGS {
        let is_conversion = matches!(op.row().shape, ScalarOpSignature::Convert(_));
        for from in ScalarType::ALL {
            for to in ScalarType::ALL {
                let operator = match is_conversion {
                    true => ScalarOperator::convert(*op, from, to),
                    false => ScalarOperator::of(*op, from),
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
