//! Scalar operators: one table of names, types and semantics.
//!
//! Every operator is total. Cases that a target leaves undefined, such as division by zero without a `safe` form and
//! shifts beyond the width, have some value here.

use crate::ScalarType;
use serde::{Deserialize, Serialize};
use spirula_scalar::fold::{FoldOperation, FoldRule, find_named_rule};
use spirula_scalar::table::{ExtInstBody, RealFn, ScalarExtInst, ScalarExtSet};
use spirula_scalar::{int, math};
use std::fmt;

/// An operator with its types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ScalarOperator {
    /// The operation.
    pub op: ScalarOp,
    /// Type of the operands that [`ScalarOpSignature`] names.
    pub from: ScalarType,
    /// Type of the result.
    pub to: ScalarType,
}

/// Types of operands and result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarOpSignature {
    /// This number of operands of a type, and a result of the same type.
    Same(usize),
    /// This number of operands of a type, and a truth value.
    Test(usize),
    /// One operand, and a result of another type.
    Convert(ScalarTypeClass),
    /// One operand, and an `i32`.
    Count,
    /// An operand and an `i32`, and a result of the operand's type.
    WithInt,
    /// A truth value and two operands, and a result of their type.
    Select,
}

/// Types that an operator exists for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarTypeClass {
    /// Integers.
    Int,
    /// Floating-point types.
    Float,
    /// Truth values.
    Bool,
    /// All but the unit.
    Any,
}

impl ScalarTypeClass {
    /// Whether a type belongs to the class.
    pub fn has_type(self, ty: ScalarType) -> bool {
        match self {
            ScalarTypeClass::Int => ty.is_int(),
            ScalarTypeClass::Float => ty.is_float(),
            ScalarTypeClass::Bool => ty == ScalarType::Bool,
            ScalarTypeClass::Any => ty != ScalarType::Unit,
        }
    }
}

/// The SPIR-V instruction that computes an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarInstruction {
    /// A core instruction.
    Core {
        /// Its opcode.
        opcode: u32,
    },
    /// An instruction of GLSL.std.450.
    Glsl {
        /// Its number.
        number: u32,
        /// The types that it is used for.
        widths: GlslWidths,
    },
}

/// The types that an instruction of GLSL.std.450 is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlslWidths {
    /// All floating-point types.
    All,
    /// 32 and 64 bits. On NVIDIA's driver 580 the half-precision root of a negative number is not NaN.
    Wide,
    /// 32 bits. The instruction does not exist at 64 bits, and drivers fail on it at 16 bits.
    Single,
}

impl ScalarInstruction {
    /// Whether it computes operators on a type.
    pub fn has_type(self, ty: ScalarType) -> bool {
        match self {
            ScalarInstruction::Core { .. } => true,
            ScalarInstruction::Glsl { widths, .. } => match widths {
                All => true,
                Wide => ty != ScalarType::F16,
                Single => ty == ScalarType::F32,
            },
        }
    }
}

/// The semantics of an operator.
#[derive(Clone, Copy)]
pub(crate) enum ScalarOpSemantics {
    Int1(extern "C" fn(u64, u32) -> u64),
    Int2(extern "C" fn(u64, u64, u32) -> u64),
    Int3(extern "C" fn(u64, u64, u64, u32) -> u64),
    /// On sign-extended operands.
    Signed(fn(i64, i64, u32) -> i64),
    /// On zero-extended operands.
    Unsigned(fn(u64, u64, u32) -> u64),
    UnsignedTest(fn(u64, u64) -> bool),
    IntTest(extern "C" fn(u64, u64, u32) -> bool),
    Real(RealFn<f32>, RealFn<f64>),
    RealTest(fn(f64, f64) -> bool),
    /// A case of its own, in `evaluate.rs`.
    Own,
}

