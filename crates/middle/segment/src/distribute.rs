//! Distribution of maps over the statements of their body.
//!
//! A map whose body has combinators becomes several operations over its elements. Statements between combinators become an operation;
//! the variables that later ones need become arrays with an element for each point of the nest. A combinator becomes a segmented one:
//! the nest numbers the segments. Where the nest alone is wide enough, the body is not distributed: its combinators
//! run one element after the other. The choice is made when the program runs. Both follow Henriksen et al., "Incremental
//! flattening for nested data parallelism" (PPoPP 2019), in its simplest form.

use crate::ir::{
    HostOperation, SegmentBody, SegmentFold, SegmentHistogram, SegmentKind, SegmentStatement,
};
use crate::nest::{MapNest, add_variable, make_parallel};
use crate::scope::{
    changes_arrays, collect_bound, find_outer_size, find_width, for_each_used, has_effects,
    is_invariant, is_outside,
};
use crate::translate::SegmentTranslation;
use crate::virtual_arrays::VirtualArrays;
use rustc_hash::FxHashMap;
use spirula_entity::EntitySet;
use spirula_soac::ir::{
    ReductionOrder, SoacBody, SoacLambda, SoacLoopForm, SoacOperand, SoacOperation, SoacStatement,
    SoacType, SoacVariableId,
};

/// Widths up to which a combinator is no parallelism.
pub(crate) const SMALL_WIDTH: i64 = 16;

/// Widths up to which a combinator in a loop is not worth a launch for each iteration.
const LOOP_WIDTH: i64 = 64;

/// The body of a map that is distributed.
struct DistributedBody {
    /// For each variable the position of the last statement that uses it.
    last_uses: FxHashMap<SoacVariableId, usize>,
    /// Whether the body changes arrays in place, so that reads of elements must keep their places.
    changes_arrays: bool,
    /// The arrays of the body that take no memory.
    virtual_arrays: VirtualArrays,
}

impl SegmentTranslation {
    /// Makes operations of a combinator within a nest. Each result gets the sizes of the nest in front. Returns whether it is possible.
    pub(crate) fn distribute_statement(
        &mut self,
        nest: &MapNest,
        statement: &SoacStatement,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let certificates = nest.outer_certificates(statement);
        let (space, body, kind) = match &statement.operation {
            SoacOperation::Map(width, arrays, function) => {
                let mut inner = nest.clone();
                inner.add_dimension(&mut self.signature, *width);
                self.define_elements(&mut inner, &function.parameters, arrays);
                return self.distribute_map(&inner, &function.body, results, out);
            }
            SoacOperation::Reduce(width, arrays, neutral, function, order) => {
                let (space, body) = self.element_body(nest, *width, arrays);
                let is_commutative = *order == ReductionOrder::Commutative;
                let fold = SegmentFold::new(function, neutral, is_commutative);
                (space, body, SegmentKind::Reduce(fold))
            }
            SoacOperation::Scan(width, arrays, neutral, function) => {
                let (space, body) = self.element_body(nest, *width, arrays);
                let fold = SegmentFold::new(function, neutral, false);
                (space, body, SegmentKind::Scan(fold))
            }
            SoacOperation::Histogram(histogram) => {
                let Some(targets) = nest.expanded_arrays(&histogram.targets) else {
                    return false;
                };
                let mut arrays = vec![histogram.positions];
                arrays.extend(&histogram.values);
                let width = self.outer_size(histogram.positions);
                let (space, body) = self.element_body(nest, width, &arrays);
                let fold = SegmentFold::new(&histogram.function, &histogram.neutral, true);
                let kind = SegmentKind::Histogram(SegmentHistogram { targets, fold });
                (space, body, kind)
            }
            SoacOperation::Fused(fused) => {
                return self.distribute_fused(nest, statement, fused, results, out);
            }
            SoacOperation::Loop(parameters, form, body) => {
                return self.interchange_loop(nest, parameters, *form, body, results, out);
            }
            SoacOperation::Scatter(target, positions, values) => {
                let Some(target) = nest.expanded_array(*target) else {
                    return false;
                };
                let width = self.outer_size(*positions);
                let (space, body) = self.element_body(nest, width, &[*positions, *values]);
                (space, body, SegmentKind::Scatter(vec![target]))
            }
            SoacOperation::Replicate(sizes, value) => {
                let mut space = nest.clone();
                for &size in sizes {
                    space.add_dimension(&mut self.signature, size);
                }
                let body = SoacBody {
                    statements: Vec::new(),
                    results: vec![*value],
                };
                (space, body, SegmentKind::Map)
            }
            _ => return false,
        };
        let operation = space.make_operation(&mut self.signature, &body, &kind);
        out.push(make_parallel(results.to_vec(), certificates, operation));
        true
    }

