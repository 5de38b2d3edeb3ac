//! Memory intrinsics.

use super::super::function_body::FunctionTranslator;
use crate::LlvmResult;
use crate::ir::{AttrKind, LlvmValue};
use crate::translate::call_rules::ExternalCall;
use crate::translate::shapes::NumericShape;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};

/// Number of bytes up to which memory is set by one store of an array, rather than by a loop.
const ONE_STORE: u64 = 256;

/// A null pointer, for results that only other hints use.
pub(super) fn lower_to_null(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.t.b.constant_null(ty)))
}

/// `llvm.stacksave`. It has an effect only if the function allocates at run time.
pub(super) fn lower_stack_save(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    if !body.has_dynamic_allocation() {
        return lower_to_null(body, call);
    }
    let byte = body.t.make_byte_type();
    let ty = body.t.pointer_type(StorageClass::Function, byte);
    let id = body.emit_op(Op::SaveMemoryINTEL, ty, []);
    let result = body.function.inst(call.inst).ty;
    let space = body.t.module.types.address_space(result).unwrap_or(0);
    let class = body.t.storage_class(space)?;
    body.cast_space(id, class).map(Some)
}

/// `llvm.stackrestore`
pub(super) fn lower_stack_restore(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    if body.has_dynamic_allocation() {
        let byte = body.t.make_byte_type();
        let saved = body.lower_pointer(call.arg(0)?, byte)?;
        let saved = body.cast_space(saved, StorageClass::Function)?;
        body.t
            .b
            .append_effect(Op::RestoreMemoryINTEL, &[saved.word()]);
    }
    Ok(None)
}

/// `llvm.objectsize`: unknown.
pub(super) fn object_size(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    let smallest = call.args.get(1).and_then(|v| body.t.module.as_u64(*v)) == Some(1);
    Ok(Some(
        body.t
            .make_splat(shape, if smallest { 0 } else { u64::MAX }),
    ))
}

/// Zero: `llvm.is.constant` answers no, `__cxa_atexit` reports success.
pub(super) fn lower_to_zero(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let shape = body.result_shape(call.inst)?;
    Ok(Some(body.t.make_zero(shape)))
}

/// `llvm.ptrmask(pointer, mask)`
pub(super) fn mask_pointer(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let pointer = body.lower_value(call.arg(0)?)?;
    let size = NumericShape::new_int(body.t.pointer_bits, 1);
    let bits = body.pointer_bits_as(pointer, size)?;
    let from = body.shape_of(call.arg(1)?)?;
    let mask = body.lower_value(call.arg(1)?)?;
    let mask = body.resize_integer(from, size, mask, true);
    let ty = body.t.shape_type(size);
    let bits = body.emit_op(Op::BitwiseAnd, ty, [bits, mask]);
    let ty = body.result_type(call.inst)?;
    Ok(Some(body.emit_op(Op::ConvertUToPtr, ty, [bits])))
}

/// `llvm.load.relative(table, offset)`: the table's address plus the number that is stored at the
/// offset.
pub(super) fn load_relative(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let byte = body.t.make_byte_type();
    let table = body.lower_pointer(call.arg(0)?, byte)?;
    let size = NumericShape::new_int(body.t.pointer_bits, 1);
    let from = body.shape_of(call.arg(1)?)?;
    let offset = body.lower_value(call.arg(1)?)?;
    let offset = body.resize_integer(from, size, offset, true);
    let entry = body.step_pointer(table, offset);
    let number = NumericShape::new_int(32, 1);
    let word = body.t.shape_type(number);
    let entry = body.cast_pointer(entry, word);
    let words = [entry.word(), MemoryAccess::Aligned.0, 4];
    let distance = body.t.b.append_value(Op::Load, word, &words);
    let distance = body.resize_integer(number, size, distance, true);
    Ok(Some(body.step_pointer(table, distance)))
}

