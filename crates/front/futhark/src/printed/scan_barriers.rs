//! Missing barriers in scans within a workgroup whose elements are arrays.

use super::reader::FutharkReader;
use spirula_kernel::ir::{
    CopyStmt, ExprData, ExprId, KernelProgram, KernelSyncScope, MemorySpace, StmtBlock, StmtKind,
    SyncKind, VarId, VariableType,
};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// Size of the groups that Futhark's scans treat as warps, independent of the device.
const WARP: i64 = 32;

impl FutharkReader<'_> {
    /// Appends a branch. In a scan the last invocation of each warp moves its warp's result within one block of memory.
    /// There the first warp has to move its result before all others.
    ///
    /// In a scan within a workgroup, warp `i` moves its result to element `i`. If the elements are arrays, they lie in
    /// memory at that point. Warp 31 of a workgroup of 1024 invocations then overwrites the result that the first warp
    /// moves. No other warp reads an element below 32.
    pub(super) fn push_branch(&mut self, condition: ExprId, then: StmtBlock, otherwise: StmtBlock) {
        let program = self.builder.program();
        let moved =
            moved_memory(program, then).filter(|_| program.block_stmts(otherwise).is_empty());
        let number = last_of_warp(program, condition).filter(|_| self.has_barrier_in_block());
        let Some((memory, number)) = moved.zip(number) else {
            self.builder.push_statement(StmtKind::If {
                condition,
                then,
                otherwise,
            });
            return;
        };
        let scope = match program.var(memory).ty {
            VariableType::Memory(MemorySpace::Shared) => KernelSyncScope::Shared,
            _ => KernelSyncScope::Device,
        };
        self.push_two_iterations(condition, number, scope, then, otherwise);
    }

    /// Whether the innermost block contains a barrier, so that another one is allowed.
    fn has_barrier_in_block(&self) -> bool {
        let stmts = self.builder.open_block().iter();
        stmts
            .rev()
            .any(|stmt| matches!(stmt.kind, StmtKind::Sync { kind, .. } if kind != SyncKind::Fence))
    }

    /// Appends a loop of two iterations; the first warp acts in the first iteration, all others in the second.
    fn push_two_iterations(
        &mut self,
        condition: ExprId,
        number: ExprId,
        scope: KernelSyncScope,
        then: StmtBlock,
        otherwise: StmtBlock,
    ) {
        let ty = self.builder.program().type_of(number);
        let ty = ty.unwrap_or(ScalarType::I32);
        let literal = |bits: i64| ScalarLiteral::new(ty, ty.truncate_bits(bits as u64));
        let round = self.builder.new_var("round", VariableType::Scalar(ty));
        let [warp, one, two] = [WARP, 1, 2].map(|n| self.builder.make_literal(literal(n)));
        let of = |op| ScalarOperator::with_type(op, ty);
        let place = self
            .builder
            .apply_operator(of(ScalarOp::SQuot), &[number, warp]);
        let place = self
            .builder
            .apply_operator(of(ScalarOp::SMin), &[place, one]);
        let current = self.builder.read_var(round);
        let is_due = self
            .builder
            .apply_operator(of(ScalarOp::Eq), &[place, current]);
        let condition = self
            .builder
            .apply_op(ScalarOp::LogAnd, &[condition, is_due]);
        self.builder.begin_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        self.builder.push_statement(StmtKind::Sync {
            kind: SyncKind::Barrier,
            scope,
        });
        let body = self.builder.end_block();
        self.builder.push_statement(StmtKind::For {
            counter: round,
            bound: two,
            body,
        });
    }
}

/// The block of memory within which a block of statements moves elements.
fn moved_memory(program: &KernelProgram, block: StmtBlock) -> Option<VarId> {
    program.block_stmts(block).iter().find_map(|stmt| {
        let within = match &stmt.kind {
            StmtKind::Copy(copy) => {
                let CopyStmt { to, from, .. } = &**copy;
                (to.memory == from.memory).then_some(to.memory)
            }
            _ => None,
        };
        let mut inner = stmt.kind.nested_blocks();
        within.or_else(|| inner.find_map(|block| moved_memory(program, block)))
    })
}

/// The invocation index that a condition requires to be the last of its warp: one of its conjuncts is `number -
/// number / 32 * 32 = 31`.
fn last_of_warp(program: &KernelProgram, condition: ExprId) -> Option<ExprId> {
    if let Some([left, right]) = match_operands(program, condition, ScalarOp::LogAnd) {
        return last_of_warp(program, left).or_else(|| last_of_warp(program, right));
    }
    let [lane, last] = match_operands(program, condition, ScalarOp::Eq)?;
    let [number, first] = match_operands(program, lane, ScalarOp::Sub)?;
    let [warp, width] = match_operands(program, first, ScalarOp::Mul)?;
    let [divided, by] = match_operands(program, warp, ScalarOp::SQuot)?;
    let is = |expr, value| is_number(program, expr, value);
    let fits = is(last, WARP - 1) && is(width, WARP) && is(by, WARP);
    (fits && match_variable(program, number)? == match_variable(program, divided)?)
        .then_some(number)
}

/// The operands of an expression, if it has this operator.
fn match_operands(program: &KernelProgram, expr: ExprId, op: ScalarOp) -> Option<[ExprId; 2]> {
    match program.expr(expr) {
        ExprData::Apply(operator, start) if operator.op == op => {
            program.operands(operator, start).try_into().ok()
        }
        _ => None,
    }
}

fn is_number(program: &KernelProgram, expr: ExprId, value: i64) -> bool {
    matches!(program.expr(expr), ExprData::Literal(literal) if literal.bits == value as u64)
}

fn match_variable(program: &KernelProgram, expr: ExprId) -> Option<VarId> {
    match program.expr(expr) {
        ExprData::Var(var) => Some(var),
        _ => None,
    }
}
