//! Copies of memory: that both sides are inside of what their pointers come from.

use super::accessed_object::{AccessedObject, ObjectLength};
use super::{ClifLowering, info};
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// One side of a copy.
#[derive(Clone, Copy)]
pub(crate) struct CopySide {
    /// The pointer.
    pub id: Id,
    pub address: Value,
    /// How many bytes from the address on are accessed.
    pub bytes: Value,
    pub writes: bool,
}

impl ClifLowering<'_, '_, '_> {
    /// A copy of bytes that the checks make.
    pub fn guarded_copy(
        &mut self,
        [to, from]: [(Id, Value); 2],
        bytes: Value,
    ) -> Result<(), SourceDiagnostic> {
        let side = |(id, address), writes| CopySide {
            id,
            address,
            bytes,
            writes,
        };
        self.check_sides([side(to, true), side(from, false)])?;
        let site = i64::from(self.current_site());
        let site = self.emit_iconst(types::I64, site);
        let args = [
            self.item.context,
            self.item.linear,
            to.1,
            from.1,
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
        self.call_host(
            runtime::sanitize_copy as *const () as usize,
            &params,
            &[],
            &args,
        );
        Ok(())
    }

    /// Tells of sides that are not inside of what their pointers come from. The copy then touches what it may.
    pub(crate) fn check_sides(&mut self, sides: [CopySide; 2]) -> Result<(), SourceDiagnostic> {
        for side in sides {
            let Some(root) = self.find_pointer_root(side.id) else {
                continue;
            };
            let Some(place) = self.place_of(root)? else {
                continue;
            };
            let outside = self.is_copied_outside(&place, side);
            let next = self.builder.create_block();
            let cold = self.cold_block();
            self.builder.ins().brif(outside, cold, &[], next, &[]);
            self.builder.switch_to_block(cold);
            let how = if side.writes { info::WRITE } else { info::READ };
            let what = how | u64::from(self.current_site());
            let bytes = i64::from(info::BYTES_SHIFT);
            let bytes = self.builder.ins().ishl_imm_u(side.bytes, bytes);
            let what = self.builder.ins().bor_imm_u(bytes, what as i64);
            self.call_outside(&place, side.address, what);
            self.builder.ins().jump(next, &[]);
            self.builder.switch_to_block(next);
        }
        Ok(())
    }

    fn is_copied_outside(&mut self, place: &AccessedObject, side: CopySide) -> Value {
        let length = match place.length {
            ObjectLength::Known(length) => self.emit_iconst(types::I64, length as i64),
            ObjectLength::Row(row) => self.row_field(row, runtime::at::ENDS),
        };
        let more = IntCC::UnsignedGreaterThan;
        let ins = self.builder.ins();
        let offset = ins.isub(side.address, place.base);
        let first = self.builder.ins().icmp(more, offset, length);
        let rest = self.builder.ins().isub(length, offset);
        let last = self.builder.ins().icmp(more, side.bytes, rest);
        self.builder.ins().bor(first, last)
    }
}
