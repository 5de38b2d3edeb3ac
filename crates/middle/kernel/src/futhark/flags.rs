//! What workgroups read of themselves before it is written anew.

use super::Reader;
use crate::ir::{Block, Element, ExprData, Program, Scope, Space, Stmt, StmtKind, Sync, Type};

impl Reader<'_> {
    /// Puts a barrier before a branch that writes what all invocations of the workgroup have read
    /// since the last one.
    ///
    /// Futhark's reductions of several operators tell the workgroup of each, one after the other, whether it is the
    /// last one, by the same element of memory. Where it is not the last for the first of them, nothing keeps one
    /// invocation from writing the second answer before others have read the first. A barrier may stand where one stood
    /// before in the same block.
    pub(super) fn separate_flags(&mut self, then: Block) {
        let program = self.builder.program();
        let written: Vec<_> = program.block(then).iter().filter_map(write).collect();
        if is_read(program, self.builder.open_block(), &written) {
            self.builder.push(StmtKind::Sync {
                kind: Sync::Barrier,
                scope: Scope::Shared,
            });
        }
    }
}

/// Whether one of some elements was read since the last barrier, and there was one.
fn is_read(program: &Program, stmts: &[Stmt], written: &[Element]) -> bool {
    let mut found = false;
    for stmt in stmts.iter().rev() {
        match stmt.kind {
            StmtKind::Sync { kind, .. } if kind != Sync::Fence => return found,
            StmtKind::Read { from, .. } => {
                found |= written.iter().any(|to| is_same(program, from, *to));
            }
            _ => {}
        }
    }
    false
}

fn write(stmt: &Stmt) -> Option<Element> {
    match stmt.kind {
        StmtKind::Write { to, .. } => Some(to),
        _ => None,
    }
}

/// Whether two elements are one of the workgroup's memory, at a known position.
fn is_same(program: &Program, a: Element, b: Element) -> bool {
    let index = |element: Element| match program.expr(element.index) {
        ExprData::Literal(literal) => Some(literal),
        _ => None,
    };
    a.memory == b.memory
        && a.ty == b.ty
        && program.var(a.memory).ty == Type::Memory(Space::Shared)
        && index(a).is_some()
        && index(a) == index(b)
}
