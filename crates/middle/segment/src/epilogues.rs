//! Epilogues: maps over the results of reductions. Each point of such a map uses the results of its own segment alone, so that the
//! invocation that has them can compute it, and the results take no memory.
//!
//! The map follows its reduction in the same body of the host. Between the two are scalars and views alone.

use crate::ir::{
    HostOperation, ParallelOperation, SegmentBody, SegmentFunction, SegmentKind, SegmentStatement,
};
use crate::scope::{contains_operation, for_each_used_in};
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    SliceSelector, SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacStatement,
    SoacVariableId,
};

/// The reductions of a function whose results an epilogue takes.
#[derive(Debug, Default)]
pub(crate) struct FoldEpilogues {
    /// The first result of each.
    reductions: EntitySet<SoacVariableId>,
}

/// Finds epilogues in bodies of the host.
struct EpilogueFinder<'f> {
    signature: &'f SoacFunction,
    /// The number of uses of each variable.
    uses: FxHashMap<SoacVariableId, usize>,
    reductions: EntitySet<SoacVariableId>,
}

impl FoldEpilogues {
    /// Finds the epilogues of a function.
    pub(crate) fn find_in_function(function: &SegmentFunction) -> FoldEpilogues {
        let mut finder = EpilogueFinder {
            signature: &function.signature,
            uses: FxHashMap::default(),
            reductions: EntitySet::default(),
        };
        finder.count_body(&function.body);
        finder.visit_body(&function.body);
        FoldEpilogues {
            reductions: finder.reductions,
        }
    }

    /// Whether the results of a statement belong to an epilogue.
    pub(crate) fn contains(&self, statement: &SegmentStatement) -> bool {
        let first = statement.results.first();
        first.is_some_and(|&id| self.reductions.contains(id))
    }
}

/// The statements of an epilogue that are the results of the segment, and which ones.
pub(crate) fn find_segment_results(
    map: &ParallelOperation,
    results: &[SoacVariableId],
) -> Vec<Option<usize>> {
    let indices = map.indices();
    let statements = map.body.statements.iter();
    statements
        .map(|statement| find_segment_result(statement, &indices, results))
        .collect()
}

/// The result of a reduction whose element at the indices of the space a statement selects.
fn find_segment_result(
    statement: &SoacStatement,
    indices: &[SoacVariableId],
    results: &[SoacVariableId],
) -> Option<usize> {
    let SoacOperation::Slice(SoacOperand::Variable(array), selectors) = &statement.operation else {
        return None;
    };
    let is_index = |(selector, &index): (&SliceSelector, &SoacVariableId)| matches!(selector, SliceSelector::Point(SoacOperand::Variable(id)) if *id == index);
    let is_own = selectors.len() == indices.len() && selectors.iter().zip(indices).all(is_index);
    let mut numbered = results.iter();
    numbered
        .position(|result| result == array)
        .filter(|_| is_own)
}

impl EpilogueFinder<'_> {
    fn count(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            *self.uses.entry(id).or_default() += 1;
        }
    }

    fn count_all(&mut self, operands: &[SoacOperand]) {
        operands.iter().for_each(|&operand| self.count(operand));
    }

    /// Counts the uses in a body of the host.
    fn count_body(&mut self, body: &SegmentBody) {
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::Plain(operation) => {
                    operation.for_each_operand(|operand| self.count(operand));
                }
                HostOperation::If(_, accept, reject) => {
                    self.count_body(accept);
                    self.count_body(reject);
                }
                HostOperation::Loop(parameters, _, body) => {
                    parameters.iter().for_each(|(_, first)| self.count(*first));
                    self.count_body(body);
                }
                HostOperation::WithAccumulators(accumulators, body) => {
                    for accumulator in accumulators {
                        self.count_all(&accumulator.targets);
                        if let Some(combine) = &accumulator.combine {
                            self.count_kernel(&combine.body);
                        }
                    }
                    self.count_body(body);
                }
                HostOperation::Grouped(operation, otherwise) => {
                    self.count_operation(operation);
                    self.count_body(otherwise);
                }
                HostOperation::Parallel(operation) => self.count_operation(operation),
            }
        }
        self.count_all(&body.results);
    }

    fn count_operation(&mut self, operation: &ParallelOperation) {
        self.count_all(operation.targets());
        if let Some(fold) = operation.fold() {
            self.count_all(&fold.neutral);
        }
        operation.for_each_body(&mut |body| self.count_kernel(body));
    }

    /// Counts the uses in a body of a kernel.
    fn count_kernel(&mut self, body: &SoacBody) {
        for_each_used_in(self.signature, body, &mut |id| {
            *self.uses.entry(id).or_default() += 1;
        });
    }

    fn visit_body(&mut self, body: &SegmentBody) {
        // The last reduction, while an epilogue may follow.
        let mut reduction: Option<&SegmentStatement> = None;
        for statement in &body.statements {
            match &statement.operation {
                HostOperation::Plain(operation) if is_scalar_or_view(operation) => continue,
                HostOperation::Parallel(operation) => {
                    if let (SegmentKind::Map, Some(before)) = (&operation.kind, reduction)
                        && self.is_epilogue(before, operation)
                    {
                        self.reductions.insert(before.results[0]);
                    }
                }
                HostOperation::If(_, accept, reject) => {
                    self.visit_body(accept);
                    self.visit_body(reject);
                }
                HostOperation::Loop(_, _, body)
                | HostOperation::WithAccumulators(_, body)
                | HostOperation::Grouped(_, body) => self.visit_body(body),
                HostOperation::Plain(_) => {}
            }
            reduction = Some(statement).filter(|statement| self.is_reduction(statement));
        }
    }

    /// Whether a statement is a reduction of several segments to scalars.
    fn is_reduction(&self, statement: &SegmentStatement) -> bool {
        let HostOperation::Parallel(operation) = &statement.operation else {
            return false;
        };
        let SegmentKind::Reduce(fold) = &operation.kind else {
            return false;
        };
        let mut neutral = fold.neutral.iter();
        operation.space.len() > 1
            && operation.body.results.len() == fold.neutral.len()
            && neutral.all(|&value| self.signature.type_of(value).shape().is_empty())
    }

    /// Whether a map uses the results of a reduction, nothing else does, and each point uses those of its segment.
    fn is_epilogue(&self, reduction: &SegmentStatement, map: &ParallelOperation) -> bool {
        let HostOperation::Parallel(fold) = &reduction.operation else {
            return false;
        };
        let outer = &fold.space[..fold.space.len() - 1];
        let mut sizes = outer.iter().zip(&map.space);
        let is_same_space = outer.len() == map.space.len()
            && sizes.all(|(segment, point)| segment.size == point.size);
        let mut results = map.body.results.iter();
        let is_scalar = results.all(|&result| self.signature.type_of(result).shape().is_empty());
        let own = find_segment_results(map, &reduction.results);
        let own = own.iter().flatten().count();
        let uses = reduction.results.iter().filter_map(|id| self.uses.get(id));
        let is_simple = !contains_operation(&map.body.statements, &|operation| {
            !is_scalar_or_view(operation) && !matches!(operation, SoacOperation::If(..))
        });
        is_same_space && is_scalar && is_simple && own > 0 && uses.sum::<usize>() == own
    }
}

/// Whether an operation computes a scalar or a view, and changes no array.
fn is_scalar_or_view(operation: &SoacOperation) -> bool {
    matches!(
        operation,
        SoacOperation::Scalar(..) | SoacOperation::Slice(..) | SoacOperation::Rearrange(..)
    )
}