/// A row of the table of operators.
#[derive(Clone, Copy)]
pub struct ScalarOpInfo {
    /// The operator.
    pub op: ScalarOp,
    /// Its name.
    pub name: &'static str,
    /// The types of its operands.
    pub class: ScalarTypeClass,
    /// Number of operands, and type of the result.
    pub shape: ScalarOpSignature,
    /// The instruction that computes it; none where several instructions do.
    pub instruction: Option<ScalarInstruction>,
    pub(crate) semantics: ScalarOpSemantics,
}

/// The instruction and the semantics of a row.
struct ScalarOpMeaning {
    instruction: Option<ScalarInstruction>,
    semantics: ScalarOpSemantics,
}

/// The meaning of an operator that is a core instruction.
const fn from_core(name: &str) -> ScalarOpMeaning {
    let rule = find_core(name);
    let semantics = match rule.fold {
        FoldOperation::Int1(f) | FoldOperation::Logical1(f) => Int1(f),
        FoldOperation::Int2(f) | FoldOperation::Logical2(f) => Int2(f),
        FoldOperation::Compare(f) => IntTest(f),
        FoldOperation::Real2 { f32, f64 } => Real(RealFn::Binary(f32), RealFn::Binary(f64)),
        FoldOperation::RealCompare(f) => RealTest(f),
        FoldOperation::Negate | FoldOperation::Select => Own,
        _ => panic!("instructions of this shape are no operators"),
    };
    from_total_core(name, semantics)
}

/// The meaning of an operator that is a core instruction where that is defined, and has a value elsewhere.
const fn from_total_core(name: &str, semantics: ScalarOpSemantics) -> ScalarOpMeaning {
    let opcode = find_core(name).opcode;
    ScalarOpMeaning {
        instruction: Some(ScalarInstruction::Core { opcode }),
        semantics,
    }
}

const fn find_core(name: &str) -> &'static FoldRule {
    match find_named_rule(name) {
        Some(rule) => rule,
        None => panic!("no core instruction has this name"),
    }
}

/// The meaning of an operator that is an instruction of GLSL.std.450 on some types.
const fn from_glsl(widths: GlslWidths, name: &str) -> ScalarOpMeaning {
    let Some(ScalarExtInst { number, body, .. }) = ScalarExtSet::Glsl.find_named_function(name)
    else {
        panic!("no instruction of GLSL.std.450 has this name")
    };
    let ExtInstBody::Real { f32, f64, .. } = body else {
        panic!("this instruction is not on floating-point numbers")
    };
    ScalarOpMeaning {
        instruction: Some(ScalarInstruction::Glsl {
            number: *number,
            widths,
        }),
        semantics: Real(*f32, *f64),
    }
}

/// The meaning of an operator that several instructions compute.
const fn from_sequence(semantics: ScalarOpSemantics) -> ScalarOpMeaning {
    ScalarOpMeaning {
        instruction: None,
        semantics,
    }
}

macro_rules! operators {
    ($($op:ident $name:literal $class:ident $shape:expr => $meaning:expr;)*) => {
        /// The operators; [`ScalarOp::row`] describes each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the table gives names and meanings")]
        pub enum ScalarOp { $($op),* }

        /// All operators, in the order of [`ScalarOp`].
        pub static ROWS: &[ScalarOpInfo] = &[$(ScalarOpInfo {
            op: ScalarOp::$op,
            name: $name,
            class: ScalarTypeClass::$class,
            shape: $shape,
            instruction: $meaning.instruction,
            semantics: $meaning.semantics,
        }),*];
    };
}

/// A function of floating-point numbers of this shape, at both widths.
macro_rules! real {
    ($shape:ident $f:ident) => {
        from_sequence(Real(
            RealFn::$shape(math::$f::<f32>),
            RealFn::$shape(math::$f::<f64>),
        ))
    };
}

use GlslWidths::{All, Single, Wide};
use ScalarOpSemantics::{
    Int1, Int2, Int3, IntTest, Own, Real, RealTest, Signed, Unsigned, UnsignedTest,
};
use ScalarOpSignature::{Convert, Count, Same, Select, Test, WithInt};

