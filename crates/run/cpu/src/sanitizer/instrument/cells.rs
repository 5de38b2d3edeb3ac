//! Shadow cells: checks of accesses to scalars that invocations share. Emitted code decides the usual cases.

use super::accessed_object::{AccessedObject, ObjectLength, ShadowKind};
use super::shadow_state::{CellBlocks, ShadowCodegen, SharedAccess, cell_flags};
use super::{ClifLowering, SanitizerHooks, info_bits, is_plain, is_write};
use crate::codegen::access_hooks::MemoryAccessKind;
use crate::module::types::ScalarLeaf;
use crate::sanitizer::shadow_cell::{ATOMIC, KEPT, SITE_SHIFT, WRITTEN};
use crate::sanitizer::{access_info as info, runtime};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

/// The state of shared memory where code is emitted now.
pub(super) fn shadow_codegen<'s, 'f>(
    lower: &'s mut ClifLowering<'f, '_, '_>,
) -> ShadowCodegen<'s, 'f> {
    ShadowCodegen {
        builder: &mut lower.builder,
        context: lower.item.context,
        linear: lower.item.linear,
    }
}

impl SanitizerHooks {
    /// The cells of scalars that invocations share, by the address and the offset that theirs are counted from.
    pub(super) fn check_cells(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        at: [Value; 2],
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        values: &[Value],
    ) {
        for (n, leaf) in leaves.iter().enumerate() {
            self.check_cell(lower, place, at, leaf, how, values.get(n).copied());
        }
    }

    fn check_cell(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
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
        let access = SharedAccess {
            writes: is_write(how),
            group: group.is_some(),
            cleared: group == Some(true),
            volatile: !is_plain(how),
        };
        let bytes = u64::from(leaf.scalar.bytes());
        let site = u64::from(self.current_site(lower));
        let access_word = site | info_bits(how) | bytes << info::BYTES_SHIFT | place.cleared_flag();
        let access_word = access_word | self.granule_bits(place);
        let address = lower.builder.ins().iadd_imm_s(address, leaf.offset as i64);
        if bytes != 1 << granule {
            self.call_access_check(lower, address, access_word, value);
            return;
        }
        let offset = lower.builder.ins().iadd_imm_s(offset, leaf.offset as i64);
        let step = self.cell_step(lower, offset, granule, leaf);
        let cells = self.first_cell(lower, cells);
        let at = lower.builder.ins().iadd(cells, step);
        let site = lower.emit_iconst(types::I64, (site << SITE_SHIFT) as i64);
        let released = if access.volatile {
            self.released_at(lower, place, step)
        } else {
            None
        };
        if access.volatile && !access.group && released.is_none() {
            self.call_access_check(lower, address, access_word, value);
            return;
        }
        let blocks = CellBlocks {
            done: lower.builder.create_block(),
            slow: self.cold_block(lower),
            store: lower.builder.create_block(),
            released,
        };
        let new = lower.builder.append_block_param(blocks.store, types::I64);
        let in_place = self.analysis.in_place;
        if in_place {
            shadow_codegen(lower).decide_access(access, at, site, &blocks)
        } else {
            shadow_codegen(lower).emit_first_test(access, at, site, &blocks)
        }
        lower.builder.switch_to_block(blocks.slow);
        // An access that may order something is not decided by the first test alone.
        if in_place || access.volatile {
            self.call_access_check(lower, address, access_word, value);
        } else {
            self.call_decide(lower, access, [address, at], access_word, value)
        }
        lower.builder.ins().jump(blocks.done, &[]);
        lower.builder.switch_to_block(blocks.store);
        if let Some(released) = blocks.released.filter(|_| access.writes) {
            let owner = shadow_codegen(lower).emit_owner();
            shadow_codegen(lower).note_release(released, owner);
        }
        lower.builder.ins().store(cell_flags(), new, at, 0);
        lower.builder.ins().jump(blocks.done, &[]);
        lower.builder.switch_to_block(blocks.done);
    }

    /// Bytes from the first cell to the cell of an offset. An offset that is a whole multiple by the alignment that
    /// the program promises is not rounded first.
    fn cell_step(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        offset: Value,
        granule: u32,
        leaf: &ScalarLeaf,
    ) -> Value {
        let bytes = u64::from(leaf.scalar.bytes());
        let access = lower.current.and_then(|inst| match inst.op() {
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
            return lower
                .builder
                .ins()
                .ishl_imm_u(offset, 3 - i64::from(granule));
        }
        let number = lower.builder.ins().ushr_imm_u(offset, i64::from(granule));
        lower.builder.ins().ishl_imm_u(number, 3)
    }

    /// Checks a relaxed atomic update of memory that invocations share. Emitted code decides the usual cases.
    pub(super) fn check_relaxed_change(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        [offset, address]: [Value; 2],
        bytes: u32,
        access_word: u64,
        value: Option<Value>,
    ) {
        let (cells, granule, kept) = match place.space {
            ShadowKind::Global { cells, granule } => (cells, granule, 0),
            ShadowKind::Group { cells, .. } => (cells, self.group_granule(), KEPT),
            _ => return,
        };
        if u64::from(bytes) != 1 << granule {
            self.call_access_check(lower, address, access_word, value);
            return;
        }
        let number = lower.builder.ins().ushr_imm_u(offset, i64::from(granule));
        let step = lower.builder.ins().ishl_imm_u(number, 3);
        let cells = self.first_cell(lower, cells);
        let at = lower.builder.ins().iadd(cells, step);
        let released = self.released_at(lower, place, step);
        let [usual, done] = [(); 2].map(|()| lower.builder.create_block());
        let slow = self.cold_block(lower);
        let site = (access_word & info::SITE) << SITE_SHIFT;
        let site = lower.emit_iconst(types::I64, site as i64);
        let fine = match released {
            Some(released) => shadow_codegen(lower).is_usual_global_change(at, released),
            None => {
                let again = shadow_codegen(lower).has_half(at, runtime::at::CHANGED);
                let [same, first] = [(); 2].map(|()| lower.builder.create_block());
                lower.builder.ins().brif(again, same, &[], first, &[]);
                lower.builder.switch_to_block(same);
                shadow_codegen(lower).store_who(at, site);
                lower.builder.ins().jump(done, &[]);
                lower.builder.switch_to_block(first);
                shadow_codegen(lower).is_usual_group_change(at)
            }
        };
        lower.builder.ins().brif(fine, usual, &[], slow, &[]);
        lower.builder.switch_to_block(slow);
        self.call_access_check(lower, address, access_word, value);
        lower.builder.ins().jump(done, &[]);
        lower.builder.switch_to_block(usual);
        if let Some(released) = released {
            let owner = shadow_codegen(lower).emit_owner();
            shadow_codegen(lower).note_release(released, owner);
        }
        let record = shadow_codegen(lower).emit_cell_record(WRITTEN | ATOMIC | kept, site);
        lower.builder.ins().store(cell_flags(), record, at, 0);
        lower.builder.ins().jump(done, &[]);
        lower.builder.switch_to_block(done);
    }

    /// The address of the release record of a cell; none for workgroup memory.
    fn released_at(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        step: Value,
    ) -> Option<Value> {
        let (ShadowKind::Global { .. }, ObjectLength::Row(row)) = (place.space, place.length)
        else {
            return None;
        };
        let first = self.row_field(lower, row, runtime::at::RELEASED);
        Some(lower.builder.ins().iadd(first, step))
    }

    /// A field of the workgroup's state.
    pub(super) fn load_workgroup_field(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        offset: i32,
    ) -> Value {
        shadow_codegen(lower).load_workgroup_field(offset)
    }
}
