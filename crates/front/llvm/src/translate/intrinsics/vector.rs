//! Vector intrinsics: lane movement, and halves as bits.

use super::super::function_body::FunctionTranslator;
use crate::ir::ConstKind;
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Scope;

/// `llvm.vector.reverse(vector)`
pub(super) fn lower_vector_reverse(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let mut lanes = body.lane_values(call.arg(0)?)?;
    lanes.reverse();
    body.composed_result(call, &lanes)
}

/// `llvm.vector.extract(vector, first)`
pub(super) fn lower_vector_extract(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let count = body.lane_count(body.inst_type(call.inst)) as usize;
    let first = body.first_lane(call, 1)?;
    let all = body.lane_values(call.arg(0)?)?;
    match all.get(first..first + count) {
        Some(lanes) => body.composed_result(call, lanes),
        None => Err(make_refusal("the vector has too few lanes")),
    }
}

/// `llvm.vector.insert(vector, part, first)`
pub(super) fn lower_vector_insert(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let first = body.first_lane(call, 2)?;
    let mut lanes = body.lane_values(call.arg(0)?)?;
    let new = body.lane_values(call.arg(1)?)?;
    match lanes.get_mut(first..first + new.len()) {
        Some(place) => place.copy_from_slice(&new),
        None => return Err(make_refusal("the vector has too few lanes")),
    }
    body.composed_result(call, &lanes)
}

fn to_half_float(shape: NumericShape) -> NumericShape {
    NumericShape {
        elem: NumericElement::Float,
        ..shape.as_int(16)
    }
}

/// `llvm.convert.to.fp16(x)`: the bits of a half.
pub(super) fn to_half_bits(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let value = body.lower_value(call.arg(0)?)?;
    let ty = body.t.shape_type(to_half_float(shape));
    let id = body.emit_op(Op::FConvert, ty, [value]);
    body.emit_bitcast(to_half_float(shape), shape, id).map(Some)
}

/// `llvm.convert.from.fp16(bits)`
pub(super) fn from_half_bits(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let from = body.shape_of(call.arg(0)?)?;
    let value = body.lower_value(call.arg(0)?)?;
    let id = body.emit_bitcast(from, to_half_float(from), value)?;
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::FConvert, ty, [id])))
}

/// `llvm.readcyclecounter`, `llvm.readsteadycounter`: the clock of the sub-group.
pub(super) fn lower_read_clock(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let scope = body.t.make_u32(Scope::Subgroup.0);
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::ReadClockKHR, ty, [scope])))
}

/// `llvm.vector.splice(left, right, first)`: consecutive lanes of both. A negative `first` counts
/// from the end of the left one.
pub(super) fn lower_vector_splice(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let mut all = body.lane_values(call.arg(0)?)?;
    let count = all.len();
    let first = match call
        .arg(2)?
        .as_const()
        .map(|c| body.t.module.consts.kind(c))
    {
        Some(ConstKind::Int(bits)) => *bits as u32 as i32 as i64,
        _ => return Err(make_refusal("the first lane is not constant")),
    };
    all.extend(body.lane_values(call.arg(1)?)?);
    let first = if first < 0 {
        first + count as i64
    } else {
        first
    };
    let lanes = usize::try_from(first)
        .ok()
        .and_then(|first| all.get(first..first.checked_add(count)?));
    match lanes {
        Some(lanes) => body.composed_result(call, lanes),
        None => Err(make_refusal("the vector has too few lanes")),
    }
}

/// `llvm.vector.interleaveN(vectors…)`: the first lanes of all, then the second lanes of all, and
/// so on.
pub(super) fn lower_vector_interleave(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let mut columns = Vec::with_capacity(call.args.len());
    for &argument in call.args {
        columns.push(body.lane_values(argument)?);
    }
    let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
    let lanes: Vec<Id> = (0..rows)
        .flat_map(|row| columns.iter().map(move |column| column[row]))
        .collect();
    body.composed_result(call, &lanes)
}

/// `llvm.vector.deinterleaveN(vector)`: a structure of N vectors.
pub(super) fn lower_vector_deinterleave(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let all = body.lane_values(call.arg(0)?)?;
    let result = body.inst_type(call.inst);
    let count = body.t.module.types.element_count(result).unwrap_or(0) as usize;
    let mut words = Vec::with_capacity(count);
    for first in 0..count {
        let Some(ty) = body.t.module.types.element_type(result, first as u64) else {
            return Err(make_refusal("the result is not a structure of vectors"));
        };
        if body
            .t
            .find_shape(ty)
            .is_some_and(|shape| shape.elem == NumericElement::Bool)
        {
            return Err(make_refusal("the operand is a vector of Booleans"));
        }
        let lanes: Vec<Id> = all.iter().skip(first).step_by(count).copied().collect();
        words.push(body.compose_lanes(ty, &lanes)?.word());
    }
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.t.b.append_value(
        Op::CompositeConstruct,
        ty,
        &words,
    )))
}

