//! Device scalars: results of reductions, and what is computed of them, that only kernels use.
//!
//! The host needs no such scalar. If it does not read them, it goes on with launches while the device still reduces. Kernels read the
//! results, and compute the rest again: it is little.

use crate::ir::{HostOperation, ParallelOperation, SegmentBody, SegmentFunction, SegmentKind};
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{SoacBody, SoacLoopForm, SoacOperand, SoacOperation, SoacVariableId};

/// Most operators between a scalar and the results of reductions that it is computed of.
const MOST_OPERATORS: u32 = 16;

/// The scalars of a function that only kernels use.
#[derive(Debug, Default)]
pub(crate) struct DeviceScalars {
    /// For each scalar that a kernel computes, and each that is computed of such, the number of operators between them.
    depths: FxHashMap<SoacVariableId, u32>,
    /// Variables that the host uses.
    used: EntitySet<SoacVariableId>,
}

impl DeviceScalars {
    /// Finds the scalars of a function.
    pub(crate) fn find_in_function(function: &SegmentFunction) -> DeviceScalars {
        let mut scalars = DeviceScalars::default();
        scalars.add_candidates(function, &function.body);
        scalars.add_body_uses(function, &function.body);
        scalars
    }

    /// Whether only kernels use a scalar.
    pub(crate) fn contains(&self, id: SoacVariableId) -> bool {
        self.depths.contains_key(&id) && !self.used.contains(id)
    }

    fn add_candidates(&mut self, function: &SegmentFunction, body: &SegmentBody) {
        let is_scalar = |id: &&SoacVariableId| {
            let variable_type = &function.signature.variables[**id].variable_type;
            variable_type.shape().is_empty()
        };
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::Plain(SoacOperation::Scalar(_, operands)) => {
                    let depths = operands.iter().filter_map(|&operand| match operand {
                        SoacOperand::Variable(id) => self.depths.get(&id),
                        SoacOperand::Constant(_) => None,
                    });
                    let depth = depths.max().map_or(u32::MAX, |depth| depth + 1);
                    if depth <= MOST_OPERATORS {
                        self.depths.insert(statement.results[0], depth);
                    }
                }
                HostOperation::If(_, accept, reject) => {
                    self.add_candidates(function, accept);
                    self.add_candidates(function, reject);
                }
                HostOperation::Loop(_, _, body)
                | HostOperation::WithAccumulators(_, body)
                | HostOperation::Grouped(_, body) => self.add_candidates(function, body),
                HostOperation::Parallel(operation) => {
                    let is_reduced = matches!(operation.kind, SegmentKind::Reduce(_));
                    if is_reduced || operation.space.is_empty() {
                        let scalars = statement.results.iter().filter(is_scalar);
                        self.depths.extend(scalars.map(|&id| (id, 0)));
                    }
                }
                HostOperation::Plain(_) => {}
            }
        }
    }

    /// Adds the variables that statements of the host use, from the last one on, so that it is known which of their results are used.
    fn add_body_uses(&mut self, function: &SegmentFunction, body: &SegmentBody) {
        self.add_uses(&body.results);
        for statement in body.statements.iter().rev() {
            for &id in &statement.results {
                self.add_size_uses(function, id);
            }
            match &statement.operation {
                HostOperation::Plain(SoacOperation::Scalar(_, operands)) => {
                    if !self.contains(statement.results[0]) {
                        self.add_uses(operands);
                    }
                }
                HostOperation::Plain(operation) => {
                    operation.for_each_operand(|operand| self.add_use(operand));
                }
                HostOperation::If(condition, accept, reject) => {
                    self.add_use(*condition);
                    self.add_body_uses(function, accept);
                    self.add_body_uses(function, reject);
                }
                HostOperation::Loop(parameters, form, body) => {
                    for &(parameter, initial) in parameters {
                        self.add_size_uses(function, parameter);
                        self.add_use(initial);
                    }
                    if let SoacLoopForm::For(_, bound) = form {
                        self.add_use(*bound);
                    }
                    self.add_body_uses(function, body);
                }
                HostOperation::WithAccumulators(accumulators, body) => {
                    for accumulator in accumulators {
                        self.add_uses(&accumulator.targets);
                        if let Some(combine) = &accumulator.combine {
                            self.add_kernel_uses(function, &combine.body, true);
                        }
                    }
                    self.add_body_uses(function, body);
                }
                HostOperation::Grouped(operation, otherwise) => {
                    self.add_operation_uses(function, operation, true);
                    self.add_body_uses(function, otherwise);
                }
                HostOperation::Parallel(operation) => {
                    self.add_operation_uses(function, operation, false);
                }
            }
        }
    }

    fn add_operation_uses(
        &mut self,
        function: &SegmentFunction,
        operation: &ParallelOperation,
        is_whole: bool,
    ) {
        for dimension in &operation.space {
            self.add_use(dimension.size);
        }
        self.add_uses(operation.targets());
        self.add_kernel_uses(function, &operation.body, is_whole);
        if let Some(fold) = operation.fold() {
            self.add_uses(&fold.neutral);
            self.add_kernel_uses(function, &fold.function.body, is_whole);
        }
    }

    /// Adds what the host uses for a body of a kernel: the sizes of arrays, or all variables.
    fn add_kernel_uses(&mut self, function: &SegmentFunction, body: &SoacBody, is_whole: bool) {
        for statement in &body.statements {
            let bound = statement.operation.bound();
            for &id in statement.results.iter().chain(&bound) {
                self.add_size_uses(function, id);
            }
            let is_scalar = matches!(
                statement.operation,
                SoacOperation::Scalar(..) | SoacOperation::Slice(..) | SoacOperation::If(..)
            );
            if is_whole || !is_scalar {
                let operation = &statement.operation;
                operation.for_each_operand(|operand| self.add_use(operand));
            }
            for body in statement.operation.bodies() {
                self.add_kernel_uses(function, body, is_whole);
            }
        }
        if is_whole {
            self.add_uses(&body.results);
        }
    }

    fn add_size_uses(&mut self, function: &SegmentFunction, id: SoacVariableId) {
        let shape = function.signature.variables[id].variable_type.shape();
        self.add_uses(shape);
    }

    fn add_uses(&mut self, operands: &[SoacOperand]) {
        operands.iter().for_each(|&operand| self.add_use(operand));
    }

    fn add_use(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            self.used.insert(id);
        }
    }
}
