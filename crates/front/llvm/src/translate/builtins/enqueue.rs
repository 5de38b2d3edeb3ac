//! Device-side enqueue: functions that enqueue blocks or query them.
//!
//! Clang passes a block as the kernel that runs it and a pointer to its literal. The literal is a
//! structure that begins with its size and alignment.

use crate::ir::{
    ConstKind, GlobalKind, InstructionExtra, LlvmFunc, LlvmOpcode, LlvmType, LlvmValue,
};
use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::NumericShape;
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;

/// Greatest number of casts that are followed from a pointer.
const MAX_CASTS: usize = 16;

/// `(queue, flags, ndrange, invoke, block)`
pub(super) fn lower_enqueue_basic(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_enqueue_kernel(call, false, false).map(Some)
}

/// `(queue, flags, ndrange, count, wait, return, invoke, block)`
pub(super) fn with_events(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_enqueue_kernel(call, true, false).map(Some)
}

/// `(queue, flags, ndrange, invoke, block, count, sizes)`
pub(super) fn with_sizes(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_enqueue_kernel(call, false, true).map(Some)
}

/// `(queue, flags, ndrange, count, wait, return, invoke, block, count, sizes)`
pub(super) fn with_both(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_enqueue_kernel(call, true, true).map(Some)
}

/// `(invoke, block)`
pub(super) fn query_work_group_size(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_kernel_query(Op::GetKernelWorkGroupSize, false, call)
        .map(Some)
}

/// `(invoke, block)`
pub(super) fn lower_enqueue_multiple(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_kernel_query(Op::GetKernelPreferredWorkGroupSizeMultiple, false, call)
        .map(Some)
}

/// `(ndrange, invoke, block)`
pub(super) fn query_sub_group_count(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_kernel_query(Op::GetKernelNDrangeSubGroupCount, true, call)
        .map(Some)
}

/// `(ndrange, invoke, block)`
pub(super) fn query_sub_group_size(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    body.emit_kernel_query(Op::GetKernelNDrangeMaxSubGroupSize, true, call)
        .map(Some)
}

/// `ndrange_ND(result, [offset,] global [, local])`
pub(super) fn lower_ndrange(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let result = call.arg(0)?;
    let place = body.lower_value(result)?;
    let known = body.t.b.type_of(place).and_then(|ty| body.t.pointee_of(ty));
    let Some((_, ty)) = known else {
        return Err(make_refusal("the result is not a pointer to a structure"));
    };
    let mut sizes = Vec::new();
    for &argument in &call.args[1..] {
        sizes.push(body.lower_ndrange_sizes(argument, call)?);
    }
    let zero = match sizes.first().and_then(|id| body.t.b.type_of(*id)) {
        Some(ty) => body.t.b.constant_null(ty),
        None => return Err(make_refusal("an argument is missing")),
    };
    let (offset, global, local) = match sizes[..] {
        [global] => (zero, global, zero),
        [global, local] => (zero, global, local),
        [offset, global, local] => (offset, global, local),
        _ => return Err(make_refusal("a range has one to three sizes")),
    };
    let id = body.emit_op(Op::BuildNDRange, ty, [global, local, offset]);
    body.t
        .b
        .append_effect(Op::Store, &[place.word(), id.word()]);
    Ok(None)
}

impl FunctionTranslator<'_, '_> {
    /// A size: a number, or a pointer to an array of numbers.
    fn lower_ndrange_sizes(
        &mut self,
        argument: LlvmValue,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        if !self.is_pointer(argument) {
            return self.lower_value(argument);
        }
        let size = self
            .t
            .shape_type(NumericShape::new_int(self.t.pointer_bits, 1));
        let lanes = match call.name.as_bytes().get("ndrange_".len()) {
            Some(b'2') => 2,
            _ => 3,
        };
        let array = self.t.array_type(size, lanes)?;
        let pointer = self.lower_pointer(argument, array)?;
        Ok(self.emit_op(Op::Load, array, [pointer]))
    }

    fn emit_enqueue_kernel(
        &mut self,
        call: &ExternalCall<'_>,
        events: bool,
        sizes: bool,
    ) -> LlvmResult<Id> {
        let queue = self.lower_value(call.arg(0)?)?;
        let flags = self.lower_value(call.arg(1)?)?;
        let range = self.load_ndrange(call.arg(2)?)?;
        let mut at = 3;
        let (count, wait, returned) = if events {
            at = 6;
            let count = self.lower_value(call.arg(3)?)?;
            (
                count,
                self.lower_event(call.arg(4)?)?,
                self.lower_event(call.arg(5)?)?,
            )
        } else {
            let ty = self.event_pointer();
            let null = self.t.b.constant_null(ty);
            (self.t.make_u32(0), null, null)
        };
        let mut words = [queue, flags, range, count, wait, returned]
            .map(Id::word)
            .to_vec();
        self.lower_enqueued_block(call.arg(at)?, call.arg(at + 1)?, &mut words)?;
        if sizes {
            self.local_sizes(call.arg(at + 2)?, call.arg(at + 3)?, &mut words)?;
        }
        let ty = self.call_type(call)?;
        Ok(self.t.b.append_value(Op::EnqueueKernel, ty, &words))
    }