/// `llvm.stepvector`: 0, 1, 2, …
pub(super) fn lower_stepvector(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ty = body.inst_type(call.inst);
    let scalar = body.t.require_shape(body.t.module.types.scalar_type(ty))?;
    let lanes: Vec<Id> = (0..body.lane_count(ty))
        .map(|lane| body.t.make_splat(scalar, u64::from(lane)))
        .collect();
    body.composed_result(call, &lanes)
}

/// `llvm.get.active.lane.mask(first, end)`: by lane, whether `first + lane < end` without overflow.
pub(super) fn lower_active_lane_mask(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ty = body.inst_type(call.inst);
    let shape = body.shape_of(call.arg(0)?)?;
    let first = body.lower_value(call.arg(0)?)?;
    let end = body.lower_value(call.arg(1)?)?;
    let number = body.t.shape_type(shape);
    let bool = body.t.b.bool_type();
    // The number of remaining lanes, at least zero.
    let below = body.emit_op(Op::ULessThan, bool, [first, end]);
    let rest = body.emit_op(Op::ISub, number, [end, first]);
    let zero = body.t.make_zero(shape);
    let rest = body.emit_select(number, below, rest, zero);
    let mut lanes = Vec::new();
    for lane in 0..body.lane_count(ty) {
        let lane = body.t.make_splat(shape, u64::from(lane));
        lanes.push(body.emit_op(Op::ULessThan, bool, [lane, rest]));
    }
    body.composed_result(call, &lanes)
}

/// `llvm.cttz.elts(vector, whether zero is poison)`: the number of lanes before the first nonzero
/// one.
pub(super) fn lower_leading_false(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let to = body.result_shape(call.inst)?;
    let count = body.lane_count(body.type_of(call.arg(0)?));
    let none = body.t.make_splat(to, u64::from(count));
    let found = body.find_first_lane(call, none, &mut |_, _, holds| Ok(holds))?;
    Ok(Some(found))
}

/// `llvm.ct.select(condition, yes, no)`, which SPIR-V promises no time for.
pub(super) fn lower_ct_select(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let operands = [call.arg(0)?, call.arg(1)?, call.arg(2)?];
    body.emit_select_of(call.inst, operands).map(Some)
}

/// `llvm.vector.partial.reduce.add(accumulator, vector)`: some lanes of the vector are added to
/// each lane of the accumulator. Here these are lanes whose distance is a multiple of the
/// accumulator's length.
pub(super) fn add_partial_reduction(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let mut sums = body.lane_values(call.arg(0)?)?;
    let all = body.lane_values(call.arg(1)?)?;
    let element = body.t.module.types.scalar_type(body.inst_type(call.inst));
    let scalar = body.t.require_shape(element)?;
    let ty = body.t.shape_type(scalar);
    let op = if scalar.is_float() {
        Op::FAdd
    } else {
        Op::IAdd
    };
    let count = sums.len();
    for (at, lane) in all.into_iter().enumerate() {
        let sum = body.emit_op(op, ty, [sums[at % count], lane]);
        sums[at % count] = body.mask_high_bits(scalar, sum);
    }
    body.composed_result(call, &sums)
}

/// A function of a lane's Boolean.
type LanePredicateFn<'a, 'b, 'c> =
    &'a mut dyn FnMut(&mut FunctionTranslator<'b, 'c>, u32, Id) -> LlvmResult<Id>;

impl<'t, 'm> FunctionTranslator<'t, 'm> {
    /// The number of the first nonzero lane of the first argument for which `counts` holds,
    /// otherwise `none`.
    pub(super) fn find_first_lane(
        &mut self,
        call: &ExternalCall<'_>,
        none: Id,
        counts: LanePredicateFn<'_, 't, 'm>,
    ) -> LlvmResult<Id> {
        let to = self.result_shape(call.inst)?;
        let ty = self.t.shape_type(to);
        let value = call.arg(0)?;
        let scalar = self
            .t
            .require_shape(self.t.module.types.scalar_type(self.type_of(value)))?;
        let mut found = none;
        for (lane, id) in self.lane_values(value)?.into_iter().enumerate().rev() {
            let holds = match scalar.elem {
                NumericElement::Bool => id,
                _ => self.is_nonzero(scalar, id),
            };
            let holds = counts(self, lane as u32, holds)?;
            let lane = self.t.make_splat(to, lane as u64);
            found = self.emit_select(ty, holds, lane, found);
        }
        Ok(found)
    }
}

impl FunctionTranslator<'_, '_> {
    pub(super) fn composed_result(
        &mut self,
        call: &ExternalCall<'_>,
        lanes: &[Id],
    ) -> LlvmResult<Option<Id>> {
        let ty = self.inst_type(call.inst);
        self.compose_lanes(ty, lanes).map(Some)
    }

    /// A constant lane number in an argument.
    fn first_lane(&self, call: &ExternalCall<'_>, index: usize) -> LlvmResult<usize> {
        let lane = self.t.module.as_u64(call.arg(index)?);
        match lane.filter(|lane| *lane < 1 << 16) {
            Some(lane) => Ok(lane as usize),
            None => Err(make_refusal("the first lane is not constant")),
        }
    }
}
