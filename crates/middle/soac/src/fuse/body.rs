//! The statements of a body.

use super::node::{FusionNode, SinkKind, can_join, element_arrays, find_width, join_nodes};
use super::{FunctionFusion, FusionScope};
use crate::ir::{SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId};
use rustc_hash::{FxHashMap, FxHashSet};

/// State of the fusion of a body.
pub(super) struct BodyFusion<'a, 'f> {
    function: &'a mut FunctionFusion<'f>,
    /// The statements. One that became part of another is gone.
    statements: Vec<Option<SoacStatement>>,
    /// The positions of the statements that became part of others: where they are now.
    moved: FxHashMap<usize, usize>,
    /// The positions of the statements that bind variables.
    definitions: FxHashMap<SoacVariableId, usize>,
    /// The positions of the statements that use variables, in order at first.
    users: FxHashMap<SoacVariableId, Vec<usize>>,
    /// The positions of the statements that change arrays, by what shares elements.
    changes: FxHashMap<SoacVariableId, Vec<usize>>,
    /// The last reduction and the last scatter that use an array.
    siblings: FxHashMap<(SinkKind, SoacOperand), usize>,
}

impl<'a, 'f> BodyFusion<'a, 'f> {
    pub(super) fn new(
        function: &'a mut FunctionFusion<'f>,
        statements: Vec<SoacStatement>,
    ) -> Self {
        let mut fusion = BodyFusion {
            function,
            statements: Vec::with_capacity(statements.len()),
            moved: FxHashMap::default(),
            definitions: FxHashMap::default(),
            users: FxHashMap::default(),
            changes: FxHashMap::default(),
            siblings: FxHashMap::default(),
        };
        for (position, statement) in statements.iter().enumerate() {
            for &id in &statement.results {
                fusion.definitions.insert(id, position);
            }
            fusion.note_uses(position, statement);
            for root in fusion.changed_roots(statement) {
                fusion.changes.entry(root).or_default().push(position);
            }
        }
        fusion.statements = statements.into_iter().map(Some).collect();
        fusion
    }

    fn note_uses(&mut self, position: usize, statement: &SoacStatement) {
        let users = &mut self.users;
        self.function.for_each_use(statement, &mut |id| {
            let positions = users.entry(id).or_default();
            if positions.last() != Some(&position) {
                positions.push(position);
            }
        });
    }

    /// Fuses the statements in order.
    pub(super) fn run(mut self) -> Vec<SoacStatement> {
        for position in 0..self.statements.len() {
            while self.fuse_producer(position) {}
            if self.function.scope == FusionScope::All {
                while self.fuse_sibling(position) {}
                self.note_sibling(position);
            }
        }
        self.statements.into_iter().flatten().collect()
    }

    fn operation(&self, position: usize) -> Option<&SoacOperation> {
        let statement = self.statements[position].as_ref()?;
        Some(&statement.operation)
    }

    /// The sets of arrays that a statement changes.
    fn changed_roots(&self, statement: &SoacStatement) -> FxHashSet<SoacVariableId> {
        let mut roots = FxHashSet::default();
        let mut add = |operation: &SoacOperation| {
            for operand in operation.consumed() {
                if let SoacOperand::Variable(id) = operand {
                    roots.insert(self.function.classes.find_root(id));
                }
            }
        };
        add(&statement.operation);
        for body in statement.operation.bodies() {
            body.for_each_statement(&mut |inner| add(&inner.operation));
        }
        roots
    }

    /// The sets of arrays that a statement uses.
    fn read_roots(&self, statement: &SoacStatement) -> FxHashSet<SoacVariableId> {
        let mut roots = FxHashSet::default();
        self.function.for_each_use(statement, &mut |id| {
            if let SoacType::Array(..) = self.function.variables[id].variable_type {
                roots.insert(self.function.classes.find_root(id));
            }
        });
        roots
    }

    /// Where a statement is now.
    fn current(&self, position: usize) -> usize {
        let mut position = position;
        while let Some(&other) = self.moved.get(&position) {
            position = other;
        }
        position
    }

