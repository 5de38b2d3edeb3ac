//! Numeric functions: extended instructions, relations, conversions.

use super::MangledBaseType;
use crate::translate::call_rules::ExternalCall;
use crate::translate::extended_instructions::extended_by_number;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{Decoration, FPRoundingMode, PackedVectorFormat};
use spirula_spirv::grammar::{Op, OperandCategory, OperandQuantifier, opencl_std};

/// Dot products by the suffix of their names, with their instructions without and with a saturating
/// accumulator. `us` has the signed operand second, SPIR-V has it first.
const PACKED: &[(&str, Op, Op)] = &[
    ("_uu_uint", Op::UDot, Op::UDotAccSat),
    ("_ss_int", Op::SDot, Op::SDotAccSat),
    ("_su_int", Op::SUDot, Op::SUDotAccSat),
    ("_us_int", Op::SUDot, Op::SUDotAccSat),
];

/// `dot_4x8packed_NAME(a, b)` and `dot_acc_sat_4x8packed_NAME(a, b, accumulator)`
pub(super) fn lower_packed_dot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let Some(row) = PACKED.iter().find(|row| call.name.ends_with(row.0)) else {
        return Err(make_refusal("there is no such dot product"));
    };
    let mut operands = [
        body.lower_value(call.arg(0)?)?,
        body.lower_value(call.arg(1)?)?,
    ];
    if row.0 == "_us_int" {
        operands.reverse();
    }
    let mut words = operands.map(Id::word).to_vec();
    let mut op = row.1;
    if let Some(&accumulator) = call.args.get(2) {
        words.push(body.lower_value(accumulator)?.word());
        op = row.2;
    }
    words.push(PackedVectorFormat::PackedVectorFormat4x8Bit.0);
    let ty = body.call_type(call)?;
    Ok(Some(body.t.b.append_value(op, ty, &words)))
}

/// Dot products of integers, without or with a saturating accumulator.
pub(super) fn lower_integer_dot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let signs = [0, 1].map(|n| {
        call.param(n)
            .is_some_and(super::MangledParameter::is_signed)
    });
    let saturates = call.args.len() > 2;
    let op = match (signs, saturates) {
        ([true, true], false) => Op::SDot,
        ([false, false], false) => Op::UDot,
        (_, false) => Op::SUDot,
        ([true, true], true) => Op::SDotAccSat,
        ([false, false], true) => Op::UDotAccSat,
        (_, true) => Op::SUDotAccSat,
    };
    let mut operands = [
        body.lower_value(call.arg(0)?)?,
        body.lower_value(call.arg(1)?)?,
    ];
    if signs == [false, true] {
        operands.reverse();
    }
    let mut words = operands.map(Id::word).to_vec();
    if saturates {
        words.push(body.lower_value(call.arg(2)?)?.word());
    }
    let ty = body.call_type(call)?;
    Ok(Some(body.t.b.append_value(op, ty, &words)))
}

/// `dot(a, b)`
pub(super) fn lower_dot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    if !call.is_float() {
        return lower_integer_dot(body, call);
    }
    let left = body.lower_value(call.arg(0)?)?;
    let right = body.lower_value(call.arg(1)?)?;
    let ty = body.call_type(call)?;
    let op = match body.shape_of(call.arg(0)?)?.lanes {
        1 => Op::FMul,
        _ => Op::Dot,
    };
    Ok(Some(body.emit_op(op, ty, [left, right])))
}

/// `any(x)`: whether the sign of any lane is set.
pub(super) fn lower_any(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_sign_test(Op::Any, call).map(Some)
}

/// `all(x)`: whether the signs of all lanes are set.
pub(super) fn lower_all(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_sign_test(Op::All, call).map(Some)
}

/// `bit_reverse(x)`
pub(super) fn lower_bit_reverse(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_bit_field(Op::BitReverse, call)
}

/// `bitfield_insert(base, insert, offset, count)`
pub(super) fn lower_bit_insert(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_bit_field(Op::BitFieldInsert, call)
}

/// `bitfield_extract_signed(base, offset, count)`
pub(super) fn lower_signed_bit_extract(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_bit_field(Op::BitFieldSExtract, call)
}

/// `bitfield_extract_unsigned(base, offset, count)`
pub(super) fn lower_unsigned_bit_extract(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_bit_field(Op::BitFieldUExtract, call)
}

