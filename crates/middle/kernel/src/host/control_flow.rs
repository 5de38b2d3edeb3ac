//! Lowering of the host's control flow to conditional jumps.

use super::context::HostStepLowering;
use crate::ir::StmtKind;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::{HostRegister, HostStep};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

impl HostStepLowering<'_> {
    pub(super) fn lower_control_flow(&mut self, stmt: &StmtKind) -> Result<(), SourceDiagnostic> {
        match *stmt {
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.lower_expr(condition)?;
                let branch = self.push_jump(HostStep::Unless(condition, 0));
                self.lower_block(then)?;
                let end = self.push_jump(HostStep::Jump(0));
                self.aim_jump(branch);
                self.lower_block(otherwise)?;
                self.aim_jump(end);
            }
            StmtKind::For {
                counter,
                bound,
                body,
            } => {
                let ty = self.program.scalar_type(counter).unwrap_or(ScalarType::I64);
                let bound = self.lower_expr(bound)?;
                let counter = self.scalar_register(counter)?;
                self.push_counted_loop(ty, counter, bound, |host| host.lower_block(body))?;
            }
            StmtKind::While { condition, body } => {
                let start = self.function.steps.len();
                let more = self.lower_expr(condition)?;
                let leave = self.push_jump(HostStep::Unless(more, 0));
                self.lower_block(body)?;
                self.push_step(HostStep::Jump(start));
                self.aim_jump(leave);
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits a loop over a counter from 0 to below a bound. The bound is copied before the loop.
    pub(super) fn push_counted_loop(
        &mut self,
        ty: ScalarType,
        counter: HostRegister,
        bound: HostRegister,
        body: impl FnOnce(&mut Self) -> Result<(), SourceDiagnostic>,
    ) -> Result<(), SourceDiagnostic> {
        let most = self.new_temporary();
        self.push_step(HostStep::Move(most, bound));
        self.push_step(HostStep::Set(counter, 0));
        let one = self.set_literal(ScalarLiteral::new(ty, 1));
        let start = self.function.steps.len();
        let more = self.apply_operator(
            ScalarOperator::with_type(ScalarOp::SLt, ty),
            [counter, most, most],
        );
        let leave = self.push_jump(HostStep::Unless(more, 0));
        body(self)?;
        let next = ScalarOperator::with_type(ScalarOp::Add, ty);
        self.push_step(HostStep::Apply(next, counter, [counter, one, one]));
        self.push_step(HostStep::Jump(start));
        self.aim_jump(leave);
        Ok(())
    }

    /// Appends a jump whose target is set later, and returns its position.
    fn push_jump(&mut self, step: HostStep) -> usize {
        self.push_step(step);
        self.function.steps.len() - 1
    }

    /// Sets the target of a jump to the next step.
    fn aim_jump(&mut self, at: usize) {
        let next = self.function.steps.len();
        match &mut self.function.steps[at] {
            HostStep::Jump(to) | HostStep::Unless(_, to) => *to = next,
            _ => {}
        }
    }
}
