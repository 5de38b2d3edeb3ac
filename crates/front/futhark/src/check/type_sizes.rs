//! Sizes of types as they are written: which are named, and which are sizes of arrays.

use super::environment::TypeBinding;
use super::sizing::size_parameters;
use super::{CheckFault, CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{SourceName, SourceNameId};
use crate::typed::{LocalId, SizeTerm, SizedType, SizedTypeId};

impl SourceChecker<'_> {
    /// Requires that the types of parameters within a type that is defined or specified name their sizes.
    pub(super) fn require_named_sizes(
        &self,
        sized: SizedTypeId,
        range: TextRange,
    ) -> CheckResult<()> {
        let mut at = sized;
        while let SizedType::Function(_, parameter, result) = self.program.sized_types[at] {
            if self.has_unwritten(parameter) {
                let message = "the type of a parameter has an anonymous size";
                return Err(self.fail_with(range, message, |diagnostic| {
                    diagnostic.with_hint("name the size, and make it a size parameter")
                }));
            }
            at = result;
        }
        Ok(())
    }

    /// Whether a type has sizes that it does not name.
    pub(super) fn has_unwritten(&self, id: SizedTypeId) -> bool {
        match &self.program.sized_types[id] {
            SizedType::Array(size, element) => {
                *size == SizeTerm::Anonymous || self.has_unwritten(*element)
            }
            SizedType::Record(fields) => fields.iter().any(|(_, field)| self.has_unwritten(*field)),
            SizedType::Sum(clauses) => {
                let mut parts = clauses.iter().flat_map(|(_, payload)| payload);
                parts.any(|part| self.has_unwritten(*part))
            }
            SizedType::Abstract(_, sizes, arguments) => {
                sizes.contains(&SizeTerm::Anonymous)
                    || arguments.iter().any(|part| self.has_unwritten(*part))
            }
            SizedType::Unique(inner) => self.has_unwritten(*inner),
            SizedType::Existential(..) => true,
            SizedType::Plain(_) | SizedType::Function(..) => false,
        }
    }

    /// Whether the values of a type have a size: it is the size of an array, not only of what functions take or give.
    pub(super) fn is_array_size(&self, size: LocalId, id: SizedTypeId) -> bool {
        let term = SizeTerm::Local(size);
        match &self.program.sized_types[id] {
            SizedType::Array(length, element) => {
                *length == term || self.is_array_size(size, *element)
            }
            SizedType::Record(fields) => {
                let mut fields = fields.iter();
                fields.any(|(_, field)| self.is_array_size(size, *field))
            }
            SizedType::Sum(clauses) => {
                let mut parts = clauses.iter().flat_map(|(_, payload)| payload);
                parts.any(|part| self.is_array_size(size, *part))
            }
            SizedType::Abstract(_, sizes, arguments) => {
                let mut arguments = arguments.iter();
                sizes.contains(&term) || arguments.any(|part| self.is_array_size(size, *part))
            }
            SizedType::Unique(inner) | SizedType::Existential(_, inner) => {
                self.is_array_size(size, *inner)
            }
            SizedType::Plain(_) | SizedType::Function(..) => false,
        }
    }

    /// The fault that no value of a type `?[n].t` has the size.
    pub(super) fn fail_unused_size(&self, size: SourceName) -> CheckFault {
        let name = self.name_text(size.name);
        let message = format!("the existential size `{name}` is no size of an array of the type");
        self.fail_with(size.range, message, |fault| {
            fault.with_hint("name the size where the function is that chooses it")
        })
    }

    /// Requires that values of a type which a module type hides have its size parameters.
    pub(super) fn check_hidden_sizes(
        &self,
        name: SourceNameId,
        found: &TypeBinding,
        range: TextRange,
    ) -> CheckResult<()> {
        let sizes = size_parameters(&found.parameters);
        let lost = sizes
            .iter()
            .find(|&&size| !self.is_array_size(size, found.sized));
        let Some(&lost) = lost else {
            return Ok(());
        };
        let size = self.name_text(self.program.locals[lost].name);
        let name = self.name_text(name);
        let message = format!(
            "type `{name}` cannot be hidden: its size parameter `{size}` is no size of an array of its definition"
        );
        Err(self.fail(range, message))
    }
}
