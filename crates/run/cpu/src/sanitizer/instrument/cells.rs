//! The cell of a scalar that invocations share: what is usual is decided in place.

use super::accessed_object::{AccessedObject, ObjectLength, ShadowKind};
use super::shadow_state::{CellBlocks, ShadowCodegen, SharedAccess, cell_flags};
use super::{ClifLowering, MemoryAccessKind};
use crate::module::types::ScalarLeaf;
use crate::sanitizer::runtime::{self, info};
use crate::sanitizer::shadow_cell::{ATOMIC, KEPT, SITE_SHIFT, WRITTEN};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

impl<'a> ClifLowering<'a, '_, '_> {
    /// What is known of shared memory where code is made now.
    pub(super) fn shadow_codegen(&mut self) -> ShadowCodegen<'_, 'a> {
        ShadowCodegen {
            builder: &mut self.builder,
            context: self.item.context,
            linear: self.item.linear,
        }
    }

    /// The cells of scalars that invocations share, by the address and the offset that theirs are counted from.
    pub(super) fn check_cells(
        &mut self,
        place: &AccessedObject,
        at: [Value; 2],
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        values: &[Value],
    ) {
        for (n, leaf) in leaves.iter().enumerate() {
            self.check_cell(place, at, leaf, how, values.get(n).copied());
        }
    }

