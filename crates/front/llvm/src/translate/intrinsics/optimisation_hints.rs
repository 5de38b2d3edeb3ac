//! Optimisation hints: assumptions, expectations, lifetimes. They are omitted if their extension is
//! not allowed.

use super::super::function_body::FunctionTranslator;
use crate::LlvmResult;
use crate::ir::{LlvmOpcode, LlvmValue};
use crate::translate::call_rules::ExternalCall;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// `llvm.assume(condition)`
pub(super) fn lower_assume(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let condition = call.arg(0)?;
    // With operand bundles the condition is a constant, and the assumption has another meaning.
    if condition.as_const().is_none() && body.t.may_use("SPV_KHR_expect_assume") {
        let condition = body.lower_value(condition)?;
        body.t
            .b
            .append_effect(Op::AssumeTrueKHR, &[condition.word()]);
    }
    Ok(None)
}

/// `llvm.expect(value, expected)`, with and without a probability.
pub(super) fn lower_expect(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let value = body.lower_value(call.arg(0)?)?;
    if !body.t.may_use("SPV_KHR_expect_assume") {
        return Ok(Some(value));
    }
    let expected = body.lower_value(call.arg(1)?)?;
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::ExpectKHR, ty, [value, expected])))
}

/// Questions whose answer may always be yes.
pub(super) fn lower_always_true(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    Ok(Some(body.t.b.constant_bool(true)))
}

/// `llvm.arithmetic.fence(value)`
pub(super) fn lower_arithmetic_fence(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let value = body.lower_value(call.arg(0)?)?;
    if !body.t.may_use("SPV_EXT_arithmetic_fence") {
        return Ok(Some(value));
    }
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::ArithmeticFenceEXT, ty, [value])))
}

/// `llvm.lifetime.start([size,] pointer)`
pub(super) fn lower_lifetime_start(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_lifetime(Op::LifetimeStart, call)
}

/// `llvm.lifetime.end([size,] pointer)`
pub(super) fn lower_lifetime_end(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_lifetime(Op::LifetimeStop, call)
}

/// `llvm.ptr.annotation`, `llvm.annotation`: `(value, text, …)`
pub(super) fn lower_annotation(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let value = call.arg(0)?;
    let id = body.lower_value(value)?;
    body.annotate_value(value, call.arg(1)?, id);
    Ok(Some(id))
}

/// `llvm.var.annotation(variable, text, …)`
pub(super) fn lower_variable_annotation(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    lower_annotation(body, call).map(|_| None)
}

/// `llvm.dbg.declare(address, variable, expression)`
pub(super) fn lower_debug_declare(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_debug_call(true, call.args)
}

/// `llvm.dbg.value(value, variable, expression)`
pub(super) fn lower_debug_value(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_debug_call(false, call.args)
}

impl FunctionTranslator<'_, '_> {
    /// The beginning or end of a lifetime. It covers the whole variable, which a size of zero means
    /// unless the pointee is a byte.
    fn emit_lifetime(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        let pointer = call.arg(call.args.len().saturating_sub(1))?;
        let class = |id| {
            let ty = self.t.b.type_of(id)?;
            Some(self.t.pointee_of(ty)?.0)
        };
        let variable = self
            .variable_of(pointer)
            .map(|id| self.strip_generic_cast(id));
        if let Some(id) = variable.filter(|id| class(*id) == Some(StorageClass::Function)) {
            let size = u32::from(self.is_byte(id));
            self.t.b.append_effect(op, &[id.word(), size]);
        }
        Ok(None)
    }

    /// The variable that a generic pointer was cast from directly.
    fn strip_generic_cast(&self, pointer: Id) -> Id {
        let at = self
            .generic_casts
            .binary_search_by_key(&pointer, |cast| cast.0);
        at.map_or(pointer, |at| self.generic_casts[at].1)
    }

    /// Whether a pointer is to a byte. Only then a lifetime may state a size.
    fn is_byte(&mut self, pointer: Id) -> bool {
        let byte = self.t.make_byte_type();
        let ty = self.t.b.type_of(pointer);
        ty.and_then(|ty| self.t.pointee_of(ty))
            .is_some_and(|(_, pointee)| pointee == byte)
    }

    /// The variable that an allocation became.
    fn variable_of(&self, pointer: LlvmValue) -> Option<Id> {
        let local = pointer.as_local()?;
        let inst = self.function.inst(self.function.inst_of(local)?);
        if inst.opcode != LlvmOpcode::Alloca {
            return None;
        }
        let count = self.function.value_pool[inst.operands.to_range()].first()?;
        self.t.module.as_u64(*count)?;
        self.find_translated(local)
    }
}
