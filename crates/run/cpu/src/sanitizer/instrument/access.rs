//! Checks around an access: that it lies inside of its object, and what the shadow memory says of it.
//!
//! The object that the pointer comes from decides which checks apply. The usual cases are decided by emitted code: the
//! access is inside, and the cell of shared memory is fresh or the invocation's own. Everything else calls
//! [`crate::sanitizer::runtime`].

use super::accessed_object::{AccessedObject, ObjectLength, ShadowKind};
use super::shadow_state::cell_flags;
use super::{
    ClifLowering, SanitizerHooks, info_bits, is_plain, is_relaxed_change, is_volatile, is_write,
};
use crate::codegen::ClifScalars;
use crate::codegen::access_hooks::{EmitAccess, MemoryAccessKind, PointerAccess};
use crate::codegen::lowering::invariant_flags;
use crate::codegen::values::PointerOperand;
use crate::layout::launch_context::at;
use crate::module::types::ScalarLeaf;
use crate::sanitizer::{access_info as info, runtime};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use smallvec::SmallVec;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;

/// The extent of an access.
#[derive(Clone, Copy)]
struct AccessExtent {
    bytes: u64,
    /// The value that is written, where it is one scalar.
    value: Option<Value>,
}

/// An access to scalars inside of an object.
#[derive(Clone, Copy)]
struct ScalarCheck<'a> {
    address: Value,
    /// Bytes from the beginning of the object.
    offset: Value,
    leaves: &'a [ScalarLeaf],
    kind: MemoryAccessKind,
    /// The values that are written.
    values: &'a [Value],
    /// Bits that describe the access ([`info`]).
    access_word: u64,
}

/// The value that is written, where it is one scalar.
fn find_single_scalar(values: &[Value]) -> Option<Value> {
    match values {
        [value] => Some(*value),
        _ => None,
    }
}

/// Returns the address itself, for accesses that are emitted elsewhere.
fn wrap_address(_: &mut ClifLowering<'_, '_, '_>, address: Value) -> ClifScalars {
    [address].into_iter().collect()
}

impl SanitizerHooks {
    /// Checks an access to a scalar behind a pointer. Returns the pointer to use.
    pub(super) fn guard_pointer(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        pointer: PointerOperand,
        leaf: ScalarLeaf,
        kind: MemoryAccessKind,
    ) -> Result<PointerOperand, SourceDiagnostic> {
        if matches!(pointer, PointerOperand::Symbol(_)) {
            return Ok(pointer);
        }
        let strides = match pointer {
            PointerOperand::Address(_, strides) => strides,
            _ => None,
        };
        let address = lower.address_of(pointer)?;
        let access = PointerAccess {
            pointer: id,
            address,
            kind,
        };
        let address = self.guard_address(lower, access, &[leaf], &[])?;
        Ok(PointerOperand::Address(address, strides))
    }

    /// Checks an access to scalars. Returns the address to use.
    pub(super) fn guard_address(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &[ScalarLeaf],
        values: &[Value],
    ) -> Result<Value, SourceDiagnostic> {
        let found = self.guard_leaves(lower, access, leaves, values, &wrap_address)?;
        Ok(found[0])
    }