    /// The outermost size of an array.
    fn outer_size(&self, array: SoacOperand) -> SoacOperand {
        find_outer_size(&self.signature, array)
    }

    /// Defines variables as the elements of arrays at the innermost index.
    pub(crate) fn define_elements(
        &self,
        nest: &mut MapNest,
        parameters: &[SoacVariableId],
        arrays: &[SoacOperand],
    ) {
        let Some(last) = nest.point().pop() else {
            return;
        };
        for (&parameter, &array) in parameters.iter().zip(arrays) {
            nest.define_element(parameter, array, vec![last]);
        }
    }

    /// A nest with one more dimension, and a body whose results are the elements of arrays.
    fn element_body(
        &mut self,
        nest: &MapNest,
        width: SoacOperand,
        arrays: &[SoacOperand],
    ) -> (MapNest, SoacBody) {
        let mut inner = nest.clone();
        inner.add_dimension(&mut self.signature, width);
        let mut ids = Vec::with_capacity(arrays.len());
        for &array in arrays {
            let array_type = self.signature.type_of(array);
            let shape = array_type.shape().iter().skip(1).copied().collect();
            let element = SoacType::from_shape(array_type.element(), shape);
            ids.push(add_variable(&mut self.signature, "x", element));
        }
        self.define_elements(&mut inner, &ids, arrays);
        let body = SoacBody {
            statements: Vec::new(),
            results: ids.into_iter().map(SoacOperand::Variable).collect(),
        };
        (inner, body)
    }

    /// Makes operations of the innermost map of a nest: one if its body has no parallelism, otherwise a choice.
    fn distribute_map(
        &mut self,
        nest: &MapNest,
        body: &SoacBody,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let is_groupable = self.is_groupable(body);
        if !self.has_parallelism(body) && !is_groupable {
            self.push_map(nest, body, results, out);
            return true;
        }
        if self.is_perfect(body) {
            let mut distributed = Vec::new();
            if self.distribute_body(nest, body, results, &mut distributed) {
                out.extend(distributed);
            } else {
                self.push_map(nest, body, results, out);
            }
            return true;
        }
        let mut twins: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let mut distributed = Vec::new();
        let is_distributed = self.has_parallelism(body)
            && self.distribute_body(nest, body, &twins, &mut distributed);
        if !is_distributed {
            if !is_groupable {
                self.push_map(nest, body, results, out);
                return true;
            }
            distributed.clear();
            self.push_map(nest, body, &twins, &mut distributed);
        }
        if is_groupable {
            (distributed, twins) = self.make_grouped(nest, body, distributed, &twins);
        }
        let accepted: Vec<_> = results.iter().map(|&id| self.add_twin(id)).collect();
        let mut whole = Vec::new();
        self.push_map(nest, body, &accepted, &mut whole);
        let accept = SegmentBody::from_variables(whole, accepted);
        let reject = SegmentBody::from_variables(distributed, twins);
        self.push_choice(nest, results, [accept, reject], out);
        true
    }

