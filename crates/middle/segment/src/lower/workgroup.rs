//! Kernels whose invocations work together in workgroups.

use super::FunctionLowering;
use super::offload::InvocationGrid;
use super::view::{ArrayView, ScalarRef};
use spirula_kernel::ir::{
    KernelSyncScope, LaunchIndex, MemorySpace, StmtKind, SyncKind, VariableType,
};
use spirula_program::{ScalarOp, ScalarType};

/// Invocations of a workgroup on a processor that is one gang.
pub(super) const GANG_LANES: i64 = 8;

/// The position of an invocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPosition {
    /// The number of the workgroup.
    pub(super) group: ScalarRef,
    /// The number of the invocation in the workgroup.
    pub(super) local: ScalarRef,
    /// The invocations of the workgroup.
    pub(super) size: GroupSize,
}

/// A number of invocations of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupSize {
    /// The number, a power of two.
    pub(super) count: ScalarRef,
    /// Its binary logarithm.
    pub(super) logarithm: ScalarRef,
}

impl GroupSize {
    /// The size of a workgroup that is one gang.
    pub(super) fn gang() -> Self {
        GroupSize::from_count(GANG_LANES)
    }

    /// A number of invocations, a power of two.
    pub(super) fn from_count(count: i64) -> Self {
        GroupSize {
            count: ScalarRef::from_int64(count),
            logarithm: ScalarRef::from_int64(count.ilog2().into()),
        }
    }
}

impl FunctionLowering<'_> {
    /// Makes a kernel with a number of workgroups, and launches it.
    pub(super) fn offload_groups(
        &mut self,
        groups: ScalarRef,
        body: impl FnOnce(&mut Self, GroupPosition) -> Result<(), String>,
    ) -> Result<(), String> {
        let size = GroupSize::from_count(self.profile.chunk_group_size);
        self.offload_sized_groups(groups, size, body)
    }

    /// Makes a kernel with a number of workgroups of a size, and launches it.
    pub(super) fn offload_sized_groups(
        &mut self,
        groups: ScalarRef,
        size: GroupSize,
        body: impl FnOnce(&mut Self, GroupPosition) -> Result<(), String>,
    ) -> Result<(), String> {
        let width = self.int64(ScalarOp::Mul, groups, size.count);
        let grid = InvocationGrid {
            width,
            group_size: size.count,
        };
        self.begin_kernel(width)?;
        let group = self.read_index("group", LaunchIndex::Group);
        let local = self.read_index("local", LaunchIndex::Local);
        let first = self.int64(ScalarOp::Mul, group, size.count);
        let invocation = self.int64(ScalarOp::Add, first, local);
        self.set_invocation(invocation);
        body(self, GroupPosition { group, local, size })?;
        self.launch_kernel(grid)
    }

    /// An array in the memory of the workgroup.
    pub(super) fn new_shared_array(&mut self, element: ScalarType, count: i64) -> ArrayView {
        let shared = VariableType::Memory(MemorySpace::Shared);
        let memory = self.builder.declare_var("shared", shared, false);
        let count = ScalarRef::from_int64(count);
        self.allocate(memory, element, &[count]);
        self.dense_view(memory, element, vec![count])
    }

    /// Lets all invocations of the workgroup wait for each other, and see each other's writes to its memory.
    pub(super) fn wait_for_group(&mut self, kind: SyncKind) {
        let scope = KernelSyncScope::Shared;
        self.builder.push_statement(StmtKind::Sync { kind, scope });
    }

    /// Lets all invocations of the workgroup wait for each other, and see each other's writes to any memory.
    pub(super) fn wait_for_memory(&mut self, kind: SyncKind) {
        let scope = KernelSyncScope::Device;
        self.builder.push_statement(StmtKind::Sync { kind, scope });
    }

    /// The number that is an invocation's turn among those that a workgroup takes in turns.
    pub(super) fn own_turn(&mut self, at: GroupPosition, turn: ScalarRef) -> ScalarRef {
        let before = self.int64(ScalarOp::Mul, turn, at.size.count);
        self.int64(ScalarOp::Add, before, at.local)
    }

    /// A loop over the numbers below a bound that are an invocation's turn. There are none if the bound is negative.
    pub(super) fn visit_turns(
        &mut self,
        at: GroupPosition,
        bound: ScalarRef,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let turns = self.count_turns(bound, at.size);
        self.count_to(turns, |lowering, turn| {
            let number = lowering.own_turn(at, turn);
            lowering.if_inside(number, bound, |lowering| body(lowering, number))
        })
    }

    /// The number of turns in which a workgroup visits the numbers below a bound.
    fn count_turns(&mut self, bound: ScalarRef, size: GroupSize) -> ScalarRef {
        if let ScalarRef::Constant(_) = size.count {
            return self.int64(ScalarOp::SDivUp, bound, size.count);
        }
        let one = ScalarRef::from_int64(1);
        let more = self.int64(ScalarOp::Sub, size.count, one);
        let most = self.int64(ScalarOp::Add, bound, more);
        self.int64(ScalarOp::AShr, most, size.logarithm)
    }

    /// Code that the first invocation of a workgroup runs alone.
    pub(super) fn if_first(
        &mut self,
        at: GroupPosition,
        body: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.if_inside(at.local, ScalarRef::from_int64(1), body)
    }
}