/// `llvm.memcpy(to, from, bytes, volatile)`
pub(super) fn lower_memcpy(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let bytes = call.arg(2)?;
    if body.is_zero(bytes) {
        return Ok(None);
    }
    // The pointees do not matter.
    let to = body.lower_value(call.arg(0)?)?;
    let from = body.lower_value(call.arg(1)?)?;
    let bytes = body.lower_value(bytes)?;
    let mut words = [to, from, bytes].map(Id::word).to_vec();
    words.extend(body.copy_access(call));
    body.t.b.append_effect(Op::CopyMemorySized, &words);
    Ok(None)
}

/// `llvm.memmove(to, from, bytes, volatile)`: all loads precede all stores.
pub(super) fn lower_memmove(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let Some(bytes) = body.t.module.as_u64(call.arg(2)?) else {
        return body.move_loop(call).map(|()| None);
    };
    if bytes == 0 {
        return Ok(None);
    }
    let byte = body.t.make_byte_type();
    let array = body.t.array_type(byte, bytes)?;
    let from = body.lower_pointer(call.arg(1)?, array)?;
    let to = body.lower_pointer(call.arg(0)?, array)?;
    let access = body.copy_access(call);
    let mut words = vec![from.word()];
    words.extend(&access);
    let all = body.t.b.append_value(Op::Load, array, &words);
    let mut words = vec![to.word(), all.word()];
    words.extend(&access);
    body.t.b.append_effect(Op::Store, &words);
    Ok(None)
}

/// `llvm.memset(to, value, bytes, volatile)`
pub(super) fn lower_memset(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let (to, value, bytes) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    match body.t.module.as_u64(bytes) {
        Some(0) => Ok(None),
        Some(bytes) if body.is_zero(value) && body.zero_object(to, bytes, call)? => Ok(None),
        Some(count) if count <= ONE_STORE && value.as_const().is_some() => {
            let byte = body.t.make_byte_type();
            let array = body.t.array_type(byte, count)?;
            let id = body.lower_value(value)?;
            let all = if body.is_zero(value) {
                body.t.b.constant_null(array)
            } else {
                body.t
                    .b
                    .constant_composite(array, &vec![id; count as usize])
            };
            let to = body.lower_pointer(to, array)?;
            let mut words = vec![to.word(), all.word()];
            words.extend(body.set_access(call));
            body.t.b.append_effect(Op::Store, &words);
            Ok(None)
        }
        _ => body.set_loop(to, value, bytes).map(|()| None),
    }
}

impl FunctionTranslator<'_, '_> {
    /// The memory operands of a copy: volatile, and the alignment that both ends have.
    fn copy_access(&self, call: &ExternalCall<'_>) -> Vec<u32> {
        let align = self
            .argument_alignment(call, 0)
            .min(self.argument_alignment(call, 1));
        self.memory_operands(call, align)
    }

    fn set_access(&self, call: &ExternalCall<'_>) -> Vec<u32> {
        self.memory_operands(call, self.argument_alignment(call, 0))
    }

    fn memory_operands(&self, call: &ExternalCall<'_>, align: u32) -> Vec<u32> {
        let volatile = call.args.get(3).and_then(|v| self.t.module.as_u64(*v)) == Some(1);
        let mut mask = MemoryAccess::Aligned;
        if volatile {
            mask |= MemoryAccess::Volatile;
        }
        vec![mask.0, align]
    }

    /// The alignment of an argument, as the call states it.
    fn argument_alignment(&self, call: &ExternalCall<'_>, index: usize) -> u32 {
        let attributes = &self.t.module.attributes;
        let found = self.function.call_info(call.inst).and_then(|info| {
            let set = attributes.param_set(info.attributes, index);
            attributes.find_number(set, AttrKind::Align)
        });
        found.and_then(|a| u32::try_from(a).ok()).unwrap_or(1)
    }

    /// Sets a whole object to zero by one store, if the pointer is to such an object.
    fn zero_object(
        &mut self,
        to: LlvmValue,
        bytes: u64,
        call: &ExternalCall<'_>,
    ) -> LlvmResult<bool> {
        let Some(local) = to.as_local() else {
            return Ok(false);
        };
        let module = self.t.module;
        let Some(ty) = self.t.pointees.local_pointee(self.func, local) else {
            return Ok(false);
        };
        if module.layout.store_size(&module.types, ty) != Some(bytes) {
            return Ok(false);
        }
        let memory = self.t.memory_type(ty)?;
        let null = self.t.b.constant_null(memory);
        let to = self.lower_pointer(to, memory)?;
        let mut words = vec![to.word(), null.word()];
        words.extend(self.set_access(call));
        self.t.b.append_effect(Op::Store, &words);
        Ok(true)
    }

