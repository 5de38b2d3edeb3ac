//! Extended instructions of `OpenCL.std`.

mod float;
mod geometry;
mod integer;
mod memory;
mod vector;

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, glsl_std_450 as glsl, opencl_std as cl};
use spirula_spirv::ir::InstRef;

/// Context of a function of scalars besides its operands.
#[derive(Clone, Copy)]
struct ScalarBuiltinCall {
    /// Its number in the set.
    number: u32,
    /// Type of the result.
    ty: Id,
    /// Scalar type of the result.
    scalar: MemoryScalar,
    /// Scalar type of the first operand.
    from: MemoryScalar,
}

impl ScalarBuiltinCall {
    fn width(self) -> u32 {
        self.scalar.size() * 8
    }
}

/// Ways to lower an extended instruction.
#[derive(Clone, Copy)]
enum OpenClStdLowering {
    /// It becomes one of GLSL.std.450, for floats of at most this many bits.
    Glsl(u32, u32),
    /// It becomes an instruction.
    Op(Op),
    /// It is lowered component by component.
    Scalars(fn(&mut ShaderLowering<'_>, ScalarBuiltinCall, &[Id]) -> Id),
    /// It is lowered as a whole.
    Whole(fn(&mut ShaderLowering<'_>, InstRef<'_>) -> Result<Id, SourceDiagnostic>),
}

#[rustfmt::skip]
const TABLE: &[(&[u32], OpenClStdLowering)] = &[
    (&[cl::FMAX], OpenClStdLowering::Glsl(glsl::NMAX, 64)),
    (&[cl::FMIN], OpenClStdLowering::Glsl(glsl::NMIN, 64)),
    (&[cl::FMAX_COMMON], OpenClStdLowering::Glsl(glsl::FMAX, 64)),
    (&[cl::FMIN_COMMON], OpenClStdLowering::Glsl(glsl::FMIN, 64)),
    (&[cl::FCLAMP], OpenClStdLowering::Glsl(glsl::NCLAMP, 64)),
    (&[cl::CEIL], OpenClStdLowering::Glsl(glsl::CEIL, 64)),
    (&[cl::FLOOR], OpenClStdLowering::Glsl(glsl::FLOOR, 64)),
    (&[cl::TRUNC], OpenClStdLowering::Glsl(glsl::TRUNC, 64)),
    (&[cl::RINT], OpenClStdLowering::Glsl(glsl::ROUND_EVEN, 64)),
    (&[cl::FABS], OpenClStdLowering::Glsl(glsl::FABS, 64)),
    (&[cl::FMA], OpenClStdLowering::Glsl(glsl::FMA, 64)),
    (&[cl::SIGN], OpenClStdLowering::Glsl(glsl::FSIGN, 64)),
    (&[cl::SQRT, cl::HALF_SQRT, cl::NATIVE_SQRT], OpenClStdLowering::Glsl(glsl::SQRT, 64)),
    (&[cl::RSQRT, cl::HALF_RSQRT, cl::NATIVE_RSQRT], OpenClStdLowering::Glsl(glsl::INVERSE_SQRT, 64)),
    (&[cl::SIN, cl::HALF_SIN, cl::NATIVE_SIN], OpenClStdLowering::Glsl(glsl::SIN, 32)),
    (&[cl::COS, cl::HALF_COS, cl::NATIVE_COS], OpenClStdLowering::Glsl(glsl::COS, 32)),
    (&[cl::TAN, cl::HALF_TAN, cl::NATIVE_TAN], OpenClStdLowering::Glsl(glsl::TAN, 32)),
    (&[cl::ASIN], OpenClStdLowering::Glsl(glsl::ASIN, 32)),
    (&[cl::ACOS], OpenClStdLowering::Glsl(glsl::ACOS, 32)),
    (&[cl::ATAN], OpenClStdLowering::Glsl(glsl::ATAN, 32)),
    (&[cl::ATAN2], OpenClStdLowering::Glsl(glsl::ATAN2, 32)),
    (&[cl::SINH], OpenClStdLowering::Glsl(glsl::SINH, 32)),
    (&[cl::COSH], OpenClStdLowering::Glsl(glsl::COSH, 32)),
    (&[cl::TANH], OpenClStdLowering::Glsl(glsl::TANH, 32)),
    (&[cl::ASINH], OpenClStdLowering::Glsl(glsl::ASINH, 32)),
    (&[cl::ACOSH], OpenClStdLowering::Glsl(glsl::ACOSH, 32)),
    (&[cl::ATANH], OpenClStdLowering::Glsl(glsl::ATANH, 32)),
    (&[cl::EXP, cl::HALF_EXP, cl::NATIVE_EXP], OpenClStdLowering::Glsl(glsl::EXP, 32)),
    (&[cl::EXP2, cl::HALF_EXP2, cl::NATIVE_EXP2], OpenClStdLowering::Glsl(glsl::EXP2, 32)),
    (&[cl::LOG, cl::HALF_LOG, cl::NATIVE_LOG], OpenClStdLowering::Glsl(glsl::LOG, 32)),
    (&[cl::LOG2, cl::HALF_LOG2, cl::NATIVE_LOG2], OpenClStdLowering::Glsl(glsl::LOG2, 32)),
    (&[cl::POWR, cl::HALF_POWR, cl::NATIVE_POWR], OpenClStdLowering::Glsl(glsl::POW, 32)),
    (&[cl::STEP], OpenClStdLowering::Glsl(glsl::STEP, 64)),
    (&[cl::SMOOTHSTEP], OpenClStdLowering::Glsl(glsl::SMOOTH_STEP, 64)),
    (&[cl::S_MAX], OpenClStdLowering::Glsl(glsl::SMAX, 64)),
    (&[cl::U_MAX], OpenClStdLowering::Glsl(glsl::UMAX, 64)),
    (&[cl::S_MIN], OpenClStdLowering::Glsl(glsl::SMIN, 64)),
    (&[cl::U_MIN], OpenClStdLowering::Glsl(glsl::UMIN, 64)),
    (&[cl::S_CLAMP], OpenClStdLowering::Glsl(glsl::SCLAMP, 64)),
    (&[cl::U_CLAMP], OpenClStdLowering::Glsl(glsl::UCLAMP, 64)),
    (&[cl::S_ABS], OpenClStdLowering::Glsl(glsl::SABS, 64)),
    (&[cl::HALF_DIVIDE, cl::NATIVE_DIVIDE], OpenClStdLowering::Op(Op::FDiv)),
    (&[cl::FMOD], OpenClStdLowering::Op(Op::FRem)),
    (&[cl::S_MUL24, cl::U_MUL24], OpenClStdLowering::Op(Op::IMul)),
    (&[cl::EXP10, cl::HALF_EXP10, cl::NATIVE_EXP10], OpenClStdLowering::Scalars(float::lower_exp10)),
    (&[cl::LOG10, cl::HALF_LOG10, cl::NATIVE_LOG10], OpenClStdLowering::Scalars(float::lower_log10)),
    (&[cl::HALF_RECIP, cl::NATIVE_RECIP], OpenClStdLowering::Scalars(float::lower_reciprocal)),
    (&[cl::MAD], OpenClStdLowering::Scalars(float::lower_mad)),
    (&[cl::MIX], OpenClStdLowering::Scalars(float::lower_mix)),
    (&[cl::ROUND], OpenClStdLowering::Scalars(float::lower_round)),
    (&[cl::COPYSIGN], OpenClStdLowering::Scalars(float::copy_sign)),
    (&[cl::FDIM], OpenClStdLowering::Scalars(float::positive_difference)),
    (&[cl::MAXMAG, cl::MINMAG], OpenClStdLowering::Scalars(float::select_by_magnitude)),
    (&[cl::NAN], OpenClStdLowering::Scalars(float::lower_nan)),
    (&[cl::DEGREES, cl::RADIANS], OpenClStdLowering::Scalars(float::lower_angle_conversion)),
    (&[cl::LDEXP], OpenClStdLowering::Scalars(float::lower_ldexp)),
    (&[cl::HYPOT], OpenClStdLowering::Scalars(float::lower_hypot)),
    (&[cl::POW, cl::POWN], OpenClStdLowering::Scalars(float::lower_pow)),
    (&[cl::CBRT], OpenClStdLowering::Scalars(float::lower_cbrt)),
    (&[cl::LOG1P], OpenClStdLowering::Scalars(float::lower_log1p)),
    (&[cl::EXPM1], OpenClStdLowering::Scalars(float::lower_expm1)),
    (&[cl::SINPI, cl::COSPI, cl::TANPI], OpenClStdLowering::Scalars(float::lower_half_turns)),
    (&[cl::FRACT], OpenClStdLowering::Whole(memory::lower_fract)),
    (&[cl::MODF], OpenClStdLowering::Whole(memory::lower_modf)),
    (&[cl::FREXP], OpenClStdLowering::Whole(memory::lower_frexp)),
    (&[cl::SINCOS], OpenClStdLowering::Whole(memory::lower_sincos)),
    (&[cl::U_ABS], OpenClStdLowering::Scalars(|_, _, v| v[0])),
    (&[cl::S_ABS_DIFF, cl::U_ABS_DIFF], OpenClStdLowering::Scalars(integer::lower_abs_diff)),
    (&[cl::S_ADD_SAT, cl::U_ADD_SAT], OpenClStdLowering::Scalars(integer::lower_add_sat)),
    (&[cl::S_SUB_SAT, cl::U_SUB_SAT], OpenClStdLowering::Scalars(integer::lower_sub_sat)),
    (&[cl::S_HADD, cl::U_HADD], OpenClStdLowering::Scalars(integer::half_sum)),
    (&[cl::S_RHADD, cl::U_RHADD], OpenClStdLowering::Scalars(integer::rounded_half_sum)),
    (&[cl::CLZ], OpenClStdLowering::Scalars(|l, c, v| l.leading_zeros(v[0], c.width()))),
    (&[cl::CTZ], OpenClStdLowering::Scalars(|l, c, v| l.trailing_zeros(v[0], c.width()))),
    (&[cl::POPCOUNT], OpenClStdLowering::Scalars(|l, c, v| l.bit_count(v[0], c.width()))),
    (&[cl::S_MUL_HI], OpenClStdLowering::Scalars(|l, c, v| l.high_product(v, c.scalar, true))),
    (&[cl::U_MUL_HI], OpenClStdLowering::Scalars(|l, c, v| l.high_product(v, c.scalar, false))),
    (&[cl::S_MAD_HI, cl::U_MAD_HI], OpenClStdLowering::Scalars(integer::high_mad)),
    (&[cl::S_MAD_SAT, cl::U_MAD_SAT], OpenClStdLowering::Scalars(integer::saturated_mad)),
    (&[cl::S_MAD24, cl::U_MAD24], OpenClStdLowering::Scalars(integer::lower_mad24)),
    (&[cl::ROTATE], OpenClStdLowering::Scalars(integer::lower_rotate)),
    (&[cl::U_UPSAMPLE, cl::S_UPSAMPLE], OpenClStdLowering::Scalars(integer::lower_upsample)),
    (&[cl::BITSELECT], OpenClStdLowering::Scalars(integer::bit_select)),
    (&[cl::SELECT], OpenClStdLowering::Whole(vector::lower_select_builtin)),
    (&[cl::SHUFFLE, cl::SHUFFLE2], OpenClStdLowering::Whole(vector::lower_shuffle_builtin)),
    (&[cl::CROSS], OpenClStdLowering::Whole(vector::lower_cross)),
    (&[cl::LENGTH], OpenClStdLowering::Whole(geometry::lower_length)),
    (&[cl::FAST_LENGTH], OpenClStdLowering::Glsl(glsl::LENGTH, 64)),
    (&[cl::DISTANCE], OpenClStdLowering::Whole(geometry::lower_distance)),
    (&[cl::FAST_DISTANCE], OpenClStdLowering::Glsl(glsl::DISTANCE, 64)),
    (&[cl::NORMALIZE], OpenClStdLowering::Whole(geometry::lower_normalize)),
    (&[cl::FAST_NORMALIZE], OpenClStdLowering::Glsl(glsl::NORMALIZE, 64)),
    (&[cl::VLOADN, cl::VLOAD_HALF, cl::VLOAD_HALFN, cl::VLOADA_HALFN], OpenClStdLowering::Whole(memory::vector_load)),
    (&[cl::VSTOREN, cl::VSTORE_HALF, cl::VSTORE_HALF_R, cl::VSTORE_HALFN, cl::VSTORE_HALFN_R, cl::VSTOREA_HALFN,
        cl::VSTOREA_HALFN_R], OpenClStdLowering::Whole(memory::vector_store)),
    (&[cl::PREFETCH], OpenClStdLowering::Whole(|l, _| Ok(l.make_uint_constant(32, 0)))),
    (&[cl::PRINTF], OpenClStdLowering::Whole(super::printf::lower_printf)),
];

/// Functions by those of GLSL.std.450, which has them for at most 32 bits.
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

/// Whether Vulkan has instructions for a function of floats of a width, regardless of their accuracy.
pub fn has_instruction(number: u32, width: u32) -> bool {
    let found = TABLE.iter().find(|(numbers, _)| numbers.contains(&number));
    match found {
        Some((_, OpenClStdLowering::Glsl(_, widest))) => width <= *widest,
        Some(_) => width < 64 || !NARROW.contains(&number),
        None => false,
    }
}

/// `OpExtInst`.
pub fn lower_extended_instruction(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let number = inst.operand_word(1);
    let set = l.info.ids.ext_inst_set(inst);
    if set.is_some_and(|s| s.name.starts_with("NonSemantic.") || s.name.contains("DebugInfo")) {
        return Ok(l.make_uint_constant(32, 0));
    }
    let name = set
        .filter(|s| s.name == "OpenCL.std")
        .and_then(|s| s.instruction_by_number(number));
    let Some(name) = name.map(|i| i.name) else {
        return Err(crate::error::diagnose_instruction(
            inst,
            "this extended instruction",
        ));
    };
    let found = TABLE.iter().find(|(numbers, _)| numbers.contains(&number));
    let way = found.map(|(_, way)| *way);
    let operands: Vec<Id> = inst.id_operands(2).collect();
    match way {
        None => Err(crate::error::diagnose_instruction(inst, name)),
        Some(OpenClStdLowering::Op(op)) => {
            l.map_components(inst, &operands, |l, ty, v| l.emit_value(op, ty, v))
        }
        Some(OpenClStdLowering::Whole(make)) => make(l, inst),
        Some(OpenClStdLowering::Glsl(glsl, widest)) => {
            let (scalar, _) = l.find_component_scalar(operands[0])?;
            if scalar.size() * 8 > widest {
                let text = format!("{name} of {} bits", scalar.size() * 8);
                return Err(crate::error::diagnose_instruction(inst, &text));
            }
            l.map_components(inst, &operands, |l, ty, v| l.emit_glsl(glsl, ty, v))
        }
        Some(OpenClStdLowering::Scalars(make)) => {
            if NARROW.contains(&number) && l.find_component_scalar(operands[0])?.0.size() == 8 {
                return Err(crate::error::diagnose_instruction(
                    inst,
                    &format!("{name} of 64 bits"),
                ));
            }
            let ((scalar, _), (from, _)) = (
                l.find_component_scalar(expect_result(inst))?,
                l.find_component_scalar(operands[0])?,
            );
            l.each_scalar(inst, &operands, |l, ty, v| {
                let call = ScalarBuiltinCall {
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
