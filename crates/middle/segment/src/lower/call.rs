//! Calls of functions by the host.
//!
//! An array is passed as a block that its elements fill from the beginning, in row-major order. Its sizes are parameters or
//! results of their own.

use super::view::ScalarRef;
use super::{FunctionLowering, LoweredValue};
use crate::ir::SegmentFunction;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{
    CallStmt, FuncArgument, FuncId, MemorySpace, StmtKind, VarId, VariableType,
};
use spirula_soac::ir::{SoacArgument, SoacFunctionId, SoacType, SoacVariableId};

/// The type of the variable that holds a scalar, or the elements of an array.
pub(super) fn variable_kind(variable_type: &SoacType) -> VariableType {
    match variable_type {
        SoacType::Array(..) => VariableType::Memory(MemorySpace::Device),
        other => VariableType::Scalar(other.element()),
    }
}

/// Declares the functions that an entry point calls. Their names are not those of entry points, which have no dots.
pub(super) fn declare_callees(
    builder: &mut ProgramBuilder,
    function: &SegmentFunction,
    entry: &str,
) -> Vec<FuncId> {
    let callees = function.callees.iter();
    let declare = |(id, callee): (SoacFunctionId, &SegmentFunction)| {
        let name = &callee.signature.name;
        builder.declare_function(&format!("{entry}.{name}.{}", id.index()))
    };
    callees.map(declare).collect()
}

impl FunctionLowering<'_> {
    /// Lowers a function that is called.
    pub(super) fn lower_callee(
        &mut self,
        segments: &SegmentFunction,
        function: FuncId,
    ) -> Result<(), String> {
        self.builder.begin_function(function);
        let inputs = self.add_inputs(function);
        let mut outputs = Vec::new();
        for &result in &segments.body.results {
            let kind = variable_kind(&self.function.type_of(result));
            outputs.push(self.builder.add_output(function, "out", kind));
        }
        self.builder.begin_block();
        self.bind_inputs(&inputs)?;
        self.lower_host_statements(&segments.body.statements)?;
        for (&result, &output) in segments.body.results.iter().zip(&outputs) {
            self.write_result(result, output, &[])?;
        }
        let body = self.builder.end_block();
        self.builder.define_function(function, body);
        Ok(())
    }

    /// Adds the inputs of a function for its parameters.
    pub(super) fn add_inputs(&mut self, function: FuncId) -> Vec<(SoacVariableId, VarId)> {
        let mut inputs = Vec::with_capacity(self.function.parameters.len());
        for &parameter in &self.function.parameters {
            let variable = &self.function.variables[parameter];
            let kind = variable_kind(&variable.variable_type);
            let input = self.builder.add_input(function, &variable.name, kind);
            inputs.push((parameter, input));
        }
        inputs
    }

    /// Lowers a call.
    pub(super) fn lower_call(
        &mut self,
        results: &[SoacVariableId],
        function: SoacFunctionId,
        arguments: &[SoacArgument],
    ) -> Result<(), String> {
        let callee = self.callees.get(function.index()).copied();
        let Some(callee) = callee.filter(|_| self.kernel.is_none()) else {
            return Err(format!("a kernel calls {function:?}"));
        };
        let mut inputs = Vec::with_capacity(arguments.len());
        for argument in arguments {
            inputs.push(match self.value(argument.operand)? {
                LoweredValue::Array(view) => FuncArgument::Memory(self.make_dense(view)?.memory),
                LoweredValue::Scalar(scalar) => FuncArgument::Scalar(self.read(scalar)),
                LoweredValue::Certificate
                | LoweredValue::Virtual(_)
                | LoweredValue::Streamed(..)
                | LoweredValue::Deferred(_)
                | LoweredValue::Accumulator(_) => {
                    return Err("an argument of a call has no data".into());
                }
            });
        }
        let mut outputs = Vec::with_capacity(results.len());
        for &id in results {
            let kind = variable_kind(&self.function.variables[id].variable_type);
            let var = self.builder.declare_var("c", kind, false);
            if let VariableType::Scalar(_) = kind {
                self.set(id, LoweredValue::Scalar(ScalarRef::Var(var)));
            }
            outputs.push(var);
        }
        self.builder
            .push_statement(StmtKind::Call(Box::new(CallStmt {
                function: callee,
                inputs,
                outputs: outputs.clone(),
            })));
        for (&id, &var) in results.iter().zip(&outputs) {
            if let SoacType::Array(..) = self.function.variables[id].variable_type {
                let (element, shape) = self.result_shape(id)?;
                let view = self.dense_view(var, element, shape);
                self.set(id, LoweredValue::Array(view));
            }
        }
        Ok(())
    }
}
