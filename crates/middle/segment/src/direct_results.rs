//! Direct results: arrays of kernel bodies that can be made where they are needed, instead of being copied there.
//!
//! Such an array is made by its statement, and is used once, as a result of its body. Where the result is an element of an array,
//! that array gets it without a copy (Munksgaard et al., "Memory Optimizations in an Array Language", 2022). The array may be changed
//! in place before it is a result, as that of a histogram is. Where it replaces an array of which it is computed element by element,
//! it may do so in place.

use crate::in_place::InPlaceResults;
use crate::ir::SegmentFunction;
use rustc_hash::FxHashMap;
use spirula_soac::ir::{SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacVariableId};

/// The arrays of the kernels of a function that can be made where they are needed.
#[derive(Debug, Default)]
pub(crate) struct DirectResults {
    /// The number of uses of each variable, as an operand or a result.
    uses: FxHashMap<SoacVariableId, u32>,
    /// For each result that can be made where it goes, the array that it was before it was changed in place. Often this is itself.
    direct: FxHashMap<SoacVariableId, SoacVariableId>,
    /// For an array of scalars that a map makes, the arrays whose elements the map uses and nothing else does.
    sources: FxHashMap<SoacVariableId, Vec<SoacVariableId>>,
}

impl DirectResults {
    /// Analyses the kernels of a function.
    pub(crate) fn find_in_function(
        function: &SegmentFunction,
        in_place: &InPlaceResults,
    ) -> DirectResults {
        let mut results = DirectResults::default();
        let host = &function.body;
        host.for_each_kernel_body(&mut |body| results.count_uses(body));
        host.for_each_kernel_body(&mut |body| results.find_in_body(function, in_place, body));
        results
    }

    /// The array that is to be made where a result of a body goes, if nothing is read there. The result shares its memory.
    pub(crate) fn find_direct(&self, result: SoacVariableId) -> Option<SoacVariableId> {
        self.direct.get(&result).copied()
    }

    /// Whether an array can be made in the place of another one.
    pub(crate) fn replaces(&self, id: SoacVariableId, other: SoacVariableId) -> bool {
        let sources = self.sources.get(&id);
        sources.is_some_and(|sources| sources.contains(&other))
    }

    fn count_uses(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            let operation = &statement.operation;
            operation.for_each_operand(|operand| self.count_use(operand));
            for body in operation.bodies() {
                self.count_uses(body);
            }
        }
        body.results
            .iter()
            .for_each(|&result| self.count_use(result));
    }

    fn count_use(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            *self.uses.entry(id).or_default() += 1;
        }
    }

    fn is_used_once(&self, id: SoacVariableId) -> bool {
        self.uses.get(&id) == Some(&1)
    }

    fn find_in_body(
        &mut self,
        function: &SegmentFunction,
        in_place: &InPlaceResults,
        body: &SoacBody,
    ) {
        // The result that each variable is or becomes, by changes in place. Later statements come first.
        let mut results: FxHashMap<SoacVariableId, SoacVariableId> = FxHashMap::default();
        for &result in &body.results {
            if let SoacOperand::Variable(id) = result {
                results.insert(id, id);
            }
        }
        for statement in body.statements.iter().rev() {
            for (position, id) in statement.results.iter().enumerate() {
                let Some(&result) = results.get(id).filter(|_| self.is_used_once(*id)) else {
                    continue;
                };
                match in_place.find_changed(statement, position) {
                    Some(SoacOperand::Variable(before)) => {
                        results.insert(before, result);
                    }
                    _ => self.add_result(function, statement, *id, result),
                }
            }
            for body in statement.operation.bodies() {
                self.find_in_body(function, in_place, body);
            }
        }
    }

    fn add_result(
        &mut self,
        function: &SegmentFunction,
        statement: &SoacStatement,
        id: SoacVariableId,
        result: SoacVariableId,
    ) {
        let rank = function.signature.variables[id].variable_type.shape().len();
        if rank == 0 {
            return;
        }
        let is_made = matches!(
            statement.operation,
            SoacOperation::Map(..) | SoacOperation::If(..) | SoacOperation::Replicate(..)
        );
        if is_made {
            self.direct.insert(result, id);
        }
        if id != result {
            return;
        }
        if let (SoacOperation::Map(_, arrays, _), 1) = (&statement.operation, rank) {
            let sources = arrays.iter().filter_map(|&array| match array {
                SoacOperand::Variable(array) if self.is_used_once(array) => Some(array),
                _ => None,
            });
            let sources = sources.collect();
            self.sources.insert(id, sources);
        }
    }
}