operators! {
    // Integers; overflow wraps.
    Add "add" Int Same(2) => from_core("OpIAdd");
    Sub "sub" Int Same(2) => from_core("OpISub");
    Mul "mul" Int Same(2) => from_core("OpIMul");
    // Rounding to minus infinity; by zero 0.
    SDiv "sdiv" Int Same(2) => from_sequence(Signed(|a, b, _| floor_div(a, b)));
    SMod "smod" Int Same(2) => from_sequence(Signed(|a, b, _| floor_mod(a, b)));
    // Rounding to zero; by zero 0.
    SQuot "squot" Int Same(2) => from_total_core("OpSDiv", Signed(|a, b, _| trunc_div(a, b)));
    SRem "srem" Int Same(2) => from_sequence(Signed(|a, b, _| trunc_rem(a, b)));
    UDiv "udiv" Int Same(2) => from_total_core("OpUDiv", Unsigned(|a, b, _| a.checked_div(b).unwrap_or(0)));
    UMod "umod" Int Same(2) => from_total_core("OpUMod", Unsigned(|a, b, _| a.checked_rem(b).unwrap_or(0)));
    // (a + b - 1) div b.
    SDivUp "sdiv_up" Int Same(2) => from_sequence(Signed(|a, b, width| {
        floor_div(int::sign_extend(a.wrapping_add(b).wrapping_sub(1) as u64, width), b)
    }));
    UDivUp "udiv_up" Int Same(2) => from_sequence(Unsigned(|a, b, width| {
        (a.wrapping_add(b).wrapping_sub(1) & int::make_mask(width)).checked_div(b).unwrap_or(0)
    }));
    // The same with a divisor that may be zero; the result is 0 then.
    SDivSafe "sdiv_safe" Int Same(2) => from_sequence(Signed(|a, b, _| floor_div(a, b)));
    SModSafe "smod_safe" Int Same(2) => from_sequence(Signed(|a, b, _| floor_mod(a, b)));
    SQuotSafe "squot_safe" Int Same(2) => from_sequence(Signed(|a, b, _| trunc_div(a, b)));
    SRemSafe "srem_safe" Int Same(2) => from_sequence(Signed(|a, b, _| trunc_rem(a, b)));
    UDivSafe "udiv_safe" Int Same(2) => from_sequence(Unsigned(|a, b, _| a.checked_div(b).unwrap_or(0)));
    UModSafe "umod_safe" Int Same(2) => from_sequence(Unsigned(|a, b, _| a.checked_rem(b).unwrap_or(0)));
    SDivUpSafe "sdiv_up_safe" Int Same(2) => from_sequence(Signed(|a, b, width| {
        floor_div(int::sign_extend(a.wrapping_add(b).wrapping_sub(1) as u64, width), b)
    }));
    UDivUpSafe "udiv_up_safe" Int Same(2) => from_sequence(Unsigned(|a, b, width| {
        (a.wrapping_add(b).wrapping_sub(1) & int::make_mask(width)).checked_div(b).unwrap_or(0)
    }));
    // To a negative power 0.
    Pow "pow" Int Same(2) => from_sequence(Signed(|a, b, _| pow_by_squaring(a, b)));
    SMin "smin" Int Same(2) => from_sequence(Int2(int::s_min));
    SMax "smax" Int Same(2) => from_sequence(Int2(int::s_max));
    UMin "umin" Int Same(2) => from_sequence(Int2(int::u_min));
    UMax "umax" Int Same(2) => from_sequence(Int2(int::u_max));
    // Shifts take the amount modulo the width.
    Shl "shl" Int Same(2) => from_sequence(Int2(int::shl));
    LShr "lshr" Int Same(2) => from_sequence(Int2(int::u_shr));
    AShr "ashr" Int Same(2) => from_sequence(Int2(int::s_shr));
    And "and" Int Same(2) => from_core("OpBitwiseAnd");
    Or "or" Int Same(2) => from_core("OpBitwiseOr");
    Xor "xor" Int Same(2) => from_core("OpBitwiseXor");
    Complement "complement" Int Same(1) => from_core("OpNot");
    Neg "neg" Int Same(1) => from_core("OpSNegate");
    Abs "abs" Int Same(1) => from_sequence(Int1(int::s_abs));
    SSignum "ssignum" Int Same(1) => from_sequence(Signed(|a, _, _| a.signum()));
    USignum "usignum" Int Same(1) => from_sequence(Unsigned(|a, _, _| u64::from(a != 0)));
    Popc "popc" Int Count => from_sequence(Int1(int::popcount));
    Clz "clz" Int Count => from_sequence(Int1(int::clz));
    Ctz "ctz" Int Count => from_sequence(Int1(int::ctz));
    SMulHi "smul_hi" Int Same(2) => from_sequence(Int2(int::s_mul_hi));
    UMulHi "umul_hi" Int Same(2) => from_sequence(Int2(int::u_mul_hi));
    SMadHi "smad_hi" Int Same(3) => from_sequence(Int3(int::s_mad_hi));
    UMadHi "umad_hi" Int Same(3) => from_sequence(Int3(int::u_mad_hi));
    // Floating-point numbers.
    FAdd "fadd" Float Same(2) => from_core("OpFAdd");
    FSub "fsub" Float Same(2) => from_core("OpFSub");
    FMul "fmul" Float Same(2) => from_core("OpFMul");
    FDiv "fdiv" Float Same(2) => from_core("OpFDiv");
    FMod "fmod" Float Same(2) => from_core("OpFRem");
    FPow "fpow" Float Same(2) => real!(Binary pow);
    FMin "fmin" Float Same(2) => from_glsl(All, "NMin");
    FMax "fmax" Float Same(2) => from_glsl(All, "NMax");
    FNeg "fneg" Float Same(1) => from_core("OpFNegate");
    FAbs "fabs" Float Same(1) => from_glsl(All, "FAbs");
    // 1 with its sign; zeros and NaN stay.
    FSignum "fsignum" Float Same(1) => from_sequence(Own);
    Sqrt "sqrt" Float Same(1) => from_glsl(Wide, "Sqrt");
    Rsqrt "rsqrt" Float Same(1) => from_glsl(Wide, "InverseSqrt");
    Cbrt "cbrt" Float Same(1) => real!(Unary cbrt);
    Exp "exp" Float Same(1) => from_glsl(Single, "Exp");
    Log "log" Float Same(1) => from_glsl(Single, "Log");
    Log2 "log2" Float Same(1) => from_glsl(Single, "Log2");
    Log10 "log10" Float Same(1) => real!(Unary log10);
    Log1p "log1p" Float Same(1) => real!(Unary log1p);
    Sin "sin" Float Same(1) => from_glsl(Single, "Sin");
    Cos "cos" Float Same(1) => from_glsl(Single, "Cos");
    Tan "tan" Float Same(1) => from_glsl(Single, "Tan");
    Asin "asin" Float Same(1) => real!(Unary asin);
    Acos "acos" Float Same(1) => real!(Unary acos);
    Atan "atan" Float Same(1) => real!(Unary atan);
    Sinh "sinh" Float Same(1) => from_glsl(Single, "Sinh");
    Cosh "cosh" Float Same(1) => from_glsl(Single, "Cosh");
    Tanh "tanh" Float Same(1) => from_glsl(Single, "Tanh");
    Asinh "asinh" Float Same(1) => from_glsl(Single, "Asinh");
    Acosh "acosh" Float Same(1) => from_glsl(Single, "Acosh");
    Atanh "atanh" Float Same(1) => from_glsl(Single, "Atanh");
    SinPi "sinpi" Float Same(1) => real!(Unary sinpi);
    CosPi "cospi" Float Same(1) => real!(Unary cospi);
    TanPi "tanpi" Float Same(1) => real!(Unary tanpi);
    AsinPi "asinpi" Float Same(1) => real!(Unary asinpi);
    AcosPi "acospi" Float Same(1) => real!(Unary acospi);
    AtanPi "atanpi" Float Same(1) => real!(Unary atanpi);
    Atan2 "atan2" Float Same(2) => real!(Binary atan2);
    Atan2Pi "atan2pi" Float Same(2) => real!(Binary atan2pi);
    Hypot "hypot" Float Same(2) => real!(Binary hypot);
    Gamma "gamma" Float Same(1) => real!(Unary tgamma);
    LGamma "lgamma" Float Same(1) => real!(Unary lgamma);
    Erf "erf" Float Same(1) => real!(Unary erf);
    Erfc "erfc" Float Same(1) => real!(Unary erfc);
    // Ties to even.
    Round "round" Float Same(1) => from_glsl(All, "RoundEven");
    Ceil "ceil" Float Same(1) => from_glsl(All, "Ceil");
    Floor "floor" Float Same(1) => from_glsl(All, "Floor");
    Lerp "lerp" Float Same(3) => real!(Ternary mix);
    Mad "mad" Float Same(3) => real!(Ternary mad);
    Fma "fma" Float Same(3) => from_glsl(All, "Fma");
    CopySign "copysign" Float Same(2) => real!(Binary copysign);
    NextAfter "nextafter" Float Same(2) => from_sequence(Own);
    Ldexp "ldexp" Float WithInt => from_sequence(Own);
    IsNan "isnan" Float Test(1) => from_sequence(RealTest(|a, _| a.is_nan()));
    IsInf "isinf" Float Test(1) => from_sequence(RealTest(|a, _| a.is_infinite()));
    // Comparisons.
    Eq "eq" Any Test(2) => from_sequence(Own);
    SLt "slt" Int Test(2) => from_core("OpSLessThan");
    SLe "sle" Int Test(2) => from_core("OpSLessThanEqual");
    ULt "ult" Int Test(2) => from_core("OpULessThan");
    ULe "ule" Int Test(2) => from_core("OpULessThanEqual");
    FLt "flt" Float Test(2) => from_core("OpFOrdLessThan");
    FLe "fle" Float Test(2) => from_core("OpFOrdLessThanEqual");
    // Truth values; false is below true.
    BLt "blt" Bool Test(2) => from_sequence(UnsignedTest(|a, b| a < b));
    BLe "ble" Bool Test(2) => from_sequence(UnsignedTest(|a, b| a <= b));
    LogAnd "logand" Bool Same(2) => from_core("OpLogicalAnd");
    LogOr "logor" Bool Same(2) => from_core("OpLogicalOr");
    Not "not" Bool Same(1) => from_core("OpLogicalNot");
    Cond "cond" Any Select => from_core("OpSelect");
    // Conversions; to fewer bits they truncate, from floating-point numbers to zero.
    SExt "sext" Int Convert(ScalarTypeClass::Int) => from_sequence(Own);
    ZExt "zext" Int Convert(ScalarTypeClass::Int) => from_sequence(Own);
    FConv "fconv" Float Convert(ScalarTypeClass::Float) => from_sequence(Own);
    SToF "stof" Int Convert(ScalarTypeClass::Float) => from_sequence(Own);
    UToF "utof" Int Convert(ScalarTypeClass::Float) => from_sequence(Own);
    FToS "ftos" Float Convert(ScalarTypeClass::Int) => from_sequence(Own);
    FToU "ftou" Float Convert(ScalarTypeClass::Int) => from_sequence(Own);
    // The same bits as another type of the same width.
    Bits "bits" Any Convert(ScalarTypeClass::Any) => from_sequence(Own);
    // Whether it differs from zero.
    ToBool "to_bool" Any Convert(ScalarTypeClass::Bool) => from_sequence(Own);
    // 0 or 1.
    FromBool "from_bool" Bool Convert(ScalarTypeClass::Any) => from_sequence(Own);
}

