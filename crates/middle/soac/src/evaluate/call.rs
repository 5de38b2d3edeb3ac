//! Calls of functions.

use super::{FunctionEvaluator, SoacValue};
use crate::ir::{SoacArgument, SoacFunctionId};
use rustc_hash::FxHashMap;

/// How many bodies may be evaluated within each other, those of functions that are called included.
pub(super) const MAX_NESTING: u32 = 1000;

impl FunctionEvaluator<'_> {
    /// Evaluates a call, which has variables of its own.
    pub(super) fn evaluate_call(
        &mut self,
        function: SoacFunctionId,
        arguments: &[SoacArgument],
    ) -> Result<Vec<SoacValue>, String> {
        let operands = arguments.iter().map(|argument| argument.operand);
        let operands: Vec<_> = operands.collect();
        let arguments = self.get_all(&operands)?;
        if function.index() >= self.callees.len() {
            return Err(format!("there is no function {function:?}"));
        }
        let function = &self.callees[function];
        let mut evaluator = FunctionEvaluator {
            function,
            callees: self.callees,
            values: vec![None; function.variables.len()],
            accumulators: FxHashMap::default(),
            fuel: self.fuel,
            nesting: self.nesting,
        };
        for (&parameter, argument) in function.parameters.iter().zip(arguments) {
            evaluator.set(parameter, argument);
        }
        let results = evaluator.evaluate_body(&function.body);
        self.fuel = evaluator.fuel;
        results
    }
}
