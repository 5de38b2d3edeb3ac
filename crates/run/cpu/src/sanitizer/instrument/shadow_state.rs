//! Shadow state: emits code that reads and updates shadow cells and the state of the workgroup.

use crate::codegen::lowering::invariant_flags;
use crate::layout::launch_context::at;
use crate::sanitizer::runtime;
use crate::sanitizer::shadow_cell::{ATOMIC, FLAGS, HALF, KEPT, MANY, OWN, WRITTEN};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;

/// Flags of accesses to cells and to the state of checks.
pub(super) fn cell_flags() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// An access to a scalar that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedAccess {
    pub writes: bool,
    /// Memory of the workgroup.
    pub group: bool,
    /// Reads need no write before.
    pub cleared: bool,
    /// The access counts as atomic, and may order something.
    pub volatile: bool,
}

/// The targets of a decision about an access.
pub(super) struct CellBlocks {
    pub done: Block,
    pub slow: Block,
    /// Stores its argument into the cell.
    pub store: Block,
    /// Address of the cell's release record, where an access to memory that workgroups share may acquire it.
    pub released: Option<Value>,
}

/// Emits code that reads the state.
pub(super) struct ShadowCodegen<'a, 'f> {
    pub builder: &'a mut FunctionBuilder<'f>,
    pub context: Value,
    /// The invocation.
    pub linear: Value,
}

impl SharedAccess {
    /// A number for the access that only differs from others in whether it is volatile.
    pub fn variant_index(self) -> u8 {
        let bits = [self.writes, self.group, self.cleared];
        bits.into_iter()
            .fold(0, |all, bit| all << 1 | u8::from(bit))
    }

    fn is_group_read(self) -> bool {
        self.group && !self.writes
    }

    /// The flags that its record has.
    fn record_flags(self) -> u64 {
        let bit = |is: bool, bit: u64| if is { bit } else { 0 };
        bit(self.writes, WRITTEN) | bit(self.group, KEPT) | bit(self.volatile, ATOMIC)
    }
}

impl ShadowCodegen<'_, '_> {
    /// A field of the workgroup's state. It is loaded where it is used: instructions take it from memory as well as
    /// from a register, of which checked code has too few.
    pub fn load_workgroup_field(&mut self, offset: i32) -> Value {
        self.load_typed_field(types::I64, offset)
    }

    /// Half of a cell that the workgroup knows.
    pub fn load_state_half(&mut self, offset: i32) -> Value {
        self.load_typed_field(types::I32, offset)
    }

    fn load_typed_field(&mut self, ty: Type, offset: i32) -> Value {
        let ins = self.builder.ins();
        let live = ins.load(types::I64, invariant_flags(), self.context, at::SANITIZER);
        let ins = self.builder.ins();
        ins.load(ty, cell_flags(), live, offset)
    }

    /// Phase and invocation, in the position of a cell.
    pub fn emit_owner(&mut self) -> Value {
        let phase = self.load_workgroup_field(runtime::at::NOW);
        let invocation = self.builder.ins().uextend(types::I64, self.linear);
        self.builder.ins().bor(phase, invocation)
    }

    /// The cell for an access of the invocation, from flags and the site in its position.
    pub fn emit_cell_record(&mut self, flags: u64, site: Value) -> Value {
        let flags = (flags / WRITTEN) as usize % FLAGS;
        let phase = self.load_workgroup_field(runtime::at::NOW_WITH + 8 * flags as i32);
        let invocation = self.builder.ins().uextend(types::I64, self.linear);
        let owner = self.builder.ins().iadd(phase, invocation);
        self.builder.ins().iadd(owner, site)
    }

    /// Stores invocation and site into a cell whose upper half stays. Later reads of that half need not wait for this
    /// store.
    pub fn store_who(&mut self, at: Value, site: Value) {
        let site = self.builder.ins().ireduce(types::I32, site);
        let who = self.builder.ins().iadd(self.linear, site);
        self.builder.ins().store(cell_flags(), who, at, 0);
    }

    /// Whether the upper half of a cell equals a value of the workgroup's state.
    pub fn has_half(&mut self, at: Value, known: i32) -> Value {
        let known = self.load_state_half(known);
        let upper = HALF as i32 / 8;
        let half = self.builder.ins().load(types::I32, cell_flags(), at, upper);
        self.builder.ins().icmp(IntCC::Equal, known, half)
    }

    /// A value that is not zero where a cell differs from the invocation's plain accesses. They may differ in some
    /// bits.
    fn differs_from_own(&mut self, cell: Value, may_differ: u64) -> Value {
        let owner = self.emit_owner();
        let change = self.builder.ins().bxor(cell, owner);
        self.builder.ins().band_imm_s(change, !may_differ as i64)
    }