    /// Checks an access to scalars, and makes it at the address to use. Returns what `emit` returns.
    pub(super) fn guard_leaves(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &[ScalarLeaf],
        values: &[Value],
        emit: &EmitAccess<'_>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        if let Some(found) = self.guard_strided_group(lower, access, leaves, emit)? {
            return Ok(found);
        }
        let PointerAccess { address, kind, .. } = access;
        let end = |leaf: &ScalarLeaf| leaf.offset + u64::from(leaf.scalar.bytes());
        let bytes = leaves.iter().map(end).max().unwrap_or(1);
        let value = find_single_scalar(values);
        let extent = AccessExtent { bytes, value };
        self.make_guarded_access(
            lower,
            access,
            extent,
            |lower, object, offset, access_word| {
                let check = ScalarCheck {
                    address,
                    offset,
                    leaves,
                    kind,
                    values,
                    access_word,
                };
                self.check_scalars_inside(lower, object, check);
            },
            emit,
        )
    }

    /// Checks scalars that are accessed inside of an object.
    fn check_scalars_inside(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        object: &AccessedObject,
        check: ScalarCheck<'_>,
    ) {
        let ScalarCheck {
            address,
            offset,
            leaves,
            kind,
            values,
            access_word,
        } = check;
        match object.space {
            ShadowKind::Nothing => {}
            ShadowKind::Private(delta) => {
                let site = access_word & info::SITE;
                self.check_defined(lower, address, delta, leaves, kind, site);
            }
            ShadowKind::Global { .. } | ShadowKind::Group { .. } if is_volatile(kind) => {
                self.check_cells(lower, object, [address, offset], leaves, kind, values);
            }
            ShadowKind::Global { .. } | ShadowKind::Group { .. } if !is_plain(kind) => {
                let value = find_single_scalar(values);
                let access_word = access_word | object.cleared_flag() | self.granule_bits(object);
                let bytes = leaves.iter().map(|leaf| leaf.scalar.bytes()).sum();
                if is_relaxed_change(kind) {
                    let at = [offset, address];
                    self.check_relaxed_change(lower, object, at, bytes, access_word, value);
                } else {
                    self.call_access_check(lower, address, access_word, value);
                }
            }
            ShadowKind::Global { .. }
                if kind == MemoryAccessKind::Read && self.is_covered(lower) => {}
            ShadowKind::Global { .. } | ShadowKind::Group { .. } => {
                self.check_cells(lower, object, [address, offset], leaves, kind, values);
            }
        }
    }

    /// Checks an access to bytes in a row. Returns the address to use.
    pub(super) fn guard_range(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        bytes: u64,
    ) -> Result<Value, SourceDiagnostic> {
        let PointerAccess { address, kind, .. } = access;
        if bytes == 0 {
            return Ok(address);
        }
        let extent = AccessExtent { bytes, value: None };
        let inside = |lower: &mut ClifLowering<'_, '_, '_>,
                      object: &AccessedObject,
                      _: Value,
                      access_word: u64| match object.space {
            ShadowKind::Nothing => {}
            ShadowKind::Private(delta) if is_write(kind) => {
                let at = lower.builder.ins().iadd_imm_s(address, delta as i64);
                self.set_defined(lower, at, bytes, true);
            }
            ShadowKind::Private(_) => {}
            ShadowKind::Global { .. } | ShadowKind::Group { .. } => {
                self.call_access_check(
                    lower,
                    address,
                    access_word | self.granule_bits(object),
                    None,
                );
            }
        };
        Ok(self.make_guarded_access(lower, access, extent, inside, &wrap_address)?[0])
    }

    /// Makes an access: at its own address where it is inside of its object, else at the address that the sanitizer
    /// returns. `inside` checks the rest from the object, the offset in it and the access info.
    ///
    /// The access is emitted twice, so that the usual path needs no address that may be one of two.
    fn make_guarded_access(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        extent: AccessExtent,
        inside: impl FnOnce(&mut ClifLowering<'_, '_, '_>, &AccessedObject, Value, u64),
        emit: &EmitAccess<'_>,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let address = access.address;
        let AccessExtent { bytes, value } = extent;
        let site = u64::from(self.current_site(lower));
        let access_word = site | info_bits(access.kind) | bytes << info::BYTES_SHIFT;
        self.largest.set(self.largest.get().max(bytes));
        let Some(object) = self.find_accessed_object(lower, access.pointer)? else {
            let address = self.call_access_check(lower, address, access_word, value);
            return Ok(emit(lower, address));
        };
        let done = lower.builder.create_block();
        let offset = lower.builder.ins().isub(address, object.base);
        let bad = self.is_outside(lower, &object, offset, bytes);
        let fine = lower.builder.create_block();
        let outside = self.cold_block(lower);
        lower.builder.ins().brif(bad, outside, &[], fine, &[]);
        lower.builder.switch_to_block(outside);
        self.make_instead(lower, &object, address, access_word, emit, done);
        lower.builder.switch_to_block(fine);
        inside(lower, &object, offset, access_word);
        let made = emit(lower, address);
        self.jump_with(lower, done, &made);
        lower.builder.switch_to_block(done);
        Ok(lower.builder.block_params(done).into())
    }

    /// Makes an access that is outside of its object at the address to use, and jumps to `done` with its scalars.
    pub(super) fn make_instead(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        object: &AccessedObject,
        address: Value,
        access_word: u64,
        emit: &EmitAccess<'_>,
        done: Block,
    ) {
        let access_word = lower.emit_iconst(types::I64, access_word as i64);
        let instead = self.call_outside(lower, object, address, access_word);
        let made = emit(lower, instead);
        for value in &made {
            let ty = lower.value_type(*value);
            lower.builder.append_block_param(done, ty);
        }
        self.jump_with(lower, done, &made);
    }

    pub(super) fn jump_with(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        to: Block,
        values: &[Value],
    ) {
        let args: SmallVec<[BlockArg; 4]> = values.iter().map(|v| BlockArg::Value(*v)).collect();
        lower.builder.ins().jump(to, &args);
    }

    /// Whether the address that is being loaded is written right after.
    fn is_covered(&self, lower: &mut ClifLowering<'_, '_, '_>) -> bool {
        let load = lower.current.filter(|i| i.op() == Op::Load);
        let result = load.and_then(|i| i.result());
        result.is_some_and(|id| self.analysis.covered[id])
    }

    pub(super) fn granule_bits(&self, place: &AccessedObject) -> u64 {
        match place.space {
            ShadowKind::Global { granule, .. } => {
                info::GRANULE | u64::from(granule) << info::GRANULE_SHIFT
            }
            _ => 0,
        }
    }

    pub(super) fn call_access_check(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        access_word: u64,
        value: Option<Value>,
    ) -> Value {
        let args = self.access_arguments(lower, address, access_word, value);
        self.call_quietly(lower, runtime::sanitize_access as *const () as usize, &args)
    }

    pub(super) fn access_arguments(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        access_word: u64,
        value: Option<Value>,
    ) -> [Value; 5] {
        let access_word = access_word | if value.is_some() { info::VALUE } else { 0 };
        let value = match value {
            Some(value) => {
                let bits = lower.bits_of(value);
                lower.extend_to(bits, types::I64, false)
            }
            None => lower.emit_iconst(types::I64, 0),
        };
        let access_word = lower.emit_iconst(types::I64, access_word as i64);
        [
            lower.item.context,
            lower.item.linear,
            address,
            access_word,
            value,
        ]
    }

    /// Whether an access of `bytes` bytes at an offset is not inside of an object.
    pub(super) fn is_outside(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        offset: Value,
        bytes: u64,
    ) -> Value {
        let least = IntCC::UnsignedGreaterThanOrEqual;
        match place.length {
            ObjectLength::Known(length) => {
                let end = (length + 1).saturating_sub(bytes);
                let end = lower.emit_iconst(types::I64, end as i64);
                lower.builder.ins().icmp(least, offset, end)
            }
            ObjectLength::Row(row) if bytes.is_power_of_two() && bytes <= 16 => {
                let at = runtime::at::ENDS + 8 * bytes.trailing_zeros() as i32;
                let end = self.row_field(lower, row, at);
                lower.builder.ins().icmp(least, offset, end)
            }
            ObjectLength::Row(row) => {
                let end = self.row_field(lower, row, runtime::at::ENDS);
                let first = lower.builder.ins().icmp(least, offset, end);
                let last = lower.builder.ins().iadd_imm_s(offset, bytes as i64 - 1);
                let last = lower.builder.ins().icmp(least, last, end);
                lower.builder.ins().bor(first, last)
            }
        }
    }

    /// The address to use for an access that is not inside of an object.
    pub(super) fn call_outside(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        address: Value,
        access_word: Value,
    ) -> Value {
        let common = [lower.item.context, lower.item.linear, address, access_word];
        match place.length {
            ObjectLength::Known(length) => {
                let length = lower.emit_iconst(types::I64, length as i64);
                let args = [&common[..], &[place.base, length]].concat();
                self.call_quietly(
                    lower,
                    runtime::sanitize_out_of_bounds as *const () as usize,
                    &args,
                )
            }
            ObjectLength::Row(row) => {
                let row = lower.emit_iconst(types::I64, row as i64);
                let args = [&common[..], &[row]].concat();
                self.call_quietly(
                    lower,
                    runtime::report_outside_row as *const () as usize,
                    &args,
                )
            }
        }
    }

    /// A field of a row of the table of arguments and bindings.
    pub(super) fn row_field(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        row: usize,
        at: i32,
    ) -> Value {
        let live = lower.load_context_field(types::I64, at::SANITIZER);
        let ins = lower.builder.ins();
        let rows = ins.load(types::I64, invariant_flags(), live, runtime::at::ROWS);
        let flags = cell_flags();
        let at = runtime::at::ROW * row as i32 + at;
        lower.builder.ins().load(types::I64, flags, rows, at)
    }

    pub(super) fn cold_block(&self, lower: &mut ClifLowering<'_, '_, '_>) -> Block {
        let block = lower.builder.create_block();
        lower.builder.set_cold_block(block);
        block
    }
}
