//! Combinators as loops in kernels.

use super::group_map::{SharedFold, can_fail};
use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use spirula_kernel::ir::{ExprId, StmtKind};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};
use spirula_soac::ir::{SoacHistogram, SoacLambda, SoacOperand, SoacOperation, SoacVariableId};

impl FunctionLowering<'_> {
    /// Lowers a combinator to a loop.
    pub(super) fn lower_combinator(
        &mut self,
        results: &[SoacVariableId],
        operation: &SoacOperation,
    ) -> Result<(), String> {
        match operation {
            SoacOperation::Map(width, arrays, function) => {
                self.lower_map(results, *width, arrays, function)
            }
            SoacOperation::Scatter(array, positions, values) => {
                let view = self.array(*array)?;
                self.lower_scatter(&view, *positions, *values)?;
                self.set(results[0], LoweredValue::Array(view));
                Ok(())
            }
            SoacOperation::Histogram(histogram) => {
                let targets = histogram.targets.iter().map(|&target| self.array(target));
                let targets = targets.collect::<Result<Vec<_>, _>>()?;
                self.lower_histogram(histogram, &targets)?;
                for (&id, view) in results.iter().zip(targets) {
                    self.set(id, LoweredValue::Array(view));
                }
                Ok(())
            }
            SoacOperation::Reduce(width, arrays, neutral, function, _) => {
                self.lower_fold(results, *width, arrays, neutral, function, false)
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                self.lower_fold(results, *width, arrays, neutral, function, true)
            }
            SoacOperation::Fused(fused) => self.lower_fused(results, fused),
            _ => Err("an operation has no lowering".into()),
        }
    }

    pub(super) fn arrays(&self, operands: &[SoacOperand]) -> Result<Vec<ArrayView>, String> {
        operands
            .iter()
            .map(|&operand| self.array(operand))
            .collect()
    }

    fn lower_map(
        &mut self,
        results: &[SoacVariableId],
        width: SoacOperand,
        arrays: &[SoacOperand],
        function: &SoacLambda,
    ) -> Result<(), String> {
        let width = self.scalar(width)?;
        let arrays = self.element_sources(arrays)?;
        let targets = self.make_result_arrays(results)?;
        let body = |lowering: &mut Self, index: ScalarRef| {
            lowering.bind_elements(&function.parameters, &arrays, index)?;
            lowering.lower_point(&function.body, &targets, &[index])
        };
        self.visit_elements(width, can_fail(&function.body), body)?;
        for (&id, target) in results.iter().zip(targets) {
            self.set(id, LoweredValue::Array(target));
        }
        Ok(())
    }

    /// Whether a position is inside of an array, and if so what `body` does.
    pub(super) fn if_inside(
        &mut self,
        position: ScalarRef,
        length: ScalarRef,
        body: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let condition = self.compare(ScalarOp::ULt, position, length);
        self.choose(condition, body, |_| Ok(()))
    }

    /// Whether a comparison of two `i64` holds.
    pub(super) fn compare(&mut self, op: ScalarOp, left: ScalarRef, right: ScalarRef) -> ExprId {
        let operands = [self.read(left), self.read(right)];
        let operator = ScalarOperator::with_type(op, ScalarType::I64);
        self.builder.apply_operator(operator, &operands)
    }

    /// One of two things.
    pub(super) fn choose(
        &mut self,
        condition: ExprId,
        accept: impl FnOnce(&mut Self) -> Result<(), String>,
        reject: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.builder.begin_block();
        accept(self)?;
        let then = self.builder.end_block();
        self.builder.begin_block();
        reject(self)?;
        let otherwise = self.builder.end_block();
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        Ok(())
    }

    fn lower_scatter(
        &mut self,
        target: &ArrayView,
        positions: SoacOperand,
        values: SoacOperand,
    ) -> Result<(), String> {
        let (positions, values) = (self.array(positions)?, self.array(values)?);
        let width = positions.shape[0];
        let body = |lowering: &mut Self, index: ScalarRef| {
            let place = lowering.row_view(&positions, index);
            let position = lowering.load(&place);
            lowering.if_inside(position, target.shape[0], |lowering| {
                let row = lowering.row_view(target, position);
                let from = lowering.row_view(&values, index);
                let value = if from.shape.is_empty() {
                    LoweredValue::Scalar(lowering.load(&from))
                } else {
                    LoweredValue::Array(from)
                };
                lowering.write_value(&row, &value)
            })
        };
        self.visit_elements(width, false, body)
    }

    fn lower_histogram(
        &mut self,
        histogram: &SoacHistogram,
        targets: &[ArrayView],
    ) -> Result<(), String> {
        let positions = self.array(histogram.positions)?;
        let values = self.arrays(&histogram.values)?;
        let function = &histogram.function;
        self.count_to(positions.shape[0], |lowering, index| {
            let place = lowering.row_view(&positions, index);
            let position = lowering.load(&place);
            lowering.if_inside(position, targets[0].shape[0], |lowering| {
                let (before, new) = function.parameters.split_at(targets.len());
                lowering.bind_rows(before, targets, position);
                lowering.bind_rows(new, &values, index);
                let results = lowering.lower_body(&function.body)?;
                lowering.replace_rows(targets, position, &results)
            })
        })
    }

    /// Lowers a reduction or a scan.
    fn lower_fold(
        &mut self,
        results: &[SoacVariableId],
        width: SoacOperand,
        arrays: &[SoacOperand],
        neutral: &[SoacOperand],
        function: &SoacLambda,
        is_scan: bool,
    ) -> Result<(), String> {
        let width = self.scalar(width)?;
        let arrays = self.element_sources(arrays)?;
        let targets = if is_scan {
            self.make_result_arrays(results)?
        } else {
            Vec::new()
        };
        if self.is_in_group() {
            let fold = SharedFold {
                function,
                neutral,
                width,
                targets: &targets,
                can_fail: false,
            };
            let totals = self.share_fold(&fold, |lowering, position| {
                lowering.source_values(&arrays, position)
            })?;
            self.set_folded(results, totals, targets);
            return Ok(());
        }
        let initial = self.operand_values(neutral)?;
        let states = self.make_states(&initial)?;
        let elements = &function.parameters[states.len().min(function.parameters.len())..];
        self.count_to(width, |lowering, index| {
            lowering.bind_elements(elements, &arrays, index)?;
            lowering.step_states(function, &states)?;
            for (target, state) in targets.iter().zip(&states) {
                let row = lowering.row_view(target, index);
                lowering.write_value(&row, state)?;
            }
            Ok(())
        })?;
        self.set_folded(results, states, targets);
        Ok(())
    }

    /// Gives variables the arrays of a scan, or without any the totals of a reduction.
    pub(super) fn set_folded(
        &mut self,
        results: &[SoacVariableId],
        totals: Vec<LoweredValue>,
        targets: Vec<ArrayView>,
    ) {
        if !targets.is_empty() {
            self.set_arrays(results, targets);
            return;
        }
        for (&id, value) in results.iter().zip(totals) {
            self.set(id, value);
        }
    }

    /// The values of operands.
    pub(super) fn operand_values(
        &self,
        operands: &[SoacOperand],
    ) -> Result<Vec<LoweredValue>, String> {
        operands
            .iter()
            .map(|&operand| self.value(operand))
            .collect()
    }

    /// Variables and arrays for the state of a reduction, with first values.
    pub(super) fn make_states(
        &mut self,
        initial: &[LoweredValue],
    ) -> Result<Vec<LoweredValue>, String> {
        let mut states = Vec::with_capacity(initial.len());
        for value in initial {
            states.push(match value {
                LoweredValue::Scalar(scalar) => {
                    let element = self.scalar_type(*scalar);
                    let value = self.read(*scalar);
                    LoweredValue::Scalar(self.assign("acc", element, value))
                }
                LoweredValue::Array(view) => LoweredValue::Array(self.manifest(view)),
                LoweredValue::Certificate
                | LoweredValue::Virtual(_)
                | LoweredValue::Streamed(..)
                | LoweredValue::Deferred(_)
                | LoweredValue::Accumulator(_) => {
                    return Err("a value without data is reduced".into());
                }
            });
        }
        Ok(states)
    }

    /// Combines states with an element, to which the last parameters of the function are bound.
    pub(super) fn step_states(
        &mut self,
        function: &SoacLambda,
        states: &[LoweredValue],
    ) -> Result<(), String> {
        for (&parameter, state) in function.parameters.iter().zip(states) {
            self.set(parameter, state.clone());
        }
        self.aim_at_parameters(&function.body, &function.parameters, &array_places(states));
        let values = self.lower_body(&function.body)?;
        self.move_states(states, &values)
    }

    /// The type of a scalar.
    fn scalar_type(&self, scalar: ScalarRef) -> ScalarType {
        match scalar {
            ScalarRef::Constant(literal) => literal.ty,
            ScalarRef::Var(var) => {
                let program = self.builder.program();
                program.scalar_type(var).unwrap_or(ScalarType::Unit)
            }
        }
    }

    /// Gives the states of a reduction new values, which may be computed from the states.
    pub(super) fn move_states(
        &mut self,
        states: &[LoweredValue],
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let mut moved = self.settle_values(values, &array_places(states));
        for value in &mut moved {
            if let LoweredValue::Scalar(ScalarRef::Var(var)) = *value {
                let element = self.scalar_type(ScalarRef::Var(var));
                let copy = self.read(ScalarRef::Var(var));
                *value = LoweredValue::Scalar(self.assign("t", element, copy));
            }
        }
        for (state, value) in states.iter().zip(&moved) {
            match (state, value) {
                (LoweredValue::Scalar(ScalarRef::Var(var)), LoweredValue::Scalar(scalar)) => {
                    let value = self.read(*scalar);
                    self.builder.push_assignment(*var, value);
                }
                (LoweredValue::Array(state), LoweredValue::Array(_)) => {
                    self.write_value(&state.clone(), value)?;
                }
                _ => return Err("a state has another form than its value".into()),
            }
        }
        Ok(())
    }

    /// Replaces the elements or rows of arrays at a position by values, which may be computed from them.
    pub(super) fn replace_rows(
        &mut self,
        arrays: &[ArrayView],
        position: ScalarRef,
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let mut rows = Vec::with_capacity(arrays.len());
        for array in arrays {
            rows.push(self.row_view(array, position));
        }
        let places: Vec<_> = rows.iter().map(Some).collect();
        let values = self.settle_values(values, &places);
        for (row, value) in rows.iter().zip(&values) {
            self.write_value(row, value)?;
        }
        Ok(())
    }
}

/// The places of those states that are arrays.
fn array_places(states: &[LoweredValue]) -> Vec<Option<&ArrayView>> {
    let places = states.iter().map(|state| match state {
        LoweredValue::Array(view) => Some(view),
        _ => None,
    });
    places.collect()
}