    fn check_cell(
        &mut self,
        place: &AccessedObject,
        [address, offset]: [Value; 2],
        leaf: &ScalarLeaf,
        how: MemoryAccessKind,
        value: Option<Value>,
    ) {
        let (cells, granule, group) = match place.space {
            ShadowKind::Global { cells, granule } => (cells, granule, None),
            ShadowKind::Group { cells, cleared } => (cells, self.group_granule(), Some(cleared)),
            _ => return,
        };
        let deed = SharedAccess {
            writes: how.is_write(),
            group: group.is_some(),
            cleared: group == Some(true),
            volatile: !how.is_plain(),
        };
        let bytes = u64::from(leaf.scalar.bytes());
        let site = u64::from(self.current_site());
        let what = site | how.info_bits() | bytes << info::BYTES_SHIFT | place.cleared_flag();
        let what = what | self.granule_bits(place);
        let address = self.builder.ins().iadd_imm_s(address, leaf.offset as i64);
        if bytes != 1 << granule {
            self.call_touch(address, what, value);
            return;
        }
        let offset = self.builder.ins().iadd_imm_s(offset, leaf.offset as i64);
        let step = self.cell_step(offset, granule, leaf);
        let cells = self.first_cell(cells);
        let at = self.builder.ins().iadd(cells, step);
        let site = self.emit_iconst(types::I64, (site << SITE_SHIFT) as i64);
        let released = match deed.volatile {
            true => self.released_at(place, step),
            false => None,
        };
        if deed.volatile && !deed.group && released.is_none() {
            self.call_touch(address, what, value);
            return;
        }
        let blocks = CellBlocks {
            done: self.builder.create_block(),
            slow: self.cold_block(),
            store: self.builder.create_block(),
            released,
        };
        let new = self.builder.append_block_param(blocks.store, types::I64);
        let in_place = self.shared.checking.as_ref().is_none_or(|c| c.in_place);
        match in_place {
            true => self.shadow_codegen().decide_access(deed, at, site, &blocks),
            false => self
                .shadow_codegen()
                .decide_at_once(deed, at, site, &blocks),
        }
        self.builder.switch_to_block(blocks.slow);
        // What may order something is not decided behind the first test alone.
        match in_place || deed.volatile {
            true => _ = self.call_touch(address, what, value),
            false => self.call_decide(deed, [address, at], what, value),
        }
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.store);
        if let Some(released) = blocks.released.filter(|_| deed.writes) {
            let owner = self.shadow_codegen().emit_owner();
            self.shadow_codegen().note_release(released, owner);
        }
        self.builder.ins().store(cell_flags(), new, at, 0);
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.done);
    }

    /// Bytes from the first cell to that of an offset. Offsets that are whole multiples by what the program promises
    /// of its pointers are not rounded first.
    fn cell_step(&mut self, offset: Value, granule: u32, leaf: &ScalarLeaf) -> Value {
        let bytes = u64::from(leaf.scalar.bytes());
        let access = self.current.and_then(|inst| match inst.op() {
            Op::Load => inst.operands().get(1..),
            Op::Store => inst.operands().get(2..),
            _ => None,
        });
        let aligned = match access {
            Some(&[mask, align, ..]) if mask & MemoryAccess::Aligned.0 != 0 => {
                u64::from(align) >= bytes
            }
            Some([]) => true,
            _ => false,
        };
        if aligned && leaf.offset.is_multiple_of(bytes) {
            return self
                .builder
                .ins()
                .ishl_imm_u(offset, 3 - i64::from(granule));
        }
        let number = self.builder.ins().ushr_imm_u(offset, i64::from(granule));
        self.builder.ins().ishl_imm_u(number, 3)
    }

    /// A relaxed atomic change of memory that invocations share: what is usual is decided in place.
    pub(super) fn check_relaxed_change(
        &mut self,
        place: &AccessedObject,
        [offset, address]: [Value; 2],
        bytes: u32,
        what: u64,
        value: Option<Value>,
    ) {
        let (cells, granule, kept) = match place.space {
            ShadowKind::Global { cells, granule } => (cells, granule, 0),
            ShadowKind::Group { cells, .. } => (cells, self.group_granule(), KEPT),
            _ => return,
        };
        if u64::from(bytes) != 1 << granule {
            self.call_touch(address, what, value);
            return;
        }
        let number = self.builder.ins().ushr_imm_u(offset, i64::from(granule));
        let step = self.builder.ins().ishl_imm_u(number, 3);
        let cells = self.first_cell(cells);
        let at = self.builder.ins().iadd(cells, step);
        let released = self.released_at(place, step);
        let [usual, done] = [(); 2].map(|()| self.builder.create_block());
        let slow = self.cold_block();
        let site = (what & info::SITE) << SITE_SHIFT;
        let site = self.emit_iconst(types::I64, site as i64);
        let fine = match released {
            Some(released) => self.shadow_codegen().is_usual_global_change(at, released),
            None => {
                let again = self.shadow_codegen().has_half(at, runtime::at::CHANGED);
                let [same, first] = [(); 2].map(|()| self.builder.create_block());
                self.builder.ins().brif(again, same, &[], first, &[]);
                self.builder.switch_to_block(same);
                self.shadow_codegen().store_who(at, site);
                self.builder.ins().jump(done, &[]);
                self.builder.switch_to_block(first);
                self.shadow_codegen().is_usual_group_change(at)
            }
        };
        self.builder.ins().brif(fine, usual, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        self.call_touch(address, what, value);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(usual);
        if let Some(released) = released {
            let owner = self.shadow_codegen().emit_owner();
            self.shadow_codegen().note_release(released, owner);
        }
        let record = self
            .shadow_codegen()
            .emit_cell_record(WRITTEN | ATOMIC | kept, site);
        self.builder.ins().store(cell_flags(), record, at, 0);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Where it stands who released last at a cell of memory that workgroups share.
    fn released_at(&mut self, place: &AccessedObject, step: Value) -> Option<Value> {
        let (ShadowKind::Global { .. }, ObjectLength::Row(row)) = (place.space, place.length)
        else {
            return None;
        };
        let first = self.row_field(row, runtime::at::RELEASED);
        Some(self.builder.ins().iadd(first, step))
    }

    /// A field of what is known of the workgroup.
    pub(super) fn load_workgroup_field(&mut self, offset: i32) -> Value {
        self.shadow_codegen().load_workgroup_field(offset)
    }
}
