//! Row accesses: arrays of which each invocation of a kernel reads a row.
//!
//! Neighbouring invocations reach elements of neighbouring rows together. A device of many processors reads them at once if these
//! elements follow each other in memory, so that the dimension of the rows is the innermost there (Henriksen et al., "Futhark:
//! Purely Functional GPU-Programming with Nested Parallelism and In-Place Array Updates", 2017, section 5.2).

use crate::ir::{HostOperation, ParallelOperation, SegmentBody, SegmentFunction, SegmentStatement};
use crate::scope::collect_bound;
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SliceSelector, SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacVariableId,
};

/// An array of which an invocation reads a row, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowAccess {
    /// The array.
    pub(crate) array: SoacVariableId,
    /// The dimension of the array that neighbouring invocations differ in. It has others after it.
    pub(crate) dimension: usize,
}

/// Finds the arrays of the host that a body reads by rows. An array is found once.
pub(crate) fn find_row_accesses(
    signature: &SoacFunction,
    operation: &ParallelOperation,
) -> Vec<RowAccess> {
    let Some(last) = operation.space.last() else {
        return Vec::new();
    };
    let mut search = AccessSearch {
        signature,
        invocation: SoacOperand::Variable(last.index),
        bound: EntitySet::default(),
        found: Vec::new(),
    };
    collect_bound(&operation.body, &mut search.bound);
    search.visit_body(&operation.body, false);
    search.found
}

/// State of the search for row accesses.
struct AccessSearch<'s> {
    signature: &'s SoacFunction,
    /// The index that neighbouring invocations differ in.
    invocation: SoacOperand,
    /// The variables of the body.
    bound: EntitySet<SoacVariableId>,
    found: Vec<RowAccess>,
}

impl AccessSearch<'_> {
    fn visit_body(&mut self, body: &SoacBody, is_repeated: bool) {
        for statement in &body.statements {
            if let SoacOperation::Slice(array, selectors) = &statement.operation {
                self.visit_slice(*array, selectors, is_repeated);
            }
            let repeats = is_repeated || !matches!(statement.operation, SoacOperation::If(..));
            for body in statement.operation.bodies() {
                self.visit_body(body, repeats);
            }
        }
    }

    /// Notes a slice that is a row, or an element of a row that is one of many.
    fn visit_slice(&mut self, array: SoacOperand, selectors: &[SliceSelector], is_repeated: bool) {
        let SoacOperand::Variable(id) = array else {
            return;
        };
        let is_invocation = |selector: &SliceSelector| matches!(selector, SliceSelector::Point(point) if *point == self.invocation);
        let Some(dimension) = selectors.iter().position(is_invocation) else {
            return;
        };
        let rank = self.signature.type_of(array).shape().len();
        let is_point = |selector: &SliceSelector| matches!(selector, SliceSelector::Point(_));
        let is_element = selectors.len() == rank && selectors.iter().all(is_point);
        let is_row = dimension + 1 < rank && (is_repeated || !is_element);
        let is_known = self.found.iter().any(|access| access.array == id);
        if is_row && !is_known && !self.bound.contains(id) {
            self.found.push(RowAccess {
                array: id,
                dimension,
            });
        }
    }
}

/// The arrays of the host that are read by rows, maybe under another name: as the result of a choice or a loop.
#[derive(Debug, Default)]
pub(crate) struct RowArrays {
    arrays: EntitySet<SoacVariableId>,
}

impl RowArrays {
    /// Finds the arrays of a function.
    pub(crate) fn find_in_function(function: &SegmentFunction) -> RowArrays {
        let mut search = ArraySearch {
            signature: &function.signature,
            origins: FxHashMap::default(),
            pending: Vec::new(),
        };
        search.visit_host(&function.body);
        let mut arrays = EntitySet::default();
        while let Some(id) = search.pending.pop() {
            if arrays.insert(id) {
                search
                    .pending
                    .extend(search.origins.remove(&id).into_iter().flatten());
            }
        }
        RowArrays { arrays }
    }

    /// Whether an array is read by rows.
    pub(crate) fn contains(&self, id: SoacVariableId) -> bool {
        self.arrays.contains(id)
    }
}

/// State of the search for arrays that are read by rows.
struct ArraySearch<'s> {
    signature: &'s SoacFunction,
    /// For a result of a choice or a loop, the variables that it may be.
    origins: FxHashMap<SoacVariableId, Vec<SoacVariableId>>,
    /// Arrays that are read by rows.
    pending: Vec<SoacVariableId>,
}

impl ArraySearch<'_> {
    fn visit_host(&mut self, body: &SegmentBody) {
        for statement in &body.statements {
            self.visit_statement(statement);
        }
    }

    fn visit_statement(&mut self, statement: &SegmentStatement) {
        let results = &statement.results;
        match &statement.operation {
            HostOperation::Plain(_) => {}
            HostOperation::If(_, accept, reject) => {
                self.add_origins(results, &accept.results);
                self.add_origins(results, &reject.results);
                self.visit_host(accept);
                self.visit_host(reject);
            }
            HostOperation::Loop(parameters, _, body) => {
                for (&result, &(parameter, initial)) in results.iter().zip(parameters) {
                    self.add_origins(&[result], &[SoacOperand::Variable(parameter)]);
                    self.add_origins(&[parameter], &[SoacOperand::Variable(result)]);
                    self.add_origins(&[parameter], &[initial]);
                }
                let parameters: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
                self.add_origins(&parameters, &body.results);
                self.visit_host(body);
            }
            HostOperation::WithAccumulators(_, body) => self.visit_host(body),
            HostOperation::Grouped(_, otherwise) => {
                self.add_origins(results, &otherwise.results);
                self.visit_host(otherwise);
            }
            HostOperation::Parallel(operation) => {
                let accesses = find_row_accesses(self.signature, operation);
                self.pending
                    .extend(accesses.into_iter().map(|access| access.array));
            }
        }
    }

    fn add_origins(&mut self, results: &[SoacVariableId], origins: &[SoacOperand]) {
        for (&result, &origin) in results.iter().zip(origins) {
            if let SoacOperand::Variable(origin) = origin {
                self.origins.entry(result).or_default().push(origin);
            }
        }
    }
}