    /// Decides whether an access is usual. Goes to `done`, to `store` with a new record for the cell, or to `slow`.
    /// `at` is the address of the cell, `site` the access's site in its position.
    pub fn decide_access(
        &mut self,
        access: SharedAccess,
        at: Value,
        site: Value,
        blocks: &CellBlocks,
    ) {
        self.emit_volatile_order_test(access, blocks);
        if access.is_group_read() {
            let next = self.builder.create_block();
            self.read_by_many(at, blocks, next);
            self.builder.switch_to_block(next);
        }
        self.emit_all_tests(access, at, site, blocks);
    }

    /// Decides by the first test alone, and goes to `slow` where it fails.
    pub fn emit_first_test(
        &mut self,
        access: SharedAccess,
        at: Value,
        site: Value,
        blocks: &CellBlocks,
    ) {
        self.emit_volatile_order_test(access, blocks);
        if access.is_group_read() {
            return self.read_by_many(at, blocks, blocks.slow);
        }
        let cell = self.builder.ins().load(types::I64, cell_flags(), at, 0);
        self.store_if_fresh(access, cell, site, blocks, blocks.slow);
    }

    /// Decides where reads by many are known already.
    pub fn emit_all_tests(
        &mut self,
        access: SharedAccess,
        at: Value,
        site: Value,
        blocks: &CellBlocks,
    ) {
        let cell = self.builder.ins().load(types::I64, cell_flags(), at, 0);
        let next = self.builder.create_block();
        self.store_if_fresh(access, cell, site, blocks, next);
        self.builder.switch_to_block(next);
        match (access.writes, access.group) {
            (true, _) => self.emit_shared_write(access, cell, site, blocks),
            (false, false) => self.emit_shared_read(access, cell, blocks),
            (false, true) => self.read_group(access, cell, blocks),
        }
    }

    /// Volatile accesses may order something, as atomics do. This holds for accesses to workgroup memory after a
    /// fence, and for reads of other memory with a release that is not known to be ordered before.
    fn emit_volatile_order_test(&mut self, access: SharedAccess, blocks: &CellBlocks) {
        let quiet = match (access.volatile, access.group, blocks.released) {
            (true, true, _) => self.load_workgroup_field(runtime::at::QUIET),
            (true, false, Some(released)) if !access.writes => self.has_acquired(released),
            _ => return,
        };
        let next = self.builder.create_block();
        self.builder.ins().brif(quiet, next, &[], blocks.slow, &[]);
        self.builder.switch_to_block(next);
    }

    /// Whether the release at a cell, if there was one, is already ordered before the invocation.
    fn has_acquired(&mut self, released: Value) -> Value {
        let ins = self.builder.ins();
        let by = ins.load(types::I64, cell_flags(), released, 0);
        let acquired = self.load_workgroup_field(runtime::at::ACQUIRED);
        let less = IntCC::UnsignedLessThan;
        self.builder.ins().icmp(less, by, acquired)
    }

    /// Is done where many invocations have read a cell in this phase and none has written it, as for a tile that all
    /// invocations use.
    fn read_by_many(&mut self, at: Value, blocks: &CellBlocks, other: Block) {
        let same = self.has_half(at, runtime::at::READ_BY_MANY);
        self.builder.ins().brif(same, blocks.done, &[], other, &[]);
    }

    /// Stores the access's record into a fresh cell, and continues elsewhere where it is not fresh. A cell is fresh
    /// if its access is ordered before this one. For a read of workgroup memory, it must also have been written.
    fn store_if_fresh(
        &mut self,
        access: SharedAccess,
        cell: Value,
        site: Value,
        blocks: &CellBlocks,
        elsewhere: Block,
    ) {
        let first = if access.group {
            runtime::at::WIDE
        } else {
            runtime::at::LAUNCH
        };
        let first = self.load_workgroup_field(first);
        let fresh = if access.is_group_read() && !access.cleared {
            self.is_written_before(cell, first)
        } else {
            let less = IntCC::UnsignedLessThan;
            self.builder.ins().icmp(less, cell, first)
        };
        let new = self.builder.create_block();
        self.builder.ins().brif(fresh, new, &[], elsewhere, &[]);
        self.builder.switch_to_block(new);
        self.store_record(access, site, blocks);
    }

    /// Whether the workgroup has written the memory of a cell and has not accessed it from a phase on.
    fn is_written_before(&mut self, cell: Value, phase: Value) -> Value {
        let group = self.load_workgroup_field(runtime::at::GROUP);
        let since = self.builder.ins().isub(cell, group);
        let phases = self.builder.ins().isub(phase, group);
        let earlier = IntCC::UnsignedLessThan;
        let earlier = self.builder.ins().icmp(earlier, since, phases);
        let kept = self.builder.ins().band_imm_u(cell, KEPT as i64);
        let kept = self.builder.ins().icmp_imm_u(IntCC::NotEqual, kept, 0);
        self.builder.ins().band(earlier, kept)
    }

    fn store_record(&mut self, access: SharedAccess, site: Value, blocks: &CellBlocks) {
        let record = self.emit_cell_record(access.record_flags(), site);
        let args = [BlockArg::Value(record)];
        self.builder.ins().jump(blocks.store, &args);
    }

