//! Combinators: as kernels on the host, as loops in kernels.

use super::view::{ArrayView, ScalarRef};
use super::{FunctionLowering, LoweredValue};
use crate::ir::{
    SoacBody, SoacHistogram, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation, SoacType,
    SoacVariableId,
};
use spirula_entity::EntitySet;
use spirula_kernel::ir::{StmtKind, VariableType};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

impl FunctionLowering<'_> {
    /// Lowers a combinator: on the host as a kernel if it can be one.
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
                if self.kernel.is_none() && self.can_offload(&histogram.function) {
                    self.offload(ScalarRef::from_int64(1), |lowering, _| {
                        lowering.lower_histogram(histogram, &targets)
                    })?;
                } else {
                    self.lower_histogram(histogram, &targets)?;
                }
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
            _ => Err("an operation has no lowering".into()),
        }
    }

    /// Whether the function of a combinator can be part of a kernel: the sizes of all arrays that it makes are known outside.
    fn can_offload(&self, function: &SoacLambda) -> bool {
        let mut inner = EntitySet::default();
        collect_bound(&function.body, &mut inner);
        function.parameters.iter().for_each(|&parameter| {
            inner.insert(parameter);
        });
        self.has_outer_sizes(&function.body, &inner)
    }

    fn has_outer_sizes(&self, body: &SoacBody, inner: &EntitySet<SoacVariableId>) -> bool {
        body.statements.iter().all(|statement| {
            let is_view = matches!(
                statement.operation,
                SoacOperation::Slice(..) | SoacOperation::Update(..) | SoacOperation::Scatter(..)
            );
            let mut bound = statement.results.clone();
            if let SoacOperation::Loop(parameters, _, _) = &statement.operation {
                bound.extend(parameters.iter().map(|(id, _)| *id));
            }
            let has_sizes = bound.iter().all(|&id| {
                let shape = self.function.variables[id].variable_type.shape();
                shape.iter().all(|size| match size {
                    SoacOperand::Variable(id) => !inner.contains(*id),
                    SoacOperand::Constant(_) => true,
                })
            });
            (is_view || has_sizes)
                && statement
                    .operation
                    .bodies()
                    .into_iter()
                    .all(|body| self.has_outer_sizes(body, inner))
        })
    }

    /// Binds the parameters of a function to the elements of arrays at a position.
    pub(super) fn bind_elements(
        &mut self,
        parameters: &[SoacVariableId],
        arrays: &[ArrayView],
        position: ScalarRef,
    ) -> Result<(), String> {
        for (&parameter, array) in parameters.iter().zip(arrays) {
            let row = self.row_view(array, position);
            let value = if row.shape.is_empty() {
                LoweredValue::Scalar(self.load(&row))
            } else {
                LoweredValue::Array(row)
            };
            self.set(parameter, value);
        }
        Ok(())
    }

    fn arrays(&self, operands: &[SoacOperand]) -> Result<Vec<ArrayView>, String> {
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
        let arrays = self.arrays(arrays)?;
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            let (element, shape) = self.result_shape(id)?;
            targets.push(self.new_array(element, shape));
        }
        let body = |lowering: &mut Self, index: ScalarRef| {
            lowering.bind_elements(&function.parameters, &arrays, index)?;
            let values = lowering.lower_body(&function.body)?;
            for (target, value) in targets.iter().zip(&values) {
                let row = lowering.row_view(target, index);
                lowering.write_value(&row, value)?;
            }
            Ok(())
        };
        let is_kernel = self.kernel.is_none() && self.can_offload(function);
        if is_kernel && self.has_races(&function.body) {
            self.offload(ScalarRef::from_int64(1), |lowering, _| {
                lowering.count_to(width, body)
            })?;
        } else if is_kernel {
            self.offload(width, body)?;
        } else {
            self.count_to(width, body)?;
        }
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
        let operands = [self.read(position), self.read(length)];
        let less = ScalarOperator::with_type(ScalarOp::ULt, ScalarType::I64);
        let condition = self.builder.apply_operator(less, &operands);
        self.builder.begin_block();
        body(self)?;
        let then = self.builder.end_block();
        self.builder.begin_block();
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
        if self.kernel.is_none() {
            self.offload(width, body)
        } else {
            self.count_to(width, body)
        }
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
                lowering.bind_elements(before, targets, position)?;
                lowering.bind_elements(new, &values, index)?;
                let results = lowering.lower_body(&function.body)?;
                for (target, value) in targets.iter().zip(&results) {
                    let row = lowering.row_view(target, position);
                    lowering.write_value(&row, value)?;
                }
                Ok(())
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
        let arrays = self.arrays(arrays)?;
        let neutral = neutral
            .iter()
            .map(|&operand| self.value(operand))
            .collect::<Result<Vec<_>, _>>()?;
        let mut targets = Vec::with_capacity(results.len());
        for &id in results {
            let (element, mut shape) = self.result_shape(id)?;
            if !is_scan && shape.is_empty() {
                shape = vec![ScalarRef::from_int64(1)];
            }
            targets.push(self.new_array(element, shape));
        }
        let body = |lowering: &mut Self, _: ScalarRef| {
            lowering.fold_elements(width, &arrays, &neutral, function, &targets, is_scan)
        };
        if self.kernel.is_none() && self.can_offload(function) {
            self.offload(ScalarRef::from_int64(1), body)?;
        } else {
            body(self, ScalarRef::from_int64(0))?;
        }
        for (&id, target) in results.iter().zip(targets) {
            let is_scalar = matches!(
                self.function.variables[id].variable_type,
                SoacType::Scalar(_)
            );
            let value = if is_scalar {
                let place = self.row_view(&target, ScalarRef::from_int64(0));
                LoweredValue::Scalar(self.load(&place))
            } else {
                LoweredValue::Array(target)
            };
            self.set(id, value);
        }
        Ok(())
    }

    /// Combines elements one after the other. The state is kept in the result of a reduction, and beside that of a scan.
    fn fold_elements(
        &mut self,
        width: ScalarRef,
        arrays: &[ArrayView],
        neutral: &[LoweredValue],
        function: &SoacLambda,
        targets: &[ArrayView],
        is_scan: bool,
    ) -> Result<(), String> {
        let mut states = Vec::with_capacity(neutral.len());
        for (value, target) in neutral.iter().zip(targets) {
            states.push(match value {
                LoweredValue::Scalar(scalar) => {
                    let var = self.builder.declare_var(
                        "acc",
                        VariableType::Scalar(target.element),
                        false,
                    );
                    let value = self.read(*scalar);
                    self.builder.push_assignment(var, value);
                    LoweredValue::Scalar(ScalarRef::Var(var))
                }
                LoweredValue::Array(view) => LoweredValue::Array(self.manifest(view)),
                LoweredValue::Certificate | LoweredValue::Accumulator(_) => {
                    return Err("a value without data is reduced".into());
                }
            });
        }
        let (state_parameters, element_parameters) = function.parameters.split_at(states.len());
        self.count_to(width, |lowering, index| {
            for (&parameter, state) in state_parameters.iter().zip(&states) {
                lowering.set(parameter, state.clone());
            }
            lowering.bind_elements(element_parameters, arrays, index)?;
            let values = lowering.lower_body(&function.body)?;
            lowering.move_states(&states, &values)?;
            if is_scan {
                for (target, state) in targets.iter().zip(&states) {
                    let row = lowering.row_view(target, index);
                    lowering.write_value(&row, state)?;
                }
            }
            Ok(())
        })?;
        if !is_scan {
            for (target, state) in targets.iter().zip(&states) {
                match state {
                    LoweredValue::Scalar(scalar) => {
                        let place = self.row_view(target, ScalarRef::from_int64(0));
                        self.store(&place, *scalar);
                    }
                    other => self.write_value(target, other)?,
                }
            }
        }
        Ok(())
    }

    /// Gives the states of a reduction new values, which may be computed from the states.
    fn move_states(
        &mut self,
        states: &[LoweredValue],
        values: &[LoweredValue],
    ) -> Result<(), String> {
        let mut moved = Vec::with_capacity(values.len());
        for value in values {
            moved.push(match value {
                LoweredValue::Scalar(ScalarRef::Var(var)) => {
                    let element = self
                        .builder
                        .program()
                        .scalar_type(*var)
                        .unwrap_or(ScalarType::Unit);
                    let copy = self.read(ScalarRef::Var(*var));
                    LoweredValue::Scalar(self.assign("t", element, copy))
                }
                LoweredValue::Array(view) if states.len() > 1 => {
                    LoweredValue::Array(self.manifest(view))
                }
                other => other.clone(),
            });
        }
        for (state, value) in states.iter().zip(&moved) {
            match (state, value) {
                (LoweredValue::Scalar(ScalarRef::Var(var)), LoweredValue::Scalar(scalar)) => {
                    let value = self.read(*scalar);
                    self.builder.push_assignment(*var, value);
                }
                (LoweredValue::Array(state), LoweredValue::Array(value)) => {
                    let is_same = state.memory == value.memory && state.offset == value.offset;
                    if !is_same {
                        self.copy(&state.clone(), value);
                    }
                }
                _ => return Err("a state has another form than its value".into()),
            }
        }
        Ok(())
    }
}

