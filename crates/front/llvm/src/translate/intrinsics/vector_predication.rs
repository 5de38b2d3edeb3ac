//! Vector predication: `llvm.vp.*`, operations on the lanes that a mask selects and that are below
//! a length.
//!
//! The other lanes of a result are undefined, so most operations run on all lanes. Divisions do
//! not, because an unused divisor of zero would be undefined behaviour. Nor do memory accesses and
//! reductions.

use super::super::function_body::FunctionTranslator;
use super::constrained_float::extract_operation;
use super::find_intrinsic;
use super::vector_reductions::{LaneReductionRule, find_reduction};
use crate::ir::{LlvmOpcode, LlvmValue, Predicate};
use crate::translate::call_rules::ExternalCall;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

const PREFIX: &str = "llvm.vp.";

/// Operations whose names differ when they are not predicated.
const RENAMED: &[(&str, &str)] = &[("roundtozero", "trunc")];

/// `llvm.vp.NAME(operands…, mask, length)`
pub(super) fn lower_vp_intrinsic(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let name = extract_operation(call.name, PREFIX);
    let opcode = LlvmOpcode::from_name(name);
    match (name, opcode) {
        ("load", _) => return body.lower_predicated_load(call),
        ("store", _) => return body.lower_predicated_store(call),
        ("gather", _) => return body.lower_predicated_gather(call),
        ("scatter", _) => return body.lower_predicated_scatter(call),
        ("reduce", _) => return body.lower_predicated_reduction(call).map(Some),
        ("merge", _) => return body.lower_vp_merge(call).map(Some),
        ("cttz", _) if call.name.starts_with("llvm.vp.cttz.elts") => {
            return body.lower_predicated_first(call).map(Some);
        }
        ("select", _) => {
            let operands = [call.arg(0)?, call.arg(1)?, call.arg(2)?];
            return body.emit_select_of(call.inst, operands).map(Some);
        }
        ("icmp" | "fcmp", _) => return body.lower_predicated_comparison(call).map(Some),
        (_, Some(LlvmOpcode::FNeg)) => {
            let operand = body.lower_value(call.arg(0)?)?;
            return body.emit_negation(call.inst, operand).map(Some);
        }
        (_, Some(opcode)) if opcode.is_binary() => {
            return body.lower_predicated_binary(opcode, call).map(Some);
        }
        (_, Some(opcode)) if opcode.is_cast() => {
            let value = call.arg(0)?;
            let (from, to) = (body.shape_of(value)?, body.result_shape(call.inst)?);
            let id = body.lower_value(value)?;
            return body.convert_number(opcode, from, to, id).map(Some);
        }
        _ => {}
    }
    let row = RENAMED.iter().find(|row| row.0 == name);
    let rest = row.map_or(&call.name[PREFIX.len().min(call.name.len())..], |row| row.1);
    let plain = format!("llvm.{rest}");
    let found = find_intrinsic(&plain).filter(|_| !rest.starts_with("experimental"));
    let call = ExternalCall {
        name: &plain,
        ..*call
    };
    body.lower_intrinsic(found, &call)
}

impl FunctionTranslator<'_, '_> {
    /// The mask and the length, which are the last arguments.
    fn lanes_meant(&self, call: &ExternalCall<'_>) -> LlvmResult<(LlvmValue, Option<LlvmValue>)> {
        match *call.args {
            [.., mask, length] => Ok((mask, Some(length))),
            _ => Err(make_refusal("an argument is missing")),
        }
    }

    fn lower_predicated_binary(
        &mut self,
        opcode: LlvmOpcode,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.result_shape(call.inst)?;
        let left = self.lower_value(call.arg(0)?)?;
        let mut right = self.lower_value(call.arg(1)?)?;
        let divides = matches!(
            opcode,
            LlvmOpcode::SDiv | LlvmOpcode::UDiv | LlvmOpcode::SRem | LlvmOpcode::URem
        );
        if divides {
            let (mask, length) = self.lanes_meant(call)?;
            let lanes = 0..shape.lanes;
            let all = lanes
                .clone()
                .all(|n| self.known_active(mask, length, n) == Some(true));
            if !all {
                let active = lanes.map(|lane| self.emit_lane_active(mask, length, lane));
                let active = active.collect::<LlvmResult<Vec<Id>>>()?;
                let active = self.compose_vector(shape.as_bool(), &active);
                let ty = self.t.shape_type(shape);
                let one = self.t.make_splat(shape, 1);
                right = self.emit_select(ty, active, right, one);
            }
        }
        self.emit_binary(call.inst, opcode, [left, right])
    }

    fn lower_predicated_comparison(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let integer = call.name.starts_with("llvm.vp.icmp");
        let predicate = self.metadata_text(call.arg(2)?);
        let predicate = predicate.and_then(|p| Predicate::from_name_for(p, integer));
        let Some(predicate) = predicate else {
            return Err(make_refusal("the comparison has no predicate"));
        };
        let shape = self.shape_of(call.arg(0)?)?;
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        self.emit_comparison(predicate, shape, [left, right])
    }