    /// Moves byte by byte: upwards if the destination is below the source, otherwise downwards.
    fn move_loop(&mut self, call: &ExternalCall<'_>) -> LlvmResult<()> {
        let byte = self.t.make_byte_type();
        let to = self.lower_pointer(call.arg(0)?, byte)?;
        let from = self.lower_pointer(call.arg(1)?, byte)?;
        let shape = self.shape_of(call.arg(2)?)?;
        let count = self.lower_value(call.arg(2)?)?;
        let size = NumericShape::new_int(self.t.pointer_bits, 1);
        let addresses = [
            self.pointer_bits_as(to, size)?,
            self.pointer_bits_as(from, size)?,
        ];
        let bool = self.t.b.bool_type();
        let below = self.emit_op(Op::ULessThan, bool, addresses);
        let [up, down, after] = [(); 3].map(|()| self.t.b.fresh_id());
        let words = [below, up, down].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);
        for (label, downwards) in [(up, false), (down, true)] {
            self.begin_block(label);
            self.emit_byte_loop(shape, count, after, &mut |body, index| {
                let at = if downwards {
                    let ty = body.t.shape_type(shape);
                    let last = body.emit_op(Op::ISub, ty, [count, index]);
                    let one = body.t.make_splat(shape, 1);
                    body.emit_op(Op::ISub, ty, [last, one])
                } else {
                    index
                };
                let [to, from] = [to, from].map(|pointer| body.step_pointer(pointer, at));
                let words = [from.word(), MemoryAccess::Aligned.0, 1];
                let value = body.t.b.append_value(Op::Load, byte, &words);
                let words = [to.word(), value.word(), MemoryAccess::Aligned.0, 1];
                body.t.b.append_effect(Op::Store, &words);
            });
        }
        self.begin_block(after);
        Ok(())
    }

    /// A loop that runs a body for each number below a count, then continues in a block.
    fn emit_byte_loop(
        &mut self,
        shape: NumericShape,
        count: Id,
        after: Id,
        each: &mut dyn FnMut(&mut Self, Id),
    ) {
        let ty = self.t.shape_type(shape);
        let bool = self.t.b.bool_type();
        let (zero, one) = (self.t.make_zero(shape), self.t.make_splat(shape, 1));
        let before = self.current_label();
        let [head, body] = [(); 2].map(|()| self.t.b.fresh_id());
        self.t.b.append_effect(Op::Branch, &[head.word()]);

        self.begin_block(head);
        let (index, phi) = self.t.b.append_phi(ty);
        let more = self.emit_op(Op::ULessThan, bool, [index, count]);
        let words = [more, body, after].map(Id::word);
        self.t.b.append_effect(Op::BranchConditional, &words);

        self.begin_block(body);
        each(self, index);
        let next = self.emit_op(Op::IAdd, ty, [index, one]);
        self.t.b.append_effect(Op::Branch, &[head.word()]);
        let words = [zero, before, next, body].map(Id::word);
        self.t.b.set_phi(phi, &words);
    }

    /// Stores byte by byte in a loop.
    fn set_loop(&mut self, to: LlvmValue, value: LlvmValue, bytes: LlvmValue) -> LlvmResult<()> {
        let byte = self.t.make_byte_type();
        let to = self.lower_pointer(to, byte)?;
        let value = self.lower_value(value)?;
        let shape = self.shape_of(bytes)?;
        let count = self.lower_value(bytes)?;
        let after = self.t.b.fresh_id();
        self.emit_byte_loop(shape, count, after, &mut |body, index| {
            let at = body.step_pointer(to, index);
            let words = [at.word(), value.word(), MemoryAccess::Aligned.0, 1];
            body.t.b.append_effect(Op::Store, &words);
        });
        self.begin_block(after);
        Ok(())
    }
}
