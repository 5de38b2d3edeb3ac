//! What workgroups read of themselves before it is written anew.

use super::FutharkReader;
use spirula_kernel::ir::{
    ExprData, KernelProgram, KernelStmt, KernelSyncScope, MemoryElement, MemorySpace, StmtBlock,
    StmtKind, SyncKind, VariableType,
};

impl FutharkReader<'_> {
    /// Puts a barrier before a branch that writes what all invocations of the workgroup have read
    /// since the last one.
    ///
    /// Futhark's reductions of several operators tell the workgroup of each, one after the other, whether it is the
    /// last one, by the same element of memory. Where it is not the last for the first of them, nothing keeps one
    /// invocation from writing the second answer before others have read the first. A barrier may stand where one stood
    /// before in the same block.
    pub(super) fn separate_flags(&mut self, then: StmtBlock) {
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

/// Whether one of some elements was read since the last barrier, and there was one.
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

/// Whether two elements are one of the workgroup's memory, at a known position.
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
