//! The cell of a scalar that invocations share: what is usual is decided in place.

use super::place::{Place, Space};
use super::{Lower, Use};
use crate::check::cell::{ATOMIC, KEPT, MANY, OWN_SHIFT, OWNER_SHIFT, PHASE_SHIFT, SITE, WRITTEN};
use crate::check::runtime::{self, info};
use crate::types::Leaf;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};

/// Where deciding goes on.
struct CellBlocks {
    done: Block,
    slow: Block,
    /// Stores its argument into the cell.
    store: Block,
}

impl Lower<'_, '_, '_> {
    /// The cell of a scalar that invocations share.
    pub(super) fn check_cell(
        &mut self,
        place: &Place,
        address: Value,
        offset: Value,
        leaf: &Leaf,
        how: Use,
        value: Option<Value>,
    ) {
        let (cells, granule, group) = match place.space {
            Space::Global { cells, granule } => (cells, granule, None),
            Space::Group { cells, cleared } => (cells, self.group_granule(), Some(cleared)),
            _ => return,
        };
        let bytes = u64::from(leaf.scalar.bytes());
        let site = u64::from(self.site());
        let cleared = if group == Some(true) {
            info::CLEARED
        } else {
            0
        };
        let what = site | how.bits() | bytes << info::BYTES_SHIFT | cleared;
        let what = what | self.granule_bits(place);
        let address = self.builder.ins().iadd_imm_s(address, leaf.offset as i64);
        if bytes != 1 << granule {
            self.call_touch(address, what, value);
            return;
        }
        let offset = self.builder.ins().iadd_imm_s(offset, leaf.offset as i64);
        let number = self.builder.ins().ushr_imm_u(offset, i64::from(granule));
        let at = self.builder.ins().ishl_imm_u(number, 3);
        let at = self.builder.ins().iadd(cells, at);
        let flags = self.cell_flags();
        let cell = self.builder.ins().load(types::I64, flags, at, 0);
        let owner = self.owner();
        let record = if how.writes() { WRITTEN | site } else { site };
        let kept = if group.is_some() { KEPT } else { 0 };
        let record = self.builder.ins().bor_imm_u(owner, (record | kept) as i64);
        let blocks = CellBlocks {
            done: self.builder.create_block(),
            slow: self.cold_block(),
            store: self.builder.create_block(),
        };
        let new = self.builder.append_block_param(blocks.store, types::I64);
        let change = self.builder.ins().bxor(cell, owner);
        match (how.writes(), group) {
            (true, _) => self.write_cell(cell, change, record, group.is_some(), &blocks),
            (false, None) => self.read_cell(cell, change, record, &blocks),
            (false, Some(cleared)) => {
                self.read_group_cell(cell, change, record, cleared, &blocks);
            }
        }
        self.builder.switch_to_block(blocks.slow);
        self.call_touch(address, what, value);
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.store);
        self.builder.ins().store(flags, new, at, 0);
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.done);
    }

    /// The address of the cell of a scalar of workgroup memory, where it has one of its own.
    pub(super) fn group_cell(&mut self, cells: Value, offset: Value, bytes: u64) -> Option<Value> {
        let granule = self.group_granule();
        (bytes == 1 << granule).then(|| {
            let number = self.builder.ins().ushr_imm_u(offset, i64::from(granule));
            let at = self.builder.ins().ishl_imm_u(number, 3);
            self.builder.ins().iadd(cells, at)
        })
    }

    /// A relaxed atomic change of workgroup memory: in place where the access before was such a change in the same
    /// phase, or of an earlier phase of the workgroup, and atomics have ordered nothing in this one.
    pub(super) fn check_relaxed_change(
        &mut self,
        at: Value,
        address: Value,
        what: u64,
        value: Option<Value>,
    ) {
        let flags = self.cell_flags();
        let cell = self.builder.ins().load(types::I64, flags, at, 0);
        let [now, wide, group] =
            [runtime::at::NOW, runtime::at::WIDE, runtime::at::GROUP].map(|at| self.live(at));
        let least = IntCC::UnsignedGreaterThanOrEqual;
        let same_phase = self.builder.ins().icmp(least, cell, now);
        let kind = WRITTEN | ATOMIC | KEPT;
        let all = self.builder.ins().band_imm_u(cell, kind as i64);
        let same_kind = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::Equal, all, kind as i64);
        let same = self.builder.ins().band(same_phase, same_kind);
        let since = self.builder.ins().isub(cell, group);
        let phases = self.builder.ins().isub(wide, group);
        let earlier = IntCC::UnsignedLessThan;
        let earlier = self.builder.ins().icmp(earlier, since, phases);
        let kept = self.builder.ins().band_imm_u(cell, KEPT as i64);
        let kept = self.builder.ins().icmp_imm_u(IntCC::NotEqual, kept, 0);
        let fresh = self.builder.ins().band(earlier, kept);
        let live = self.context(types::I64, crate::context::at::CHECK);
        let quiet = runtime::at::QUIET;
        let quiet = self.builder.ins().load(types::I64, flags, live, quiet);
        let quiet = self.builder.ins().ireduce(types::I8, quiet);
        let fine = self.builder.ins().bor(same, fresh);
        let fine = self.builder.ins().band(fine, quiet);
        let [usual, done] = [(); 2].map(|()| self.builder.create_block());
        let slow = self.cold_block();
        self.builder.ins().brif(fine, usual, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        self.call_touch(address, what, value);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(usual);
        let owner = self.owner();
        let record = (kind | what & SITE) as i64;
        let record = self.builder.ins().bor_imm_u(owner, record);
        self.builder.ins().store(flags, record, at, 0);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    fn cell_flags(&self) -> MemFlagsData {
        MemFlagsData::trusted()
    }

    /// Phase and invocation in a cell's place.
    fn owner(&mut self) -> Value {
        let phase = self.live(runtime::at::NOW);
        let invocation = self.builder.ins().uextend(types::I64, self.item.linear);
        let shift = i64::from(OWNER_SHIFT);
        let invocation = self.builder.ins().ishl_imm_u(invocation, shift);
        self.builder.ins().bor(phase, invocation)
    }

    /// A write: the cell is fresh, or the invocation's own and nobody else has read it.
    fn write_cell(
        &mut self,
        cell: Value,
        change: Value,
        record: Value,
        group: bool,
        blocks: &CellBlocks,
    ) {
        let mine = if group {
            SITE | WRITTEN | KEPT
        } else {
            SITE | WRITTEN
        };
        let rest = self.builder.ins().band_imm_s(change, !mine as i64);
        let own = self.builder.ins().icmp_imm_u(IntCC::Equal, rest, 0);
        let first = if group {
            runtime::at::WIDE
        } else {
            runtime::at::LAUNCH
        };
        let first = self.live(first);
        let fresh = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, cell, first);
        let fine = self.builder.ins().bor(own, fresh);
        let args = [BlockArg::Value(record)];
        self.builder
            .ins()
            .brif(fine, blocks.store, &args, blocks.slow, &[]);
    }

    /// A read: the cell is the invocation's own, fresh, or many have read it in this phase.
    fn read_cell(&mut self, cell: Value, change: Value, record: Value, blocks: &CellBlocks) {
        let less = IntCC::UnsignedLessThan;
        let others = self.builder.create_block();
        let shared = self.builder.create_block();
        let limit = 1i64 << OWN_SHIFT;
        let own = self.builder.ins().icmp_imm_u(less, change, limit);
        self.builder.ins().brif(own, blocks.done, &[], others, &[]);
        self.builder.switch_to_block(others);
        let first = self.live(runtime::at::LAUNCH);
        let fresh = self.builder.ins().icmp(less, cell, first);
        let args = [BlockArg::Value(record)];
        self.builder
            .ins()
            .brif(fresh, blocks.store, &args, shared, &[]);
        self.builder.switch_to_block(shared);
        let now = self.live(runtime::at::NOW);
        let old = self.builder.ins().icmp(less, cell, now);
        let kinds = (WRITTEN | MANY | ATOMIC) as i64;
        let kinds = self.builder.ins().band_imm_u(cell, kinds);
        let other = self
            .builder
            .ins()
            .icmp_imm_u(IntCC::NotEqual, kinds, MANY as i64);
        let slow = self.builder.ins().bor(old, other);
        self.builder
            .ins()
            .brif(slow, blocks.slow, &[], blocks.done, &[]);
    }

    /// Leaves where many have read a cell in this phase and nobody has written, as of a tile that all
    /// invocations use: whoever they were.
    fn read_shared_cell(&mut self, cell: Value, blocks: &CellBlocks) {
        let now = self.live(runtime::at::NOW);
        let shared = self.builder.ins().bor_imm_u(now, (MANY | KEPT) as i64);
        let change = self.builder.ins().bxor(cell, shared);
        let told = ((1u64 << PHASE_SHIFT) - (1 << OWNER_SHIFT)) | SITE;
        let change = self.builder.ins().band_imm_s(change, !told as i64);
        let same = self.builder.ins().icmp_imm_u(IntCC::Equal, change, 0);
        let other = self.builder.create_block();
        self.builder.ins().brif(same, blocks.done, &[], other, &[]);
        self.builder.switch_to_block(other);
    }

    /// A read of workgroup memory: besides, something has to have been written there.
    fn read_group_cell(
        &mut self,
        cell: Value,
        change: Value,
        record: Value,
        cleared: bool,
        blocks: &CellBlocks,
    ) {
        let less = IntCC::UnsignedLessThan;
        self.read_shared_cell(cell, blocks);
        let others = self.builder.create_block();
        let limit = 1i64 << OWN_SHIFT;
        let own = self.builder.ins().icmp_imm_u(less, change, limit);
        self.builder.ins().brif(own, blocks.done, &[], others, &[]);
        self.builder.switch_to_block(others);
        if !cleared {
            let first = self.live(runtime::at::GROUP);
            let stale = self.builder.ins().icmp(less, cell, first);
            let kept = self.builder.ins().band_imm_u(cell, KEPT as i64);
            let empty = self.builder.ins().icmp_imm_u(IntCC::Equal, kept, 0);
            let unwritten = self.builder.ins().bor(stale, empty);
            let written = self.builder.create_block();
            self.builder
                .ins()
                .brif(unwritten, blocks.slow, &[], written, &[]);
            self.builder.switch_to_block(written);
        }
        let wide = self.live(runtime::at::WIDE);
        let fresh = self.builder.ins().icmp(less, cell, wide);
        let since = self.builder.create_block();
        let same = self.builder.create_block();
        let args = [BlockArg::Value(record)];
        self.builder
            .ins()
            .brif(fresh, blocks.store, &args, since, &[]);
        self.builder.switch_to_block(since);
        let now = self.live(runtime::at::NOW);
        let before = self.builder.ins().icmp(less, cell, now);
        self.builder.ins().brif(before, blocks.slow, &[], same, &[]);
        self.builder.switch_to_block(same);
        let written = (WRITTEN | ATOMIC) as i64;
        let written = self.builder.ins().band_imm_u(cell, written);
        let many = self.builder.ins().bor_imm_u(cell, MANY as i64);
        let args = [BlockArg::Value(many)];
        self.builder
            .ins()
            .brif(written, blocks.slow, &[], blocks.store, &args);
    }
}
