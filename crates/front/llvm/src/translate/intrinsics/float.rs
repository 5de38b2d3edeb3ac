//! Intrinsics on floats that give two results, or round to integers.

use super::super::body::FunctionTranslator;
use super::super::builtins::ExternalCall;
use super::super::refusal::TranslationResult;
use super::super::types::NumericShape;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::grammar::opencl_std as std_;

/// `llvm.modf`: fraction and whole part.
pub(super) fn modf(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    body.two_results(std_::MODF, shape, call).map(Some)
}

/// `llvm.sincos`
pub(super) fn sincos(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    body.two_results(std_::SINCOS, shape, call).map(Some)
}

/// `llvm.sincospi`: there is no function of both.
pub(super) fn sincospi(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?;
    let value = body.value(call.arg(0)?)?;
    let value = body.widened(shape, value);
    let ty = body.arithmetic_type(shape);
    let both = [std_::SINPI, std_::COSPI].map(|number| {
        let made = body.ext(number, ty, &[value]);
        body.narrowed(shape, made)
    });
    let pair = body.result_type(call.inst)?;
    Ok(Some(body.op(Op::CompositeConstruct, pair, both)))
}

/// `llvm.frexp`: fraction and exponent.
pub(super) fn frexp(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    let shape = body.shape_of(call.arg(0)?)?.as_int(32);
    body.two_results(std_::FREXP, shape, call).map(Some)
}

/// `llvm.lround`, `llvm.llround`: halves away from zero.
pub(super) fn round_to_integer(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    body.rounded_integer(std_::ROUND, call).map(Some)
}

/// `llvm.lrint`, `llvm.llrint`: halves to even.
pub(super) fn nearest_integer(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> TranslationResult<Option<Id>> {
    body.rounded_integer(std_::RINT, call).map(Some)
}

impl FunctionTranslator<'_, '_> {
    /// A function that gives its second result through a pointer.
    fn two_results(
        &mut self,
        number: u32,
        second: NumericShape,
        call: &ExternalCall<'_>,
    ) -> TranslationResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.value(call.arg(0)?)?;
        let value = self.widened(shape, value);
        let second_type = self.arithmetic_type(second);
        let pointer = self.t.pointer_type(StorageClass::Function, second_type);
        let variable = self.t.b.local_variable(pointer, None);
        let ty = self.arithmetic_type(shape);
        let first = self.ext(number, ty, &[value, variable]);
        let other = self.op(Op::Load, second_type, [variable]);
        let (first, other) = (self.narrowed(shape, first), self.narrowed(second, other));
        let both = self.result_type(call.inst)?;
        Ok(self.op(Op::CompositeConstruct, both, [first, other]))
    }

    fn rounded_integer(&mut self, number: u32, call: &ExternalCall<'_>) -> TranslationResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.value(call.arg(0)?)?;
        let value = self.widened(shape, value);
        let ty = self.arithmetic_type(shape);
        let whole = self.ext(number, ty, &[value]);
        let result = self.result_type(call.inst)?;
        Ok(self.op(Op::ConvertFToS, result, [whole]))
    }
}
