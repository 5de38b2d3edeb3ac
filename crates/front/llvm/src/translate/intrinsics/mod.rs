//! LLVM's intrinsics: the table and its dispatch.

mod bits;
mod constrained_float;
mod fixed_point;
mod float;
mod float_classes;
mod integer;
mod masked_memory;
mod matrix;
mod memory;
mod optimisation_hints;
mod saturating;
mod spirv_backend;
mod vector;
mod vector_predication;
mod vector_reductions;

use super::function_body::FunctionTranslator;
use crate::ir::{LlvmInst, LlvmInstFlags, Predicate};
use crate::translate::call_rules::{ExternalCall, IntrinsicRule};
use crate::translate::shapes::NumericElement;
use crate::{LlvmResult, make_refusal};
use rustc_hash::FxHashMap;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;
use std::sync::OnceLock;

use IntrinsicRule::{By, Ext, First, Ignored, Integer};

/// All intrinsics by name, without the type suffix.
const ROWS: &[(&str, IntrinsicRule)] = &[
    // Hints.
    ("llvm.assume", By(optimisation_hints::lower_assume)),
    (
        "llvm.lifetime.start",
        By(optimisation_hints::lower_lifetime_start),
    ),
    (
        "llvm.lifetime.end",
        By(optimisation_hints::lower_lifetime_end),
    ),
    ("llvm.invariant.end", Ignored),
    (
        "llvm.dbg.declare",
        By(optimisation_hints::lower_debug_declare),
    ),
    ("llvm.dbg.value", By(optimisation_hints::lower_debug_value)),
    ("llvm.dbg.label", Ignored),
    ("llvm.dbg.assign", Ignored),
    ("llvm.donothing", Ignored),
    ("llvm.sideeffect", Ignored),
    ("llvm.pseudoprobe", Ignored),
    ("llvm.experimental.noalias.scope.decl", Ignored),
    (
        "llvm.var.annotation",
        By(optimisation_hints::lower_variable_annotation),
    ),
    ("llvm.prefetch", Ignored),
    ("llvm.fake.use", Ignored),
    ("llvm.stackrestore", By(memory::lower_stack_restore)),
    ("llvm.instrprof", Ignored),
    ("llvm.trap", Ignored),
    ("llvm.debugtrap", Ignored),
    ("llvm.ubsantrap", Ignored),
    ("llvm.expect", By(optimisation_hints::lower_expect)),
    ("llvm.launder.invariant.group", First),
    ("llvm.strip.invariant.group", First),
    ("llvm.annotation", By(optimisation_hints::lower_annotation)),
    (
        "llvm.ptr.annotation",
        By(optimisation_hints::lower_annotation),
    ),
    ("llvm.experimental.convergence.anchor", Ignored),
    ("llvm.experimental.convergence.entry", Ignored),
    ("llvm.experimental.convergence.loop", Ignored),
    ("llvm.ssa.copy", First),
    (
        "llvm.arithmetic.fence",
        By(optimisation_hints::lower_arithmetic_fence),
    ),
    ("llvm.invariant.start", By(memory::lower_to_null)),
    ("llvm.stacksave", By(memory::lower_stack_save)),
    (
        "llvm.experimental.widenable.condition",
        By(optimisation_hints::lower_always_true),
    ),
    (
        "llvm.allow.runtime.check",
        By(optimisation_hints::lower_always_true),
    ),
    (
        "llvm.allow.ubsan.check",
        By(optimisation_hints::lower_always_true),
    ),
    ("llvm.type.test", By(optimisation_hints::lower_always_true)),
    (
        "llvm.public.type.test",
        By(optimisation_hints::lower_always_true),
    ),
    ("llvm.clear_cache", Ignored),
    ("llvm.objectsize", By(memory::object_size)),
    ("llvm.is.constant", By(memory::lower_to_zero)),
    // Destructors never run.
    ("__cxa_atexit", By(memory::lower_to_zero)),
    // Memory.
    ("llvm.memcpy", By(memory::lower_memcpy)),
    ("llvm.memcpy.inline", By(memory::lower_memcpy)),
    ("llvm.memmove", By(memory::lower_memmove)),
    ("llvm.memset", By(memory::lower_memset)),
    ("llvm.memset.inline", By(memory::lower_memset)),
    ("llvm.ptrmask", By(memory::mask_pointer)),
    ("llvm.load.relative", By(memory::load_relative)),
    ("llvm.threadlocal.address", First),
    // Matrices.
    ("llvm.matrix.transpose", By(matrix::lower_matrix_transpose)),
    ("llvm.matrix.multiply", By(matrix::lower_matrix_multiply)),
    (
        "llvm.matrix.column.major.load",
        By(matrix::lower_matrix_load),
    ),
    (
        "llvm.matrix.column.major.store",
        By(matrix::lower_matrix_store),
    ),
    // Floats.
    ("llvm.fabs", Ext(std_::FABS, 1)),
    ("llvm.sqrt", Ext(std_::SQRT, 1)),
    ("llvm.sin", Ext(std_::SIN, 1)),
    ("llvm.cos", Ext(std_::COS, 1)),
    ("llvm.tan", Ext(std_::TAN, 1)),
    ("llvm.asin", Ext(std_::ASIN, 1)),
    ("llvm.acos", Ext(std_::ACOS, 1)),
    ("llvm.atan", Ext(std_::ATAN, 1)),
    ("llvm.atan2", Ext(std_::ATAN2, 2)),
    ("llvm.sinh", Ext(std_::SINH, 1)),
    ("llvm.cosh", Ext(std_::COSH, 1)),
    ("llvm.tanh", Ext(std_::TANH, 1)),
    ("llvm.exp", Ext(std_::EXP, 1)),
    ("llvm.exp2", Ext(std_::EXP2, 1)),
    ("llvm.exp10", Ext(std_::EXP10, 1)),
    ("llvm.log", Ext(std_::LOG, 1)),
    ("llvm.log2", Ext(std_::LOG2, 1)),
    ("llvm.log10", Ext(std_::LOG10, 1)),
    ("llvm.pow", Ext(std_::POW, 2)),
    ("llvm.powi", By(integer::lower_powi_ldexp)),
    ("llvm.ldexp", By(integer::lower_powi_ldexp)),
    ("llvm.floor", Ext(std_::FLOOR, 1)),
    ("llvm.ceil", Ext(std_::CEIL, 1)),
    ("llvm.trunc", Ext(std_::TRUNC, 1)),
    ("llvm.rint", Ext(std_::RINT, 1)),
    ("llvm.nearbyint", Ext(std_::RINT, 1)),
    ("llvm.roundeven", Ext(std_::RINT, 1)),
    ("llvm.round", Ext(std_::ROUND, 1)),
    ("llvm.copysign", Ext(std_::COPYSIGN, 2)),
    ("llvm.fma", Ext(std_::FMA, 3)),
    ("llvm.fmuladd", Ext(std_::MAD, 3)),
    ("llvm.minnum", Ext(std_::FMIN, 2)),
    ("llvm.maxnum", Ext(std_::FMAX, 2)),
    ("llvm.minimumnum", Ext(std_::FMIN, 2)),
    ("llvm.maximumnum", Ext(std_::FMAX, 2)),
    ("llvm.minimum", By(integer::lower_minimum)),
    ("llvm.maximum", By(integer::lower_maximum)),
    ("llvm.canonicalize", By(integer::lower_canonicalize)),
    ("llvm.is.fpclass", By(float_classes::is_class)),
    ("llvm.fptosi.sat", By(saturating::to_signed)),
    ("llvm.fptoui.sat", By(saturating::to_unsigned)),
    (
        "llvm.experimental.constrained",
        By(constrained_float::lower_constrained),
    ),
    ("llvm.fpbuiltin", By(constrained_float::of_stated_error)),
    ("llvm.modf", By(float::lower_modf)),
    ("llvm.sincos", By(float::lower_sincos)),
    ("llvm.sincospi", By(float::lower_sincospi)),
    (
        "llvm.fptrunc.round",
        By(constrained_float::lower_fptrunc_round),
    ),
    ("llvm.get.rounding", By(integer::lower_get_rounding)),
    ("llvm.frexp", By(float::lower_frexp)),
    ("llvm.lround", By(float::round_to_integer)),
    ("llvm.llround", By(float::round_to_integer)),
    ("llvm.lrint", By(float::lower_nearest_integer)),
    ("llvm.llrint", By(float::lower_nearest_integer)),
    // Integers.
    ("llvm.umin", Integer(std_::U_MIN, false)),
    ("llvm.umax", Integer(std_::U_MAX, false)),
    ("llvm.smin", Integer(std_::S_MIN, true)),
    ("llvm.smax", Integer(std_::S_MAX, true)),
    ("llvm.abs", By(integer::lower_abs)),
    ("llvm.sadd.sat", By(saturating::add_signed)),
    ("llvm.uadd.sat", By(saturating::add_unsigned)),
    ("llvm.ssub.sat", By(saturating::subtract_signed)),
    ("llvm.usub.sat", By(saturating::subtract_unsigned)),
    ("llvm.sshl.sat", By(saturating::shift_signed)),
    ("llvm.ushl.sat", By(saturating::shift_unsigned)),
    ("llvm.sadd.with.overflow", By(integer::add_signed_overflow)),
    (
        "llvm.uadd.with.overflow",
        By(integer::add_unsigned_overflow),
    ),
    (
        "llvm.ssub.with.overflow",
        By(integer::subtract_signed_overflow),
    ),
    (
        "llvm.usub.with.overflow",
        By(integer::subtract_unsigned_overflow),
    ),
    (
        "llvm.smul.with.overflow",
        By(integer::multiply_signed_overflow),
    ),
    (
        "llvm.umul.with.overflow",
        By(integer::multiply_unsigned_overflow),
    ),
    ("llvm.scmp", By(integer::compare_signed)),
    ("llvm.ucmp", By(integer::compare_unsigned)),
    // Numbers with a fixed point.
    ("llvm.smul.fix", By(fixed_point::multiply_signed)),
    ("llvm.umul.fix", By(fixed_point::multiply_unsigned)),
    ("llvm.smul.fix.sat", By(fixed_point::multiply_signed)),
    ("llvm.umul.fix.sat", By(fixed_point::multiply_unsigned)),
    ("llvm.sdiv.fix", By(fixed_point::divide_signed)),
    ("llvm.udiv.fix", By(fixed_point::divide_unsigned)),
    ("llvm.sdiv.fix.sat", By(fixed_point::divide_signed)),
    ("llvm.udiv.fix.sat", By(fixed_point::divide_unsigned)),
    // Bits.
    ("llvm.ctpop", By(bits::lower_ctpop)),
    ("llvm.ctlz", By(bits::lower_leading_zeros)),
    ("llvm.cttz", By(bits::lower_trailing_zeros)),
    ("llvm.bswap", By(bits::swap_bytes)),
    ("llvm.bitreverse", By(bits::lower_bitreverse)),
    ("llvm.fshl", By(bits::lower_funnel_left)),
    ("llvm.fshr", By(bits::lower_funnel_right)),
    ("llvm.clmul", By(bits::multiply_without_carries)),
    // Lanes, halves, clocks.
    ("llvm.vector.reverse", By(vector::lower_vector_reverse)),
    ("llvm.vector.extract", By(vector::lower_vector_extract)),
    ("llvm.vector.insert", By(vector::lower_vector_insert)),
    ("llvm.vector.splice", By(vector::lower_vector_splice)),
    (
        "llvm.vector.interleave2",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave3",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave4",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave5",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave6",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave7",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.interleave8",
        By(vector::lower_vector_interleave),
    ),
    (
        "llvm.vector.deinterleave2",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave3",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave4",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave5",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave6",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave7",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.deinterleave8",
        By(vector::lower_vector_deinterleave),
    ),
    (
        "llvm.vector.partial.reduce.add",
        By(vector::add_partial_reduction),
    ),
    (
        "llvm.vector.partial.reduce.fadd",
        By(vector::add_partial_reduction),
    ),
    ("llvm.stepvector", By(vector::lower_stepvector)),
    (
        "llvm.get.active.lane.mask",
        By(vector::lower_active_lane_mask),
    ),
    (
        "llvm.experimental.cttz.elts",
        By(vector::lower_leading_false),
    ),
    ("llvm.cttz.elts", By(vector::lower_leading_false)),
    ("llvm.ct.select", By(vector::lower_ct_select)),
    // Operations on some lanes.
    ("llvm.vp", By(vector_predication::lower_vp_intrinsic)),
    // Accesses to some lanes.
    ("llvm.masked.load", By(masked_memory::lower_masked_load)),
    ("llvm.masked.store", By(masked_memory::lower_masked_store)),
    ("llvm.masked.gather", By(masked_memory::lower_masked_gather)),
    (
        "llvm.masked.scatter",
        By(masked_memory::lower_masked_scatter),
    ),
    (
        "llvm.masked.expandload",
        By(masked_memory::lower_expand_load),
    ),
    (
        "llvm.masked.compressstore",
        By(masked_memory::lower_compress_store),
    ),
    ("llvm.convert.to.fp16", By(vector::to_half_bits)),
    ("llvm.convert.from.fp16", By(vector::from_half_bits)),
    ("llvm.readcyclecounter", By(vector::lower_read_clock)),
    ("llvm.readsteadycounter", By(vector::lower_read_clock)),
    // Reductions.
    (
        "llvm.vector.reduce.add",
        By(vector_reductions::lower_reduce_add),
    ),
    (
        "llvm.vector.reduce.mul",
        By(vector_reductions::lower_reduce_mul),
    ),
    (
        "llvm.vector.reduce.and",
        By(vector_reductions::lower_reduce_and),
    ),
    (
        "llvm.vector.reduce.or",
        By(vector_reductions::lower_reduce_or),
    ),
    (
        "llvm.vector.reduce.xor",
        By(vector_reductions::lower_reduce_xor),
    ),
    (
        "llvm.vector.reduce.smax",
        By(vector_reductions::signed_maximum),
    ),
    (
        "llvm.vector.reduce.smin",
        By(vector_reductions::signed_minimum),
    ),
    (
        "llvm.vector.reduce.umax",
        By(vector_reductions::unsigned_maximum),
    ),
    (
        "llvm.vector.reduce.umin",
        By(vector_reductions::unsigned_minimum),
    ),
    ("llvm.vector.reduce.fadd", By(vector_reductions::float_add)),
    (
        "llvm.vector.reduce.fmul",
        By(vector_reductions::float_multiply),
    ),
    (
        "llvm.vector.reduce.fmax",
        By(vector_reductions::float_maximum),
    ),
    (
        "llvm.vector.reduce.fmin",
        By(vector_reductions::float_minimum),
    ),
    (
        "llvm.vector.reduce.fmaximum",
        By(vector_reductions::nan_maximum),
    ),
    (
        "llvm.vector.reduce.fminimum",
        By(vector_reductions::nan_minimum),
    ),
];

