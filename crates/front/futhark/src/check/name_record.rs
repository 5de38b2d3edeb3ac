//! Record of names: the meaning of each name of a program by its place, for tools that show it to people.
//!
//! The checker makes the record while it resolves names, where it is asked for one. The body of a parametric module is
//! recorded as it was checked by itself, not once more for each argument. Nothing is recorded in the prelude.

use super::environment::{ModuleScope, ModuleValue, TermBinding, ValueBinding, ValueTarget};
use super::scope::ScopeChange;
use super::types::{TypeForm, TypeId};
use super::{CheckResult, SourceChecker};
use crate::sizes::shape::ShapedScheme;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{QualifiedName, SourceName, SourceNameId};
use crate::typed::{DefinitionId, FileId, LocalId, ProgramPlace, TypedExpressionId};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The names of a program.
#[derive(Debug, Default)]
pub struct NameRecord {
    /// All occurrences of names, those of definitions among them.
    pub occurrences: FxHashMap<ProgramPlace, NameOccurrence>,
    /// Where variables of expressions are bound.
    pub local_places: FxHashMap<LocalId, ProgramPlace>,
    /// The variables of expressions, with the text in which each is visible.
    pub visible_locals: Vec<VisibleLocal>,
    /// The names of files and of the bodies of modules. The innermost text around a place counts.
    pub regions: Vec<ScopeRegion>,
    /// The fields and constructors of types that are written, in the order in which they are checked.
    pub type_parts: Vec<WrittenPart>,
}

/// A field or constructor of a type that is written.
#[derive(Clone, Copy, Debug)]
pub struct WrittenPart {
    /// Its name.
    pub name: SourceNameId,
    /// Where it stands.
    pub place: ProgramPlace,
    /// The record or sum.
    pub holder: TypeId,
}

/// An occurrence of a name.
#[derive(Clone, Debug)]
pub struct NameOccurrence {
    /// Where the name is defined. None for fields and constructors: any type of the same form may be their definition.
    pub definition: Option<ProgramPlace>,
    /// The meaning of the name.
    pub meaning: NameMeaning,
    /// Whether the name is also that of a field: `{x}` is `{x = x}`.
    pub is_field_shorthand: bool,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum NameMeaning {
    /// A value in an expression.
    Expression(TypedExpressionId),
    /// A variable where it is bound, or whose use has a fault.
    Local(LocalId),
    /// A function or constant where it is defined, or whose use has a fault.
    Definition(DefinitionId),
    /// A value of a module type.
    Specification(Option<Arc<ShapedScheme>>),
    /// A type.
    Type,
    /// A module.
    Module,
    /// A module type.
    ModuleType,
    /// A field, with the type of its value and that of the record.
    Field {
        /// The type of the value.
        value: TypeId,
        /// The type of the record.
        record: TypeId,
    },
    /// A constructor, with the type of the sum.
    Constructor(TypeId),
    /// The path of a file.
    File,
    /// A definition with a fault.
    Faulty,
}

/// A variable of an expression, with the text in which it is visible.
#[derive(Clone, Copy, Debug)]
pub struct VisibleLocal {
    /// Its name.
    pub name: SourceNameId,
    /// The variable. None if its value has a fault.
    pub local: Option<LocalId>,
    /// The text.
    pub place: ProgramPlace,
}

/// The names of a file, or of the body of a module.
#[derive(Clone, Debug)]
pub struct ScopeRegion {
    /// The text.
    pub place: ProgramPlace,
    /// The names at its end.
    pub scope: Rc<ModuleScope>,
}

/// The target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathTarget {
    /// Values and modules.
    Terms,
    /// Types.
    Types,
    /// Module types.
    ModuleTypes,
}

