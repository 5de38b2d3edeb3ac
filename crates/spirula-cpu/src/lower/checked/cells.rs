//! The cell of a scalar that invocations share: what is usual is decided in place.

use super::place::{Length, Place, Space};
use super::{Lower, Use};
use crate::check::cell::{ATOMIC, FLAGS, HALF, KEPT, MANY, OWN, SITE_SHIFT, WRITTEN};
use crate::check::runtime::{self, info};
use crate::types::Leaf;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::MemoryAccess;

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
        let step = self.cell_step(offset, granule, leaf);
        let cells = self.first_cell(cells);
        let at = self.builder.ins().iadd(cells, step);
        let blocks = CellBlocks {
            done: self.builder.create_block(),
            slow: self.cold_block(),
            store: self.builder.create_block(),
        };
        if !how.writes() && group.is_some() {
            self.read_shared_cell(at, &blocks);
        }
        let flags = self.cell_flags();
        let cell = self.builder.ins().load(types::I64, flags, at, 0);
        let written = if how.writes() { WRITTEN } else { 0 };
        let kept = if group.is_some() { KEPT } else { 0 };
        let record = self.record(written | kept, site);
        let new = self.builder.append_block_param(blocks.store, types::I64);
        match (how.writes(), group) {
            (true, _) => self.write_cell(cell, record, group.is_some(), &blocks),
            (false, None) => self.read_cell(cell, record, &blocks),
            (false, Some(cleared)) => self.read_group_cell(cell, record, cleared, &blocks),
        }
        self.builder.switch_to_block(blocks.slow);
        self.call_touch(address, what, value);
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.store);
        self.builder.ins().store(flags, new, at, 0);
        self.builder.ins().jump(blocks.done, &[]);
        self.builder.switch_to_block(blocks.done);
    }

    /// Bytes from the first cell to that of an offset. Offsets that are whole multiples by what the program promises
    /// of its pointers are not rounded first.
    fn cell_step(&mut self, offset: Value, granule: u32, leaf: &Leaf) -> Value {
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
        place: &Place,
        [offset, address]: [Value; 2],
        bytes: u32,
        what: u64,
        value: Option<Value>,
    ) {
        let (cells, granule, kept) = match place.space {
            Space::Global { cells, granule } => (cells, granule, 0),
            Space::Group { cells, .. } => (cells, self.group_granule(), KEPT),
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
        let flags = self.cell_flags();
        let released = self.released_at(place, step);
        let [usual, done] = [(); 2].map(|()| self.builder.create_block());
        let slow = self.cold_block();
        let fine = match released {
            Some(released) => self.is_usual_global_change(at, released),
            None => {
                let again = self.has_half(at, runtime::at::CHANGED);
                let first = self.builder.create_block();
                self.builder.ins().brif(again, usual, &[], first, &[]);
                self.builder.switch_to_block(first);
                self.is_usual_group_change(at)
            }
        };
        self.builder.ins().brif(fine, usual, &[], slow, &[]);
        self.builder.switch_to_block(slow);
        self.call_touch(address, what, value);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(usual);
        if let Some(released) = released {
            let owner = self.owner();
            self.note_release(released, owner);
        }
        let record = self.record(WRITTEN | ATOMIC | kept, what & info::SITE);
        self.builder.ins().store(flags, record, at, 0);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// Where it stands who released last at a cell of memory that workgroups share.
    fn released_at(&mut self, place: &Place, step: Value) -> Option<Value> {
        let (Space::Global { .. }, Length::Row(row)) = (place.space, place.length) else {
            return None;
        };
        let first = self.row_field(row, runtime::at::RELEASED);
        Some(self.builder.ins().iadd(first, step))
    }

    /// Whether the upper half of a cell, which is at an address, is what the workgroup knows it would be.
    fn has_half(&mut self, at: Value, known: i32) -> Value {
        let live = self.context(types::I64, crate::context::at::CHECK);
        let flags = self.cell_flags();
        let known = self.builder.ins().load(types::I32, flags, live, known);
        let upper = HALF as i32 / 8;
        let half = self.builder.ins().load(types::I32, flags, at, upper);
        self.builder.ins().icmp(IntCC::Equal, known, half)
    }

    /// What is not zero where a cell has anything that distinguishes it from the invocation's plain accesses, which may
    /// differ in some bits.
    fn not_own(&mut self, cell: Value, may_differ: u64) -> Value {
        let owner = self.owner();
        let change = self.builder.ins().bxor(cell, owner);
        self.builder.ins().band_imm_s(change, !may_differ as i64)
    }

    /// Workgroup memory: whether the access before was of an earlier phase of the workgroup, and atomics have ordered
    /// nothing in this one.
    fn is_usual_group_change(&mut self, at: Value) -> Value {
        let flags = self.cell_flags();
        let cell = self.builder.ins().load(types::I64, flags, at, 0);
        let [wide, group] = [runtime::at::WIDE, runtime::at::GROUP].map(|at| self.live(at));
        let since = self.builder.ins().isub(cell, group);
        let phases = self.builder.ins().isub(wide, group);
        let earlier = IntCC::UnsignedLessThan;
        let earlier = self.builder.ins().icmp(earlier, since, phases);
        let kept = self.builder.ins().band_imm_u(cell, KEPT as i64);
        let kept = self.builder.ins().icmp_imm_u(IntCC::NotEqual, kept, 0);
        let fresh = self.builder.ins().band(earlier, kept);
        let quiet = self.live(runtime::at::QUIET);
        let quiet = self.builder.ins().ireduce(types::I8, quiet);
        self.builder.ins().band(fresh, quiet)
    }

    /// Memory that workgroups share: whether the launch did nothing there before, or such a change last, and there is
    /// nothing to acquire by it.
    fn is_usual_global_change(&mut self, at: Value, released: Value) -> Value {
        let flags = self.cell_flags();
        let cell = self.builder.ins().load(types::I64, flags, at, 0);
        let less = IntCC::UnsignedLessThan;
        let launch = self.live(runtime::at::LAUNCH);
        let fresh = self.builder.ins().icmp(less, cell, launch);
        let kinds = (WRITTEN | ATOMIC | KEPT) as i64;
        let kind = self.builder.ins().band_imm_u(cell, kinds);
        let change = (WRITTEN | ATOMIC) as i64;
        let same = self.builder.ins().icmp_imm_u(IntCC::Equal, kind, change);
        let fine = self.builder.ins().bor(fresh, same);
        let by = self.builder.ins().load(types::I64, flags, released, 0);
        let acquired = self.live(runtime::at::ACQUIRED);
        let known = self.builder.ins().icmp(less, by, acquired);
        self.builder.ins().band(fine, known)
    }

    /// After a fence every change releases.
    fn note_release(&mut self, released: Value, owner: Value) {
        let fenced = self.live(runtime::at::FENCED);
        let [release, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(fenced, release, &[], next, &[]);
        self.builder.switch_to_block(release);
        let flags = self.cell_flags();
        self.builder.ins().store(flags, owner, released, 0);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    pub(super) fn cell_flags(&self) -> MemFlagsData {
        MemFlagsData::trusted()
    }

    /// Phase and invocation in a cell's place.
    fn owner(&mut self) -> Value {
        let phase = self.live(runtime::at::NOW);
        let invocation = self.builder.ins().uextend(types::I64, self.item.linear);
        self.builder.ins().bor(phase, invocation)
    }

    /// The cell of an access by the invocation, from flags and site.
    fn record(&mut self, flags: u64, site: u64) -> Value {
        let flags = (flags / WRITTEN) as usize % FLAGS;
        let phase = self.live(runtime::at::NOW_WITH + 8 * flags as i32);
        let invocation = self.builder.ins().uextend(types::I64, self.item.linear);
        let owner = self.builder.ins().iadd(phase, invocation);
        let site = site << SITE_SHIFT;
        self.builder.ins().iadd_imm_s(owner, site as i64)
    }

    /// A write: the cell is fresh, or the invocation's own and nobody else has read it.
    fn write_cell(&mut self, cell: Value, record: Value, group: bool, blocks: &CellBlocks) {
        let (first, mine) = match group {
            true => (runtime::at::WIDE, OWN),
            false => (runtime::at::LAUNCH, OWN & !KEPT),
        };
        self.store_if_before(cell, first, record, blocks);
        let other = self.not_own(cell, mine);
        let args = [BlockArg::Value(record)];
        self.builder
            .ins()
            .brif(other, blocks.slow, &[], blocks.store, &args);
    }

    /// Goes on where a cell is not of before a phase; others get the record.
    fn store_if_before(&mut self, cell: Value, phase: i32, record: Value, blocks: &CellBlocks) {
        let first = self.live(phase);
        let since = IntCC::UnsignedGreaterThanOrEqual;
        let since = self.builder.ins().icmp(since, cell, first);
        let next = self.builder.create_block();
        let args = [BlockArg::Value(record)];
        self.builder
            .ins()
            .brif(since, next, &[], blocks.store, &args);
        self.builder.switch_to_block(next);
    }

    /// A read: the cell is fresh, the invocation's own, or many have read it in this phase.
    fn read_cell(&mut self, cell: Value, record: Value, blocks: &CellBlocks) {
        let less = IntCC::UnsignedLessThan;
        let shared = self.builder.create_block();
        self.store_if_before(cell, runtime::at::LAUNCH, record, blocks);
        let other = self.not_own(cell, OWN);
        self.builder
            .ins()
            .brif(other, shared, &[], blocks.done, &[]);
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
    fn read_shared_cell(&mut self, at: Value, blocks: &CellBlocks) {
        let same = self.has_half(at, runtime::at::READ_BY_MANY);
        let other = self.builder.create_block();
        self.builder.ins().brif(same, blocks.done, &[], other, &[]);
        self.builder.switch_to_block(other);
    }

    /// A read of workgroup memory: besides, something has to have been written there.
    fn read_group_cell(&mut self, cell: Value, record: Value, cleared: bool, blocks: &CellBlocks) {
        let less = IntCC::UnsignedLessThan;
        let others = self.builder.create_block();
        let other = self.not_own(cell, OWN);
        self.builder
            .ins()
            .brif(other, others, &[], blocks.done, &[]);
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