/// Instructions and the native ones that may replace them.
const NATIVE: &[(u32, u32)] = &[
    (std_::SQRT, std_::NATIVE_SQRT),
    (std_::SIN, std_::NATIVE_SIN),
    (std_::COS, std_::NATIVE_COS),
    (std_::TAN, std_::NATIVE_TAN),
    (std_::EXP, std_::NATIVE_EXP),
    (std_::EXP2, std_::NATIVE_EXP2),
    (std_::EXP10, std_::NATIVE_EXP10),
    (std_::LOG, std_::NATIVE_LOG),
    (std_::LOG2, std_::NATIVE_LOG2),
    (std_::LOG10, std_::NATIVE_LOG10),
];

/// Older prefixes of names, with the current ones.
const FORMER: &[(&str, &str)] = &[
    ("llvm.experimental.vector.", "llvm.vector."),
    ("llvm.experimental.stepvector", "llvm.stepvector"),
];

/// Names of all intrinsics, without the type suffix.
pub(super) fn intrinsic_names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().chain(spirv_backend::ROWS).map(|row| row.0)
}

/// The row of an intrinsic, for any type suffix.
pub(super) fn find_intrinsic(name: &str) -> Option<IntrinsicRule> {
    static INDEX: OnceLock<FxHashMap<&'static str, IntrinsicRule>> = OnceLock::new();
    let index = INDEX.get_or_init(|| ROWS.iter().chain(spirv_backend::ROWS).copied().collect());
    // Some intrinsics were experimental in older versions.
    let current = FORMER
        .iter()
        .find_map(|row| Some(format!("{}{}", row.1, name.strip_prefix(row.0)?)));
    let mut stem = current.as_deref().unwrap_or(name);
    loop {
        if let Some(intrinsic) = index.get(stem) {
            return Some(*intrinsic);
        }
        stem = stem.rsplit_once('.')?.0;
    }
}

