//! Intrinsics of LLVM's SPIR-V backend: `llvm.spv.NAME`.

use super::super::function_body::FunctionTranslator;
use crate::ir::Predicate;
use crate::translate::call_rules::IntrinsicRule::{By, Ext, Integer};
use crate::translate::call_rules::{ExternalCall, IntrinsicRule};
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, GroupOperation, MemorySemantics, Scope};
use spirula_spirv::grammar::opencl_std as std_;

/// Buffers and images.
const DEVICE_MEMORY: MemorySemantics =
    MemorySemantics(MemorySemantics::CrossWorkgroupMemory.0 | MemorySemantics::ImageMemory.0);

/// A row for each intrinsic, without the type suffix.
pub(super) const ROWS: &[(&str, IntrinsicRule)] = &[
    (
        "llvm.spv.thread.id",
        IntrinsicRule::BuiltIn(BuiltIn::GlobalInvocationId),
    ),
    (
        "llvm.spv.thread.id.in.group",
        IntrinsicRule::BuiltIn(BuiltIn::LocalInvocationId),
    ),
    (
        "llvm.spv.flattened.thread.id.in.group",
        IntrinsicRule::BuiltIn(BuiltIn::LocalInvocationIndex),
    ),
    (
        "llvm.spv.group.id",
        IntrinsicRule::BuiltIn(BuiltIn::WorkgroupId),
    ),
    (
        "llvm.spv.num.workgroups",
        IntrinsicRule::BuiltIn(BuiltIn::NumWorkgroups),
    ),
    (
        "llvm.spv.workgroup.size",
        IntrinsicRule::BuiltIn(BuiltIn::WorkgroupSize),
    ),
    (
        "llvm.spv.global.size",
        IntrinsicRule::BuiltIn(BuiltIn::GlobalSize),
    ),
    (
        "llvm.spv.global.offset",
        IntrinsicRule::BuiltIn(BuiltIn::GlobalOffset),
    ),
    (
        "llvm.spv.subgroup.size",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupSize),
    ),
    (
        "llvm.spv.subgroup.max.size",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupMaxSize),
    ),
    (
        "llvm.spv.num.subgroups",
        IntrinsicRule::BuiltIn(BuiltIn::NumSubgroups),
    ),
    (
        "llvm.spv.subgroup.id",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupId),
    ),
    (
        "llvm.spv.subgroup.local.invocation.id",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupLocalInvocationId),
    ),
    (
        "llvm.spv.wave.get.lane.index",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupLocalInvocationId),
    ),
    (
        "llvm.spv.wave.get.lane.count",
        IntrinsicRule::BuiltIn(BuiltIn::SubgroupSize),
    ),
    ("llvm.spv.all", By(lower_spv_all)),
    ("llvm.spv.any", By(lower_spv_any)),
    ("llvm.spv.sclamp", Ext(std_::S_CLAMP, 3)),
    ("llvm.spv.uclamp", Ext(std_::U_CLAMP, 3)),
    ("llvm.spv.nclamp", Ext(std_::FCLAMP, 3)),
    ("llvm.spv.smoothstep", Ext(std_::SMOOTHSTEP, 3)),
    ("llvm.spv.step", Ext(std_::STEP, 2)),
    ("llvm.spv.lerp", Ext(std_::MIX, 3)),
    ("llvm.spv.cross", Ext(std_::CROSS, 2)),
    ("llvm.spv.distance", Ext(std_::DISTANCE, 2)),
    ("llvm.spv.length", Ext(std_::LENGTH, 1)),
    ("llvm.spv.normalize", Ext(std_::NORMALIZE, 1)),
    ("llvm.spv.degrees", Ext(std_::DEGREES, 1)),
    ("llvm.spv.radians", Ext(std_::RADIANS, 1)),
    ("llvm.spv.rsqrt", Ext(std_::RSQRT, 1)),
    ("llvm.spv.sign", Ext(std_::SIGN, 1)),
    ("llvm.spv.fdot", IntrinsicRule::Op(Op::Dot, 2)),
    ("llvm.spv.udot", By(lower_unsigned_dot)),
    ("llvm.spv.sdot", By(lower_signed_dot)),
    ("llvm.spv.isnan", IntrinsicRule::Op(Op::IsNan, 1)),
    ("llvm.spv.isinf", IntrinsicRule::Op(Op::IsInf, 1)),
    ("llvm.spv.saturate", By(lower_spv_saturate)),
    ("llvm.spv.frac", By(lower_spv_frac)),
    (
        "llvm.spv.group.memory.barrier.with.group.sync",
        By(lower_group_barrier),
    ),
    ("llvm.spv.group.memory.barrier", By(lower_group_fence)),
    ("llvm.spv.device.memory.barrier", By(lower_device_fence)),
    (
        "llvm.spv.device.memory.barrier.with.group.sync",
        By(lower_device_barrier),
    ),
    ("llvm.spv.all.memory.barrier", By(lower_all_fence)),
    (
        "llvm.spv.all.memory.barrier.with.group.sync",
        By(lower_all_barrier),
    ),
    ("llvm.spv.wave.active.countbits", By(count_active)),
    ("llvm.spv.wave.all", By(lower_wave_all)),
    ("llvm.spv.wave.any", By(lower_wave_any)),
    ("llvm.spv.wave.ballot", By(lower_wave_ballot)),
    ("llvm.spv.wave.is.first.lane", By(lower_wave_elect)),
    ("llvm.spv.wave.readlane", By(lower_wave_read)),
    ("llvm.spv.wave.reduce.sum", By(lower_wave_sum)),
    ("llvm.spv.wave.reduce.usum", By(lower_wave_sum)),
    ("llvm.spv.wave.reduce.max", By(lower_wave_signed_maximum)),
    ("llvm.spv.wave.reduce.umax", By(lower_wave_unsigned_maximum)),
    ("llvm.spv.wave.reduce.min", By(lower_wave_signed_minimum)),
    ("llvm.spv.wave.reduce.umin", By(lower_wave_unsigned_minimum)),
    ("llvm.spv.wave.prefix.sum", By(lower_wave_sum_before)),
    ("llvm.spv.wave.prefix.usum", By(lower_wave_sum_before)),
    ("llvm.spv.wave.product", By(lower_wave_product)),
    ("llvm.spv.wave.reduce.and", By(lower_wave_and)),
    ("llvm.spv.wave.reduce.or", By(lower_wave_or)),
    ("llvm.spv.wave.reduce.xor", By(lower_wave_xor)),
    ("llvm.spv.umin", Integer(std_::U_MIN, false)),
    ("llvm.spv.umax", Integer(std_::U_MAX, false)),
];