    /// Adds one operation that runs a body for each point of a nest.
    pub(crate) fn push_map(
        &mut self,
        nest: &MapNest,
        body: &SoacBody,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) {
        let operation = nest.make_operation(&mut self.signature, body, &SegmentKind::Map);
        out.push(make_parallel(results.to_vec(), Vec::new(), operation));
    }

    /// Whether a body is a single combinator that has a segmented form, so that it needs no second version.
    fn is_perfect(&self, body: &SoacBody) -> bool {
        let mut combinators = 0;
        let virtual_arrays = VirtualArrays::find_in_body(body);
        for statement in &body.statements {
            match &statement.operation {
                SoacOperation::Scalar(..)
                | SoacOperation::Slice(..)
                | SoacOperation::Rearrange(..) => {}
                SoacOperation::Iota(..) | SoacOperation::Replicate(..)
                    if virtual_arrays.contains(statement.results[0]) => {}
                SoacOperation::Reduce(..) | SoacOperation::Scan(..) => combinators += 1,
                SoacOperation::Map(_, _, SoacLambda { body, .. })
                    if !self.has_parallelism(body) || self.is_perfect(body) =>
                {
                    combinators += 1;
                }
                SoacOperation::Fused(fused) if self.is_perfect_fold(fused) => combinators += 1,
                _ => return false,
            }
        }
        combinators == 1
    }

    /// Whether a statement of a body is a combinator with more than a few elements, or a loop with one that has many.
    pub(crate) fn has_parallelism(&self, body: &SoacBody) -> bool {
        let mut statements = body.statements.iter();
        statements.any(|statement| self.is_wide(&statement.operation, SMALL_WIDTH))
    }

    /// Whether a combinator, perhaps in a loop, has more elements than the limit.
    fn is_wide(&self, operation: &SoacOperation, least: i64) -> bool {
        if let SoacOperation::Loop(_, SoacLoopForm::For(..), body) = operation {
            let mut statements = body.statements.iter();
            return self.profile.interchanges_loops
                && statements.any(|statement| self.is_wide(&statement.operation, LOOP_WIDTH));
        }
        find_width(&self.signature, operation)
            .is_some_and(|width| width.to_int64().is_none_or(|width| width > least))
    }

    /// Makes operations of the statements of a body.
    pub(crate) fn distribute_body(
        &mut self,
        nest: &MapNest,
        body: &SoacBody,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let mut nest = nest.clone();
        let mut bound = std::mem::take(&mut nest.bound);
        collect_bound(body, &mut bound);
        nest.bound = bound;
        let distributed = self.examine_body(body);
        let changed = self.find_changed(&nest, body);
        let mut pending = PendingStatements::default();
        for (position, statement) in body.statements.iter().enumerate() {
            if self.is_distributable(&nest, statement)
                || self.is_distributable_target(&nest, statement, &changed)
            {
                if !self.flush_pending(&mut nest, &mut pending, position, &distributed, out)
                    || !self.distribute_nested(&mut nest, statement, out)
                {
                    return false;
                }
            } else if distributed.is_cheap(&nest, &pending, statement) {
                nest.define(statement);
            } else {
                pending.push(statement);
            }
        }
        self.finish_body(&nest, pending.statements, body, results, out)
    }

    fn examine_body(&self, body: &SoacBody) -> DistributedBody {
        let mut last_uses = FxHashMap::default();
        for (position, statement) in body.statements.iter().enumerate() {
            for_each_used(&self.signature, statement, &mut |id| {
                last_uses.insert(id, position);
            });
        }
        for &result in &body.results {
            if let SoacOperand::Variable(id) = result {
                last_uses.insert(id, body.statements.len());
            }
        }
        let changes_arrays = changes_arrays(body);
        DistributedBody {
            last_uses,
            changes_arrays,
            virtual_arrays: VirtualArrays::find_in_body(body),
        }
    }

