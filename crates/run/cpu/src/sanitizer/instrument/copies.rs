//! Checks of copies: both sides lie inside of their objects.

use super::accessed_object::{AccessedObject, ObjectLength};
use super::{ClifLowering, SanitizerHooks, info};
use crate::codegen::access_hooks::{CopyEndpoint, GroupCopy};
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;

/// One side of a copy with its extent.
#[derive(Clone, Copy)]
struct CopySide {
    operand: CopyEndpoint,
    /// Number of bytes from the address on that are accessed, 64 bits.
    bytes: Value,
    writes: bool,
}

impl SanitizerHooks {
    /// Makes a copy by a call of the sanitizer, which also copies the definedness of the bytes.
    pub(super) fn guarded_copy(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        to: CopyEndpoint,
        from: CopyEndpoint,
        bytes: Value,
    ) -> Result<(), SourceDiagnostic> {
        let side = |operand, writes| CopySide {
            operand,
            bytes,
            writes,
        };
        self.check_sides(lower, [side(to, true), side(from, false)])?;
        let site = i64::from(self.current_site(lower));
        let site = lower.emit_iconst(types::I64, site);
        let args = [
            lower.item.context,
            lower.item.linear,
            to.address,
            from.address,
            bytes,
            site,
        ];
        let params = [
            types::I64,
            types::I32,
            types::I64,
            types::I64,
            types::I64,
            types::I64,
        ];
        let callee = runtime::sanitize_copy as *const () as usize;
        lower.call_host(callee, &params, &[], &args);
        Ok(())
    }

    /// Checks both sides of a copy that the invocations of a workgroup make together.
    pub(super) fn check_group_copy(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        copy: GroupCopy,
    ) -> Result<(), SourceDiagnostic> {
        let size = lower.emit_iconst(types::I64, copy.bytes as i64);
        let local = lower.builder.ins().imul(copy.count, size);
        let global = strided_bytes(lower, copy.count, copy.stride, size);
        let side = |operand, writes| CopySide {
            operand,
            bytes: if writes == copy.to_local {
                local
            } else {
                global
            },
            writes,
        };
        self.check_sides(lower, [side(copy.to, true), side(copy.from, false)])
    }

    /// Reports sides that are not inside of their objects. The copy then accesses only memory that it may use.
    fn check_sides(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        sides: [CopySide; 2],
    ) -> Result<(), SourceDiagnostic> {
        for side in sides {
            let Some(root) = self.find_pointer_root(side.operand.pointer) else {
                continue;
            };
            let Some(place) = self.place_of(lower, root)? else {
                continue;
            };
            let outside = self.is_copied_outside(lower, &place, side);
            let next = lower.builder.create_block();
            let cold = self.cold_block(lower);
            lower.builder.ins().brif(outside, cold, &[], next, &[]);
            lower.builder.switch_to_block(cold);
            let how = if side.writes { info::WRITE } else { info::READ };
            let access_word = how | u64::from(self.current_site(lower));
            let bytes = i64::from(info::BYTES_SHIFT);
            let bytes = lower.builder.ins().ishl_imm_u(side.bytes, bytes);
            let access_word = lower.builder.ins().bor_imm_u(bytes, access_word as i64);
            self.call_outside(lower, &place, side.operand.address, access_word);
            lower.builder.ins().jump(next, &[]);
            lower.builder.switch_to_block(next);
        }
        Ok(())
    }

    fn is_copied_outside(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        side: CopySide,
    ) -> Value {
        let length = match place.length {
            ObjectLength::Known(length) => lower.emit_iconst(types::I64, length as i64),
            ObjectLength::Row(row) => self.row_field(lower, row, runtime::at::ENDS),
        };
        let more = IntCC::UnsignedGreaterThan;
        let ins = lower.builder.ins();
        let offset = ins.isub(side.operand.address, place.base);
        let first = lower.builder.ins().icmp(more, offset, length);
        let rest = lower.builder.ins().isub(length, offset);
        let last = lower.builder.ins().icmp(more, side.bytes, rest);
        lower.builder.ins().bor(first, last)
    }
}

/// Bytes from the first to the last of `count` elements that lie `stride` elements of `size` bytes apart.
fn strided_bytes(
    lower: &mut ClifLowering<'_, '_, '_>,
    count: Value,
    stride: Value,
    size: Value,
) -> Value {
    let one = lower.emit_iconst(types::I64, 1);
    let stride = lower.builder.ins().umax(stride, one);
    let steps = lower.builder.ins().iadd_imm_s(count, -1);
    let steps = lower.builder.ins().imul(steps, stride);
    let all = lower.builder.ins().iadd_imm_s(steps, 1);
    let bytes = lower.builder.ins().imul(all, size);
    let none = lower.builder.ins().icmp_imm_u(IntCC::Equal, count, 0);
    lower.builder.ins().select(none, count, bytes)
}
