//! Unification of shaped types that are equal but for their sizes.

use super::SizeInference;
use super::shape::{FunctionShape, ShapeSubstitution, ShapedForm, ShapedTypeId, SizeForm, SizeId};
use super::variable::{SizeClash, SizeOrigin, VariableRequest};
use crate::check::types::AbstractTypeId;
use crate::typed::ProgramPlace;

impl SizeInference<'_> {
    /// The form of a shaped type, with known abstract types as what they are, and plain records and sums taken apart.
    pub(super) fn expand(&mut self, id: ShapedTypeId) -> ShapedForm {
        let mut at = id;
        loop {
            match self.table.shape(at).clone() {
                ShapedForm::Abstract(name, sizes, types) => {
                    match self.expand_abstract(name, &sizes, &types) {
                        Some(expanded) => at = expanded,
                        None => return ShapedForm::Abstract(name, sizes, types),
                    }
                }
                ShapedForm::Plain(type_id) => return self.expand_plain(type_id),
                form => return form,
            }
        }
    }

    /// The type that an abstract type is known to be.
    fn expand_abstract(
        &mut self,
        name: AbstractTypeId,
        sizes: &[SizeId],
        types: &[ShapedTypeId],
    ) -> Option<ShapedTypeId> {
        if !self.program.types.is_defined(name) {
            return None;
        }
        Some(self.expand_hidden(name, sizes, types))
    }

    /// The type that an abstract type is or hides.
    pub(super) fn expand_hidden(
        &mut self,
        name: AbstractTypeId,
        sizes: &[SizeId],
        types: &[ShapedTypeId],
    ) -> ShapedTypeId {
        let Some(definition) = self.table.abstracts.get(&name).cloned() else {
            return self.table.add_any();
        };
        let substitution = ShapeSubstitution {
            sizes: definition
                .sizes
                .into_iter()
                .zip(sizes.iter().copied())
                .collect(),
            types: definition
                .types
                .into_iter()
                .zip(types.iter().copied())
                .collect(),
        };
        self.table.substitute(definition.shape, &substitution)
    }

    /// The parts of a type without sizes.
    fn expand_plain(&mut self, type_id: crate::check::types::TypeId) -> ShapedForm {
        use crate::check::types::TypeForm;
        match self.program.types.form(type_id).clone() {
            TypeForm::Record(fields) => {
                let fields = fields.into_iter();
                ShapedForm::Record(
                    fields
                        .map(|(name, field)| (name, self.table.add_shape(ShapedForm::Plain(field))))
                        .collect(),
                )
            }
            TypeForm::Sum(clauses) => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload.into_iter();
                    let payload = payload.map(|part| self.table.add_shape(ShapedForm::Plain(part)));
                    (name, payload.collect())
                });
                ShapedForm::Sum(clauses.collect())
            }
            _ => ShapedForm::Plain(type_id),
        }
    }

    /// Makes the sizes of two types equal. Where the first is a function type that chooses sizes of its result, those of the
    /// second may be any.
    ///
    /// # Errors
    ///
    /// The first two sizes that are not equal.
    pub(super) fn unify(
        &mut self,
        expected: ShapedTypeId,
        found: ShapedTypeId,
        place: ProgramPlace,
    ) -> Result<(), SizeClash> {
        self.unify_parts(expected, found, true, place)
    }

    /// Makes the sizes of two types equal. `is_direct` says that the first is the one that is expected.
    fn unify_parts(
        &mut self,
        left: ShapedTypeId,
        right: ShapedTypeId,
        is_direct: bool,
        place: ProgramPlace,
    ) -> Result<(), SizeClash> {
        if left == right || self.is_plain(left) || self.is_plain(right) {
            return Ok(());
        }
        match self.expand_pair(left, right) {
            (ShapedForm::Array(size, element), ShapedForm::Array(other_size, other)) => {
                self.variables.unify(self.table, size, other_size)?;
                self.unify_parts(element, other, is_direct, place)
            }
            (ShapedForm::Record(fields), ShapedForm::Record(others)) => {
                let mut pairs = fields.into_iter().zip(others);
                pairs.try_for_each(|((_, field), (_, other))| {
                    self.unify_parts(field, other, is_direct, place)
                })
            }
            (ShapedForm::Sum(clauses), ShapedForm::Sum(others)) => {
                for ((_, payload), (_, other)) in clauses.into_iter().zip(others) {
                    let mut pairs = payload.into_iter().zip(other);
                    pairs.try_for_each(|(part, other)| {
                        self.unify_parts(part, other, is_direct, place)
                    })?;
                }
                Ok(())
            }
            (ShapedForm::Function(left), ShapedForm::Function(right)) => {
                self.unify_functions(left, right, is_direct, place)
            }
            (
                ShapedForm::Abstract(name, sizes, types),
                ShapedForm::Abstract(other, other_sizes, other_types),
            ) if name == other => {
                for (size, other) in sizes.into_iter().zip(other_sizes) {
                    self.variables.unify(self.table, size, other)?;
                }
                let mut pairs = types.into_iter().zip(other_types);
                pairs.try_for_each(|(part, other)| self.unify_parts(part, other, is_direct, place))
            }
            _ => Ok(()),
        }
    }

    /// The forms of two types that meet. A hidden type is what it hides where it may be seen and meets another type.
    fn expand_pair(&mut self, left: ShapedTypeId, right: ShapedTypeId) -> (ShapedForm, ShapedForm) {
        let pair = (self.expand(left), self.expand(right));
        if !self.sees_hidden
            || matches!(&pair, (ShapedForm::Abstract(name, ..), ShapedForm::Abstract(other, ..)) if name == other)
        {
            return pair;
        }
        match pair {
            (ShapedForm::Abstract(name, sizes, types), other) => {
                let hidden = self.expand_hidden(name, &sizes, &types);
                (self.expand(hidden), other)
            }
            (other, ShapedForm::Abstract(name, sizes, types)) => {
                let hidden = self.expand_hidden(name, &sizes, &types);
                (other, self.expand(hidden))
            }
            pair => pair,
        }
    }

    /// Whether a shaped type has no sizes that could differ.
    fn is_plain(&self, id: ShapedTypeId) -> bool {
        matches!(
            self.table.shape(id),
            ShapedForm::Plain(_) | ShapedForm::Any | ShapedForm::Parameter(_)
        )
    }

    /// Makes the sizes of two function types equal.
    fn unify_functions(
        &mut self,
        mut left: FunctionShape,
        mut right: FunctionShape,
        is_direct: bool,
        place: ProgramPlace,
    ) -> Result<(), SizeClash> {
        let flexible = if is_direct { &mut left } else { &mut right };
        let chosen = self.free_existentials(flexible, place);
        self.unify_parts(left.parameter, right.parameter, !is_direct, place)?;
        if let (Some(name), Some(other)) = (left.name, right.name)
            && name != other
        {
            let mut substitution = ShapeSubstitution::default();
            substitution.sizes.insert(other, self.table.add_local(name));
            right.result = self.table.substitute(right.result, &substitution);
        }
        let mark = self.variables.enclosing.len();
        self.variables.enclosing.extend(left.name);
        self.variables.enclosing.extend(right.name);
        self.variables.enclosing.extend(&left.sizes);
        self.variables.enclosing.extend(&right.sizes);
        let result = self.unify_parts(left.result, right.result, is_direct, place);
        self.variables.enclosing.truncate(mark);
        for size in chosen {
            let resolved = self.variables.resolve(self.table, size);
            if resolved != size
                && let SizeForm::Variable(variable) = *self.table.size(resolved)
                && self.variables.is_absorbing(variable)
            {
                self.variables.absorb(variable);
            }
        }
        result
    }

    /// Puts variables in the place of the sizes that a function type chooses.
    fn free_existentials(
        &mut self,
        function: &mut FunctionShape,
        place: ProgramPlace,
    ) -> Vec<SizeId> {
        let request = VariableRequest {
            origin: SizeOrigin::Existential,
            is_absorbing: false,
            place,
        };
        let mut substitution = ShapeSubstitution::default();
        let mut chosen = Vec::new();
        for local in std::mem::take(&mut function.sizes) {
            let size = self.variables.add(self.table, request);
            chosen.push(size);
            substitution.sizes.insert(local, size);
        }
        function.result = self.table.substitute(function.result, &substitution);
        chosen
    }
}
