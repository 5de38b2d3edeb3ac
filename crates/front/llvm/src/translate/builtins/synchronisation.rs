//! Synchronisation: barriers, fences and asynchronous copies.

use crate::ir::LlvmValue;
use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemorySemantics, Scope};

/// `barrier(flags)` and `work_group_barrier(flags, scope)`.
pub(super) fn lower_work_group_barrier(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_control_barrier(Scope::Workgroup, call)
}

/// `intel_work_group_barrier_arrive(flags, scope)`
pub(super) fn lower_barrier_arrive(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let order = MemorySemantics::Release;
    body.split_barrier(Op::ControlBarrierArriveINTEL, order, call)
}

/// `intel_work_group_barrier_wait(flags, scope)`
pub(super) fn lower_barrier_wait(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let order = MemorySemantics::Acquire;
    body.split_barrier(Op::ControlBarrierWaitINTEL, order, call)
}

/// `sub_group_barrier(flags, scope)`
pub(super) fn lower_sub_group_barrier(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_control_barrier(Scope::Subgroup, call)
}

/// `mem_fence(flags)`
pub(super) fn lower_mem_fence(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_memory_fence(MemorySemantics::AcquireRelease, call)
}

/// `read_mem_fence(flags)`
pub(super) fn read_mem_fence(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_memory_fence(MemorySemantics::Acquire, call)
}

/// `write_mem_fence(flags)`
pub(super) fn write_mem_fence(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_memory_fence(MemorySemantics::Release, call)
}

/// `atomic_work_item_fence(flags, order, scope)`. A fence for the work item alone orders only its
/// accesses to images (OpenCL C 3.0, section 6.15.12.6).
pub(super) fn lower_work_item_fence(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let order = body.memory_order(call.arg(1)?)?;
    let scope = body.memory_scope(call.arg(2)?)?;
    let flags = body.fence_flags(call.arg(0)?)?;
    let images = match body.t.known_u32(flags) {
        Some(flags) => flags & MemorySemantics::ImageMemory.0 != 0,
        None => true,
    };
    if body.is_invocation(scope) && !images {
        return Ok(None);
    }
    let ty = body.t.b.int_type(32, false);
    let semantics = body.combine_semantics(ty, order, flags);
    let words = [scope.word(), semantics.word()];
    body.t.b.append_effect(Op::MemoryBarrier, &words);
    Ok(None)
}

/// `async_work_group_copy(destination, source, count, event)`
pub(super) fn lower_async_copy(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let size = NumericShape::new_int(body.t.pointer_bits, 1);
    let stride = body.t.make_splat(size, 1);
    body.emit_group_copy(call, stride, 3).map(Some)
}

/// `async_work_group_strided_copy(destination, source, count, stride, event)`
pub(super) fn lower_async_strided_copy(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let stride = body.size_argument(call, 3)?;
    body.emit_group_copy(call, stride, 4).map(Some)
}

/// `wait_group_events(count, events)`
pub(super) fn lower_wait_group_events(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let scope = body.t.make_u32(Scope::Workgroup.0);
    let count = body.lower_value(call.arg(0)?)?;
    let event = body.t.b.declare_type(Op::TypeEvent, &[]);
    let events = body.lower_pointer(call.arg(1)?, event)?;
    let words = [scope, count, events].map(Id::word);
    body.t.b.append_effect(Op::GroupWaitEvents, &words);
    Ok(None)
}

/// Fence flags of OpenCL and the corresponding memory semantics: local, global, image.
const FLAGS: &[(u64, MemorySemantics)] = &[
    (1, MemorySemantics::WorkgroupMemory),
    (2, MemorySemantics::CrossWorkgroupMemory),
    (4, MemorySemantics::ImageMemory),
];

/// Memory orders of OpenCL C, which are those of C11.
const ORDERS: &[(u64, MemorySemantics)] = &[
    (0, MemorySemantics(0)),
    (2, MemorySemantics::Acquire),
    (3, MemorySemantics::Release),
    (4, MemorySemantics::AcquireRelease),
    (5, MemorySemantics::SequentiallyConsistent),
];

/// Memory scopes of OpenCL C.
const SCOPES: &[(u64, Scope)] = &[
    (0, Scope::Invocation),
    (1, Scope::Workgroup),
    (2, Scope::Device),
    (3, Scope::CrossDevice),
    (4, Scope::Subgroup),
];

impl FunctionTranslator<'_, '_> {
    fn split_barrier(
        &mut self,
        op: Op,
        order: MemorySemantics,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let execution = self.t.make_u32(Scope::Workgroup.0);
        let memory = match call.args.get(1) {
            Some(&scope) => self.memory_scope(scope)?,
            None => execution,
        };
        let flags = self.fence_flags(call.arg(0)?)?;
        let order = self.t.make_u32(order.0);
        let ty = self.t.b.int_type(32, false);
        let semantics = self.combine_semantics(ty, order, flags);
        let words = [execution, memory, semantics].map(Id::word);
        self.t.b.append_effect(op, &words);
        Ok(None)
    }

    fn emit_control_barrier(
        &mut self,
        execution: Scope,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let memory = match call.args.get(1) {
            Some(&scope) => self.memory_scope(scope)?,
            None => self.t.make_u32(execution.0),
        };
        let flags = self.fence_flags(call.arg(0)?)?;
        let order = MemorySemantics::SequentiallyConsistent.0;
        let order = self.t.make_u32(order);
        let ty = self.t.b.int_type(32, false);
        let semantics = self.combine_semantics(ty, order, flags);
        let execution = self.t.make_u32(execution.0);
        let words = [execution, memory, semantics].map(Id::word);
        self.t.b.append_effect(Op::ControlBarrier, &words);
        Ok(None)
    }

