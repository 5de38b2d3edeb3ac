//! Definitions of fields and constructors.
//!
//! Types of records and sums have no names of their own: types of the same form are equal. The definition of a field is
//! therefore the one in the first type that is written with these types of its fields, or else with these names of fields, as that
//! of an abbreviation with type parameters. Those in the same file come first.

use super::SourceAnalysis;
use crate::check::name_record::{NameMeaning, NameOccurrence, WrittenPart};
use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::SourceNameId;
use crate::typed::ProgramPlace;

impl SourceAnalysis {
    /// Where the field or constructor of an occurrence is defined.
    pub(super) fn find_part_definition(
        &self,
        place: ProgramPlace,
        occurrence: &NameOccurrence,
    ) -> Option<ProgramPlace> {
        let holder = match occurrence.meaning {
            NameMeaning::Field { record, .. } => record,
            NameMeaning::Constructor(sum) => sum,
            _ => return None,
        };
        let name = self.text_at(place).trim_start_matches('#');
        let names = self.list_part_names(holder);
        let parts = self.checked.names.type_parts.iter();
        let parts = parts.filter(|part| {
            self.checked.program.names[part.name] == *name
                && self.has_same_form(part.holder, holder)
                && self.list_part_names(part.holder) == names
        });
        let rank = |part: &&WrittenPart| {
            (
                part.holder != holder,
                part.place.file != place.file,
                part.place,
            )
        };
        parts.min_by_key(rank).map(|part| part.place)
    }

    /// Whether two types are records, or two sums.
    fn has_same_form(&self, left: TypeId, right: TypeId) -> bool {
        let types = &self.checked.program.types;
        matches!(
            (types.form(left), types.form(right)),
            (TypeForm::Record(_), TypeForm::Record(_)) | (TypeForm::Sum(_), TypeForm::Sum(_))
        )
    }

    /// The names of the fields or constructors of a type.
    fn list_part_names(&self, holder: TypeId) -> Vec<SourceNameId> {
        match self.checked.program.types.form(holder) {
            TypeForm::Record(fields) => fields.iter().map(|(name, _)| *name).collect(),
            TypeForm::Sum(clauses) => clauses.iter().map(|(name, _)| *name).collect(),
            _ => Vec::new(),
        }
    }
}
