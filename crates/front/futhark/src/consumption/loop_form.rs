//! Loops: which of their variables they consume is inferred from their bodies. A variable with a unique type that no
//! iteration consumes is not consumed either: its first value need not be the loop's own.

use super::ConsumptionChecker;
use super::alias_graph::{AliasId, AliasOrigin, ConsumptionWay};
use super::alias_tree::AliasTree;
use super::ownership::{OwnershipForm, OwnershipId};
use crate::typed::{
    LocalId, ProgramPlace, TypedLoop, TypedLoopForm, TypedPatternId, TypedPatternKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable that an iteration passes to the next.
struct LoopVariable {
    local: LocalId,
    /// Whether the body may consume it: its type is not written, or unique.
    may_be_consumed: bool,
    /// Whether its type is written, and unique.
    is_unique: bool,
    /// Whether the body consumes it.
    is_consumed: bool,
    /// The roots of its memory.
    own: Vec<AliasId>,
    /// The roots of the value for the next iteration.
    next: Vec<AliasId>,
}

impl ConsumptionChecker<'_> {
    /// Checks a loop.
    pub(super) fn check_loop(&mut self, source: &TypedLoop, place: ProgramPlace) -> AliasTree {
        let outer = match source.form {
            TypedLoopForm::Count(_, bound) => Some(self.check_expression(bound)),
            TypedLoopForm::Elements(_, array) => Some(self.check_expression(array)),
            TypedLoopForm::While(_) => None,
        };
        self.push_frame();
        let mark = self.graph.mark();
        self.bind_loop_pattern(source.pattern, None);
        match (source.form, outer) {
            (TypedLoopForm::Elements(pattern, _), Some(array)) => {
                let set = self.unite_parts(&array);
                let ownership = self.pattern_ownership(pattern);
                let element = self.make_uniform(set, ownership);
                self.bind_element(pattern, &element);
            }
            (TypedLoopForm::While(condition), _) => {
                self.check_expression(condition);
            }
            _ => {}
        }
        let body = self.check_expression(source.body);
        let consumed = self.graph.undo_to(mark);
        let consumed: FxHashSet<AliasId> = consumed.into_iter().map(|(root, _)| root).collect();
        let mut variables = Vec::new();
        self.collect_variables(source.pattern, &body, false, &mut variables);
        let consumed_variables = self.infer_consumed(&mut variables, &consumed);
        self.check_next_values(&variables, place);
        let free = self.pop_frame();

        let ownership = self.loop_ownership(source.pattern, &consumed_variables);
        let events = self.graph.count_events();
        let way = ConsumptionWay::LoopStart;
        let initial = self
            .check_argument(source.initial, Some(ownership), way)
            .tree;
        self.check_free_uses(&free, events, place);
        self.release_variables(source, &initial, &consumed_variables);
        self.make_loop_result(source.pattern, &initial, &body, &consumed_variables)
    }

    /// Binds the variables of a loop. The body may consume all whose types are not written.
    fn bind_loop_pattern(&mut self, pattern: TypedPatternId, declared: Option<OwnershipId>) {
        let program = self.program;
        let node = &program.patterns[pattern];
        match &node.kind {
            TypedPatternKind::Local(local) if declared.is_none() => {
                let ownership = self.plain_ownership(node.type_id);
                let origin = AliasOrigin::Local(*local);
                let tree = self.make_roots(ownership, origin, |_| true);
                self.bind_local(*local, tree);
            }
            TypedPatternKind::Record(fields) if declared.is_none() => {
                for (_, field) in fields {
                    self.bind_loop_pattern(*field, None);
                }
            }
            TypedPatternKind::Constructor(_, payload) if declared.is_none() => {
                for part in payload {
                    self.bind_loop_pattern(*part, None);
                }
            }
            TypedPatternKind::Ascribed(_) => {
                let ownership = self.pattern_ownership(pattern);
                self.bind_parameter(pattern, ownership);
            }
            _ => {}
        }
    }

    /// The variables of a loop with the values that the body gives them.
    fn collect_variables(
        &mut self,
        pattern: TypedPatternId,
        next: &AliasTree,
        is_declared: bool,
        variables: &mut Vec<LoopVariable>,
    ) {
        let program = self.program;
        match &program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => {
                let own = self.locals[local.index()].as_ref();
                let own = own.map_or_else(Vec::new, |bound| bound.tree.sets());
                let next = self.unite_parts(next);
                let is_unique =
                    is_declared && own.iter().any(|&root| self.graph.is_consumable(root));
                variables.push(LoopVariable {
                    local: *local,
                    may_be_consumed: is_unique || !is_declared,
                    is_unique,
                    is_consumed: false,
                    own,
                    next: next.map_or_else(Vec::new, |set| self.graph.roots_of(set)),
                });
            }
            TypedPatternKind::Ascribed(inner) => {
                self.collect_variables(*inner, next, true, variables);
            }
            TypedPatternKind::Record(fields) => {
                for (name, field) in fields {
                    let part = self.project_field(next, *name);
                    self.collect_variables(*field, &part, is_declared, variables);
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                for (index, part) in payload.iter().enumerate() {
                    let part_tree = self.project_payload(next, *name, index);
                    self.collect_variables(*part, &part_tree, is_declared, variables);
                }
            }
            TypedPatternKind::Wildcard | TypedPatternKind::Scalar(_) => {}
        }
    }

    /// Decides which variables a loop consumes: those that its body consumes, and those whose memory the next values of
    /// consumed or unique variables share.
    fn infer_consumed(
        &mut self,
        variables: &mut [LoopVariable],
        consumed: &FxHashSet<AliasId>,
    ) -> FxHashSet<LocalId> {
        let mut owners = FxHashMap::default();
        let mut pending = Vec::new();
        for (index, variable) in variables.iter_mut().enumerate() {
            owners.extend(variable.own.iter().map(|&root| (root, index)));
            if variable.may_be_consumed && variable.own.iter().any(|root| consumed.contains(root)) {
                variable.is_consumed = true;
            }
            if variable.is_consumed || variable.is_unique {
                pending.push(index);
            }
        }
        while let Some(index) = pending.pop() {
            for root in variables[index].next.clone() {
                if let Some(&owner) = owners.get(&root)
                    && variables[owner].may_be_consumed
                    && !variables[owner].is_consumed
                {
                    variables[owner].is_consumed = true;
                    pending.push(owner);
                }
            }
        }
        let consumed = variables.iter().filter(|variable| variable.is_consumed);
        consumed.map(|variable| variable.local).collect()
    }

    /// Requires that the next values of consumed variables share no memory with others and with what the body does not
    /// own.
    fn check_next_values(&mut self, variables: &[LoopVariable], place: ProgramPlace) {
        let mut seen: FxHashMap<AliasId, (bool, LocalId)> = FxHashMap::default();
        for variable in variables {
            let mut is_reported = false;
            for &root in &variable.next {
                if variable.is_consumed && self.is_outside(root) && !is_reported {
                    is_reported = true;
                    self.report_loop_alias(variable.local, root, place);
                }
                let before = seen.get(&root).copied();
                if let Some((was_consumed, other)) = before
                    && (was_consumed || variable.is_consumed)
                    && !is_reported
                {
                    is_reported = true;
                    self.report_loop_overlap(variable.local, other, place);
                }
                let was_consumed = before.is_some_and(|(was_consumed, _)| was_consumed);
                seen.insert(root, (was_consumed || variable.is_consumed, variable.local));
            }
        }
    }

    /// The type of the variables of a loop.
    fn loop_ownership(
        &mut self,
        pattern: TypedPatternId,
        consumed: &FxHashSet<LocalId>,
    ) -> OwnershipId {
        let program = self.program;
        let node = &program.patterns[pattern];
        match &node.kind {
            TypedPatternKind::Local(local) => {
                let is_unique = consumed.contains(local);
                self.ownerships.own_type(program, node.type_id, is_unique)
            }
            TypedPatternKind::Ascribed(inner) => self.loop_ownership(*inner, consumed),
            TypedPatternKind::Record(fields) => {
                let parts = fields
                    .iter()
                    .map(|(name, field)| (*name, self.loop_ownership(*field, consumed)));
                let mut parts: Vec<_> = parts.collect();
                crate::check::types::sort_fields(&mut parts, &program.names);
                self.ownerships.intern(OwnershipForm::Record(parts))
            }
            _ => self.plain_ownership(node.type_id),
        }
    }

    /// Requires that what the body of a loop uses is not consumed by its first value.
    fn check_free_uses(&mut self, free: &[LocalId], first_event: usize, place: ProgramPlace) {
        for &local in free {
            let Some(bound) = &self.locals[local.index()] else {
                continue;
            };
            let tree = bound.tree.clone();
            if let Some((_, event)) = self.find_consumption(&tree)
                && event.index() >= first_event
            {
                self.report_loop_use(local, event, place);
            }
        }
    }

    /// Ends the scope of the variables of a loop. Those that it does not consume share memory with their first values.
    fn release_variables(
        &mut self,
        source: &TypedLoop,
        initial: &AliasTree,
        consumed: &FxHashSet<LocalId>,
    ) {
        self.release_pattern(source.pattern, Some(initial), consumed);
        if let TypedLoopForm::Elements(pattern, _) = source.form {
            self.release_pattern(pattern, None, consumed);
        }
    }

    fn release_pattern(
        &mut self,
        pattern: TypedPatternId,
        initial: Option<&AliasTree>,
        consumed: &FxHashSet<LocalId>,
    ) {
        let program = self.program;
        match &program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => {
                let Some(bound) = &self.locals[local.index()] else {
                    return;
                };
                let own = bound.tree.clone();
                let initial = initial.filter(|_| !consumed.contains(local));
                self.release_tree(&own, initial);
            }
            TypedPatternKind::Ascribed(inner) => self.release_pattern(*inner, initial, consumed),
            TypedPatternKind::Record(fields) => {
                for (name, field) in fields {
                    let part = initial.map(|initial| self.project_field(initial, *name));
                    self.release_pattern(*field, part.as_ref(), consumed);
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                for (index, part) in payload.iter().enumerate() {
                    let part_tree =
                        initial.map(|initial| self.project_payload(initial, *name, index));
                    self.release_pattern(*part, part_tree.as_ref(), consumed);
                }
            }
            TypedPatternKind::Wildcard | TypedPatternKind::Scalar(_) => {}
        }
    }

    fn release_tree(&mut self, own: &AliasTree, initial: Option<&AliasTree>) {
        match own {
            AliasTree::Uniform(None, _) => {}
            AliasTree::Uniform(Some(root), _) => {
                let set = initial.and_then(|initial| self.unite_parts(initial));
                self.graph.release_root(*root, set);
            }
            AliasTree::Record(fields) => {
                for (name, field) in fields.iter() {
                    let part = initial.map(|initial| self.project_field(initial, *name));
                    self.release_tree(field, part.as_ref());
                }
            }
            AliasTree::Sum(clauses) => {
                for (name, payload) in clauses.iter() {
                    for (index, part) in payload.iter().enumerate() {
                        let part_tree =
                            initial.map(|initial| self.project_payload(initial, *name, index));
                        self.release_tree(part, part_tree.as_ref());
                    }
                }
            }
        }
    }

    /// The aliases of the result of a loop: it is the first value, or that of an iteration.
    fn make_loop_result(
        &mut self,
        pattern: TypedPatternId,
        initial: &AliasTree,
        body: &AliasTree,
        consumed: &FxHashSet<LocalId>,
    ) -> AliasTree {
        let program = self.program;
        match &program.patterns[pattern].kind {
            TypedPatternKind::Local(local) if consumed.contains(local) => body.clone(),
            TypedPatternKind::Ascribed(inner) => {
                self.make_loop_result(*inner, initial, body, consumed)
            }
            TypedPatternKind::Record(fields) => {
                let parts = fields.iter().map(|(name, field)| {
                    let initial = self.project_field(initial, *name);
                    let body = self.project_field(body, *name);
                    (
                        *name,
                        self.make_loop_result(*field, &initial, &body, consumed),
                    )
                });
                let mut parts: Vec<_> = parts.collect();
                crate::check::types::sort_fields(&mut parts, &program.names);
                AliasTree::Record(parts.into())
            }
            _ => self.merge_trees(initial, body),
        }
    }
}