    /// Whether a statement of the body of a nest becomes an operation of its own.
    fn is_distributable(&self, nest: &MapNest, statement: &SoacStatement) -> bool {
        let outside = |operand: &SoacOperand| is_outside(*operand, &nest.bound);
        let operands_are_outside = match &statement.operation {
            SoacOperation::Map(width, ..) => outside(width),
            SoacOperation::Reduce(width, _, neutral, ..)
            | SoacOperation::Scan(width, _, neutral, _) => {
                outside(width) && neutral.iter().all(outside)
            }
            SoacOperation::Histogram(histogram) => {
                outside(&self.outer_size(histogram.positions))
                    && histogram.neutral.iter().all(outside)
            }
            SoacOperation::Scatter(_, positions, _) => outside(&self.outer_size(*positions)),
            SoacOperation::Loop(parameters, SoacLoopForm::For(_, bound), _) => {
                let mut parameters = parameters.iter();
                outside(bound)
                    && parameters.all(|(id, _)| is_invariant(&self.signature, *id, &nest.bound))
            }
            SoacOperation::Fused(fused) => {
                let neutral = fused.sink.fold().map(|fold| &fold.neutral);
                outside(&fused.width) && neutral.into_iter().flatten().all(outside)
            }
            _ => false,
        };
        operands_are_outside
            && self.is_wide(&statement.operation, SMALL_WIDTH)
            && statement
                .results
                .iter()
                .all(|&id| is_invariant(&self.signature, id, &nest.bound))
    }

    /// The arrays that statements of a body change as operations of their own.
    fn find_changed(&self, nest: &MapNest, body: &SoacBody) -> EntitySet<SoacVariableId> {
        let mut changed = EntitySet::default();
        let statements = body.statements.iter();
        for statement in statements.filter(|statement| self.is_distributable(nest, statement)) {
            for operand in statement.operation.consumed() {
                if let SoacOperand::Variable(id) = operand {
                    changed.insert(id);
                }
            }
        }
        changed
    }

    /// Whether a statement fills an array that another changes as an operation of its own. Both are parallel then.
    fn is_distributable_target(
        &self,
        nest: &MapNest,
        statement: &SoacStatement,
        changed: &EntitySet<SoacVariableId>,
    ) -> bool {
        let SoacOperation::Replicate(sizes, _) = &statement.operation else {
            return false;
        };
        changed.contains(statement.results[0])
            && sizes.iter().all(|&size| is_outside(size, &nest.bound))
    }

    /// The variable of a host array with an element for each point of a nest. `None` if its sizes differ from point to point.
    pub(crate) fn expand_variable(
        &mut self,
        nest: &MapNest,
        id: SoacVariableId,
    ) -> Option<SoacVariableId> {
        if !is_invariant(&self.signature, id, &nest.bound) {
            return None;
        }
        let variable = self.signature.variables[id].clone();
        let mut shape = nest.sizes();
        shape.extend(variable.variable_type.shape());
        let expanded = SoacType::from_shape(variable.variable_type.element(), shape);
        Some(add_variable(&mut self.signature, &variable.name, expanded))
    }

    /// Makes an operation of the statements before a position. Variables that are used later become arrays.
    fn flush_pending(
        &mut self,
        nest: &mut MapNest,
        pending: &mut PendingStatements,
        position: usize,
        distributed: &DistributedBody,
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let statements = std::mem::take(pending).statements;
        let mut needed = Vec::new();
        for &id in statements.iter().flat_map(|statement| &statement.results) {
            if self.signature.variables[id].variable_type == SoacType::Certificate {
                nest.checked.insert(id);
            } else if distributed.is_used_from(id, position) {
                needed.push(id);
            }
        }
        if needed.is_empty() && !has_effects(&statements) {
            return true;
        }
        let expanded = needed.iter().map(|&id| self.expand_variable(nest, id));
        let Some(expanded) = expanded.collect::<Option<Vec<_>>>() else {
            return false;
        };
        let body = SoacBody {
            statements,
            results: needed.iter().map(|&id| SoacOperand::Variable(id)).collect(),
        };
        self.push_map(nest, &body, &expanded, out);
        for (id, array) in needed.into_iter().zip(expanded) {
            nest.made.insert(array);
            nest.define_element(id, SoacOperand::Variable(array), nest.point());
        }
        true
    }