    /// `llvm.vp.merge(condition, yes, no, length)`: lanes past the length are those of `no`.
    fn lower_vp_merge(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let (condition, length) = (call.arg(0)?, Some(call.arg(3)?));
        let (yes, no) = (call.arg(1)?, call.arg(2)?);
        let ty = self.inst_type(call.inst);
        let element = self.t.module.types.scalar_type(ty);
        let part = self.t.register_type(element)?;
        let mut lanes = Vec::new();
        for lane in 0..self.lane_count(ty) {
            let active = self.emit_lane_active(condition, length, lane)?;
            let [yes, no] = [self.lane_value(yes, lane)?, self.lane_value(no, lane)?];
            lanes.push(self.emit_select(part, active, yes, no));
        }
        self.compose_lanes(ty, &lanes)
    }

    /// `llvm.vp.reduce.NAME(start, vector, mask, length)`
    fn lower_predicated_reduction(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let name = extract_operation(call.name, "llvm.vp.reduce.");
        let Some(join) = find_reduction(name) else {
            return Err(make_refusal("the intrinsic has no counterpart in SPIR-V"));
        };
        let (mask, length) = self.lanes_meant(call)?;
        let (start, vector) = (call.arg(0)?, call.arg(1)?);
        let scalar = self.shape_of(start)?;
        let ty = self.t.shape_type(scalar);
        let mut all = self.lower_value(start)?;
        if let LaneReductionRule::Ext(_, true) = join {
            all = self.sign_extend_value(scalar, all);
        }
        for lane in 0..self.lane_count(self.type_of(vector)) {
            let known = self.known_active(mask, length, lane);
            if known == Some(false) {
                continue;
            }
            let value = self.lane_value(vector, lane)?;
            let both = self.combine_lanes(join, scalar, [all, value])?;
            all = match known {
                Some(_) => both,
                None => {
                    let active = self.emit_lane_active(mask, length, lane)?;
                    self.emit_select(ty, active, both, all)
                }
            };
        }
        Ok(self.mask_high_bits(scalar, all))
    }

    /// `llvm.vp.cttz.elts(vector, whether zero is poison, mask, length)`: the number of lanes
    /// before the first nonzero one, or the length.
    fn lower_predicated_first(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let (mask, length) = self.lanes_meant(call)?;
        let Some(end) = length else {
            return Err(make_refusal("an argument is missing"));
        };
        let to = self.result_shape(call.inst)?;
        let from = self.shape_of(end)?;
        let none = self.lower_value(end)?;
        let none = if to.bits == from.bits {
            none
        } else {
            let opcode = if to.bits > from.bits {
                LlvmOpcode::ZExt
            } else {
                LlvmOpcode::Trunc
            };
            self.convert_number(opcode, from, to, none)?
        };
        self.find_first_lane(call, none, &mut |body, lane, holds| {
            let active = body.emit_lane_active(mask, length, lane)?;
            let bool = body.t.b.bool_type();
            Ok(body.emit_op(Op::LogicalAnd, bool, [active, holds]))
        })
    }

    fn lower_predicated_load(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        let (mask, length) = self.lanes_meant(call)?;
        let mut access = self.lane_access(call, 0, false)?;
        access.length = length;
        let base = self.lower_pointer(call.arg(0)?, access.memory)?;
        self.load_lanes(call, access, mask, None, &mut |body, lane| {
            body.step_to(base, lane)
        })
    }

    fn lower_predicated_store(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        let (mask, length) = self.lanes_meant(call)?;
        let mut access = self.lane_access(call, 1, false)?;
        access.length = length;
        let base = self.lower_pointer(call.arg(1)?, access.memory)?;
        self.store_lanes(access, call.arg(0)?, mask, &mut |body, lane| {
            body.step_to(base, lane)
        })
    }

    fn lower_predicated_gather(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        let (mask, length) = self.lanes_meant(call)?;
        let pointers = call.arg(0)?;
        let mut access = self.lane_access(call, 0, false)?;
        access.length = length;
        self.load_lanes(call, access, mask, None, &mut |body, lane| {
            let pointer = body.lane_value(pointers, lane)?;
            Ok(body.cast_pointer(pointer, access.memory))
        })
    }

    fn lower_predicated_scatter(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        let (mask, length) = self.lanes_meant(call)?;
        let pointers = call.arg(1)?;
        let mut access = self.lane_access(call, 1, false)?;
        access.length = length;
        self.store_lanes(access, call.arg(0)?, mask, &mut |body, lane| {
            let pointer = body.lane_value(pointers, lane)?;
            Ok(body.cast_pointer(pointer, access.memory))
        })
    }
}
