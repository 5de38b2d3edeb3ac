//! The team of a loop within a kernel: the invocations of its workgroup, which share the points of its operations.
//!
//! All of them run the same statements on equal scalars. Memory belongs to the whole team, so a barrier stands between
//! accesses of which one is a write. The first invocation alone runs what cannot be shared.

use super::KernelLoopLowering;
use rustc_hash::FxHashSet;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    CopyOperand, CopyStmt, ExprId, KernelSyncScope, LaunchIndex, StmtKind, SyncKind, VarId,
    VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// The invocations that run a loop, and their accesses since the last barrier.
pub(super) struct LoopTeam {
    /// Number of invocations.
    pub lanes: u64,
    /// The number of the invocation, an `i32`.
    lane: VarId,
    read: FxHashSet<VarId>,
    written: FxHashSet<VarId>,
}

impl LoopTeam {
    /// Begins the kernel of a team. A single invocation needs none.
    pub fn begin(b: &mut ProgramBuilder, lanes: u64) -> Option<LoopTeam> {
        if lanes == 1 {
            return None;
        }
        let lane = b.declare_var("lane", VariableType::Scalar(ScalarType::I32), false);
        b.push_statement(StmtKind::Position {
            to: lane,
            part: LaunchIndex::Local,
            dimension: 0,
        });
        Some(LoopTeam {
            lanes,
            lane,
            read: FxHashSet::default(),
            written: FxHashSet::default(),
        })
    }

    fn has_conflict(&self, reads: &[VarId], writes: &[VarId]) -> bool {
        reads.iter().any(|memory| self.written.contains(memory))
            || writes
                .iter()
                .any(|memory| self.written.contains(memory) || self.read.contains(memory))
    }

    fn wait(&mut self, b: &mut ProgramBuilder) {
        self.read.clear();
        self.written.clear();
        b.push_statement(StmtKind::Sync {
            kind: SyncKind::Barrier,
            scope: KernelSyncScope::Device,
        });
    }

    /// Copies elements from memory to memory, each invocation every n-th.
    fn copy_elements(
        &self,
        b: &mut ProgramBuilder,
        memory: [VarId; 2],
        ty: ScalarType,
        count: u64,
    ) {
        let (runs, rest) = (count / self.lanes, count % self.lanes);
        if runs > 0 {
            self.copy_runs(b, memory, ty, [0, runs]);
        }
        if rest == 0 {
            return;
        }
        let lane = b.read_var(self.lane);
        let limit = b.make_literal(ScalarLiteral::from_i32(rest as i32));
        let condition = b.apply_op(ScalarOp::SLt, &[lane, limit]);
        b.begin_block();
        self.copy_runs(b, memory, ty, [runs, 1]);
        let then = b.end_block();
        b.begin_block();
        let otherwise = b.end_block();
        b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Copies an element of each of `count` runs, from the run `first` on. A run has an element for each invocation.
    fn copy_runs(
        &self,
        b: &mut ProgramBuilder,
        [to, from]: [VarId; 2],
        ty: ScalarType,
        [first, count]: [u64; 2],
    ) {
        let stride = self.lanes as i64;
        let runs = b.make_i64(count as i64);
        let lane = b.read_var(self.lane);
        let widen =
            ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
        let lane = b.apply_operator(widen, &[lane]);
        let begin = b.make_i64(first as i64 * stride);
        let first = b.apply_op(ScalarOp::Add, &[lane, begin]);
        let mut side = |memory| CopyOperand {
            memory,
            offset: first,
            strides: vec![b.make_i64(stride)],
        };
        let (to, from) = (side(to), side(from));
        b.push_statement(StmtKind::Copy(Box::new(CopyStmt {
            ty,
            shape: vec![runs],
            to,
            from,
        })));
    }
}

impl KernelLoopLowering<'_, '_> {
    /// Orders accesses to memory after those before.
    pub(super) fn order_accesses(&mut self, reads: &[VarId], writes: &[VarId]) {
        let Some(team) = &mut self.team else { return };
        if team.has_conflict(reads, writes) {
            team.wait(&mut self.host.b);
        }
        team.read.extend(reads);
        team.written.extend(writes);
    }

    /// Orders all accesses that follow after those before: paths of the program meet here, or differ.
    pub(super) fn finish_accesses(&mut self) {
        if let Some(team) = &mut self.team
            && !(team.read.is_empty() && team.written.is_empty())
        {
            team.wait(&mut self.host.b);
        }
    }

    /// Emits statements that only the first invocation runs.
    pub(super) fn run_by_first(&mut self, emit: impl FnOnce(&mut Self)) {
        let Some(team) = &self.team else {
            return emit(self);
        };
        let b = &mut self.host.b;
        let lane = b.read_var(team.lane);
        let zero = b.make_literal(ScalarLiteral::from_i32(0));
        let condition: ExprId = b.apply_op(ScalarOp::Eq, &[lane, zero]);
        b.begin_block();
        emit(self);
        let b = &mut self.host.b;
        let then = b.end_block();
        b.begin_block();
        let otherwise = b.end_block();
        b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
    }

    /// Copies `count` elements from memory to memory.
    pub(super) fn copy_elements(&mut self, to: VarId, from: VarId, ty: ScalarType, count: u64) {
        self.order_accesses(&[from], &[to]);
        match &self.team {
            Some(team) => {
                team.copy_elements(&mut self.host.b, [to, from], ty, count);
            }
            None => {
                let count = self.host.b.make_i64(count as i64);
                self.host.emit_copy(to, from, ty, count);
            }
        }
    }
}