    fn emit_memory_fence(
        &mut self,
        order: MemorySemantics,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Option<Id>> {
        let flags = self.fence_flags(call.arg(0)?)?;
        let order = self.t.make_u32(order.0);
        let ty = self.t.b.int_type(32, false);
        let semantics = self.combine_semantics(ty, order, flags);
        let scope = self.t.make_u32(Scope::Workgroup.0);
        let words = [scope, semantics].map(Id::word);
        self.t.b.append_effect(Op::MemoryBarrier, &words);
        Ok(None)
    }

    /// Fence flags as bits of memory semantics.
    fn fence_flags(&mut self, flags: LlvmValue) -> LlvmResult<Id> {
        if let Some(flags) = self.t.module.as_u64(flags) {
            let semantics = FLAGS
                .iter()
                .filter(|row| flags & row.0 != 0)
                .fold(0, |all, row| all | row.1.0);
            return Ok(self.t.make_u32(semantics));
        }
        let flags = self.lower_value(flags)?;
        let ty = self.t.b.int_type(32, false);
        let mut semantics = self.t.make_u32(0);
        for &(bit, memory) in FLAGS {
            let bit = self.t.make_u32(bit as u32);
            let set = self.emit_op(Op::BitwiseAnd, ty, [flags, bit]);
            let bool = self.t.b.bool_type();
            let set = self.emit_op(Op::IEqual, bool, [set, bit]);
            let zero = self.t.make_u32(0);
            let memory = self.t.make_u32(memory.0);
            let part = self.emit_select(ty, set, memory, zero);
            semantics = self.emit_op(Op::BitwiseOr, ty, [semantics, part]);
        }
        Ok(semantics)
    }

    /// Memory order and memory semantics combined, as one constant if both are constant.
    pub(super) fn combine_semantics(&mut self, ty: Id, order: Id, memory: Id) -> Id {
        match (self.t.known_u32(order), self.t.known_u32(memory)) {
            (Some(a), Some(b)) => self.t.make_u32(a | b),
            _ => self.emit_op(Op::BitwiseOr, ty, [order, memory]),
        }
    }

    /// A memory order of OpenCL C as bits of memory semantics.
    pub(super) fn memory_order(&mut self, order: LlvmValue) -> LlvmResult<Id> {
        let rows: Vec<(u64, u32)> = ORDERS.iter().map(|row| (row.0, row.1.0)).collect();
        self.map_constant(order, &rows)
    }

    /// A memory scope of OpenCL C as a scope.
    pub(super) fn memory_scope(&mut self, scope: LlvmValue) -> LlvmResult<Id> {
        let rows: Vec<(u64, u32)> = SCOPES.iter().map(|row| (row.0, row.1.0)).collect();
        self.map_constant(scope, &rows)
    }

    /// Whether a scope is known to be the invocation, which needs no ordering.
    pub(super) fn is_invocation(&self, scope: Id) -> bool {
        self.t.known_u32(scope) == Some(Scope::Invocation.0)
    }

    /// The number that a table maps a constant value to.
    fn map_constant(&mut self, value: LlvmValue, rows: &[(u64, u32)]) -> LlvmResult<Id> {
        if let Some(value) = self.t.module.as_u64(value) {
            return match rows.iter().find(|row| row.0 == value) {
                Some(row) => Ok(self.t.make_u32(row.1)),
                None => Err(make_refusal(format!(
                    "{value} is not a memory order or scope"
                ))),
            };
        }
        let shape = self.shape_of(value)?;
        let id = self.lower_value(value)?;
        let ty = self.t.b.int_type(32, false);
        let bool = self.t.b.bool_type();
        let mut chosen = self.t.make_u32(rows[rows.len() - 1].1);
        for row in rows.iter().rev().skip(1) {
            let key = self.t.make_splat(shape, row.0);
            let here = self.emit_op(Op::IEqual, bool, [id, key]);
            let number = self.t.make_u32(row.1);
            chosen = self.emit_select(ty, here, number, chosen);
        }
        Ok(chosen)
    }

    /// An argument as an integer of pointer width.
    pub(super) fn size_argument(
        &mut self,
        call: &ExternalCall<'_>,
        index: usize,
    ) -> LlvmResult<Id> {
        let value = call.arg(index)?;
        let from = self.shape_of(value)?;
        let id = self.lower_value(value)?;
        Ok(self.resize_integer(
            from,
            NumericShape::new_int(self.t.pointer_bits, 1),
            id,
            false,
        ))
    }

    fn emit_group_copy(
        &mut self,
        call: &ExternalCall<'_>,
        stride: Id,
        event: usize,
    ) -> LlvmResult<Id> {
        let event = call.arg(event)?;
        if self.is_pointer(event) {
            return Err(make_refusal("events are pointers here, as before LLVM 16"));
        }
        let scope = self.t.make_u32(Scope::Workgroup.0);
        let destination = self.lower_argument(call, 0)?;
        let source = self.lower_argument(call, 1)?;
        let count = self.size_argument(call, 2)?;
        let event = self.lower_value(event)?;
        let ty = self.call_type(call)?;
        let operands = [scope, destination, source, count, stride, event];
        Ok(self.emit_op(Op::GroupAsyncCopy, ty, operands))
    }
}