pub(crate) fn trunc_div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

fn trunc_rem(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

pub(crate) fn floor_div(a: i64, b: i64) -> i64 {
    let rest = trunc_rem(a, b);
    trunc_div(a, b) - i64::from(rest != 0 && (rest < 0) != (b < 0))
}

fn floor_mod(a: i64, b: i64) -> i64 {
    let rest = trunc_rem(a, b);
    if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    }
}

/// The power, by squaring.
fn pow_by_squaring(base: i64, exponent: i64) -> i64 {
    let (mut base, mut exponent, mut product) = (base, exponent, i64::from(exponent >= 0));
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = product.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    product
}

impl ScalarOp {
    /// The operator's row.
    pub fn row(self) -> &'static ScalarOpInfo {
        &ROWS[self as usize]
    }

    /// The operator with this name.
    pub fn from_name(name: &str) -> Option<ScalarOp> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.op)
    }
}

impl ScalarOperator {
    /// An operator whose result type follows from the type of its operands: all but conversions.
    pub fn with_type(op: ScalarOp, ty: ScalarType) -> ScalarOperator {
        let to = match op.row().shape {
            Test(_) => ScalarType::Bool,
            Count => ScalarType::I32,
            _ => ty,
        };
        ScalarOperator { op, from: ty, to }
    }

