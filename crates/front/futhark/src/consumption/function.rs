//! Functions: definitions, local functions and lambdas.

use super::ConsumptionChecker;
use super::alias_graph::AliasId;
use super::alias_tree::AliasTree;
use super::ownership::{OwnershipForm, OwnershipId};
use crate::check::types::{TypeForm, TypeId};
use crate::typed::{
    DefinitionId, LocalId, ProgramPlace, SizedTypeId, TypedDefinition, TypedExpressionId,
    TypedLambda, TypedPatternId,
};
use rustc_hash::FxHashMap;

/// A function whose body is checked.
#[derive(Clone, Copy)]
struct FunctionParts<'a> {
    parameters: &'a [TypedPatternId],
    /// The type of the result, if it is written.
    result: Option<SizedTypeId>,
    body: TypedExpressionId,
    /// The type that the function has as an argument of another.
    expected: Option<OwnershipId>,
}

impl ConsumptionChecker<'_> {
    /// Checks a definition, and notes its type.
    pub(super) fn check_definition(&mut self, id: DefinitionId) {
        let program = self.program;
        let definition = &program.definitions[id];
        let declared = self.declared_ownership(definition);
        self.definitions.push(declared);
        let file = &self.files.files[definition.place.file];
        let Some(body) = definition
            .body
            .filter(|_| !file.name.starts_with("/prelude/"))
        else {
            return;
        };
        self.graph.clear();
        self.globals.clear();
        self.reported.clear();
        let parts = FunctionParts {
            parameters: &definition.parameters,
            result: definition.result,
            body,
            expected: None,
        };
        let (ownership, _) = self.check_function(parts);
        if definition.parameters.is_empty() {
            let constant = self.ownerships.summary(declared);
            if definition.result.is_some() && constant.has_unique {
                self.report_unique_constant(definition.place);
            }
            if !self.ownerships.summary(ownership).has_function {
                return;
            }
        }
        self.definitions[id.index()] = ownership;
    }

    /// Checks that definitions consume no more, and share no more memory, than the module types say that they stand for.
    pub(super) fn check_ascriptions(&mut self) {
        let program = self.program;
        for ascription in &program.ascriptions {
            let specified = ascription.specified;
            let expected =
                self.ownerships
                    .own_sized(program, specified.sized, specified.type_id, false);
            let found = self.definitions[ascription.definition.index()];
            if !self.ownerships.summary(expected).has_function {
                continue;
            }
            let found = self
                .ownerships
                .view_as(program, found, specified.type_id, false);
            if !self.ownerships.is_usable_as(found, expected) {
                let name = program.definitions[ascription.definition].name;
                self.report_ascription(name, found, expected, ascription.place);
            }
        }
    }

    /// The type of a definition by what is written of it.
    fn declared_ownership(&mut self, definition: &TypedDefinition) -> OwnershipId {
        let mut type_id = definition.type_id;
        let mut parameters = Vec::with_capacity(definition.parameters.len());
        for &parameter in &definition.parameters {
            parameters.push(self.pattern_ownership(parameter));
            if let TypeForm::Function(_, result) = self.program.types.form(type_id) {
                type_id = *result;
            }
        }
        let result = match definition.result {
            Some(result) => self
                .ownerships
                .own_sized(self.program, result, type_id, false),
            None => self.plain_ownership(type_id),
        };
        self.make_function_type(&parameters, result)
    }

    fn make_function_type(
        &mut self,
        parameters: &[OwnershipId],
        result: OwnershipId,
    ) -> OwnershipId {
        let parameters = parameters.iter().rev();
        parameters.fold(result, |result, &parameter| {
            self.ownerships
                .intern(OwnershipForm::Function(parameter, result))
        })
    }

    /// Checks a function without a name. It shares memory with all variables that it uses from outside.
    /// As the argument of a function that expects one that consumes, it consumes what it has no type for.
    pub(super) fn check_lambda(
        &mut self,
        lambda: &TypedLambda,
        expected: Option<OwnershipId>,
    ) -> AliasTree {
        let parts = FunctionParts {
            parameters: &lambda.parameters,
            result: lambda.result,
            body: lambda.body,
            expected,
        };
        let (ownership, free) = self.check_function(parts);
        let mut sets = Vec::new();
        for local in free {
            if let Some(bound) = &self.locals[local.index()] {
                bound.tree.for_each(&mut |set| sets.push(set));
            }
        }
        let closure = self.graph.unite(sets);
        AliasTree::Uniform(closure, ownership)
    }

    /// Checks parameters and body of a function. Returns its type and the variables that it uses from outside.
    fn check_function(&mut self, function: FunctionParts<'_>) -> (OwnershipId, Vec<LocalId>) {
        self.push_frame();
        let mark = self.graph.mark();
        let mut parameters = Vec::with_capacity(function.parameters.len());
        let mut expected = function.expected;
        for &parameter in function.parameters {
            let mut ownership = self.pattern_ownership(parameter);
            if let Some(whole) = expected
                && let OwnershipForm::Function(needed, rest) = *self.ownerships.form(whole)
            {
                expected = Some(rest);
                let is_written = self.program.patterns[parameter].ascribed.is_some();
                if !is_written && self.ownerships.summary(needed).has_unique {
                    ownership = needed;
                }
            }
            self.bind_parameter(parameter, ownership);
            self.check_pattern_sizes(parameter);
            parameters.push(ownership);
        }
        let tree = self.check_expression(function.body);
        let body = &self.program.expressions[function.body];
        let result = self.check_result(function, &tree, body.type_id, body.place);
        self.graph.undo_to(mark);
        let free = self.pop_frame();
        let ownership = self.make_function_type(&parameters, result);
        (ownership, free)
    }

    /// Checks what the result of a function shares memory with. Returns its type.
    fn check_result(
        &mut self,
        function: FunctionParts<'_>,
        tree: &AliasTree,
        type_id: TypeId,
        place: ProgramPlace,
    ) -> OwnershipId {
        if !function.parameters.is_empty() {
            self.check_result_globals(tree, place);
        }
        match function.result {
            Some(result) => {
                let declared = self
                    .ownerships
                    .own_sized(self.program, result, type_id, false);
                if !function.parameters.is_empty() {
                    self.check_unique_parts(declared, tree, place);
                }
                declared
            }
            None if function.parameters.is_empty() => {
                let found = self.ownership_of(tree);
                self.ownerships.with_uniqueness(found, false)
            }
            None => self.infer_result(tree),
        }
    }

    /// Requires that the unique parts of a result share no memory with other parts or with what may not be consumed.
    fn check_unique_parts(&mut self, declared: OwnershipId, tree: &AliasTree, place: ProgramPlace) {
        if !self.ownerships.summary(declared).has_unique {
            return;
        }
        let mut parts = Vec::new();
        self.collect_parts(declared, tree, &mut parts);
        let mut seen: FxHashMap<AliasId, bool> = FxHashMap::default();
        let mut is_shared = false;
        for part in parts {
            let set = self.unite_parts(&part.tree);
            let roots = set.map_or_else(Vec::new, |set| self.graph.roots_of(set));
            for root in roots {
                let before = seen.get(&root).copied();
                is_shared |= before.is_some_and(|is_unique| is_unique || part.is_unique);
                seen.insert(root, part.is_unique || before.unwrap_or(false));
                let may_be_consumed = self.graph.is_consumable(root) && !self.is_outside(root);
                if part.is_unique && !may_be_consumed {
                    self.report_unique_result(root, place);
                }
            }
        }
        if is_shared {
            self.report_shared_result(place);
        }
    }

    /// Requires that a result shares no memory with constants.
    fn check_result_globals(&mut self, tree: &AliasTree, place: ProgramPlace) {
        if self.globals.is_empty() {
            return;
        }
        for set in tree.sets() {
            let roots = self.graph.roots_of(set);
            if let Some(root) = roots.into_iter().find(|&root| self.is_global(root)) {
                self.report_global_result(root, place);
                return;
            }
        }
    }

    /// The type of a result that is not written: the parts are unique that share no memory with what the caller keeps.
    fn infer_result(&mut self, tree: &AliasTree) -> OwnershipId {
        let mut counts: FxHashMap<AliasId, u32> = FxHashMap::default();
        for set in tree.sets() {
            for root in self.graph.roots_of(set) {
                *counts.entry(root).or_default() += 1;
            }
        }
        self.infer_part(tree, &counts)
    }

    fn infer_part(&mut self, tree: &AliasTree, counts: &FxHashMap<AliasId, u32>) -> OwnershipId {
        let form = match tree {
            AliasTree::Uniform(set, ownership) => {
                let roots = set.map_or_else(Vec::new, |set| self.graph.roots_of(set));
                let is_single = self.ownerships.summary(*ownership).parts < 2;
                let is_unique = roots.into_iter().all(|root| {
                    is_single
                        && counts.get(&root).is_none_or(|&count| count == 1)
                        && self.graph.is_consumable(root)
                        && !self.is_outside(root)
                });
                return self.ownerships.with_uniqueness(*ownership, is_unique);
            }
            AliasTree::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| (*name, self.infer_part(field, counts)));
                OwnershipForm::Record(fields.collect())
            }
            AliasTree::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().map(|part| self.infer_part(part, counts));
                    (*name, payload.collect())
                });
                OwnershipForm::Sum(clauses.collect())
            }
        };
        self.ownerships.intern(form)
    }
}
