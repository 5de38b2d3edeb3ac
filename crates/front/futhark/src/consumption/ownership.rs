//! Types with uniqueness, as the pass over consumption needs them: without sizes and elements.

use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::SourceNameId;
use crate::typed::{SizedType, SizedTypeId, TypedProgram};
use rustc_hash::FxHashMap;
use spirula_entity::ValueInterner;

spirula_entity::define_ids! {
    /// A type with uniqueness.
    pub struct OwnershipId: "own";
}

/// The forms of types with uniqueness.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OwnershipForm {
    /// Values that have no memory to share.
    Scalar,
    /// An array, or a value of a type that is not known. Whether it is unique.
    Memory(bool),
    /// A record.
    Record(Vec<(SourceNameId, OwnershipId)>),
    /// A sum.
    Sum(Vec<(SourceNameId, Vec<OwnershipId>)>),
    /// A function. A unique part of the parameter is consumed, a unique part of the result shares no memory.
    Function(OwnershipId, OwnershipId),
}

/// The parts of a type with uniqueness, functions counted by themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnershipSummary {
    /// Number of parts that have memory, up to a limit. A function is one.
    pub(super) parts: u32,
    /// Whether a part is unique.
    pub(super) has_unique: bool,
    /// Whether a part is not unique.
    pub(super) has_shared: bool,
    /// Whether a part is a function.
    pub(super) has_function: bool,
}

impl OwnershipSummary {
    fn join(self, other: OwnershipSummary) -> OwnershipSummary {
        OwnershipSummary {
            parts: self.parts.saturating_add(other.parts),
            has_unique: self.has_unique || other.has_unique,
            has_shared: self.has_shared || other.has_shared,
            has_function: self.has_function || other.has_function,
        }
    }
}

/// All types with uniqueness of a program.
#[derive(Debug, Default)]
pub(super) struct OwnershipTable {
    forms: ValueInterner<OwnershipId, OwnershipForm>,
    summaries: Vec<OwnershipSummary>,
    plain: FxHashMap<(TypeId, bool), OwnershipId>,
    sized: FxHashMap<(SizedTypeId, TypeId, bool), OwnershipId>,
    viewed: FxHashMap<(OwnershipId, TypeId, bool), OwnershipId>,
    marked: FxHashMap<(OwnershipId, bool), OwnershipId>,
}

impl OwnershipTable {
    /// The id of a type.
    pub(super) fn intern(&mut self, form: OwnershipForm) -> OwnershipId {
        let summary = self.summarise_form(&form);
        let id = self.forms.intern(form);
        if self.summaries.len() < self.forms.len() {
            self.summaries.push(summary);
        }
        id
    }

    /// The form of a type.
    pub(super) fn form(&self, id: OwnershipId) -> &OwnershipForm {
        self.forms.get(id)
    }

    /// The parts of a type.
    pub(super) fn summary(&self, id: OwnershipId) -> OwnershipSummary {
        self.summaries[id.index()]
    }

    fn summarise_form(&self, form: &OwnershipForm) -> OwnershipSummary {
        let parts: Vec<OwnershipId> = match form {
            OwnershipForm::Scalar => return OwnershipSummary::default(),
            OwnershipForm::Memory(is_unique) => {
                return OwnershipSummary {
                    parts: 1,
                    has_unique: *is_unique,
                    has_shared: !*is_unique,
                    has_function: false,
                };
            }
            OwnershipForm::Function(..) => {
                return OwnershipSummary {
                    parts: 1,
                    has_unique: false,
                    has_shared: true,
                    has_function: true,
                };
            }
            OwnershipForm::Record(fields) => fields.iter().map(|(_, field)| *field).collect(),
            OwnershipForm::Sum(clauses) => {
                let payloads = clauses.iter().flat_map(|(_, payload)| payload);
                payloads.copied().collect()
            }
        };
        let parts = parts.into_iter().map(|part| self.summary(part));
        parts.fold(OwnershipSummary::default(), OwnershipSummary::join)
    }

    /// The type of scalars.
    pub(super) fn scalar(&mut self) -> OwnershipId {
        self.intern(OwnershipForm::Scalar)
    }