    /// A conversion.
    pub fn from_conversion(op: ScalarOp, from: ScalarType, to: ScalarType) -> ScalarOperator {
        ScalarOperator { op, from, to }
    }

    /// Number of operands.
    pub fn arity(self) -> usize {
        match self.op.row().shape {
            Same(count) | Test(count) => count,
            Convert(_) | Count => 1,
            WithInt => 2,
            Select => 3,
        }
    }

    /// Type of an operand.
    pub fn operand_type(self, index: usize) -> ScalarType {
        match (self.op.row().shape, index) {
            (Select, 0) => ScalarType::Bool,
            (WithInt, 1) => ScalarType::I32,
            _ => self.from,
        }
    }

    /// Whether the types fit the operator's row.
    pub fn is_valid(self) -> bool {
        let row = self.op.row();
        row.class.has_type(self.from)
            && match row.shape {
                Convert(class) => {
                    let same_width = self.from.width() == self.to.width();
                    class.has_type(self.to) && (self.op != ScalarOp::Bits || same_width)
                }
                _ => self.to == ScalarOperator::with_type(self.op, self.from).to,
            }
    }

    /// Reads the form that `Display` writes.
    pub fn from_text(text: &str) -> Option<ScalarOperator> {
        let mut parts = text.split('.');
        let op = ScalarOp::from_name(parts.next()?)?;
        let from = ScalarType::from_name(parts.next()?)?;
        let operator = match parts.next() {
            Some(to) => ScalarOperator::from_conversion(op, from, ScalarType::from_name(to)?),
            None => ScalarOperator::with_type(op, from),
        };
        let is_complete = parts.next().is_none() && operator.to_string() == text;
        (is_complete && operator.is_valid()).then_some(operator)
    }
}

impl From<ScalarOperator> for String {
    fn from(operator: ScalarOperator) -> String {
        operator.to_string()
    }
}

impl TryFrom<String> for ScalarOperator {
    type Error = String;

    fn try_from(text: String) -> Result<ScalarOperator, String> {
        ScalarOperator::from_text(&text).ok_or_else(|| format!("there is no operator {text}"))
    }
}

/// `add.i32`, `sext.i32.i64`.
impl fmt::Display for ScalarOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.op.row();
        write!(f, "{}.{}", row.name, self.from)?;
        match row.shape {
            Convert(_) => write!(f, ".{}", self.to),
            _ => Ok(()),
        }
    }
}
