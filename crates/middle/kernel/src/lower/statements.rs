//! Lowering of statements and expressions.
//!
//! A failing assertion returns from its invocation. In kernels with barriers it skips all statements up to the next
//! error synchronisation instead: until there, statements are guarded by a check that the invocation has not
//! failed. Statements that contain barriers are not guarded.

use super::context::KernelLowering;
use super::unsupported::unsupported_diagnostic;
use crate::ir::{
    CallStmt, ExprData, ExprId, FuncArgument, KernelStmt, KernelSyncScope, LaunchIndex, StmtBlock,
    StmtKind, SyncKind, VarId, VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::BuiltIn;

/// Most calls that are inlined into a kernel.
const MOST_CALLS: u32 = 10_000;

impl KernelLowering<'_> {
    pub(super) fn lower_block(&mut self, block: StmtBlock) -> Result<(), SourceDiagnostic> {
        let program = self.p;
        let stmts = program.block_stmts(block);
        let mut at = 0;
        while let Some(stmt) = stmts.get(at) {
            if !self.pending || self.has_barrier(stmt) {
                if !self.is_redundant_barrier(stmt, stmts.get(at + 1), block) {
                    self.lower_statement(stmt)?;
                }
                at += 1;
                continue;
            }
            let mut end = at;
            while end < stmts.len() && !self.has_barrier(&stmts[end]) {
                end += 1;
                if self.may_fail(&stmts[end - 1]) {
                    break;
                }
            }
            let going = self.emit_not_failed();
            self.emit_if(going, |l| {
                l.pending = false;
                stmts[at..end].iter().try_for_each(|s| l.lower_statement(s))
            })?;
            self.pending = true;
            at = end;
        }
        Ok(())
    }

    /// Whether a barrier is redundant: it directly precedes another that covers it, or it ends the kernel.
    fn is_redundant_barrier(
        &self,
        stmt: &KernelStmt,
        next: Option<&KernelStmt>,
        block: StmtBlock,
    ) -> bool {
        let barrier = |stmt: &KernelStmt| match stmt.kind {
            StmtKind::Sync { kind, scope } => {
                let leaves = kind == SyncKind::Error && self.shares_failure();
                (kind != SyncKind::Fence).then_some((leaves, scope))
            }
            _ => None,
        };
        let Some((false, first)) = barrier(stmt) else {
            return false;
        };
        match next {
            Some(next) => {
                barrier(next).is_some_and(|(_, n)| n == first || n == KernelSyncScope::Device)
            }
            None => block == self.data.body,
        }
    }

    /// Emits whether this invocation has not failed.
    fn emit_not_failed(&mut self) -> Id {
        let failed = self.failed_variable();
        let flag = self.b.bool_type();
        let failed = self.emit_load(flag, failed);
        self.not(failed)
    }

    fn has_barrier(&self, stmt: &KernelStmt) -> bool {
        match &stmt.kind {
            StmtKind::Sync { kind, .. } => *kind != SyncKind::Fence,
            StmtKind::Call(call) => self
                .body_of(call)
                .is_some_and(|b| self.memory_use.waits[b.index()]),
            kind => kind
                .nested_blocks()
                .any(|b| self.memory_use.waits[b.index()]),
        }
    }

    fn may_fail(&self, stmt: &KernelStmt) -> bool {
        match &stmt.kind {
            StmtKind::Assert { .. } => true,
            StmtKind::Call(call) => self.body_of(call).is_some_and(|b| self.may_fail_in(b)),
            StmtKind::While { body, .. } if self.may_await_others(*body) => true,
            kind => kind.nested_blocks().any(|b| self.may_fail_in(b)),
        }
    }

    fn may_fail_in(&self, block: StmtBlock) -> bool {
        let at = block.index();
        self.memory_use.fails[at] || self.memory_use.awaits[at] && self.can_fail()
    }

    fn body_of(&self, call: &CallStmt) -> Option<StmtBlock> {
        self.p.function(call.function).body
    }

    fn lower_statement(&mut self, stmt: &KernelStmt) -> Result<(), SourceDiagnostic> {
        self.place = stmt.place;
        match &stmt.kind {
            StmtKind::Declare(var) => self.lower_declaration(*var)?,
            StmtKind::Assign { to, value } => {
                let value = self.lower_expr(*value)?;
                self.assign_var(*to, value);
            }
            StmtKind::Alias { to, from } => self.lower_alias(*to, *from)?,
            StmtKind::Alloc { to, bytes } => self.lower_alloc(*to, *bytes)?,
            StmtKind::Free(_) | StmtKind::Trace(_) => {}
            StmtKind::Read { to, from } => {
                let index = self.element_index(from)?;
                let value = self.read_element(from, index)?;
                self.assign_var(*to, value);
            }
            StmtKind::Write { to, value } => {
                let index = self.element_index(to)?;
                let value = self.lower_expr(*value)?;
                self.write_element(to, index, value)?;
            }
            StmtKind::ReadVector { to, from } => self.read_vector(to, from)?,
            StmtKind::WriteVector { to, values } => self.write_vector(to, values)?,
            StmtKind::Fragment(op) => self.lower_fragment_op(op)?,
            StmtKind::Copy(copy) => self.lower_copy(copy)?,
            StmtKind::Call(call) => self.lower_call(call)?,
            StmtKind::Assert { condition, message } => {
                let condition = self.lower_expr(*condition)?;
                self.lower_assertion(condition, *message)?;
            }
            StmtKind::Position {
                to,
                part,
                dimension,
            } => {
                let value = match part {
                    LaunchIndex::Group => self.group_id[usize::from(*dimension)],
                    LaunchIndex::Local => self.local_id[usize::from(*dimension)],
                    LaunchIndex::LocalSize => self.local_size[usize::from(*dimension)],
                    LaunchIndex::LockstepWidth => self.const_u32(1),
                    LaunchIndex::Subgroup => self.load_subgroup_builtin(BuiltIn::SubgroupId),
                    LaunchIndex::Lane => {
                        self.load_subgroup_builtin(BuiltIn::SubgroupLocalInvocationId)
                    }
                };
                self.assign_var(*to, value);
            }
            StmtKind::Shuffle { to, value, mask } => self.lower_shuffle(*to, *value, *mask)?,
            StmtKind::Sync { kind, scope } => self.lower_sync(*kind, *scope),
            StmtKind::Atomic(atomic) => self.lower_atomic(atomic)?,
            kind => self.lower_control_flow(kind)?,
        }
        Ok(())
    }

    fn lower_control_flow(&mut self, kind: &StmtKind) -> Result<(), SourceDiagnostic> {
        match *kind {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => self.lower_if(condition, then, otherwise),
            StmtKind::For {
                counter,
                bound,
                body,
            } => self.lower_counted_loop(counter, bound, body),
            StmtKind::While { condition, body } => self.lower_while_loop(condition, body),
            _ => Err(unsupported_diagnostic(
                self.place,
                "a statement of the host",
            )),
        }
    }

    fn lower_if(
        &mut self,
        condition: ExprId,
        then: StmtBlock,
        otherwise: StmtBlock,
    ) -> Result<(), SourceDiagnostic> {
        let condition = self.lower_expr(condition)?;
        let before = self.pending;
        if self.p.block_stmts(otherwise).is_empty() {
            self.emit_if(condition, |l| l.lower_block(then))?;
            self.pending |= before;
            return Ok(());
        }
        let mut pending = [before; 2];
        let [first, second] = &mut pending;
        self.if_else(
            condition,
            |l| {
                l.lower_block(then)?;
                *first = std::mem::replace(&mut l.pending, before);
                Ok::<(), SourceDiagnostic>(())
            },
            |l| {
                l.lower_block(otherwise)?;
                *second = l.pending;
                Ok(())
            },
        )?;
        self.pending = pending.contains(&true);
        Ok(())
    }

    fn lower_counted_loop(
        &mut self,
        counter: VarId,
        bound: ExprId,
        body: StmtBlock,
    ) -> Result<(), SourceDiagnostic> {
        let ty = self.p.scalar_type(counter);
        let ty =
            ty.ok_or_else(|| unsupported_diagnostic(self.place, "a counter that is no scalar"))?;
        let bound = self.lower_expr(bound)?;
        let variable = self.scalar_slot(counter);
        let (zero, one) = (
            self.const_uint(ty.width(), 0),
            self.const_uint(ty.width(), 1),
        );
        let value = self.scalar_type(ty);
        self.emit_store(variable, zero);
        self.lower_loop(
            body,
            |l| {
                let at = l.emit_load(value, variable);
                Ok(l.emit_bool_value(Op::SLessThan, &[at, bound]))
            },
            |l| {
                let at = l.emit_load(value, variable);
                let next = l.emit_value(Op::IAdd, value, &[at, one]);
                l.emit_store(variable, next);
            },
        )
    }

    fn lower_while_loop(
        &mut self,
        condition: ExprId,
        body: StmtBlock,
    ) -> Result<(), SourceDiagnostic> {
        if !self.may_await_others(body) {
            return self.lower_loop(body, |l| l.lower_expr(condition), |_| {});
        }
        let stopped = self.begin_waiting();
        self.lower_loop(
            body,
            |l| {
                let more = l.lower_expr(condition)?;
                Ok(l.and_not_stopped(stopped, more))
            },
            |_| {},
        )?;
        self.end_waiting(stopped);
        Ok(())
    }

    /// A loop. An invocation that has failed leaves it if it contains no barrier.
    fn lower_loop(
        &mut self,
        body: StmtBlock,
        more: impl FnOnce(&mut Self) -> Result<Id, SourceDiagnostic>,
        next: impl FnOnce(&mut Self),
    ) -> Result<(), SourceDiagnostic> {
        let fails = self.memory_use.fails[body.index()] && self.has_barriers();
        self.pending |= fails;
        let stop = fails && !self.memory_use.waits[body.index()];
        self.emit_loop(
            |l| {
                let more = more(l)?;
                Ok(l.and_not_failed(stop, more))
            },
            |l| l.lower_block(body),
            next,
        )?;
        self.pending |= fails;
        Ok(())
    }

    fn and_not_failed(&mut self, stop: bool, more: Id) -> Id {
        if !stop {
            return more;
        }
        let going = self.emit_not_failed();
        self.emit_bool_value(Op::LogicalAnd, &[more, going])
    }

    fn lower_declaration(&mut self, var: VarId) -> Result<(), SourceDiagnostic> {
        if let VariableType::Array(_) = self.p.var(var).ty {
            self.private_array(var)?;
        }
        Ok(())
    }

    /// The variable of a scalar.
    pub(super) fn scalar_slot(&mut self, var: VarId) -> Id {
        if let Some(variable) = self.slots[var.index()] {
            return variable;
        }
        let ty = self
            .p
            .scalar_type(var)
            .unwrap_or(spirula_program::ScalarType::Unit);
        let ty = self.scalar_type(ty);
        let variable = self.add_local_variable(ty);
        self.slots[var.index()] = Some(variable);
        variable
    }

    pub(super) fn assign_var(&mut self, to: VarId, value: Id) {
        let variable = self.scalar_slot(to);
        self.emit_store(variable, value);
    }

    /// The value of an expression.
    pub(super) fn lower_expr(&mut self, expr: ExprId) -> Result<Id, SourceDiagnostic> {
        let program = self.p;
        match program.expr(expr) {
            ExprData::Literal(literal) => Ok(self.const_literal(literal)),
            ExprData::Var(var) => {
                if let Some(value) = self.values[var.index()] {
                    return Ok(value);
                }
                let variable = self.scalar_slot(var);
                let ty = self.p.scalar_type(var);
                let ty =
                    ty.ok_or_else(|| unsupported_diagnostic(self.place, "memory as a value"))?;
                let ty = self.scalar_type(ty);
                Ok(self.emit_load(ty, variable))
            }
            ExprData::Apply(operator, start) => {
                let mut args = [None; 3];
                for (arg, operand) in args.iter_mut().zip(program.operands(operator, start)) {
                    *arg = Some(self.lower_expr(*operand)?);
                }
                let args: Vec<Id> = args.into_iter().flatten().collect();
                self.lower_operator(operator, &args)
            }
            ExprData::Parameter(_) | ExprData::Limit(_) => Err(unsupported_diagnostic(
                self.place,
                "a tuning parameter within a kernel",
            )),
        }
    }

    /// Inlines a call.
    fn lower_call(&mut self, call: &CallStmt) -> Result<(), SourceDiagnostic> {
        self.calls += 1;
        if self.calls > MOST_CALLS {
            return Err(unsupported_diagnostic(self.place, "so many inlined calls"));
        }
        let program = self.p;
        let function = program.function(call.function);
        let mut inputs = Vec::new();
        for input in &call.inputs {
            match input {
                FuncArgument::Scalar(expr) => inputs.push(self.lower_expr(*expr)?),
                FuncArgument::Memory(_) => {
                    return Err(unsupported_diagnostic(
                        self.place,
                        "memory passed to a function in a kernel",
                    ));
                }
            }
        }
        for (var, value) in function.inputs.iter().zip(inputs) {
            self.assign_var(*var, value);
        }
        if let Some(body) = function.body {
            self.lower_block(body)?;
        }
        for (output, to) in function.outputs.iter().zip(&call.outputs) {
            let variable = self.scalar_slot(*output);
            let ty = program.scalar_type(*output);
            let ty =
                ty.ok_or_else(|| unsupported_diagnostic(self.place, "memory from a function"))?;
            let ty = self.scalar_type(ty);
            let value = self.emit_load(ty, variable);
            self.assign_var(*to, value);
        }
        Ok(())
    }
}
