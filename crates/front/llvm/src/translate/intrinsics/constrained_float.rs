//! Constrained floating point, and built-in functions with a stated error: other intrinsics with
//! additional conditions.

use super::super::function_body::FunctionTranslator;
use super::find_intrinsic;
use crate::ir::{LlvmOpcode, LlvmValue, Predicate, ValueKind};
use crate::translate::call_rules::{ExternalCall, IntrinsicRule};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FPRoundingMode};

/// Operations that are instructions when they are not constrained.
const OPERATIONS: &[(&str, Op, usize)] = &[
    ("fadd", Op::FAdd, 2),
    ("fsub", Op::FSub, 2),
    ("fmul", Op::FMul, 2),
    ("fdiv", Op::FDiv, 2),
    ("frem", Op::FRem, 2),
];

/// Conversions.
const CONVERSIONS: &[(&str, LlvmOpcode)] = &[
    ("sitofp", LlvmOpcode::SiToFp),
    ("uitofp", LlvmOpcode::UiToFp),
    ("fptosi", LlvmOpcode::FpToSi),
    ("fptoui", LlvmOpcode::FpToUi),
    ("fptrunc", LlvmOpcode::FpTrunc),
    ("fpext", LlvmOpcode::FpExt),
];

/// Rounding modes by their names in metadata. A dynamic mode has no decoration, and only
/// conversions can have one.
const ROUNDING: &[(&str, FPRoundingMode)] = &[
    ("round.tonearest", FPRoundingMode::RTE),
    ("round.towardzero", FPRoundingMode::RTZ),
    ("round.upward", FPRoundingMode::RTP),
    ("round.downward", FPRoundingMode::RTN),
];

/// The part of a name between a prefix and the types.
pub(super) fn extract_operation<'a>(name: &'a str, prefix: &str) -> &'a str {
    let rest = name.strip_prefix(prefix).unwrap_or(name);
    rest.split('.').next().unwrap_or(rest)
}

/// `llvm.experimental.constrained.NAME`
pub(super) fn lower_constrained(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let name = extract_operation(call.name, "llvm.experimental.constrained.");
    if matches!(name, "fcmp" | "fcmps") {
        return body.lower_constrained_comparison(call).map(Some);
    }
    let id = body.lower_unconstrained(name, call)?;
    let last = call.args.len().saturating_sub(2);
    if let (Some(id), Some(mode)) = (id, call.args.get(last))
        && matches!(name, "sitofp" | "uitofp" | "fptrunc")
    {
        body.decorate_rounding(id, *mode);
    }
    Ok(id)
}

/// `llvm.fptrunc.round`: a conversion and how it rounds.
pub(super) fn lower_fptrunc_round(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let id = body.lower_unconstrained("fptrunc", call)?;
    if let Some(id) = id {
        body.decorate_rounding(id, call.arg(1)?);
    }
    Ok(id)
}

/// `llvm.fpbuiltin.NAME`, whose attribute states the largest error permitted.
pub(super) fn of_stated_error(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let id = body.lower_unconstrained(extract_operation(call.name, "llvm.fpbuiltin."), call)?;
    if let (Some(id), Some(error)) = (id, body.stated_error(call)) {
        let words = [error.to_bits()];
        body.decorate_result(id, Decoration::FPMaxErrorDecorationINTEL, &words);
    }
    Ok(id)
}

impl FunctionTranslator<'_, '_> {
    fn lower_unconstrained(
        &mut self,
        name: &str,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        if let Some(&(_, op, count)) = OPERATIONS.iter().find(|row| row.0 == name) {
            return self.lower_intrinsic(Some(IntrinsicRule::Op(op, count)), call);
        }
        if let Some(&(_, opcode)) = CONVERSIONS.iter().find(|row| row.0 == name) {
            let value = call.arg(0)?;
            let (from, to) = (self.shape_of(value)?, self.result_shape(call.inst)?);
            let id = self.lower_value(value)?;
            return self.convert_number(opcode, from, to, id).map(Some);
        }
        let found = find_intrinsic(&format!("llvm.{name}")).or_else(|| by_extended(name));
        self.lower_intrinsic(found, call)
    }

    /// Decorates a conversion with the rounding mode of the metadata.
    fn decorate_rounding(&mut self, id: Id, mode: LlvmValue) {
        let mode = self.metadata_text(mode);
        let row = mode.and_then(|mode| ROUNDING.iter().find(|row| row.0 == mode));
        if let Some(row) = row {
            self.decorate_result(id, Decoration::FPRoundingMode, &[row.1.0]);
        }
    }

    fn lower_constrained_comparison(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let predicate = self.metadata_text(call.arg(2)?);
        let Some(predicate) = predicate.and_then(|p| Predicate::from_name_for(p, false)) else {
            return Err(make_refusal("the comparison has no predicate"));
        };
        let shape = self.shape_of(call.arg(0)?)?;
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        self.emit_comparison(predicate, shape, [left, right])
    }

    /// The text of a metadata string.
    pub(super) fn metadata_text(&self, value: LlvmValue) -> Option<&str> {
        let ValueKind::Metadata(metadata) = value.kind() else {
            return None;
        };
        let module = self.t.module;
        module
            .metadata
            .as_string(metadata)
            .map(|s| module.symbol_text(s))
    }

    /// The error that an attribute of the call states, in units of the last place.
    fn stated_error(&self, call: &ExternalCall<'_>) -> Option<f32> {
        let module = self.t.module;
        let key = module.strings.find_symbol("fpbuiltin-max-error")?;
        let info = self.function.call_info(call.inst)?;
        let set = module.attributes.function_set(info.attributes);
        let text = module.attributes.find_string(set, key)?;
        module.symbol_text(text).parse().ok()
    }
}

/// A function of OpenCL of that name.
fn by_extended(name: &str) -> Option<IntrinsicRule> {
    let row = crate::translate::extended_instructions::extended_by_name(name)?;
    Some(IntrinsicRule::Ext(row.number, row.operands.len()))
}
