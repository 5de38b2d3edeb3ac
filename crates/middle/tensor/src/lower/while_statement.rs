//! Loops that evaluate their condition at the beginning of each iteration, as statements.

use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarType};

/// A loop that is being emitted. Statements of its condition come first, then those of its body.
pub(super) struct WhileStatement {
    /// Whether the loop goes on.
    on: VarId,
}

impl WhileStatement {
    /// Begins a loop, and its condition.
    pub fn begin(b: &mut ProgramBuilder) -> WhileStatement {
        let on = b.declare_var("on", VariableType::Scalar(ScalarType::Bool), false);
        assign_truth(b, on, true);
        b.begin_block();
        WhileStatement { on }
    }

    /// Begins the body.
    pub fn begin_body(&self, b: &mut ProgramBuilder) {
        b.begin_block();
    }

    /// Ends the loop. `condition` is the value of its condition, in the block of the condition.
    pub fn finish(self, b: &mut ProgramBuilder, condition: ExprId) {
        let then = b.end_block();
        b.begin_block();
        assign_truth(b, self.on, false);
        let otherwise = b.end_block();
        b.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        let body = b.end_block();
        let condition = b.read_var(self.on);
        b.push_statement(StmtKind::While { condition, body });
    }
}

fn assign_truth(b: &mut ProgramBuilder, to: VarId, value: bool) {
    let value = b.make_literal(ScalarLiteral::new(ScalarType::Bool, value.into()));
    b.push_assignment(to, value);
}