impl FunctionTranslator<'_, '_> {
    /// Translates a call of an intrinsic.
    pub(super) fn lower_intrinsic(
        &mut self,
        intrinsic: Option<IntrinsicRule>,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        match intrinsic {
            None => Err(make_refusal("the intrinsic has no counterpart in SPIR-V")),
            Some(Ignored) => Ok(None),
            Some(First) => self.lower_value(call.arg(0)?).map(Some),
            Some(Ext(number, count)) => {
                let operands = self.first_arguments(call, count)?;
                let shape = self.result_shape(call.inst)?;
                let ty = self.arithmetic_type(shape);
                let number = self.choose_native_instruction(number, shape, call.inst);
                let id = self.emit_ext_inst(number, ty, &operands);
                self.decorate_fast_math(call.inst, id);
                Ok(Some(self.demote_float(shape, id)))
            }
            Some(IntrinsicRule::Op(op, count)) => {
                let operands = self.first_arguments(call, count)?;
                let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
                let shape = self.result_shape(call.inst)?;
                let ty = self.arithmetic_type(shape);
                let id = self.t.b.append_value(op, ty, &words);
                Ok(Some(self.demote_float(shape, id)))
            }
            Some(Integer(number, signed)) => {
                self.emit_integer_extremum(number, signed, call).map(Some)
            }
            Some(IntrinsicRule::BuiltIn(builtin)) => {
                self.lower_work_item(builtin, 0, call).map(Some)
            }
            Some(By(handler)) => handler(self, call),
        }
    }