fn lower_spv_all(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.test_nonzero_lanes(Op::All, call).map(Some)
}

fn lower_spv_any(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.test_nonzero_lanes(Op::Any, call).map(Some)
}

fn lower_unsigned_dot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.multiply_lanes(Op::UDot, call).map(Some)
}

fn lower_signed_dot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.multiply_lanes(Op::SDot, call).map(Some)
}

/// A number clamped to the range from zero to one.
fn lower_spv_saturate(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let value = body.lower_value(call.arg(0)?)?;
    let ty = body.t.shape_type(shape);
    let (zero, one) = (body.t.make_zero(shape), body.t.splat_one(shape, false));
    Ok(Some(body.emit_ext_inst(
        std_::FCLAMP,
        ty,
        &[value, zero, one],
    )))
}

/// The fractional part: the number minus the next lower integer.
fn lower_spv_frac(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let value = body.lower_value(call.arg(0)?)?;
    let ty = body.t.shape_type(shape);
    let whole = body.emit_ext_inst(std_::FLOOR, ty, &[value]);
    Ok(Some(body.emit_op(Op::FSub, ty, [value, whole])))
}

/// A barrier of the workgroup and its memory.
fn lower_group_barrier(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_barrier_or_fence(true, Scope::Workgroup, MemorySemantics::WorkgroupMemory)
}

fn lower_group_fence(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_barrier_or_fence(false, Scope::Workgroup, MemorySemantics::WorkgroupMemory)
}

/// One of the workgroup, for the device's memory.
fn lower_device_barrier(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_barrier_or_fence(true, Scope::Device, DEVICE_MEMORY)
}

fn lower_device_fence(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_barrier_or_fence(false, Scope::Device, DEVICE_MEMORY)
}

/// One of the workgroup, for all memory.
fn lower_all_barrier(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let memory = DEVICE_MEMORY | MemorySemantics::WorkgroupMemory;
    body.emit_barrier_or_fence(true, Scope::Device, memory)
}

fn lower_all_fence(
    body: &mut FunctionTranslator<'_, '_>,
    _: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let memory = DEVICE_MEMORY | MemorySemantics::WorkgroupMemory;
    body.emit_barrier_or_fence(false, Scope::Device, memory)
}

fn count_active(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ballot = body.emit_ballot(call)?;
    let scope = body.t.make_u32(Scope::Subgroup.0);
    let ty = body.result_type(call.inst)?;
    let reduce = GroupOperation::Reduce.0;
    let words = [scope.word(), reduce, ballot.word()];
    Ok(Some(body.t.b.append_value(
        Op::GroupNonUniformBallotBitCount,
        ty,
        &words,
    )))
}

fn lower_wave_all(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_non_uniform(Op::GroupNonUniformAll, call)
        .map(Some)
}

fn lower_wave_any(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_non_uniform(Op::GroupNonUniformAny, call)
        .map(Some)
}

fn lower_wave_ballot(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_ballot(call).map(Some)
}

fn lower_wave_elect(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_non_uniform(Op::GroupNonUniformElect, call)
        .map(Some)
}

