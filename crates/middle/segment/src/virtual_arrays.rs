//! Virtual arrays: integers that follow each other, and copies of a scalar, of which only single elements are used. They
//! take no memory, as each element is computed where it is used.

use crate::ir::{HostOperation, SegmentBody};
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SliceSelector, SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacVariableId,
};

/// Arrays that may be virtual, and those of which more than elements are used.
#[derive(Debug, Default)]
pub(crate) struct VirtualArrays {
    candidates: EntitySet<SoacVariableId>,
    whole: EntitySet<SoacVariableId>,
}

impl VirtualArrays {
    /// Finds the virtual arrays of code of the host.
    pub(crate) fn find_in_host(body: &SegmentBody) -> VirtualArrays {
        let mut arrays = VirtualArrays::default();
        arrays.add_host_body(body);
        arrays
    }

    /// Finds the virtual arrays that a body makes.
    pub(crate) fn find_in_body(body: &SoacBody) -> VirtualArrays {
        let mut arrays = VirtualArrays::default();
        arrays.add_body(body);
        arrays
    }

    /// Whether an array is virtual.
    pub(crate) fn contains(&self, id: SoacVariableId) -> bool {
        self.candidates.contains(id) && !self.whole.contains(id)
    }

    fn add_host_body(&mut self, body: &SegmentBody) {
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::Plain(operation) => {
                    self.add_operation(&statement.results, operation);
                }
                HostOperation::If(_, accept, reject) => {
                    self.add_host_body(accept);
                    self.add_host_body(reject);
                }
                HostOperation::Loop(parameters, _, body) => {
                    for (_, initial) in parameters {
                        self.use_whole(*initial);
                    }
                    self.add_host_body(body);
                }
                HostOperation::WithAccumulators(accumulators, body) => {
                    for accumulator in accumulators {
                        accumulator
                            .targets
                            .iter()
                            .for_each(|&target| self.use_whole(target));
                        if let Some(combine) = &accumulator.combine {
                            self.add_body(&combine.body);
                        }
                    }
                    self.add_host_body(body);
                }
                HostOperation::Grouped(operation, otherwise) => {
                    self.add_body(&operation.body);
                    self.add_host_body(otherwise);
                }
                HostOperation::Parallel(operation) => {
                    self.add_body(&operation.body);
                    if let Some(fold) = operation.fold() {
                        self.add_body(&fold.function.body);
                        fold.neutral
                            .iter()
                            .for_each(|&neutral| self.use_whole(neutral));
                    }
                    operation
                        .targets()
                        .iter()
                        .for_each(|&target| self.use_whole(target));
                }
            }
        }
        body.results
            .iter()
            .for_each(|&result| self.use_whole(result));
    }

    fn add_body(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            self.add_statement(statement);
        }
        body.results
            .iter()
            .for_each(|&result| self.use_whole(result));
    }

    fn add_statement(&mut self, statement: &SoacStatement) {
        self.add_operation(&statement.results, &statement.operation);
        for body in statement.operation.bodies() {
            self.add_body(body);
        }
    }

    fn add_operation(&mut self, results: &[SoacVariableId], operation: &SoacOperation) {
        let is_candidate = match operation {
            SoacOperation::Iota(..) => true,
            SoacOperation::Replicate(sizes, _) => sizes.len() == 1,
            _ => false,
        };
        if is_candidate {
            self.candidates.insert(results[0]);
        }
        match operation {
            SoacOperation::Slice(_, selectors) if is_element(selectors) => {}
            SoacOperation::Map(..) => {}
            SoacOperation::Reduce(_, _, neutral, ..) | SoacOperation::Scan(_, _, neutral, _) => {
                neutral.iter().for_each(|&neutral| self.use_whole(neutral));
            }
            SoacOperation::Fused(fused) => {
                fused
                    .sink
                    .targets()
                    .iter()
                    .for_each(|&target| self.use_whole(target));
                if let Some(fold) = fused.sink.fold() {
                    fold.neutral
                        .iter()
                        .for_each(|&neutral| self.use_whole(neutral));
                }
            }
            other => other.for_each_operand(|operand| self.use_whole(operand)),
        }
    }

    fn use_whole(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            self.whole.insert(id);
        }
    }
}

/// Whether selectors select an element of an array of one dimension.
fn is_element(selectors: &[SliceSelector]) -> bool {
    matches!(selectors, [SliceSelector::Point(_)])
}