    /// Fuses the statement at a position with one that makes an array of which it takes the elements.
    fn fuse_producer(&mut self, position: usize) -> bool {
        let Some(operation) = self.operation(position) else {
            return false;
        };
        let producers = element_arrays(operation).into_iter();
        let producers = producers.filter_map(|array| match self.function.resolve(array) {
            SoacOperand::Variable(id) => self.definitions.get(&id).copied(),
            SoacOperand::Constant(_) => None,
        });
        let mut producers: Vec<_> = producers.map(|found| self.current(found)).collect();
        producers.sort_unstable();
        producers.dedup();
        let found = producers
            .into_iter()
            .rev()
            .find(|&producer| producer < position && self.can_fuse(producer, position));
        match found {
            Some(producer) => self.fuse(producer, position),
            None => false,
        }
    }

    /// Fuses the reduction or scatter at a position with an earlier one of the same array.
    fn fuse_sibling(&mut self, position: usize) -> bool {
        let Some(operation) = self.operation(position) else {
            return false;
        };
        let Some(kind) = find_sibling_kind(operation) else {
            return false;
        };
        let others = element_arrays(operation).into_iter();
        let others = others.filter_map(|array| self.siblings.get(&(kind, array)).copied());
        let mut others = others.map(|found| self.current(found));
        let found = others.find(|&other| other < position && self.can_fuse(other, position));
        match found {
            Some(other) => self.fuse(other, position),
            None => false,
        }
    }

    fn note_sibling(&mut self, position: usize) {
        let Some(operation) = self.operation(position) else {
            return;
        };
        if let Some(kind) = find_sibling_kind(operation) {
            for array in element_arrays(operation) {
                self.siblings.insert((kind, array), position);
            }
        }
    }

    /// Whether the statement at a position may become part of a later one.
    fn can_fuse(&self, producer: usize, consumer: usize) -> bool {
        let (Some(first), Some(second)) = (
            self.statements[producer].as_ref(),
            self.statements[consumer].as_ref(),
        ) else {
            return false;
        };
        let variables = &*self.function.variables;
        let widths = [first, second].map(|statement| find_width(variables, &statement.operation));
        let [Some(width), Some(other)] = widths.map(|width| Some(self.function.resolve(width?)))
        else {
            return false;
        };
        width == other
            && !first.operation.writes_accumulator()
            && self.can_join_operations(&first.operation, &second.operation)
            && self.uses_elements_only(first, second)
            && self.can_move(first, producer, consumer)
            && !self.changes_reads(first, second)
            && self.can_delay_changes(first, producer, consumer)
    }

    fn can_join_operations(&self, first: &SoacOperation, second: &SoacOperation) -> bool {
        if self.function.scope == FusionScope::Maps {
            return matches!(
                (first, second),
                (SoacOperation::Map(..), SoacOperation::Map(..))
            );
        }
        can_join(first, second)
    }

    /// Whether a statement uses the arrays of another by their elements only, and none of its other results.
    fn uses_elements_only(&self, first: &SoacStatement, second: &SoacStatement) -> bool {
        let arrays = element_arrays(&second.operation);
        let heads = count_heads(&first.operation);
        let mut used: FxHashMap<SoacVariableId, isize> = FxHashMap::default();
        self.function
            .for_each_use(second, &mut |id| *used.entry(id).or_default() += 1);
        for array in arrays {
            if let SoacOperand::Variable(id) = array {
                *used.entry(id).or_default() -= 1;
            }
        }
        let mut results = first.results.iter().enumerate();
        results.all(|(index, id)| {
            let others = used.get(id).copied();
            if index < heads {
                others.is_none()
            } else {
                others.unwrap_or(0) == 0
            }
        })
    }

    /// Whether a statement may move to a later position: nothing in between uses its results or changes what it reads.
    fn can_move(&self, statement: &SoacStatement, from: usize, to: usize) -> bool {
        let is_between = |position: usize| from < position && position < to;
        let is_used = statement.results.iter().any(|id| {
            let users = self.users.get(id).into_iter().flatten();
            users.copied().any(|user| is_between(self.current(user)))
        });
        !is_used
            && self.read_roots(statement).iter().all(|root| {
                let changes = self.changes.get(root).into_iter().flatten();
                !changes.copied().any(is_between)
            })
    }

