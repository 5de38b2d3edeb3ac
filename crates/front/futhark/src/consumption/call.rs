//! Calls: which arguments they consume, and what their results share memory with.

use super::ConsumptionChecker;
use super::alias_graph::{AliasId, AliasOrigin, ConsumptionEvent, ConsumptionId, ConsumptionWay};
use super::alias_tree::AliasTree;
use super::ownership::{OwnershipForm, OwnershipId};
use crate::typed::{ProgramPlace, TypedExpressionId, TypedKind};

impl ConsumptionChecker<'_> {
    /// Checks a call.
    pub(super) fn check_call(
        &mut self,
        id: TypedExpressionId,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
    ) -> AliasTree {
        let program = self.program;
        let call = &program.expressions[id];
        let callee = self.check_expression(function);
        let closure = self.unite_parts(&callee);
        let mut parameters = Vec::with_capacity(arguments.len());
        let mut result = self.ownership_of(&callee);
        for _ in arguments {
            let OwnershipForm::Function(parameter, rest) = *self.ownerships.form(result) else {
                break;
            };
            parameters.push(parameter);
            result = rest;
        }
        if parameters.len() < arguments.len() {
            result = self.plain_ownership(call.type_id);
        }
        let mut trees: Vec<Option<AliasTree>> = vec![None; arguments.len()];
        for index in program.sizes.argument_order(id, arguments.len()) {
            let parameter = parameters.get(index).copied();
            let checked =
                self.check_argument(arguments[index], parameter, ConsumptionWay::Argument);
            if let Some(event) = checked.consumption {
                self.check_other_arguments(arguments, index, &trees, event);
            }
            trees[index] = Some(checked.tree);
        }
        let observed = trees.iter().enumerate().filter(|(index, _)| {
            !parameters
                .get(*index)
                .is_some_and(|&parameter| self.ownerships.summary(parameter).has_unique)
        });
        let mut sets: Vec<AliasId> = closure.into_iter().collect();
        for tree in observed.filter_map(|(_, tree)| tree.as_ref()) {
            tree.for_each(&mut |set| sets.push(set));
        }
        self.make_call_result(sets, result, call.place)
    }

    /// The aliases of the result of a call. Its parts may share memory with each other.
    fn make_call_result(
        &mut self,
        sets: Vec<AliasId>,
        result: OwnershipId,
        place: ProgramPlace,
    ) -> AliasTree {
        let summary = self.ownerships.summary(result);
        if !summary.has_shared {
            return AliasTree::Uniform(None, result);
        }
        let set = self.graph.unite(sets).or_else(|| {
            let origin = AliasOrigin::Call(place);
            (summary.parts > 1).then(|| self.graph.add_root(origin, true))
        });
        self.make_result(set, result)
    }

    /// Reports the arguments that share memory with the one at `index`, which was consumed.
    fn check_other_arguments(
        &mut self,
        arguments: &[TypedExpressionId],
        index: usize,
        trees: &[Option<AliasTree>],
        event: ConsumptionId,
    ) {
        for (other, tree) in trees.iter().enumerate() {
            let sets = tree.as_ref().map_or_else(Vec::new, AliasTree::sets);
            let shared = sets
                .into_iter()
                .find(|&set| self.graph.consumption(set) == Some(event));
            if let Some(set) = shared {
                self.report_shared_argument(arguments[index], arguments[other], set, event);
            }
        }
    }

    /// Checks an argument, and consumes what the parameter consumes.
    pub(super) fn check_argument(
        &mut self,
        argument: TypedExpressionId,
        parameter: Option<OwnershipId>,
        way: ConsumptionWay,
    ) -> CheckedArgument {
        let mark = self.graph.mark();
        let program = self.program;
        let node = &program.expressions[argument];
        let tree = match &node.kind {
            TypedKind::Lambda(lambda) => self.check_lambda(lambda, parameter),
            _ => self.check_expression(argument),
        };
        let ownership = self.plain_ownership(node.type_id);
        let has_function = self.ownerships.summary(ownership).has_function;
        if has_function && self.graph.mark() > mark {
            self.report_function_consumption(node.place, mark, "this argument is a function and");
        }
        let mut checked = CheckedArgument {
            tree,
            consumption: None,
        };
        let Some(parameter) = parameter else {
            return checked;
        };
        if has_function {
            let found = self.ownership_of(&checked.tree);
            if !self.ownerships.is_usable_as(found, parameter) {
                self.report_unusable(node.place, found, parameter);
            }
        }
        if self.ownerships.summary(parameter).has_unique {
            let place = node.place;
            let event = self.graph.add_event(ConsumptionEvent { place, way });
            self.consume_parts(parameter, &checked.tree, event);
            checked.consumption = Some(event);
        }
        checked
    }

    /// Consumes the unique parts of a value. They must not share memory with its other parts.
    fn consume_parts(&mut self, expected: OwnershipId, tree: &AliasTree, event: ConsumptionId) {
        let mut parts = Vec::new();
        self.collect_parts(expected, tree, &mut parts);
        parts.sort_by_key(|part| !part.is_unique);
        let mut is_shared = false;
        for part in parts {
            let sets = part.tree.sets();
            is_shared |= sets
                .iter()
                .any(|&set| self.graph.consumption(set) == Some(event));
            if part.is_unique
                && let Some(set) = self.graph.unite(sets)
            {
                self.consume_set(set, event);
            }
        }
        if is_shared {
            self.report_shared_parts(event);
        }
    }

    /// The parts of a value, as a type divides it.
    pub(super) fn collect_parts(
        &mut self,
        expected: OwnershipId,
        tree: &AliasTree,
        parts: &mut Vec<OwnedPart>,
    ) {
        let summary = self.ownerships.summary(expected);
        if summary.parts == 0 {
            return;
        }
        match self.ownerships.form(expected).clone() {
            OwnershipForm::Record(fields) if summary.parts <= 256 => {
                for (name, field) in fields {
                    let part = self.project_field(tree, name);
                    self.collect_parts(field, &part, parts);
                }
            }
            _ => parts.push(OwnedPart {
                is_unique: summary.has_unique,
                tree: tree.clone(),
            }),
        }
    }

    /// Consumes a set of aliases.
    pub(super) fn consume_set(&mut self, set: AliasId, event: ConsumptionId) {
        if let Some(before) = self.graph.consumption(set) {
            if before != event {
                self.report_second_consumption(set, before, event);
            }
            return;
        }
        for root in self.graph.roots_of(set) {
            if self.graph.is_consumable(root) && !self.is_outside(root) {
                self.graph.consume_root(root, event);
            } else {
                self.report_not_consumable(root, event);
            }
        }
    }
}

/// An argument that was checked.
#[derive(Debug)]
pub(super) struct CheckedArgument {
    /// Its aliases.
    pub(super) tree: AliasTree,
    /// Its consumption, if the parameter consumes a part of it.
    consumption: Option<ConsumptionId>,
}

/// A part of a value, and whether it is unique.
#[derive(Debug)]
pub(super) struct OwnedPart {
    /// Whether its memory is unique.
    pub(super) is_unique: bool,
    /// Its aliases.
    pub(super) tree: AliasTree,
}