    /// A write of a cell that is not fresh: the cell is the invocation's own, and no other invocation has read it.
    fn emit_shared_write(
        &mut self,
        access: SharedAccess,
        cell: Value,
        site: Value,
        blocks: &CellBlocks,
    ) {
        let kept = if access.group { 0 } else { KEPT };
        let same = if access.volatile {
            self.builder.ins().bxor_imm_u(cell, ATOMIC as i64)
        } else {
            cell
        };
        let other = self.differs_from_own(same, OWN & !kept);
        let own = self.builder.create_block();
        self.builder.ins().brif(other, blocks.slow, &[], own, &[]);
        self.builder.switch_to_block(own);
        self.store_record(access, site, blocks);
    }

    /// A read of a cell that is not fresh: it is the invocation's own, or many have read it in this phase.
    fn emit_shared_read(&mut self, access: SharedAccess, cell: Value, blocks: &CellBlocks) {
        let atomic = if access.volatile { ATOMIC } else { 0 };
        let other = self.differs_from_own(cell, OWN | atomic);
        let shared = self.builder.create_block();
        self.builder
            .ins()
            .brif(other, shared, &[], blocks.done, &[]);
        self.builder.switch_to_block(shared);
        let now = self.load_workgroup_field(runtime::at::NOW);
        let less = IntCC::UnsignedLessThan;
        let old = self.builder.ins().icmp(less, cell, now);
        let kinds = (WRITTEN | MANY | ATOMIC & !atomic) as i64;
        let kinds = self.builder.ins().band_imm_u(cell, kinds);
        let many = MANY as i64;
        let other = self.builder.ins().icmp_imm_u(IntCC::NotEqual, kinds, many);
        let slow = self.builder.ins().bor(old, other);
        self.builder
            .ins()
            .brif(slow, blocks.slow, &[], blocks.done, &[]);
    }

    /// A read of workgroup memory that no other invocation has written in this phase.
    fn read_group(&mut self, access: SharedAccess, cell: Value, blocks: &CellBlocks) {
        let [others, same] = [(); 2].map(|()| self.builder.create_block());
        let atomic = if access.volatile { ATOMIC } else { 0 };
        let other = self.differs_from_own(cell, OWN | atomic);
        self.builder
            .ins()
            .brif(other, others, &[], blocks.done, &[]);
        self.builder.switch_to_block(others);
        let now = self.load_workgroup_field(runtime::at::NOW);
        let less = IntCC::UnsignedLessThan;
        let before = self.builder.ins().icmp(less, cell, now);
        self.builder.ins().brif(before, blocks.slow, &[], same, &[]);
        self.builder.switch_to_block(same);
        let written = (WRITTEN | ATOMIC & !atomic) as i64;
        let written = self.builder.ins().band_imm_u(cell, written);
        let many = self.builder.ins().bor_imm_u(cell, MANY as i64);
        let args = [BlockArg::Value(many)];
        self.builder
            .ins()
            .brif(written, blocks.slow, &[], blocks.store, &args);
    }

    /// Workgroup memory: whether the access before was of an earlier phase of the workgroup, and atomics have ordered
    /// nothing in this one.
    pub fn is_usual_group_change(&mut self, at: Value) -> Value {
        let cell = self.builder.ins().load(types::I64, cell_flags(), at, 0);
        let wide = self.load_workgroup_field(runtime::at::WIDE);
        let fresh = self.is_written_before(cell, wide);
        let quiet = self.load_workgroup_field(runtime::at::QUIET);
        let quiet = self.builder.ins().ireduce(types::I8, quiet);
        self.builder.ins().band(fresh, quiet)
    }

    /// Memory that workgroups share: whether the launch did nothing there before, or such a change last, and there is
    /// nothing to acquire by it.
    pub fn is_usual_global_change(&mut self, at: Value, released: Value) -> Value {
        let cell = self.builder.ins().load(types::I64, cell_flags(), at, 0);
        let less = IntCC::UnsignedLessThan;
        let launch = self.load_workgroup_field(runtime::at::LAUNCH);
        let fresh = self.builder.ins().icmp(less, cell, launch);
        let kinds = (WRITTEN | ATOMIC | KEPT) as i64;
        let kind = self.builder.ins().band_imm_u(cell, kinds);
        let change = (WRITTEN | ATOMIC) as i64;
        let same = self.builder.ins().icmp_imm_u(IntCC::Equal, kind, change);
        let fine = self.builder.ins().bor(fresh, same);
        let known = self.has_acquired(released);
        self.builder.ins().band(fine, known)
    }

    /// After a fence every change releases.
    pub fn note_release(&mut self, released: Value, owner: Value) {
        let fenced = self.load_workgroup_field(runtime::at::FENCED);
        let [release, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(fenced, release, &[], next, &[]);
        self.builder.switch_to_block(release);
        self.builder.ins().store(cell_flags(), owner, released, 0);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }
}