fn lower_wave_read(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_non_uniform(Op::GroupNonUniformShuffle, call)
        .map(Some)
}

fn lower_wave_sum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFAdd, Op::GroupNonUniformIAdd];
    body.lower_wave_reduction(ops, call).map(Some)
}

/// The sum over the invocations before this one.
fn lower_wave_sum_before(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFAdd, Op::GroupNonUniformIAdd];
    body.emit_over_wave(GroupOperation::ExclusiveScan, ops, call)
        .map(Some)
}

fn lower_wave_product(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFMul, Op::GroupNonUniformIMul];
    body.lower_wave_reduction(ops, call).map(Some)
}

fn lower_wave_and(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_wave_bits(Op::GroupNonUniformBitwiseAnd, call)
}

fn lower_wave_or(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_wave_bits(Op::GroupNonUniformBitwiseOr, call)
}

fn lower_wave_xor(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.lower_wave_bits(Op::GroupNonUniformBitwiseXor, call)
}

fn lower_wave_signed_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFMin, Op::GroupNonUniformSMin];
    body.lower_wave_reduction(ops, call).map(Some)
}

fn lower_wave_unsigned_minimum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFMin, Op::GroupNonUniformUMin];
    body.lower_wave_reduction(ops, call).map(Some)
}

fn lower_wave_signed_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFMax, Op::GroupNonUniformSMax];
    body.lower_wave_reduction(ops, call).map(Some)
}

fn lower_wave_unsigned_maximum(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ops = [Op::GroupNonUniformFMax, Op::GroupNonUniformUMax];
    body.lower_wave_reduction(ops, call).map(Some)
}

impl FunctionTranslator<'_, '_> {
    /// Whether all or any lanes are not zero.
    fn test_nonzero_lanes(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let truths = match shape.elem {
            NumericElement::Bool => value,
            NumericElement::Int => self.is_nonzero(shape, value),
            NumericElement::Float | NumericElement::Brain => {
                let zero = self.t.make_zero(shape);
                self.emit_comparison(Predicate::FUne, shape, [value, zero])?
            }
        };
        if shape.lanes == 1 {
            return Ok(truths);
        }
        let bool = self.t.b.bool_type();
        Ok(self.emit_op(op, bool, [truths]))
    }

    /// The sum of the products of lanes.
    fn multiply_lanes(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let left = self.lower_value(call.arg(0)?)?;
        let right = self.lower_value(call.arg(1)?)?;
        let ty = self.result_type(call.inst)?;
        Ok(self.emit_op(op, ty, [left, right]))
    }

    fn emit_ballot(&mut self, call: &ExternalCall<'_>) -> LlvmResult<Id> {
        let scope = self.t.make_u32(Scope::Subgroup.0);
        let predicate = self.lower_value(call.arg(0)?)?;
        let ty = self.t.shape_type(NumericShape::new_int(32, 4));
        Ok(self.emit_op(Op::GroupNonUniformBallot, ty, [scope, predicate]))
    }

    /// A barrier of the workgroup, or a fence alone.
    fn emit_barrier_or_fence(
        &mut self,
        waits: bool,
        scope: Scope,
        memory: MemorySemantics,
    ) -> LlvmResult<Option<Id>> {
        let semantics = self
            .t
            .make_u32((MemorySemantics::AcquireRelease | memory).0)
            .word();
        let scope = self.t.make_u32(scope.0).word();
        if waits {
            let group = self.t.make_u32(Scope::Workgroup.0).word();
            let words = [group, scope, semantics];
            self.t.b.append_effect(Op::ControlBarrier, &words);
        } else {
            self.t
                .b
                .append_effect(Op::MemoryBarrier, &[scope, semantics]);
        }
        Ok(None)
    }

    fn lower_wave_bits(&mut self, op: Op, call: &ExternalCall<'_>) -> LlvmResult<Option<Id>> {
        if self.shape_of(call.arg(0)?)?.is_float() {
            return Err(make_refusal("bits of floats"));
        }
        self.lower_wave_reduction([op, op], call).map(Some)
    }

    /// A reduction over the subgroup, with one instruction for floats and another for integers.
    fn lower_wave_reduction(&mut self, ops: [Op; 2], call: &ExternalCall<'_>) -> LlvmResult<Id> {
        self.emit_over_wave(GroupOperation::Reduce, ops, call)
    }

    fn emit_over_wave(
        &mut self,
        over: GroupOperation,
        ops: [Op; 2],
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let shape = self.shape_of(call.arg(0)?)?;
        let value = self.lower_value(call.arg(0)?)?;
        let value = self.promote_float(shape, value);
        let op = ops[usize::from(!shape.is_float())];
        let scope = self.t.make_u32(Scope::Subgroup.0);
        let ty = self.arithmetic_type(shape);
        let words = [scope.word(), over.0, value.word()];
        let id = self.t.b.append_value(op, ty, &words);
        Ok(self.demote_float(shape, id))
    }
}
