//! Floating-point intrinsics with two results, or that round to integers.

use super::super::function_body::FunctionTranslator;
use crate::LlvmResult;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::NumericShape;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::grammar::opencl_std as std_;

/// `llvm.modf`: fractional and integral part.
pub(super) fn lower_modf(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    body.emit_two_results(std_::MODF, shape, call).map(Some)
}

/// `llvm.sincos`
pub(super) fn lower_sincos(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    body.emit_two_results(std_::SINCOS, shape, call).map(Some)
}

/// `llvm.sincospi`: SPIR-V has no function for both results.
pub(super) fn lower_sincospi(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    let value = body.lower_value(call.arg(0)?)?;
    let value = body.promote_float(shape, value);
    let ty = body.arithmetic_type(shape);
    let both = [std_::SINPI, std_::COSPI].map(|number| {
        let made = body.emit_ext_inst(number, ty, &[value]);
        body.demote_float(shape, made)
    });
    let pair = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::CompositeConstruct, pair, both)))
}

/// `llvm.frexp`: fraction and exponent.
pub(super) fn lower_frexp(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?.as_int(32);
    body.emit_two_results(std_::FREXP, shape, call).map(Some)
}

/// `llvm.lround`, `llvm.llround`: halves away from zero.
pub(super) fn round_to_integer(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_rounded_integer(std_::ROUND, call).map(Some)
}

/// `llvm.lrint`, `llvm.llrint`: halves to even.
pub(super) fn lower_nearest_integer(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_rounded_integer(std_::RINT, call).map(Some)
}

impl FunctionTranslator<'_, '_> {
    /// A function that returns its second result through a pointer.
    fn emit_two_results(
        &mut self,
        number: u32,
        second: NumericShape,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let value = self.promote_float(shape, value);
        let second_type = self.arithmetic_type(second);
        let pointer = self.t.pointer_type(StorageClass::Function, second_type);
        let variable = self.t.b.local_variable(pointer, None);
        let ty = self.arithmetic_type(shape);
        let first = self.emit_ext_inst(number, ty, &[value, variable]);
        let other = self.emit_op(Op::Load, second_type, [variable]);
        let (first, other) = (
            self.demote_float(shape, first),
            self.demote_float(second, other),
        );
        let both = self.result_type(call.inst)?;
        Ok(self.emit_op(Op::CompositeConstruct, both, [first, other]))
    }

    fn emit_rounded_integer(&mut self, number: u32, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let value = self.promote_float(shape, value);
        let ty = self.arithmetic_type(shape);
        let whole = self.emit_ext_inst(number, ty, &[value]);
        let result = self.result_type(call.inst)?;
        Ok(self.emit_op(Op::ConvertFToS, result, [whole]))
    }
}
