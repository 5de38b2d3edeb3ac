//! Bodies that need memory of their own for each invocation.

use super::FunctionLowering;
use spirula_soac::ir::{
    FusedSink, SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacVariableId,
};

impl FunctionLowering<'_> {
    /// Whether a body makes arrays in a kernel.
    pub(super) fn needs_memory(&self, body: &SoacBody) -> bool {
        let mut statements = body.statements.iter();
        statements.any(|statement| self.makes_arrays(statement))
    }

    /// Whether a statement of a kernel makes arrays. Loops and choices do if their results are arrays.
    fn makes_arrays(&self, statement: &SoacStatement) -> bool {
        let has_bodies = |operation: &SoacOperation| {
            let mut bodies = operation.bodies().into_iter();
            bodies.any(|body| self.needs_memory(body))
        };
        match &statement.operation {
            SoacOperation::Scalar(..)
            | SoacOperation::Check(..)
            | SoacOperation::Slice(..)
            | SoacOperation::Rearrange(..)
            | SoacOperation::Update(..)
            | SoacOperation::Accumulate(..) => false,
            operation @ (SoacOperation::If(..)
            | SoacOperation::Loop(..)
            | SoacOperation::Reduce(..)) => {
                self.has_arrays(&statement.results) || has_bodies(operation)
            }
            operation @ SoacOperation::Fused(fused) => {
                !matches!(fused.sink, FusedSink::Reduce(..))
                    || self.has_arrays(&statement.results)
                    || has_bodies(operation)
            }
            SoacOperation::Iota(..) | SoacOperation::Replicate(..) => {
                let mut results = statement.results.iter();
                !results.all(|&id| self.virtual_arrays.contains(id))
            }
            _ => true,
        }
    }

    /// Whether some variables are arrays.
    fn has_arrays(&self, variables: &[SoacVariableId]) -> bool {
        let mut variables = variables.iter();
        variables.any(|&id| {
            let variable_type = self.function.type_of(SoacOperand::Variable(id));
            !variable_type.shape().is_empty()
        })
    }
}