    /// Makes operations of a combinator of a body.
    fn distribute_nested(
        &mut self,
        nest: &mut MapNest,
        statement: &SoacStatement,
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let expanded = statement.results.iter();
        let expanded = expanded.map(|&id| self.expand_variable(nest, id));
        let Some(expanded) = expanded.collect::<Option<Vec<_>>>() else {
            return false;
        };
        if !self.distribute_statement(nest, statement, &expanded, out) {
            return false;
        }
        for (&id, array) in statement.results.iter().zip(expanded) {
            nest.made.insert(array);
            nest.define_element(id, SoacOperand::Variable(array), nest.point());
        }
        true
    }

    /// Makes arrays of the results of a body.
    fn finish_body(
        &mut self,
        nest: &MapNest,
        pending: Vec<SoacStatement>,
        body: &SoacBody,
        results: &[SoacVariableId],
        out: &mut Vec<SegmentStatement>,
    ) -> bool {
        let mut taken = EntitySet::<SoacVariableId>::default();
        let mut rest = Vec::new();
        for (position, &id) in results.iter().enumerate() {
            match nest.expanded_array(body.results[position]) {
                Some(array @ SoacOperand::Variable(variable))
                    if nest.made.contains(variable) && taken.insert(variable) =>
                {
                    out.push(SegmentStatement {
                        results: vec![id],
                        certificates: Vec::new(),
                        operation: HostOperation::Plain(SoacOperation::Slice(array, Vec::new())),
                    });
                }
                _ => rest.push(position),
            }
        }
        if rest.is_empty() && !has_effects(&pending) {
            return true;
        }
        let body = SoacBody {
            statements: pending,
            results: rest
                .iter()
                .map(|&position| body.results[position])
                .collect(),
        };
        let ids: Vec<_> = rest.iter().map(|&position| results[position]).collect();
        self.push_map(nest, &body, &ids, out);
        true
    }
}

impl DistributedBody {
    /// Whether a variable is used by the statement at a position or by later ones.
    fn is_used_from(&self, id: SoacVariableId, position: usize) -> bool {
        self.last_uses
            .get(&id)
            .is_some_and(|&last| last >= position)
    }

    /// Whether each operation can repeat a statement: it is a scalar, a view or a virtual array, and depends on nothing that
    /// is computed later.
    fn is_cheap(
        &self,
        nest: &MapNest,
        pending: &PendingStatements,
        statement: &SoacStatement,
    ) -> bool {
        let mut is_cheap = match &statement.operation {
            SoacOperation::Scalar(..) => true,
            SoacOperation::Slice(..) | SoacOperation::Rearrange(..) => !self.changes_arrays,
            SoacOperation::Iota(..) | SoacOperation::Replicate(..) => {
                self.virtual_arrays.contains(statement.results[0])
            }
            _ => false,
        };
        statement.operation.for_each_operand(|operand| {
            is_cheap &= is_outside(operand, &pending.bound);
        });
        let mut certificates = statement.certificates.iter();
        is_cheap && certificates.all(|&id| nest.checked.contains(&id) || !nest.bound.contains(id))
    }
}

/// Statements that wait for a combinator, before which they become an operation.
#[derive(Debug, Default)]
struct PendingStatements {
    statements: Vec<SoacStatement>,
    bound: EntitySet<SoacVariableId>,
}

impl PendingStatements {
    fn push(&mut self, statement: &SoacStatement) {
        for &id in &statement.results {
            self.bound.insert(id);
        }
        self.statements.push(statement.clone());
    }
}
