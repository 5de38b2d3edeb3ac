//! Extended instructions of `OpenCL.std`.

mod float;
mod integer;
mod memory;
mod vector;

use super::Lower;
use super::composites::result;
use crate::facts::Scalar;
use spirula_diagnostics::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use spirula_spirv::ir::InstRef;

type Lowered = Result<Id, Diagnostic>;

/// What a function of scalars is given besides its operands.
#[derive(Clone, Copy)]
struct Call {
    /// Its number in the set.
    number: u32,
    /// Type of the result.
    ty: Id,
    /// The same, as a scalar.
    scalar: Scalar,
    /// The first operand's.
    from: Scalar,
}

impl Call {
    fn width(self) -> u32 {
        self.scalar.size() * 8
    }
}

/// How an instruction is lowered.
#[derive(Clone, Copy)]
enum Way {
    /// To one of GLSL.std.450, of floats of at most so many bits.
    Glsl(u32, u32),
    /// To an instruction.
    Op(Op),
    /// Component by component.
    Scalars(fn(&mut Lower<'_>, Call, &[Id]) -> Id),
    /// As a whole.
    Whole(fn(&mut Lower<'_>, InstRef<'_>) -> Lowered),
}

#[rustfmt::skip]
const TABLE: &[(&[u32], Way)] = &[
    (&[cl::FMAX], Way::Glsl(glsl::NMAX, 64)),
    (&[cl::FMIN], Way::Glsl(glsl::NMIN, 64)),
    (&[cl::FMAX_COMMON], Way::Glsl(glsl::FMAX, 64)),
    (&[cl::FMIN_COMMON], Way::Glsl(glsl::FMIN, 64)),
    (&[cl::FCLAMP], Way::Glsl(glsl::NCLAMP, 64)),
    (&[cl::CEIL], Way::Glsl(glsl::CEIL, 64)),
    (&[cl::FLOOR], Way::Glsl(glsl::FLOOR, 64)),
    (&[cl::TRUNC], Way::Glsl(glsl::TRUNC, 64)),
    (&[cl::RINT], Way::Glsl(glsl::ROUND_EVEN, 64)),
    (&[cl::FABS], Way::Glsl(glsl::FABS, 64)),
    (&[cl::FMA], Way::Glsl(glsl::FMA, 64)),
    (&[cl::SIGN], Way::Glsl(glsl::FSIGN, 64)),
    (&[cl::SQRT, cl::HALF_SQRT, cl::NATIVE_SQRT], Way::Glsl(glsl::SQRT, 64)),
    (&[cl::RSQRT, cl::HALF_RSQRT, cl::NATIVE_RSQRT], Way::Glsl(glsl::INVERSE_SQRT, 64)),
    (&[cl::SIN, cl::HALF_SIN, cl::NATIVE_SIN], Way::Glsl(glsl::SIN, 32)),
    (&[cl::COS, cl::HALF_COS, cl::NATIVE_COS], Way::Glsl(glsl::COS, 32)),
    (&[cl::TAN, cl::HALF_TAN, cl::NATIVE_TAN], Way::Glsl(glsl::TAN, 32)),
    (&[cl::ASIN], Way::Glsl(glsl::ASIN, 32)),
    (&[cl::ACOS], Way::Glsl(glsl::ACOS, 32)),
    (&[cl::ATAN], Way::Glsl(glsl::ATAN, 32)),
    (&[cl::ATAN2], Way::Glsl(glsl::ATAN2, 32)),
    (&[cl::SINH], Way::Glsl(glsl::SINH, 32)),
    (&[cl::COSH], Way::Glsl(glsl::COSH, 32)),
    (&[cl::TANH], Way::Glsl(glsl::TANH, 32)),
    (&[cl::ASINH], Way::Glsl(glsl::ASINH, 32)),
    (&[cl::ACOSH], Way::Glsl(glsl::ACOSH, 32)),
    (&[cl::ATANH], Way::Glsl(glsl::ATANH, 32)),
    (&[cl::EXP, cl::HALF_EXP, cl::NATIVE_EXP], Way::Glsl(glsl::EXP, 32)),
    (&[cl::EXP2, cl::HALF_EXP2, cl::NATIVE_EXP2], Way::Glsl(glsl::EXP2, 32)),
    (&[cl::LOG, cl::HALF_LOG, cl::NATIVE_LOG], Way::Glsl(glsl::LOG, 32)),
    (&[cl::LOG2, cl::HALF_LOG2, cl::NATIVE_LOG2], Way::Glsl(glsl::LOG2, 32)),
    (&[cl::POWR, cl::HALF_POWR, cl::NATIVE_POWR], Way::Glsl(glsl::POW, 32)),
    (&[cl::STEP], Way::Glsl(glsl::STEP, 64)),
    (&[cl::SMOOTHSTEP], Way::Glsl(glsl::SMOOTH_STEP, 64)),
    (&[cl::S_MAX], Way::Glsl(glsl::SMAX, 64)),
    (&[cl::U_MAX], Way::Glsl(glsl::UMAX, 64)),
    (&[cl::S_MIN], Way::Glsl(glsl::SMIN, 64)),
    (&[cl::U_MIN], Way::Glsl(glsl::UMIN, 64)),
    (&[cl::S_CLAMP], Way::Glsl(glsl::SCLAMP, 64)),
    (&[cl::U_CLAMP], Way::Glsl(glsl::UCLAMP, 64)),
    (&[cl::S_ABS], Way::Glsl(glsl::SABS, 64)),
    (&[cl::HALF_DIVIDE, cl::NATIVE_DIVIDE], Way::Op(Op::FDiv)),
    (&[cl::FMOD], Way::Op(Op::FRem)),
    (&[cl::S_MUL24, cl::U_MUL24], Way::Op(Op::IMul)),
    (&[cl::EXP10, cl::HALF_EXP10, cl::NATIVE_EXP10], Way::Scalars(float::exp10)),
    (&[cl::LOG10, cl::HALF_LOG10, cl::NATIVE_LOG10], Way::Scalars(float::log10)),
    (&[cl::HALF_RECIP, cl::NATIVE_RECIP], Way::Scalars(float::reciprocal)),
    (&[cl::MAD], Way::Scalars(float::mad)),
    (&[cl::MIX], Way::Scalars(float::mix)),
    (&[cl::ROUND], Way::Scalars(float::round)),
    (&[cl::COPYSIGN], Way::Scalars(float::copy_sign)),
    (&[cl::FDIM], Way::Scalars(float::positive_difference)),
    (&[cl::MAXMAG, cl::MINMAG], Way::Scalars(float::by_magnitude)),
    (&[cl::NAN], Way::Scalars(float::nan)),
    (&[cl::DEGREES, cl::RADIANS], Way::Scalars(float::scale)),
    (&[cl::LDEXP], Way::Scalars(float::ldexp)),
    (&[cl::HYPOT], Way::Scalars(float::hypot)),
    (&[cl::POW, cl::POWN], Way::Scalars(float::pow)),
    (&[cl::CBRT], Way::Scalars(float::cbrt)),
    (&[cl::LOG1P], Way::Scalars(float::log1p)),
    (&[cl::EXPM1], Way::Scalars(float::expm1)),
    (&[cl::SINPI, cl::COSPI, cl::TANPI], Way::Scalars(float::of_half_turns)),
    (&[cl::FRACT], Way::Whole(memory::fract)),
    (&[cl::MODF], Way::Whole(memory::modf)),
    (&[cl::FREXP], Way::Whole(memory::frexp)),
    (&[cl::SINCOS], Way::Whole(memory::sincos)),
    (&[cl::U_ABS], Way::Scalars(|_, _, v| v[0])),
    (&[cl::S_ABS_DIFF, cl::U_ABS_DIFF], Way::Scalars(integer::difference)),
    (&[cl::S_ADD_SAT, cl::U_ADD_SAT], Way::Scalars(integer::add)),
    (&[cl::S_SUB_SAT, cl::U_SUB_SAT], Way::Scalars(integer::subtract)),
    (&[cl::S_HADD, cl::U_HADD], Way::Scalars(integer::half_sum)),
    (&[cl::S_RHADD, cl::U_RHADD], Way::Scalars(integer::rounded_half_sum)),
    (&[cl::CLZ], Way::Scalars(|l, c, v| l.leading_zeros(v[0], c.width()))),
    (&[cl::CTZ], Way::Scalars(|l, c, v| l.trailing_zeros(v[0], c.width()))),
    (&[cl::POPCOUNT], Way::Scalars(|l, c, v| l.bit_count(v[0], c.width()))),
    (&[cl::S_MUL_HI], Way::Scalars(|l, c, v| l.high_product(v, c.scalar, true))),
    (&[cl::U_MUL_HI], Way::Scalars(|l, c, v| l.high_product(v, c.scalar, false))),
    (&[cl::S_MAD_HI, cl::U_MAD_HI], Way::Scalars(integer::high_mad)),
    (&[cl::S_MAD_SAT, cl::U_MAD_SAT], Way::Scalars(integer::saturated_mad)),
    (&[cl::S_MAD24, cl::U_MAD24], Way::Scalars(integer::mad)),
    (&[cl::ROTATE], Way::Scalars(integer::rotate)),
    (&[cl::U_UPSAMPLE, cl::S_UPSAMPLE], Way::Scalars(integer::upsample)),
    (&[cl::BITSELECT], Way::Scalars(integer::bit_select)),
    (&[cl::SELECT], Way::Whole(vector::select)),
    (&[cl::SHUFFLE, cl::SHUFFLE2], Way::Whole(vector::shuffle)),
    (&[cl::CROSS], Way::Whole(vector::cross)),
    (&[cl::LENGTH, cl::FAST_LENGTH], Way::Glsl(glsl::LENGTH, 64)),
    (&[cl::DISTANCE, cl::FAST_DISTANCE], Way::Glsl(glsl::DISTANCE, 64)),
    (&[cl::NORMALIZE, cl::FAST_NORMALIZE], Way::Glsl(glsl::NORMALIZE, 64)),
    (&[cl::VLOADN, cl::VLOAD_HALF, cl::VLOAD_HALFN, cl::VLOADA_HALFN], Way::Whole(memory::vector_load)),
    (&[cl::VSTOREN, cl::VSTORE_HALF, cl::VSTORE_HALF_R, cl::VSTORE_HALFN, cl::VSTORE_HALFN_R, cl::VSTOREA_HALFN,
        cl::VSTOREA_HALFN_R], Way::Whole(memory::vector_store)),
    (&[cl::PREFETCH], Way::Whole(|l, _| Ok(l.number(32, 0)))),
    (&[cl::PRINTF], Way::Whole(super::printf::print)),
];

/// Functions by others of GLSL.std.450 that it has for at most 32 bits.
const NARROW: &[u32] = &[
    cl::EXP10,
    cl::LOG10,
    cl::POW,
    cl::POWN,
    cl::CBRT,
    cl::LOG1P,
    cl::EXPM1,
    cl::SINPI,
    cl::COSPI,
    cl::TANPI,
    cl::SINCOS,
];

/// Whether Vulkan has instructions for a function of floats of a width, however exact they are.
pub fn has_instruction(number: u32, width: u32) -> bool {
    let found = TABLE.iter().find(|(numbers, _)| numbers.contains(&number));
    match found {
        Some((_, Way::Glsl(_, widest))) => width <= *widest,
        Some(_) => width < 64 || !NARROW.contains(&number),
        None => false,
    }
}

/// `OpExtInst`.
pub fn call(l: &mut Lower<'_>, inst: InstRef<'_>) -> Lowered {
    let number = inst.word(1);
    let set = l.facts.ids.set(inst);
    if set.is_some_and(|s| s.name.starts_with("NonSemantic.") || s.name.contains("DebugInfo")) {
        return Ok(l.number(32, 0));
    }
    let name = set
        .filter(|s| s.name == "OpenCL.std")
        .and_then(|s| s.instruction(number));
    let Some(name) = name.map(|i| i.name) else {
        return Err(crate::facts::refuse(inst, "this extended instruction"));
    };
    let found = TABLE.iter().find(|(numbers, _)| numbers.contains(&number));
    let way = found.map(|(_, way)| *way);
    let operands: Vec<Id> = inst.ids(2).collect();
    match way {
        None => Err(crate::facts::refuse(inst, name)),
        Some(Way::Op(op)) => l.each(inst, &operands, |l, ty, v| l.op(op, ty, v)),
        Some(Way::Whole(make)) => make(l, inst),
        Some(Way::Glsl(glsl, widest)) => {
            let (scalar, _) = l.scalars(operands[0])?;
            if scalar.size() * 8 > widest {
                let text = format!("{name} of {} bits", scalar.size() * 8);
                return Err(crate::facts::refuse(inst, &text));
            }
            l.each(inst, &operands, |l, ty, v| l.glsl(glsl, ty, v))
        }
        Some(Way::Scalars(make)) => {
            if NARROW.contains(&number) && l.scalars(operands[0])?.0.size() == 8 {
                return Err(crate::facts::refuse(inst, &format!("{name} of 64 bits")));
            }
            let ((scalar, _), (from, _)) = (l.scalars(result(inst))?, l.scalars(operands[0])?);
            l.each_scalar(inst, &operands, |l, ty, v| {
                let call = Call {
                    number,
                    ty,
                    scalar,
                    from,
                };
                make(l, call, v)
            })
        }
    }
}