/// The variables that are bound in a body and in those within it.
fn collect_bound(body: &SoacBody, bound: &mut EntitySet<SoacVariableId>) {
    for statement in &body.statements {
        statement.results.iter().for_each(|&id| {
            bound.insert(id);
        });
        let mut add = |id: SoacVariableId| {
            bound.insert(id);
        };
        match &statement.operation {
            SoacOperation::Loop(parameters, form, _) => {
                parameters.iter().for_each(|(id, _)| add(*id));
                if let SoacLoopForm::For(counter, _) = form {
                    add(*counter);
                }
            }
            SoacOperation::Map(_, _, function)
            | SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => {
                function.parameters.iter().for_each(|&id| add(id))
            }
            SoacOperation::Histogram(histogram) => {
                histogram.function.parameters.iter().for_each(|&id| add(id))
            }
            SoacOperation::WithAccumulators(accumulation) => {
                for accumulator in &accumulation.accumulators {
                    add(accumulator.variable);
                    let combine = accumulator.combine.iter();
                    combine
                        .flat_map(|function| &function.parameters)
                        .for_each(|&id| add(id));
                }
            }
            _ => {}
        }
        statement
            .operation
            .bodies()
            .into_iter()
            .for_each(|body| collect_bound(body, bound));
    }
}