    /// Whether one of two statements changes what the other reads or makes.
    fn changes_reads(&self, first: &SoacStatement, second: &SoacStatement) -> bool {
        let mut reads = self.read_roots(first);
        let made = first.results.iter();
        reads.extend(made.map(|&id| self.function.classes.find_root(id)));
        !self.changed_roots(second).is_disjoint(&reads)
            || !self
                .changed_roots(first)
                .is_disjoint(&self.read_roots(second))
    }

    /// Whether the changes of a statement may happen at a later position: there are none, or a scatter's, and nothing in between
    /// uses what it changes.
    fn can_delay_changes(&self, statement: &SoacStatement, from: usize, to: usize) -> bool {
        let changed = self.changed_roots(statement);
        if changed.is_empty() {
            return true;
        }
        let is_scatter = SinkKind::from_operation(&statement.operation) == Some(SinkKind::Scatter);
        let mut between = self.statements[from + 1..to].iter().flatten();
        is_scatter && between.all(|other| self.read_roots(other).is_disjoint(&changed))
    }

    /// Makes the statement at a position part of a later one.
    fn fuse(&mut self, producer: usize, consumer: usize) -> bool {
        let (Some(first), Some(second)) = (
            self.statements[producer].take(),
            self.statements[consumer].take(),
        ) else {
            return false;
        };
        self.note_uses(consumer, &first);
        let variables = &mut *self.function.variables;
        let nodes = [first, second].map(|statement| FusionNode::new(variables, statement));
        let [Some(first), Some(mut second)] = nodes else {
            return false;
        };
        self.connect(&first, &mut second);
        let uses = &self.function.uses;
        let is_kept = |id: &SoacVariableId| uses.get(id).is_some_and(|&count| count > 0);
        let heads = first.count_heads();
        let made = first.results[heads..].iter();
        let kept: Vec<_> = made.copied().filter(|id| is_kept(id)).collect();
        let joined = join_nodes(first, second, &kept);
        for &id in &joined.results {
            self.definitions.insert(id, consumer);
        }
        self.moved.insert(producer, consumer);
        self.statements[consumer] = Some(joined.into_statement());
        true
    }

    /// Uses the values that a node makes in place of elements of its arrays, and shares elements that both nodes take.
    fn connect(&mut self, first: &FusionNode, second: &mut FusionNode) {
        let (heads, taken) = (first.count_heads(), first.count_taken());
        let mut index = 0;
        while let Some(&array) = second.arrays.get(index) {
            let made = first.results[heads..]
                .iter()
                .position(|&id| array == SoacOperand::Variable(id));
            let value = match made {
                Some(made) => {
                    if let SoacOperand::Variable(id) = array
                        && let Some(count) = self.function.uses.get_mut(&id)
                    {
                        *count -= 1;
                    }
                    Some(first.function.body.results[taken + made])
                }
                None => {
                    let shared = first.arrays.iter().position(|&other| other == array);
                    shared.map(|shared| SoacOperand::Variable(first.function.parameters[shared]))
                }
            };
            let Some(value) = value else {
                index += 1;
                continue;
            };
            let parameter = second.function.parameters.remove(index);
            second.arrays.remove(index);
            let uses = &mut self.function.uses;
            if let SoacOperand::Variable(id) = value {
                let added = uses.get(&parameter).copied().unwrap_or(0);
                *uses.entry(id).or_default() += added;
            }
            self.function.replacements.insert(parameter, value);
        }
    }
}

/// Number of results that are no arrays of the function's.
fn count_heads(operation: &SoacOperation) -> usize {
    match operation {
        SoacOperation::Reduce(_, arrays, ..) | SoacOperation::Scan(_, arrays, ..) => arrays.len(),
        SoacOperation::Scatter(..) => 1,
        SoacOperation::Histogram(histogram) => histogram.targets.len(),
        SoacOperation::Fused(fused) => fused.sink.count_results(),
        _ => 0,
    }
}

/// The kind of a combinator that becomes one with others of its kind.
fn find_sibling_kind(operation: &SoacOperation) -> Option<SinkKind> {
    let kind = SinkKind::from_operation(operation)?;
    matches!(kind, SinkKind::Reduction | SinkKind::Scatter).then_some(kind)
}
