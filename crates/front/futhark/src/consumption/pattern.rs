//! Patterns: what their variables share memory with, and what parameters consume.

use super::ConsumptionChecker;
use super::alias_graph::AliasOrigin;
use super::alias_tree::AliasTree;
use super::ownership::{OwnershipForm, OwnershipId};
use crate::typed::{LocalId, SizeTerm, SizedType, SizedTypeId, TypedPatternId, TypedPatternKind};
use rustc_hash::FxHashSet;

impl ConsumptionChecker<'_> {
    /// Binds the variables of a pattern to the parts of a value.
    pub(super) fn bind_pattern(&mut self, pattern: TypedPatternId, tree: &AliasTree) {
        self.bind_parts(pattern, tree, &mut |checker, local, tree| {
            checker.add_roots(tree, AliasOrigin::Local(local))
        });
    }

    /// Binds the variables of a pattern to the parts of an element of an array, which the body of a loop does not consume.
    pub(super) fn bind_element(&mut self, pattern: TypedPatternId, tree: &AliasTree) {
        self.bind_parts(pattern, tree, &mut |checker, local, tree| match tree {
            AliasTree::Uniform(None, ownership) => {
                checker.make_roots(*ownership, AliasOrigin::Local(local), |_| false)
            }
            other => other.clone(),
        });
    }

    /// Binds the variables of a pattern to what a function makes of the parts of a value.
    fn bind_parts(
        &mut self,
        pattern: TypedPatternId,
        tree: &AliasTree,
        make: &mut dyn FnMut(&mut Self, LocalId, &AliasTree) -> AliasTree,
    ) {
        match &self.program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => {
                let bound = make(self, *local, tree);
                self.bind_local(*local, bound);
            }
            TypedPatternKind::Wildcard | TypedPatternKind::Scalar(_) => {}
            TypedPatternKind::Ascribed(inner) => self.bind_parts(*inner, tree, make),
            TypedPatternKind::Record(fields) => {
                for (name, field) in fields {
                    let part = self.project_field(tree, *name);
                    self.bind_parts(*field, &part, make);
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                for (index, part) in payload.iter().enumerate() {
                    let part_tree = self.project_payload(tree, *name, index);
                    self.bind_parts(*part, &part_tree, make);
                }
            }
        }
    }

    /// The type of what a pattern matches, with the uniqueness that is written.
    pub(super) fn pattern_ownership(&mut self, pattern: TypedPatternId) -> OwnershipId {
        let node = &self.program.patterns[pattern];
        if let Some(ascribed) = node.ascribed {
            return self
                .ownerships
                .own_sized(self.program, ascribed, node.type_id, false);
        }
        match &node.kind {
            TypedPatternKind::Record(fields) => {
                let mut parts: Vec<_> = fields
                    .iter()
                    .map(|(name, field)| (*name, self.pattern_ownership(*field)))
                    .collect();
                crate::check::types::sort_fields(&mut parts, &self.program.names);
                self.ownerships.intern(OwnershipForm::Record(parts))
            }
            TypedPatternKind::Ascribed(inner) => self.pattern_ownership(*inner),
            _ => self.ownerships.own_type(self.program, node.type_id, false),
        }
    }

    /// Binds the variables of a parameter. Only its unique parts may be consumed.
    pub(super) fn bind_parameter(&mut self, pattern: TypedPatternId, ownership: OwnershipId) {
        let program = self.program;
        match &program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => {
                let tree =
                    self.make_roots(ownership, AliasOrigin::Local(*local), |is_unique| is_unique);
                self.bind_local(*local, tree);
            }
            TypedPatternKind::Wildcard | TypedPatternKind::Scalar(_) => {}
            TypedPatternKind::Ascribed(inner) => {
                let summary = self.ownerships.summary(ownership);
                let inner_ownership = if summary.has_unique || summary.has_function {
                    ownership
                } else {
                    self.pattern_ownership(*inner)
                };
                self.bind_parameter(*inner, inner_ownership);
            }
            TypedPatternKind::Record(fields) => {
                for (name, field) in fields {
                    let part = match self.ownerships.form(ownership) {
                        OwnershipForm::Record(parts) => {
                            parts.iter().find(|(other, _)| other == name).copied()
                        }
                        _ => None,
                    };
                    let part =
                        part.map_or_else(|| self.pattern_ownership(*field), |(_, part)| part);
                    self.bind_parameter(*field, part);
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                for (index, &part) in payload.iter().enumerate() {
                    let found = match self.ownerships.form(ownership) {
                        OwnershipForm::Sum(clauses) => {
                            let clause = clauses.iter().find(|(other, _)| other == name);
                            clause.and_then(|(_, payload)| payload.get(index)).copied()
                        }
                        _ => None,
                    };
                    let found = found.unwrap_or_else(|| self.pattern_ownership(part));
                    self.bind_parameter(part, found);
                }
            }
        }
    }

    /// Checks the sizes in the written types of a parameter. They consume nothing.
    pub(super) fn check_pattern_sizes(&mut self, pattern: TypedPatternId) {
        let program = self.program;
        let node = &program.patterns[pattern];
        if let Some(ascribed) = node.ascribed {
            self.check_sizes(ascribed, &mut FxHashSet::default());
        }
        match &node.kind {
            TypedPatternKind::Ascribed(inner) => self.check_pattern_sizes(*inner),
            TypedPatternKind::Record(fields) => {
                for (_, field) in fields {
                    self.check_pattern_sizes(*field);
                }
            }
            TypedPatternKind::Constructor(_, payload) => {
                for part in payload {
                    self.check_pattern_sizes(*part);
                }
            }
            _ => {}
        }
    }

    fn check_sizes(&mut self, id: SizedTypeId, seen: &mut FxHashSet<SizedTypeId>) {
        if !seen.insert(id) {
            return;
        }
        let program = self.program;
        match &program.sized_types[id] {
            SizedType::Plain(_) => {}
            SizedType::Array(size, element) => {
                self.check_size(*size);
                self.check_sizes(*element, seen);
            }
            SizedType::Record(fields) => {
                for (_, field) in fields {
                    self.check_sizes(*field, seen);
                }
            }
            SizedType::Sum(clauses) => {
                for part in clauses.iter().flat_map(|(_, payload)| payload) {
                    self.check_sizes(*part, seen);
                }
            }
            SizedType::Function(_, parameter, result) => {
                self.check_sizes(*parameter, seen);
                self.check_sizes(*result, seen);
            }
            SizedType::Abstract(_, sizes, arguments) => {
                for size in sizes {
                    self.check_size(*size);
                }
                for argument in arguments {
                    self.check_sizes(*argument, seen);
                }
            }
            SizedType::Unique(inner) | SizedType::Existential(_, inner) => {
                self.check_sizes(*inner, seen);
            }
        }
    }

    fn check_size(&mut self, size: SizeTerm) {
        if let SizeTerm::Expression(expression) = size {
            self.push_frame();
            let mark = self.graph.mark();
            self.check_expression(expression);
            self.graph.undo_to(mark);
            self.pop_frame();
        }
    }
}
