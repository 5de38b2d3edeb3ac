//! Expressions: what their values share memory with, and what they consume.

use super::ConsumptionChecker;
use super::alias_graph::{AliasOrigin, ConsumptionEvent, ConsumptionWay};
use super::alias_tree::AliasTree;
use super::ownership::{OwnershipForm, OwnershipId};
use crate::check::types::{TypeForm, TypeId, sort_fields};
use crate::syntax::tree::SourceNameId;
use crate::typed::{
    DefinitionId, LocalId, ProgramPlace, TypedBinding, TypedExpressionId, TypedIndex, TypedKind,
    TypedPatternId, TypedStep,
};

impl ConsumptionChecker<'_> {
    /// Checks an expression. Returns the aliases of its value.
    pub(super) fn check_expression(&mut self, id: TypedExpressionId) -> AliasTree {
        let program = self.program;
        let node = &program.expressions[id];
        match &node.kind {
            TypedKind::Scalar(_) | TypedKind::Bytes(_) => self.make_fresh(node.type_id),
            TypedKind::Hole => self.make_hole(id, node.type_id),
            TypedKind::Local(local, _) => self.check_local(*local, node.type_id, node.place),
            TypedKind::Global(definition, _) => self.check_global(*definition, id, node.type_id),
            TypedKind::Intrinsic(..) => {
                let specified = self.specified_ownership(id, node.type_id);
                let ownership = specified.unwrap_or_else(|| self.plain_ownership(node.type_id));
                AliasTree::Uniform(None, ownership)
            }
            TypedKind::Record(fields) => self.check_record(fields),
            TypedKind::Array(elements) => {
                for element in elements {
                    self.check_expression(*element);
                }
                self.make_fresh(node.type_id)
            }
            TypedKind::Constructor(name, payload) => {
                self.check_constructor(*name, payload, node.type_id)
            }
            TypedKind::Projection(record, name) => {
                let record = self.check_whole(*record);
                let part = self.project_field(&record, *name);
                self.check_part(id, &part);
                part
            }
            TypedKind::Index(array, indices) => {
                let array = self.check_expression(*array);
                self.check_indices(indices);
                let set = self.unite_parts(&array);
                let ownership = self.plain_ownership(node.type_id);
                self.make_uniform(set, ownership)
            }
            TypedKind::Application(function, arguments) => {
                self.check_call(id, *function, arguments)
            }
            TypedKind::Lambda(lambda) => self.check_lambda(lambda, None),
            TypedKind::If(condition, accept, reject) => {
                self.check_expression(*condition);
                self.check_branches(2, &mut |checker, index| {
                    checker.check_expression(if index == 0 { *accept } else { *reject })
                })
            }
            TypedKind::Match(subject, cases) => self.check_match(*subject, cases),
            TypedKind::Let(bindings, body) => {
                for binding in bindings {
                    self.check_binding(binding);
                }
                self.check_expression(*body)
            }
            TypedKind::Loop(source) => self.check_loop(source, node.place),
            TypedKind::Assert(condition, body) => {
                self.check_expression(*condition);
                self.check_expression(*body)
            }
            TypedKind::Update {
                source,
                steps,
                value,
            } => self.check_update(*source, steps, *value, node.place),
            TypedKind::Ascription(inner, _)
            | TypedKind::Coercion(inner, _)
            | TypedKind::Attributed(_, inner) => self.check_expression(*inner),
            TypedKind::Range {
                first,
                second,
                last,
                ..
            } => {
                for part in [Some(*first), *second, Some(*last)].into_iter().flatten() {
                    self.check_expression(part);
                }
                self.make_fresh(node.type_id)
            }
        }
    }

    /// Checks a record of which only a part is used.
    fn check_whole(&mut self, id: TypedExpressionId) -> AliasTree {
        let program = self.program;
        match &program.expressions[id].kind {
            TypedKind::Projection(record, name) => {
                let record = self.check_whole(*record);
                self.project_field(&record, *name)
            }
            TypedKind::Local(local, _) => {
                self.note_use(*local);
                match &self.locals[local.index()] {
                    Some(bound) => bound.tree.clone(),
                    None => self.make_fresh(program.expressions[id].type_id),
                }
            }
            _ => self.check_expression(id),
        }
    }

    /// Requires that a part of a variable was not consumed.
    fn check_part(&mut self, id: TypedExpressionId, part: &AliasTree) {
        let Some((set, event)) = self.find_consumption(part) else {
            return;
        };
        let program = self.program;
        let mut base = id;
        while let TypedKind::Projection(record, _) = program.expressions[base].kind {
            base = record;
        }
        if let TypedKind::Local(local, _) = program.expressions[base].kind {
            self.report_use(local, set, event, program.expressions[id].place);
        }
    }

    /// The type of a value of which nothing is written.
    pub(super) fn plain_ownership(&mut self, type_id: TypeId) -> OwnershipId {
        self.ownerships.own_type(self.program, type_id, false)
    }

    /// The aliases of a new value.
    pub(super) fn make_fresh(&mut self, type_id: TypeId) -> AliasTree {
        let ownership = self.plain_ownership(type_id);
        AliasTree::Uniform(None, ownership)
    }

    /// The aliases of a value that is not known. If it is a function, its results are new values.
    fn make_hole(&mut self, id: TypedExpressionId, type_id: TypeId) -> AliasTree {
        if let Some(specified) = self.specified_ownership(id, type_id) {
            return AliasTree::Uniform(None, specified);
        }
        let ownership = self.plain_ownership(type_id);
        let ownership = self.with_new_results(ownership);
        AliasTree::Uniform(None, ownership)
    }

    /// The type that a module type gives to a value, as it is seen where it is used.
    fn specified_ownership(
        &mut self,
        id: TypedExpressionId,
        type_id: TypeId,
    ) -> Option<OwnershipId> {
        let specified = self.program.specified_uses.get(&id)?;
        let ownership =
            self.ownerships
                .own_sized(self.program, specified.sized, specified.type_id, false);
        let viewed = self
            .ownerships
            .view_as(self.program, ownership, type_id, false);
        Some(viewed)
    }

    fn with_new_results(&mut self, ownership: OwnershipId) -> OwnershipId {
        match *self.ownerships.form(ownership) {
            OwnershipForm::Function(parameter, result) => {
                let result = self.with_new_results(result);
                self.ownerships
                    .intern(OwnershipForm::Function(parameter, result))
            }
            _ => self.ownerships.with_uniqueness(ownership, true),
        }
    }

    /// A use of a variable.
    fn check_local(&mut self, local: LocalId, type_id: TypeId, place: ProgramPlace) -> AliasTree {
        let Some(bound) = &self.locals[local.index()] else {
            return self.make_fresh(type_id);
        };
        let tree = bound.tree.clone();
        self.note_use(local);
        if let Some((set, event)) = self.find_consumption(&tree) {
            self.report_use(local, set, event, place);
        }
        match tree {
            AliasTree::Uniform(set, ownership)
                if matches!(self.ownerships.form(ownership), OwnershipForm::Function(..)) =>
            {
                let viewed = self
                    .ownerships
                    .view_as(self.program, ownership, type_id, false);
                AliasTree::Uniform(set, viewed)
            }
            tree => tree,
        }
    }

    /// A use of a definition. The memory of a constant may not be consumed.
    fn check_global(
        &mut self,
        id: DefinitionId,
        use_id: TypedExpressionId,
        type_id: TypeId,
    ) -> AliasTree {
        let definition = &self.program.definitions[id];
        let specified = self.specified_ownership(use_id, type_id);
        let ownership = match (specified, self.definitions.get(id.index())) {
            (Some(specified), _) => specified,
            (None, Some(&known)) => self.ownerships.view_as(self.program, known, type_id, false),
            (None, None) => self.plain_ownership(type_id),
        };
        let is_constant = definition.parameters.is_empty() && definition.size_parameters.is_empty();
        if !is_constant || self.ownerships.summary(ownership).has_function {
            return AliasTree::Uniform(None, ownership);
        }
        if let Some(known) = self.globals.get(&id) {
            return known.clone();
        }
        let tree = self.make_constant(id, type_id);
        self.globals.insert(id, tree.clone());
        tree
    }

    /// The memory of a constant: a root for each array.
    fn make_constant(&mut self, id: DefinitionId, type_id: TypeId) -> AliasTree {
        let ownership = self.plain_ownership(type_id);
        match self.program.types.form(type_id) {
            TypeForm::Array(_) | TypeForm::Sum(_) => {
                let origin = AliasOrigin::Global(id);
                let root = self.graph.add_root(origin, false);
                self.make_uniform(Some(root), ownership)
            }
            TypeForm::Record(fields) if self.ownerships.summary(ownership).parts <= 64 => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| (*name, self.make_constant(id, *field)));
                AliasTree::Record(fields.collect())
            }
            _ => AliasTree::Uniform(None, ownership),
        }
    }

    /// Checks the fields of a record, whose aliases are in the canonical order of fields.
    fn check_record(&mut self, fields: &[(SourceNameId, TypedExpressionId)]) -> AliasTree {
        let parts = fields
            .iter()
            .map(|(name, field)| (*name, self.check_expression(*field)));
        let mut parts: Vec<_> = parts.collect();
        sort_fields(&mut parts, &self.program.names);
        AliasTree::Record(parts.into())
    }

    fn check_constructor(
        &mut self,
        name: SourceNameId,
        payload: &[TypedExpressionId],
        type_id: TypeId,
    ) -> AliasTree {
        let mut own: Vec<AliasTree> = payload
            .iter()
            .map(|&part| self.check_expression(part))
            .collect();
        let TypeForm::Sum(clauses) = self.program.types.form(type_id) else {
            return self.make_fresh(type_id);
        };
        let clauses = clauses.iter().map(|(other, types)| {
            if *other == name {
                return (*other, std::mem::take(&mut own));
            }
            let fresh = types.iter().map(|&part| self.make_fresh(part));
            (*other, fresh.collect())
        });
        AliasTree::Sum(clauses.collect())
    }

    fn check_indices(&mut self, indices: &[TypedIndex]) {
        for index in indices {
            match *index {
                TypedIndex::Point(point) => {
                    self.check_expression(point);
                }
                TypedIndex::Slice { start, end, step } => {
                    for part in [start, end, step].into_iter().flatten() {
                        self.check_expression(part);
                    }
                }
            }
        }
    }

    /// Checks paths of control flow, of which one is taken. Each begins with what was consumed before.
    fn check_branches(
        &mut self,
        count: usize,
        check: &mut dyn FnMut(&mut Self, usize) -> AliasTree,
    ) -> AliasTree {
        let mark = self.graph.mark();
        let mut merged: Option<AliasTree> = None;
        let mut consumed = Vec::new();
        for index in 0..count {
            let tree = check(self, index);
            merged = Some(match merged {
                Some(before) => self.merge_trees(&before, &tree),
                None => tree,
            });
            if index + 1 < count {
                consumed.extend(self.graph.undo_to(mark));
            }
        }
        self.graph.join(&consumed);
        match merged {
            Some(merged) => self.drop_consumed(&merged),
            None => {
                let scalar = self.ownerships.scalar();
                AliasTree::Uniform(None, scalar)
            }
        }
    }

    fn check_match(
        &mut self,
        subject: TypedExpressionId,
        cases: &[(TypedPatternId, TypedExpressionId)],
    ) -> AliasTree {
        let subject = self.check_expression(subject);
        let subject = self.add_roots(&subject, AliasOrigin::Merged);
        self.check_branches(cases.len(), &mut |checker, index| {
            let (pattern, body) = cases[index];
            checker.bind_pattern(pattern, &subject);
            checker.check_expression(body)
        })
    }

    fn check_binding(&mut self, binding: &TypedBinding) {
        let mark = self.graph.mark();
        let tree = self.check_expression(binding.value);
        let value = &self.program.expressions[binding.value];
        let ownership = self.plain_ownership(value.type_id);
        if self.ownerships.summary(ownership).has_function && self.graph.mark() > mark {
            self.report_function_consumption(value.place, mark, "this definition of a function");
        }
        self.bind_pattern(binding.pattern, &tree);
    }

    /// Checks an update. With indices on its path it consumes the part that the path leads to.
    fn check_update(
        &mut self,
        source: TypedExpressionId,
        steps: &[TypedStep],
        value: TypedExpressionId,
        place: ProgramPlace,
    ) -> AliasTree {
        for step in steps {
            if let TypedStep::Indices(indices) = step {
                self.check_indices(indices);
            }
        }
        let value_tree = self.check_expression(value);
        let source_tree = self.check_expression(source);
        self.update_part(&source_tree, steps, &value_tree, place)
    }

    /// The aliases of a value with a part replaced.
    fn update_part(
        &mut self,
        tree: &AliasTree,
        steps: &[TypedStep],
        value: &AliasTree,
        place: ProgramPlace,
    ) -> AliasTree {
        match steps.split_first() {
            None => value.clone(),
            Some((TypedStep::Field(name), rest)) => {
                let part = self.project_field(tree, *name);
                let part = self.update_part(&part, rest, value, place);
                self.replace_field(tree, *name, part)
            }
            Some((TypedStep::Indices(_), _)) => {
                let was_consumed = self.find_consumption(value).is_some();
                let way = ConsumptionWay::Update;
                let event = self.graph.add_event(ConsumptionEvent { place, way });
                if let Some(set) = self.unite_parts(tree) {
                    self.consume_set(set, event);
                }
                if !was_consumed && self.find_consumption(value).is_some() {
                    self.report_update_overlap(place);
                }
                let ownership = self.ownership_of(tree);
                AliasTree::Uniform(None, ownership)
            }
        }
    }

    /// The aliases of a record with a field replaced.
    fn replace_field(
        &mut self,
        tree: &AliasTree,
        name: SourceNameId,
        part: AliasTree,
    ) -> AliasTree {
        let fields: Vec<(SourceNameId, AliasTree)> = match tree {
            AliasTree::Record(fields) => fields.to_vec(),
            AliasTree::Uniform(set, ownership) => match self.ownerships.form(*ownership) {
                OwnershipForm::Record(fields) => fields
                    .iter()
                    .map(|(name, field)| (*name, self.make_uniform(*set, *field)))
                    .collect(),
                _ => return tree.clone(),
            },
            AliasTree::Sum(_) => return tree.clone(),
        };
        let fields = fields.into_iter().map(|(other, field)| {
            if other == name {
                (other, part.clone())
            } else {
                (other, field)
            }
        });
        AliasTree::Record(fields.collect())
    }
}