    fn emit_kernel_query(
        &mut self,
        op: Op,
        range: bool,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<Id> {
        let mut words = Vec::new();
        if range {
            words.push(self.load_ndrange(call.arg(0)?)?.word());
        }
        let at = usize::from(range);
        self.lower_enqueued_block(call.arg(at)?, call.arg(at + 1)?, &mut words)?;
        let ty = self.call_type(call)?;
        Ok(self.t.b.append_value(op, ty, &words))
    }

    /// A range, which is passed by pointer.
    fn load_ndrange(&mut self, value: LlvmValue) -> LlvmResult<Id> {
        let pointer = self.lower_value(value)?;
        let known = self.t.b.type_of(pointer);
        match known.and_then(|ty| self.t.pointee_of(ty)) {
            Some((_, ty)) => Ok(self.emit_op(Op::Load, ty, [pointer])),
            None => Ok(pointer),
        }
    }

    fn event_pointer(&mut self) -> Id {
        let event = self.t.b.declare_type(Op::TypeDeviceEvent, &[]);
        self.t.pointer_type(StorageClass::Generic, event)
    }

    fn lower_event(&mut self, value: LlvmValue) -> LlvmResult<Id> {
        let event = self.t.b.declare_type(Op::TypeDeviceEvent, &[]);
        self.lower_pointer(value, event)
    }

    /// Kernel, literal, and the literal's size and alignment.
    fn lower_enqueued_block(
        &mut self,
        invoke: LlvmValue,
        literal: LlvmValue,
        words: &mut Vec<u32>,
    ) -> LlvmResult<()> {
        let kernel = match self.find_pointed_function(invoke) {
            Some(func) => self.t.intern_signature(func)?.id,
            None => return Err(make_refusal("the block is only known at run time")),
        };
        let byte = self.t.make_byte_type();
        let pointer = self.lower_pointer(literal, byte)?;
        let (size, align) = self.literal_layout(literal)?;
        let size = self.t.make_u32(size);
        let align = self.t.make_u32(align);
        words.extend([kernel, pointer, size, align].map(Id::word));
        Ok(())
    }

    /// The function whose address a pointer is, without casts.
    fn find_pointed_function(&self, value: LlvmValue) -> Option<LlvmFunc> {
        let module = self.t.module;
        let origin = self.strip_pointer_casts(value);
        let constant = origin.as_const()?;
        match module.global(module.as_global(constant)?).kind {
            GlobalKind::Function(func) => Some(func),
            _ => None,
        }
    }

    /// The pointer that a pointer was cast from.
    fn strip_pointer_casts(&self, value: LlvmValue) -> LlvmValue {
        let casts = [LlvmOpcode::AddrSpaceCast, LlvmOpcode::BitCast];
        let mut at = value;
        for _ in 0..MAX_CASTS {
            let next = match at.as_const() {
                Some(constant) => match self.t.module.consts.kind(constant) {
                    ConstKind::Expr(expr) if casts.contains(&expr.opcode) => {
                        expr.operands.first().map(|c| LlvmValue::from_constant(*c))
                    }
                    _ => None,
                },
                None => {
                    let inst = at.as_local().and_then(|local| self.function.inst_of(local));
                    inst.filter(|inst| casts.contains(&self.function.inst(*inst).opcode))
                        .map(|inst| self.function.operands(inst)[0])
                }
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Size and alignment of the structure of a block's literal.
    fn literal_layout(&self, literal: LlvmValue) -> LlvmResult<(u32, u32)> {
        let module = self.t.module;
        let origin = self.strip_pointer_casts(literal);
        let ty: Option<LlvmType> = match origin.as_const() {
            Some(constant) => module
                .as_global(constant)
                .map(|global| module.global(global).value_type),
            None => {
                let inst = origin
                    .as_local()
                    .and_then(|local| self.function.inst_of(local));
                match inst.map(|inst| self.function.inst(inst).extra) {
                    Some(InstructionExtra::Alloca { ty, .. }) => Some(ty),
                    _ => None,
                }
            }
        };
        let size = ty.and_then(|ty| {
            let size = module.layout.store_size_with_objects(&module.types, ty)?;
            let align = module.layout.pointer_width(0) / 8;
            Some((u32::try_from(size).ok()?, align))
        });
        size.ok_or_else(|| make_refusal("the literal of the block cannot be found"))
    }

    /// Pointers to the sizes of the block's local memory arguments, which are in an array.
    fn local_sizes(
        &mut self,
        count: LlvmValue,
        sizes: LlvmValue,
        words: &mut Vec<u32>,
    ) -> LlvmResult<()> {
        let Some(count) = self.t.module.as_u64(count).filter(|count| *count < 256) else {
            return Err(make_refusal("the number of local arguments is unknown"));
        };
        let bits = self.t.pointer_bits;
        let size = self.t.shape_type(NumericShape::new_int(bits, 1));
        let first = self.lower_pointer(sizes, size)?;
        for index in 0..count {
            let index = self.t.make_splat(NumericShape::new_int(bits, 1), index);
            words.push(self.step_pointer(first, index).word());
        }
        Ok(())
    }
}