    /// The native instruction that replaces a precise one, if approximations are permitted.
    fn choose_native_instruction(
        &self,
        number: u32,
        shape: super::shapes::NumericShape,
        inst: LlvmInst,
    ) -> u32 {
        let flags = self.function.inst(inst).flags;
        let allowed = flags.contains_all(LlvmInstFlags::AFN)
            && (shape.elem, shape.width) == (NumericElement::Float, 32);
        let row = NATIVE.iter().find(|row| allowed && row.0 == number);
        row.map_or(number, |row| row.1)
    }

    fn first_arguments(&mut self, call: &ExternalCall<'_>, count: usize) -> LlvmResult<Vec<Id>> {
        let mut ids = Vec::with_capacity(count);
        for index in 0..count {
            let argument = call.arg(index)?;
            let shape = self.shape_of(argument)?;
            let id = self.lower_value(argument)?;
            ids.push(self.promote_float(shape, id));
        }
        Ok(ids)
    }

    /// The smaller or larger of two integers.
    fn emit_integer_extremum(
        &mut self,
        number: u32,
        signed: bool,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        let mut left = self.lower_value(call.arg(0)?)?;
        let mut right = self.lower_value(call.arg(1)?)?;
        if shape.elem == NumericElement::Bool {
            let smaller = matches!(number, std_::U_MIN | std_::S_MIN);
            let op = if smaller != signed {
                Op::LogicalAnd
            } else {
                Op::LogicalOr
            };
            let ty = self.t.shape_type(shape);
            return Ok(self.emit_op(op, ty, [left, right]));
        }
        if signed {
            left = self.sign_extend_value(shape, left);
            right = self.sign_extend_value(shape, right);
        }
        let ty = self.t.shape_type(shape);
        let id = self.emit_ext_inst(number, ty, &[left, right]);
        Ok(self.mask_high_bits(shape, id))
    }

    /// A comparison of two numbers.
    pub(super) fn emit_comparison(
        &mut self,
        predicate: Predicate,
        shape: super::shapes::NumericShape,
        operands: [Id; 2],
    ) -> LlvmResult<Id> {
        self.compare_numbers(predicate, shape, operands[0], operands[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_suffixes_of_names_are_skipped() {
        assert!(matches!(
            find_intrinsic("llvm.fmuladd.v4f32"),
            Some(Ext(std_::MAD, 3))
        ));
        assert!(matches!(
            find_intrinsic("llvm.memcpy.p0.p1.i64"),
            Some(By(_))
        ));
        assert!(find_intrinsic("llvm.va_start").is_none());
        assert!(find_intrinsic("llvm").is_none());
    }
}