    /// The type whose memory is all unique or all shared.
    pub(super) fn own_type(
        &mut self,
        program: &TypedProgram,
        type_id: TypeId,
        is_unique: bool,
    ) -> OwnershipId {
        if let Some(&known) = self.plain.get(&(type_id, is_unique)) {
            return known;
        }
        let form = match program.types.form(type_id) {
            TypeForm::Scalar(_) => OwnershipForm::Scalar,
            TypeForm::Array(_)
            | TypeForm::Abstract(..)
            | TypeForm::Parameter(_)
            | TypeForm::Variable(_) => OwnershipForm::Memory(is_unique),
            TypeForm::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| (*name, self.own_type(program, *field, is_unique)));
                OwnershipForm::Record(fields.collect())
            }
            TypeForm::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload
                        .iter()
                        .map(|&part| self.own_type(program, part, is_unique));
                    (*name, payload.collect())
                });
                OwnershipForm::Sum(clauses.collect())
            }
            TypeForm::Function(parameter, result) => OwnershipForm::Function(
                self.own_type(program, *parameter, false),
                self.own_type(program, *result, false),
            ),
        };
        let id = self.intern(form);
        self.plain.insert((type_id, is_unique), id);
        id
    }

    /// The type that is written in the source. `type_id` is the same type without sizes.
    pub(super) fn own_sized(
        &mut self,
        program: &TypedProgram,
        sized: SizedTypeId,
        type_id: TypeId,
        is_unique: bool,
    ) -> OwnershipId {
        if let Some(&known) = self.sized.get(&(sized, type_id, is_unique)) {
            return known;
        }
        let id = match (&program.sized_types[sized], program.types.form(type_id)) {
            (SizedType::Unique(inner), _) => self.own_sized(program, *inner, type_id, true),
            (SizedType::Existential(_, inner), _) => {
                self.own_sized(program, *inner, type_id, is_unique)
            }
            (SizedType::Record(fields), TypeForm::Record(types)) if fields.len() == types.len() => {
                let parts = fields.iter().zip(types);
                let parts = parts.map(|((name, field), (_, field_type))| {
                    let part = self.own_sized(program, *field, *field_type, is_unique);
                    (*name, part)
                });
                let form = OwnershipForm::Record(parts.collect());
                self.intern(form)
            }
            (SizedType::Sum(clauses), TypeForm::Sum(types)) if clauses.len() == types.len() => {
                let parts = clauses.iter().zip(types);
                let parts = parts.map(|((name, payload), (_, payload_types))| {
                    let payload = payload.iter().zip(payload_types);
                    let payload = payload.map(|(&part, &part_type)| {
                        self.own_sized(program, part, part_type, is_unique)
                    });
                    (*name, payload.collect())
                });
                let form = OwnershipForm::Sum(parts.collect());
                self.intern(form)
            }
            (
                SizedType::Function(_, parameter, result),
                TypeForm::Function(parameter_type, result_type),
            ) => {
                let parameter = self.own_sized(program, *parameter, *parameter_type, false);
                let result = self.own_sized(program, *result, *result_type, false);
                self.intern(OwnershipForm::Function(parameter, result))
            }
            _ => self.own_type(program, type_id, is_unique),
        };
        self.sized.insert((sized, type_id, is_unique), id);
        id
    }

    /// The type of a definition as it is seen where it has another type without sizes. Type parameters stand for types,
    /// and types may be hidden. A hidden parameter is consumed if a part of it is, a hidden result is unique if all
    /// parts are.
    pub(super) fn view_as(
        &mut self,
        program: &TypedProgram,
        id: OwnershipId,
        type_id: TypeId,
        is_parameter: bool,
    ) -> OwnershipId {
        if let Some(&known) = self.viewed.get(&(id, type_id, is_parameter)) {
            return known;
        }
        let form = match (self.form(id).clone(), program.types.form(type_id)) {
            (OwnershipForm::Record(fields), TypeForm::Record(types))
                if fields.len() == types.len() =>
            {
                let parts = fields.into_iter().zip(types);
                let parts = parts.map(|((name, field), (_, field_type))| {
                    (
                        name,
                        self.view_as(program, field, *field_type, is_parameter),
                    )
                });
                OwnershipForm::Record(parts.collect())
            }
            (OwnershipForm::Sum(clauses), TypeForm::Sum(types)) if clauses.len() == types.len() => {
                let parts = clauses.into_iter().zip(types);
                let parts = parts.map(|((name, payload), (_, payload_types))| {
                    let payload = payload.into_iter().zip(payload_types);
                    let payload = payload.map(|(part, &part_type)| {
                        self.view_as(program, part, part_type, is_parameter)
                    });
                    (name, payload.collect())
                });
                OwnershipForm::Sum(parts.collect())
            }
            (
                OwnershipForm::Function(parameter, result),
                TypeForm::Function(parameter_type, result_type),
            ) => OwnershipForm::Function(
                self.view_as(program, parameter, *parameter_type, true),
                self.view_as(program, result, *result_type, false),
            ),
            _ => {
                let summary = self.summary(id);
                let is_unique = if is_parameter {
                    summary.has_unique
                } else {
                    !summary.has_shared
                };
                let plain = self.own_type(program, type_id, is_unique);
                self.form(plain).clone()
            }
        };
        let viewed = self.intern(form);
        self.viewed.insert((id, type_id, is_parameter), viewed);
        viewed
    }

    /// The type with all its memory unique or shared. Functions stay as they are.
    pub(super) fn with_uniqueness(&mut self, id: OwnershipId, is_unique: bool) -> OwnershipId {
        if let Some(&known) = self.marked.get(&(id, is_unique)) {
            return known;
        }
        let form = match self.form(id).clone() {
            OwnershipForm::Memory(_) => OwnershipForm::Memory(is_unique),
            form @ (OwnershipForm::Scalar | OwnershipForm::Function(..)) => form,
            OwnershipForm::Record(fields) => {
                let fields = fields
                    .into_iter()
                    .map(|(name, field)| (name, self.with_uniqueness(field, is_unique)));
                OwnershipForm::Record(fields.collect())
            }
            OwnershipForm::Sum(clauses) => {
                let clauses = clauses.into_iter().map(|(name, payload)| {
                    let payload = payload
                        .into_iter()
                        .map(|part| self.with_uniqueness(part, is_unique));
                    (name, payload.collect())
                });
                OwnershipForm::Sum(clauses.collect())
            }
        };
        let marked = self.intern(form);
        self.marked.insert((id, is_unique), marked);
        marked
    }

    /// Whether a value of one type may stand where another is expected: a function must not consume more, and its result
    /// must be as unique.
    pub(super) fn is_usable_as(&self, found: OwnershipId, expected: OwnershipId) -> bool {
        if found == expected {
            return true;
        }
        match (self.form(found), self.form(expected)) {
            (
                OwnershipForm::Function(parameter, result),
                OwnershipForm::Function(expected_parameter, expected_result),
            ) => {
                self.is_covered_by(*parameter, *expected_parameter)
                    && self.is_usable_as(*expected_parameter, *parameter)
                    && self.is_covered_by(*expected_result, *result)
                    && self.is_usable_as(*result, *expected_result)
            }
            (OwnershipForm::Record(fields), OwnershipForm::Record(others))
                if fields.len() == others.len() =>
            {
                let mut pairs = fields.iter().zip(others);
                pairs.all(|((_, field), (_, other))| self.is_usable_as(*field, *other))
            }
            _ => true,
        }
    }

    /// Whether each unique part of a type is a unique part of another.
    fn is_covered_by(&self, id: OwnershipId, other: OwnershipId) -> bool {
        if id == other || !self.summary(id).has_unique {
            return true;
        }
        match (self.form(id), self.form(other)) {
            (OwnershipForm::Record(fields), OwnershipForm::Record(others))
                if fields.len() == others.len() =>
            {
                let mut pairs = fields.iter().zip(others);
                pairs.all(|((_, field), (_, other))| self.is_covered_by(*field, *other))
            }
            _ => self.summary(other).has_unique,
        }
    }

    /// A type for messages: `_` is a scalar, `t` is memory, `*t` is unique memory.
    pub(super) fn describe(&self, id: OwnershipId) -> String {
        match self.form(id) {
            OwnershipForm::Scalar => "_".to_owned(),
            OwnershipForm::Memory(true) => "*t".to_owned(),
            OwnershipForm::Memory(false) => "t".to_owned(),
            OwnershipForm::Record(_) | OwnershipForm::Sum(_) => {
                let summary = self.summary(id);
                match (summary.has_unique, summary.has_shared) {
                    (true, false) => "*{…}".to_owned(),
                    (true, true) => "{…, *t}".to_owned(),
                    _ => "{…}".to_owned(),
                }
            }
            OwnershipForm::Function(parameter, result) => {
                let parameter_text = self.describe(*parameter);
                let result_text = self.describe(*result);
                if self.summary(*parameter).has_function {
                    format!("({parameter_text}) -> {result_text}")
                } else {
                    format!("{parameter_text} -> {result_text}")
                }
            }
        }
    }
}
