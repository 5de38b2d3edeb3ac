//! Reductions of vectors: their lanes one after the other.

use super::super::body::Body;
use super::super::builtins::Call;
use super::super::refusal::{Lowered, refuse};
use super::super::types::{Elem, Shape};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::opencl_std as std_;

type Made = Lowered<Option<Id>>;

/// How two lanes are joined.
#[derive(Clone, Copy)]
pub(super) enum Join {
    /// By an instruction; by another one where they are truth values.
    Op(Op, Op),
    /// By an extended instruction on floats; NaN where one of them is.
    Nan(u32),
    /// By an extended instruction; with the sign where integers are signed.
    Ext(u32, bool),
}

/// Ways to join lanes by the names that reductions have in intrinsics.
const JOINS: &[(&str, Join)] = &[
    ("add", Join::Op(Op::IAdd, Op::LogicalNotEqual)),
    ("mul", Join::Op(Op::IMul, Op::LogicalAnd)),
    ("and", Join::Op(Op::BitwiseAnd, Op::LogicalAnd)),
    ("or", Join::Op(Op::BitwiseOr, Op::LogicalOr)),
    ("xor", Join::Op(Op::BitwiseXor, Op::LogicalNotEqual)),
    ("smax", Join::Ext(std_::S_MAX, true)),
    ("smin", Join::Ext(std_::S_MIN, true)),
    ("umax", Join::Ext(std_::U_MAX, false)),
    ("umin", Join::Ext(std_::U_MIN, false)),
    ("fadd", Join::Op(Op::FAdd, Op::FAdd)),
    ("fmul", Join::Op(Op::FMul, Op::FMul)),
    ("fmax", Join::Ext(std_::FMAX, false)),
    ("fmin", Join::Ext(std_::FMIN, false)),
    ("fmaximum", Join::Nan(std_::FMAX)),
    ("fminimum", Join::Nan(std_::FMIN)),
];

/// The way to join lanes of a name.
pub(super) fn join_named(name: &str) -> Option<Join> {
    JOINS.iter().find(|row| row.0 == name).map(|row| row.1)
}

pub(super) fn add(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::IAdd, Op::LogicalNotEqual), call, 0)
}

pub(super) fn multiply(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::IMul, Op::LogicalAnd), call, 0)
}

pub(super) fn and(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::BitwiseAnd, Op::LogicalAnd), call, 0)
}

pub(super) fn or(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::BitwiseOr, Op::LogicalOr), call, 0)
}

pub(super) fn xor(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::BitwiseXor, Op::LogicalNotEqual), call, 0)
}

pub(super) fn signed_maximum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::S_MAX, true), call, 0)
}

pub(super) fn signed_minimum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::S_MIN, true), call, 0)
}

pub(super) fn unsigned_maximum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::U_MAX, false), call, 0)
}

pub(super) fn unsigned_minimum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::U_MIN, false), call, 0)
}

/// `(start, vector)`
pub(super) fn float_add(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::FAdd, Op::FAdd), call, 1)
}

/// `(start, vector)`
pub(super) fn float_multiply(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Op(Op::FMul, Op::FMul), call, 1)
}

pub(super) fn float_maximum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::FMAX, false), call, 0)
}

pub(super) fn float_minimum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Ext(std_::FMIN, false), call, 0)
}

pub(super) fn nan_maximum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Nan(std_::FMAX), call, 0)
}

pub(super) fn nan_minimum(body: &mut Body<'_, '_>, call: &Call<'_>) -> Made {
    body.reduce(Join::Nan(std_::FMIN), call, 0)
}

impl Body<'_, '_> {
    /// Reduces the argument `vector`; what stands before it is the start.
    fn reduce(&mut self, join: Join, call: &Call<'_>, vector: usize) -> Made {
        let value = call.arg(vector)?;
        let element = self.t.module.types.scalar(self.type_of(value));
        let scalar = self.t.need_shape(element)?;
        let ty = self.t.shape_type(scalar);
        if let (Join::Op(op, _), 1..) = (join, vector) {
            let mut all = self.value(call.arg(0)?)?;
            for lane in 0..self.lane_count(self.type_of(value)) {
                let lane = self.lane_value(value, lane)?;
                all = self.op(op, ty, [all, lane]);
            }
            return Ok(Some(all));
        }
        let lanes = self.lane_values(value)?;
        let mut all = lanes[0];
        if let Join::Ext(_, true) = join {
            all = self.sign_extended(scalar, all);
        }
        for &lane in &lanes[1..] {
            all = self.join_lanes(join, scalar, [all, lane])?;
        }
        Ok(Some(self.masked(scalar, all)))
    }

    /// Two lanes joined; the first has its sign where there is one.
    pub(super) fn join_lanes(
        &mut self,
        join: Join,
        scalar: Shape,
        [all, lane]: [Id; 2],
    ) -> Lowered<Id> {
        let ty = self.t.shape_type(scalar);
        Ok(match (join, scalar.elem) {
            (Join::Op(_, op), Elem::Bool) | (Join::Op(op, _), _) => self.op(op, ty, [all, lane]),
            (Join::Nan(number), _) => self.extremum_or_nan(number, scalar, [all, lane]),
            (Join::Ext(..), Elem::Bool) => {
                return Err(refuse("the operand is a vector of truth values"));
            }
            (Join::Ext(number, signed), _) => {
                let lane = match signed {
                    true => self.sign_extended(scalar, lane),
                    false => lane,
                };
                self.ext(number, ty, &[all, lane])
            }
        })
    }
}
