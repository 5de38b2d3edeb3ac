//! Missing barriers between the reads and writes of a workgroup's flag.

use super::reader::FutharkReader;
use spirula_kernel::ir::{
    ExprData, KernelProgram, KernelStmt, KernelSyncScope, MemoryElement, MemorySpace, StmtBlock,
    StmtKind, SyncKind, VariableType,
};

impl FutharkReader<'_> {
    /// Inserts a barrier before a branch that writes an element which all invocations of the workgroup have read
    /// since the last barrier.
    ///
    /// In a reduction with several operators, Futhark's kernels test for each operator whether the workgroup is the
    /// last one. All tests pass their answer through the same element of shared memory. If the workgroup is not the
    /// last one for the first operator, one invocation may write the second answer before others have read the
    /// first. A barrier is allowed here because the same block already contains one.
    pub(super) fn insert_flag_barrier(&mut self, then: StmtBlock) {
        let program = self.builder.program();
        let written: Vec<_> = program
            .block_stmts(then)
            .iter()
            .filter_map(written_element)
            .collect();
        if is_read(program, self.builder.open_block(), &written) {
            self.builder.push_statement(StmtKind::Sync {
                kind: SyncKind::Barrier,
                scope: KernelSyncScope::Shared,
            });
        }
    }
}

/// Whether one of the elements was read since the last barrier, if there was a barrier.
fn is_read(program: &KernelProgram, stmts: &[KernelStmt], written: &[MemoryElement]) -> bool {
    let mut found = false;
    for stmt in stmts.iter().rev() {
        match stmt.kind {
            StmtKind::Sync { kind, .. } if kind != SyncKind::Fence => return found,
            StmtKind::Read { from, .. } => {
                found |= written.iter().any(|to| is_same(program, from, *to));
            }
            _ => {}
        }
    }
    false
}

fn written_element(stmt: &KernelStmt) -> Option<MemoryElement> {
    match stmt.kind {
        StmtKind::Write { to, .. } => Some(to),
        _ => None,
    }
}

/// Whether both are the same element of shared memory, at a constant index.
fn is_same(program: &KernelProgram, a: MemoryElement, b: MemoryElement) -> bool {
    let index = |element: MemoryElement| match program.expr(element.index) {
        ExprData::Literal(literal) => Some(literal),
        _ => None,
    };
    a.memory == b.memory
        && a.ty == b.ty
        && program.var(a.memory).ty == VariableType::Memory(MemorySpace::Shared)
        && index(a).is_some()
        && index(a) == index(b)
}