/// Types by their names in OpenCL C.
const NAMES: &[(&str, MangledBaseType<'static>)] = &[
    ("uchar", MangledBaseType::Int(8, false)),
    ("char", MangledBaseType::Int(8, true)),
    ("ushort", MangledBaseType::Int(16, false)),
    ("short", MangledBaseType::Int(16, true)),
    ("uint", MangledBaseType::Int(32, false)),
    ("int", MangledBaseType::Int(32, true)),
    ("ulong", MangledBaseType::Int(64, false)),
    ("long", MangledBaseType::Int(64, true)),
    ("half", MangledBaseType::Float(16)),
    ("float", MangledBaseType::Float(32)),
    ("double", MangledBaseType::Float(64)),
];

/// Rounding modes by their suffixes.
const ROUNDING: &[(&str, FPRoundingMode)] = &[
    ("_rte", FPRoundingMode::RTE),
    ("_rtz", FPRoundingMode::RTZ),
    ("_rtp", FPRoundingMode::RTP),
    ("_rtn", FPRoundingMode::RTN),
];

/// Extended instructions whose scalar operand is an offset in memory.
const OFFSETS: &[u32] = &[
    opencl_std::VLOADN,
    opencl_std::VLOAD_HALFN,
    opencl_std::VLOADA_HALFN,
];

/// The rounding mode at the end of a name, and the rest of the name.
pub(super) fn split_rounding(name: &str) -> (&str, Option<FPRoundingMode>) {
    let found = ROUNDING
        .iter()
        .find_map(|(suffix, mode)| name.strip_suffix(suffix).map(|rest| (rest, *mode)));
    match found {
        Some((rest, mode)) => (rest, Some(mode)),
        None => (name, None),
    }
}

/// `convert_TYPE[_sat][_ROUNDING](x)`
pub(super) fn lower_convert(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (name, rounding) = split_rounding(call.name);
    let saturated = name.ends_with("_sat");
    let name = name.strip_suffix("_sat").unwrap_or(name);
    let name = name.strip_prefix("convert_").unwrap_or(name);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let target = NAMES.iter().find(|row| row.0 == name).map(|row| row.1);
    let (Some(target), Some(param)) = (target, call.param(0)) else {
        return Err(make_refusal("there is no such conversion"));
    };
    let source = param.base;
    let value = call.arg(0)?;
    let (from, to) = (body.shape_of(value)?, body.result_shape(call.inst)?);
    let id = body.lower_value(value)?;
    let (op, saturating) = choose_conversion(source, target, saturated);
    let Some(op) = op else {
        return Ok(Some(match from.elem {
            NumericElement::Bool => body.convert_boolean(id, to, false),
            _ => id,
        }));
    };
    if from.elem == NumericElement::Bool || to.elem == NumericElement::Bool {
        return Err(make_refusal("a conversion from or to Booleans"));
    }
    let ty = body.t.shape_type(to);
    let id = body.emit_op(op, ty, [id]);
    if saturating {
        body.decorate_result(id, Decoration::SaturatedConversion, &[]);
    }
    let floats = matches!(
        (source, target),
        (MangledBaseType::Float(_), _) | (_, MangledBaseType::Float(_))
    );
    if let (Some(mode), true) = (rounding, floats) {
        body.decorate_result(id, Decoration::FPRoundingMode, &[mode.0]);
    }
    Ok(Some(id))
}

/// The instruction of a conversion, `None` if nothing is to be done, and whether it needs the
/// decoration for saturation.
fn choose_conversion(
    from: MangledBaseType<'_>,
    to: MangledBaseType<'_>,
    saturated: bool,
) -> (Option<Op>, bool) {
    match (from, to) {
        (MangledBaseType::Int(_, true), MangledBaseType::Int(_, false)) if saturated => {
            (Some(Op::SatConvertSToU), false)
        }
        (MangledBaseType::Int(_, false), MangledBaseType::Int(_, true)) if saturated => {
            (Some(Op::SatConvertUToS), false)
        }
        (MangledBaseType::Int(a, _), MangledBaseType::Int(b, _)) if a == b => (None, false),
        (MangledBaseType::Int(_, true), MangledBaseType::Int(..)) => {
            (Some(Op::SConvert), saturated)
        }
        (MangledBaseType::Int(_, false), MangledBaseType::Int(..)) => {
            (Some(Op::UConvert), saturated)
        }
        (MangledBaseType::Int(_, true), MangledBaseType::Float(_)) => {
            (Some(Op::ConvertSToF), false)
        }
        (MangledBaseType::Int(_, false), MangledBaseType::Float(_)) => {
            (Some(Op::ConvertUToF), false)
        }
        (MangledBaseType::Float(_), MangledBaseType::Int(_, true)) => {
            (Some(Op::ConvertFToS), saturated)
        }
        (MangledBaseType::Float(_), MangledBaseType::Int(_, false)) => {
            (Some(Op::ConvertFToU), saturated)
        }
        (MangledBaseType::Float(a), MangledBaseType::Float(b)) if a != b => {
            (Some(Op::FConvert), false)
        }
        _ => (None, false),
    }
}

impl FunctionTranslator<'_, '_> {
    /// An extended instruction of OpenCL. Scalars are splatted if the result is a vector.
    pub(in crate::translate) fn emit_opencl_instruction(
        &mut self,
        number: u32,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let result = self.t.find_shape(self.function.inst(call.inst).ty);
        let ty = match result {
            Some(shape) => self.arithmetic_type(shape),
            None => self.call_type(call)?,
        };
        if let Some(shape) = result
            && (shape.is_odd() || shape.elem == NumericElement::Bool)
        {
            return Err(make_refusal("a result of a type that OpenCL lacks"));
        }
        let Some(row) = extended_by_number(number) else {
            return Err(make_refusal("there is no such extended instruction"));
        };
        let first = call
            .args
            .first()
            .and_then(|v| self.t.find_shape(self.type_of(*v)));
        if number == opencl_std::NAN && first.is_some_and(NumericShape::is_float) {
            return Err(make_refusal("the NaN is an integer"));
        }
        let many = row
            .operands
            .last()
            .is_some_and(|o| o.quantifier == OperandQuantifier::Many);
        if call.args.len() != row.operands.len() && !many {
            return Err(make_refusal(
                "the number of arguments is not that of operands",
            ));
        }
        let mut words = vec![self.t.opencl_std().word(), number];
        for index in 0..call.args.len() {
            let operand = row.operands.get(index).or(row.operands.last());
            let literal = operand.is_some_and(|o| o.kind.info().category != OperandCategory::Id);
            words.push(if literal {
                self.constant_argument(call, index)? as u32
            } else {
                self.extended_operand(number, result, call, index)?.word()
            });
        }
        let id = self.t.b.append_value(Op::ExtInst, ty, &words);
        match result {
            Some(shape) if shape.is_float() => {
                self.decorate_fast_math(call.inst, id);
                Ok(self.demote_float(shape, id))
            }
            _ => Ok(id),
        }
    }

    /// An operand of an extended instruction. A scalar is splatted if the result is a vector.
    fn extended_operand(
        &mut self,
        number: u32,
        result: Option<NumericShape>,
        call: &ExternalCall<'_>,
        index: usize,
    ) -> LlvmResult<Id> {
        let spreads = !OFFSETS.contains(&number);
        let mut id = self.lower_argument(call, index)?;
        let mut shape = self.t.find_shape(self.type_of(call.args[index]));
        if let Some(brain) = shape.filter(|shape| shape.elem == NumericElement::Brain) {
            id = self.promote_float(brain, id);
            shape = Some(brain.as_float());
        }
        Ok(match (result, shape) {
            (Some(result), Some(shape)) if spreads && result.lanes > 1 && shape.lanes == 1 => {
                let spread = NumericShape {
                    lanes: result.lanes,
                    padded: result.padded,
                    ..shape
                };
                self.splat_scalar(spread, id)
            }
            _ => id,
        })
    }

    /// A relation. True is 1 for scalars and -1 for vectors.
    pub(in crate::translate) fn emit_relation(
        &mut self,
        op: Op,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let ty = self.t.shape_type(shape.as_bool());
        let mut words = Vec::new();
        for &argument in call.args {
            words.push(self.lower_value(argument)?.word());
        }
        let truth = self.t.b.append_value(op, ty, &words);
        self.as_result(truth, call)
    }

    fn emit_sign_test(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let ty = self.t.shape_type(shape.as_bool());
        let zero = self.t.make_zero(shape);
        let mut signs = self.emit_op(Op::SLessThan, ty, [value, zero]);
        if shape.lanes > 1 {
            let bool = self.t.b.bool_type();
            signs = self.emit_op(op, bool, [signs]);
        }
        self.as_result(signs, call)
    }
}