impl SourceChecker<'_> {
    /// The record, if names are recorded where the checker is.
    fn open_record(&mut self) -> Option<&mut NameRecord> {
        if self.is_instance || self.names.is_none() {
            return None;
        }
        if self.files.files[self.file].name.starts_with("/prelude/") {
            return None;
        }
        self.names.as_deref_mut()
    }

    /// Records an occurrence of a name.
    fn record_occurrence(
        &mut self,
        range: TextRange,
        definition: Option<ProgramPlace>,
        meaning: NameMeaning,
    ) {
        let place = self.place(range);
        if let Some(record) = self.open_record() {
            let occurrence = NameOccurrence {
                definition,
                meaning,
                is_field_shorthand: false,
            };
            record.occurrences.insert(place, occurrence);
        }
    }

    /// Records the name of a definition, where it is defined.
    pub(super) fn record_definition(&mut self, name: SourceName, meaning: NameMeaning) {
        let place = self.place(name.range);
        self.record_occurrence(name.range, Some(place), meaning);
    }

    /// Records the name of a variable, where it is bound. A name that is also read there, as in `let a[i] = v`, is the new
    /// value of the same variable: both have one definition.
    pub(super) fn record_local(&mut self, name: SourceName, local: LocalId) {
        let own_place = self.place(name.range);
        if let Some(record) = self.open_record() {
            let before = record.occurrences.get(&own_place);
            let before = before.and_then(|occurrence| occurrence.definition);
            let definition = before.unwrap_or(own_place);
            record.local_places.insert(local, definition);
            let meaning = NameMeaning::Local(local);
            self.record_occurrence(name.range, Some(definition), meaning);
        }
    }

    /// Records that the name at a range is also that of a field.
    pub(super) fn record_shorthand(&mut self, range: TextRange) {
        let place = self.place(range);
        if let Some(record) = self.open_record()
            && let Some(occurrence) = record.occurrences.get_mut(&place)
        {
            occurrence.is_field_shorthand = true;
        }
    }

    /// Records the fields and constructors that a type names.
    pub(super) fn record_type_parts(&mut self, names: &[SourceName], type_id: TypeId) {
        if self.open_record().is_none() {
            return;
        }
        match self.program.types.form(type_id).clone() {
            TypeForm::Record(fields) => {
                for &name in names {
                    let field = fields.iter().find(|(other, _)| *other == name.name);
                    if let Some((_, field)) = field {
                        self.record_field(name, *field, type_id);
                        self.record_written_part(name, type_id);
                    }
                }
            }
            TypeForm::Sum(_) => {
                for &name in names {
                    self.record_constructor(name, type_id);
                    self.record_written_part(name, type_id);
                }
            }
            _ => {}
        }
    }

    /// Records a field or constructor of a type that is written.
    fn record_written_part(&mut self, name: SourceName, holder: TypeId) {
        let place = self.place(name.range);
        if let Some(record) = self.open_record() {
            record.type_parts.push(WrittenPart {
                name: name.name,
                place,
                holder,
            });
        }
    }

    /// Records the name of a field, with the types of its value and of the record.
    pub(super) fn record_field(&mut self, name: SourceName, value: TypeId, record: TypeId) {
        let meaning = NameMeaning::Field { value, record };
        self.record_occurrence(name.range, None, meaning);
    }

    /// Records the name of a constructor, with the type of the sum. The range begins with its `#`.
    pub(super) fn record_constructor(&mut self, name: SourceName, type_id: TypeId) {
        self.record_occurrence(name.range, None, NameMeaning::Constructor(type_id));
    }

    /// Records the path of an import.
    pub(super) fn record_import(&mut self, path: SourceName, file: FileId) {
        let range = TextRange::default();
        self.record_occurrence(
            path.range,
            Some(ProgramPlace { file, range }),
            NameMeaning::File,
        );
    }

    /// Records what the names of a path stand for, as far as they stand for something.
    pub(super) fn record_path(&mut self, path: &QualifiedName, space: PathTarget) {
        if self.open_record().is_none() {
            return;
        }
        let mut holder: Option<Rc<ModuleScope>> = None;
        for part in &path.modules {
            let scope = holder.as_deref().unwrap_or(&self.scope);
            let Some(term) = scope.terms.get(&part.name).cloned() else {
                return;
            };
            self.record_term(*part, &term);
            match term {
                TermBinding::Module(ModuleValue::Structure(structure), _) => {
                    holder = Some(structure);
                }
                _ => return,
            }
        }
        let scope = holder.as_deref().unwrap_or(&self.scope);
        let name = path.name;
        match space {
            PathTarget::Terms => {
                if let Some(term) = scope.terms.get(&name.name).cloned() {
                    self.record_term(name, &term);
                }
            }
            PathTarget::Types => {
                if let Some(binding) = scope.types.get(&name.name) {
                    let place = binding.place;
                    self.record_occurrence(name.range, Some(place), NameMeaning::Type);
                }
            }
            PathTarget::ModuleTypes => {
                if let Some(binding) = scope.module_types.get(&name.name) {
                    let place = binding.place;
                    self.record_occurrence(name.range, Some(place), NameMeaning::ModuleType);
                }
            }
        }
    }

    /// Records the path of a type that a module type is refined by.
    pub(super) fn record_refined(&mut self, path: &QualifiedName, structure: &Rc<ModuleScope>) {
        if self.open_record().is_none() {
            return;
        }
        let mut holder = Rc::clone(structure);
        for part in &path.modules {
            let Some(term) = holder.terms.get(&part.name).cloned() else {
                return;
            };
            self.record_term(*part, &term);
            match term {
                TermBinding::Module(ModuleValue::Structure(structure), _) => holder = structure,
                _ => return,
            }
        }
        if let Some(binding) = holder.types.get(&path.name.name) {
            let place = binding.place;
            self.record_occurrence(path.name.range, Some(place), NameMeaning::Type);
        }
    }

    /// Records a value or module.
    fn record_term(&mut self, name: SourceName, term: &TermBinding) {
        let (definition, meaning) = match term {
            TermBinding::Value(value) => (Some(value.place), describe_value(value)),
            TermBinding::Module(_, place) => (Some(*place), NameMeaning::Module),
            TermBinding::Faulty(place) => (Some(*place), NameMeaning::Faulty),
            TermBinding::Local(local, _) => {
                let record = self.open_record();
                let place = record.and_then(|record| record.local_places.get(local).copied());
                (place, NameMeaning::Local(*local))
            }
        };
        self.record_occurrence(name.range, definition, meaning);
    }

    /// Records the expression that a name became.
    pub(super) fn record_expression(&mut self, name: SourceName, typed: TypedExpressionId) {
        let place = self.place(name.range);
        if let Some(record) = self.open_record()
            && let Some(occurrence) = record.occurrences.get_mut(&place)
        {
            occurrence.meaning = NameMeaning::Expression(typed);
        }
    }

    /// Records the variables that were bound since a mark. They are visible up to the end of a range.
    pub(super) fn record_scope(&mut self, mark: usize, range: TextRange) {
        if self.open_record().is_none() {
            return;
        }
        let mut found = Vec::new();
        for change in &self.changes[mark.min(self.changes.len())..] {
            let ScopeChange::Term(name, _) = change else {
                continue;
            };
            match self.scope.terms.get(name) {
                Some(TermBinding::Local(local, _)) => found.push((*name, Some(*local))),
                Some(TermBinding::Faulty(_)) => found.push((*name, None)),
                _ => {}
            }
        }
        let file = self.file;
        let Some(record) = self.open_record() else {
            return;
        };
        for (name, local) in found {
            let bound = local.and_then(|local| record.local_places.get(&local));
            let start = bound.map_or(range.start, |bound| bound.range.end);
            let range = TextRange {
                start: start.clamp(range.start, range.end),
                end: range.end,
            };
            let place = ProgramPlace { file, range };
            record
                .visible_locals
                .push(VisibleLocal { name, local, place });
        }
    }

    /// Records the names at the end of a file, or of the body of a module.
    pub(super) fn record_region(&mut self, range: TextRange) {
        let place = self.place(range);
        if self.open_record().is_some() {
            let scope = Rc::new(self.scope.clone());
            if let Some(record) = self.open_record() {
                record.regions.push(ScopeRegion { place, scope });
            }
        }
    }

    /// Resolves the types of fields and constructors.
    pub(super) fn resolve_record(&mut self) {
        let Some(mut record) = self.names.take() else {
            return;
        };
        let mut resolve = |type_id: &mut TypeId| {
            *type_id = self
                .variables
                .resolve_all(&mut self.program.types, *type_id);
        };
        for occurrence in record.occurrences.values_mut() {
            match &mut occurrence.meaning {
                NameMeaning::Field { value, record } => {
                    resolve(value);
                    resolve(record);
                }
                NameMeaning::Constructor(type_id) => resolve(type_id),
                _ => {}
            }
        }
        for part in &mut record.type_parts {
            resolve(&mut part.holder);
        }
        self.names = Some(record);
    }

    /// The result of a part that has a scope of its own, which ends.
    pub(super) fn close_scope<T>(
        &mut self,
        mark: usize,
        range: TextRange,
        result: CheckResult<T>,
    ) -> CheckResult<T> {
        self.record_scope(mark, range);
        self.end_scope(mark);
        result
    }
}

/// The meaning of a value outside expressions.
fn describe_value(value: &ValueBinding) -> NameMeaning {
    match value.target {
        ValueTarget::Definition(id) => NameMeaning::Definition(id),
        ValueTarget::Intrinsic(_) | ValueTarget::Specified(_) => {
            NameMeaning::Specification(value.shape.clone())
        }
    }
}
