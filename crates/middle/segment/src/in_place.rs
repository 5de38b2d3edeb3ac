//! In-place analysis: variables of kernels that share the memory of an earlier variable.
//!
//! An update consumes its array, so its result has the same place. So has the result of a loop whose body only updates the loop's
//! parameter, and that of a choice both of whose branches return the same array. Such loops and choices need no arrays of their own,
//! and their cost is the elements that they write.

use crate::ir::SegmentFunction;
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacVariableId};

/// For each variable that shares the memory of an earlier one, that one.
#[derive(Clone, Debug, Default)]
pub(crate) struct InPlaceResults {
    origins: FxHashMap<SoacVariableId, SoacVariableId>,
    /// Variables whose sizes may differ from those of the earlier one.
    reshaped: EntitySet<SoacVariableId>,
}

impl InPlaceResults {
    /// Analyses the kernels of a function.
    pub(crate) fn analyse_function(function: &SegmentFunction) -> Self {
        let mut results = InPlaceResults::default();
        let host = &function.body;
        host.for_each_kernel_body(&mut |body| results.visit_body(body));
        results
    }

    /// The variable whose memory a variable shares, which may be itself.
    pub(crate) fn origin(&self, id: SoacVariableId) -> SoacVariableId {
        self.origins.get(&id).copied().unwrap_or(id)
    }

    fn origin_of(&self, operand: SoacOperand) -> Option<SoacVariableId> {
        match operand {
            SoacOperand::Variable(id) => Some(self.origin(id)),
            SoacOperand::Constant(_) => None,
        }
    }

    /// The array that a statement changes in place for one of its results, if the changes do not depend on how its elements
    /// lie.
    pub(crate) fn find_changed(
        &self,
        statement: &SoacStatement,
        position: usize,
    ) -> Option<SoacOperand> {
        let is_reshaped = match &statement.operation {
            SoacOperation::Loop(_, _, body) => self.is_reshaped(*body.results.get(position)?),
            _ => false,
        };
        self.find_target(statement, position)
            .filter(|_| !is_reshaped)
    }

    /// The array that a statement changes in place for one of its results.
    fn find_target(&self, statement: &SoacStatement, position: usize) -> Option<SoacOperand> {
        match &statement.operation {
            SoacOperation::Update(array, ..) | SoacOperation::Scatter(array, ..) => Some(*array),
            SoacOperation::Histogram(histogram) => histogram.targets.get(position).copied(),
            SoacOperation::Fused(fused) => fused.sink.targets().get(position).copied(),
            SoacOperation::Loop(parameters, _, body) => {
                let (parameter, initial) = *parameters.get(position)?;
                let result = *body.results.get(position)?;
                self.keeps_parameter(parameter, result).then_some(initial)
            }
            _ => None,
        }
    }

    /// Whether the body of a loop changes a parameter only in place.
    pub(crate) fn keeps_parameter(&self, parameter: SoacVariableId, result: SoacOperand) -> bool {
        self.origin_of(result) == Some(parameter)
    }

    /// The variable whose memory both results of a choice share, with its sizes.
    pub(crate) fn common_origin(
        &self,
        accept: SoacOperand,
        reject: SoacOperand,
    ) -> Option<SoacVariableId> {
        let origin = self.origin_of(accept)?;
        let is_common = self.origin_of(reject) == Some(origin)
            && !self.is_reshaped(accept)
            && !self.is_reshaped(reject);
        is_common.then_some(origin)
    }

    fn is_reshaped(&self, operand: SoacOperand) -> bool {
        matches!(operand, SoacOperand::Variable(id) if self.reshaped.contains(id))
    }

    fn share(&mut self, id: SoacVariableId, operand: SoacOperand) {
        if let Some(origin) = self.origin_of(operand) {
            self.origins.insert(id, origin);
        }
        if self.is_reshaped(operand) {
            self.reshaped.insert(id);
        }
    }

    fn visit_body(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            self.visit_statement(statement);
        }
    }

    fn visit_statement(&mut self, statement: &SoacStatement) {
        for body in statement.operation.bodies() {
            self.visit_body(body);
        }
        let results = &statement.results;
        for (position, &id) in results.iter().enumerate() {
            if let Some(target) = self.find_target(statement, position) {
                self.share(id, target);
            }
        }
        match &statement.operation {
            SoacOperation::Slice(array, selectors) if selectors.is_empty() => {
                self.share(results[0], *array);
            }
            // One whose elements fill a block has the same elements with other sizes. Otherwise it is a copy.
            SoacOperation::Reshape(array, _) => {
                self.share(results[0], *array);
                self.reshaped.insert(results[0]);
            }
            SoacOperation::WithAccumulators(accumulation) => {
                let accumulators = accumulation.accumulators.iter();
                let targets = accumulators.flat_map(|accumulator| &accumulator.targets);
                let targets = targets.chain(&accumulation.body.results);
                for (&id, &target) in results.iter().zip(targets) {
                    self.share(id, target);
                }
            }
            SoacOperation::If(_, accept, reject) => {
                for (position, &id) in results.iter().enumerate() {
                    let origin =
                        self.common_origin(accept.results[position], reject.results[position]);
                    if let Some(origin) = origin {
                        self.origins.insert(id, origin);
                    }
                }
            }
            _ => {}
        }
    }
}
