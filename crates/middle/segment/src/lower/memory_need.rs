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
            operation if self.streamed_scans.contains(statement) => has_bodies(operation),
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
                let is_virtual = results.all(|&id| self.virtual_arrays.contains(id));
                !is_virtual && self.has_arrays(&statement.results)
            }
            operation @ (SoacOperation::Map(..)
            | SoacOperation::Literal(..)
            | SoacOperation::Concat(..)
            | SoacOperation::Reshape(..)
            | SoacOperation::Manifest(..)) => {
                self.has_arrays(&statement.results) || has_bodies(operation)
            }
            _ => true,
        }
    }

    /// Whether some variables are arrays that are parts of a block.
    fn has_arrays(&self, variables: &[SoacVariableId]) -> bool {
        let mut variables = variables.iter();
        variables.any(|&id| {
            let variable_type = self.function.type_of(SoacOperand::Variable(id));
            let sizes = variable_type.shape().iter().map(|size| size.to_int64());
            !variable_type.shape().is_empty()
                && self.count_private(variable_type.element(), sizes).is_none()
        })
    }
}
