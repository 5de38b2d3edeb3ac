//! Intrinsics that move lanes, and halves as bits.

use super::super::body::Body;
use super::super::builtins::Call;
use super::super::refusal::{Lowered, refuse};
use super::super::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Scope;

type Made = Lowered<Option<Id>>;

/// `llvm.vector.reverse(vector)`
pub(super) fn reverse(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let shape = body.result_shape(call.inst)?;
    let value = body.value(call.arg(0)?)?;
    let mut lanes = body.lanes(shape, value);
    lanes.reverse();
    Ok(Some(body.composed(shape, &lanes)))
}

/// `llvm.vector.extract(vector, first)`
pub(super) fn extract(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let (from, to) = (body.shape_of(call.arg(0)?)?, body.result_shape(call.inst)?);
    let first = body.first_lane(call, 1)?;
    let value = body.value(call.arg(0)?)?;
    let all = body.lanes(from, value);
    match all.get(first..first + to.lanes as usize) {
        Some(lanes) => Ok(Some(body.composed(to, lanes))),
        None => Err(refuse("the lanes are not all there")),
    }
}

/// `llvm.vector.insert(vector, part, first)`
pub(super) fn insert(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let (whole, part) = (body.result_shape(call.inst)?, body.shape_of(call.arg(1)?)?);
    let first = body.first_lane(call, 2)?;
    let value = body.value(call.arg(0)?)?;
    let inserted = body.value(call.arg(1)?)?;
    let mut lanes = body.lanes(whole, value);
    let new = body.lanes(part, inserted);
    match lanes.get_mut(first..first + new.len()) {
        Some(place) => place.copy_from_slice(&new),
        None => return Err(refuse("the lanes are not all there")),
    }
    Ok(Some(body.composed(whole, &lanes)))
}

fn half(shape: Shape) -> Shape {
    Shape {
        elem: Elem::Float,
        ..shape.as_int(16)
    }
}

/// `llvm.convert.to.fp16(x)`: the bits of a half.
pub(super) fn to_half_bits(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let shape = body.result_shape(call.inst)?;
    let value = body.value(call.arg(0)?)?;
    let ty = body.t.shape_type(half(shape));
    let id = body.op(Op::FConvert, ty, [value]);
    body.bitcast(half(shape), shape, id).map(Some)
}

/// `llvm.convert.from.fp16(bits)`
pub(super) fn from_half_bits(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let from = body.shape_of(call.arg(0)?)?;
    let value = body.value(call.arg(0)?)?;
    let id = body.bitcast(from, half(from), value)?;
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.op(Op::FConvert, ty, [id])))
}

/// `llvm.readcyclecounter`, `llvm.readsteadycounter`: the clock of the sub-group.
pub(super) fn clock(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    let scope = body.t.u32(Scope::Subgroup.0);
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.op(Op::ReadClockKHR, ty, [scope])))
}

impl Body<'_, '_> {
    /// A lane that an argument says.
    fn first_lane(&self, call: &Call<'_>, index: usize) -> Lowered<usize> {
        let lane = self.t.module.as_u64(call.arg(index)?);
        match lane.filter(|lane| *lane < 1 << 16) {
            Some(lane) => Ok(lane as usize),
            None => Err(refuse("the first lane is not known")),
        }
    }
}
