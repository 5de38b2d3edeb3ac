//! Sizes of types as they are written: which are named, and which are sizes of arrays.

use super::environment::{TypeBinding, TypeParameterBinding};
use super::sizing::size_parameters;
use super::{CheckFault, CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{SourceName, SourceNameId, TypeParameter};
use crate::typed::{LocalId, SizeTerm, SizedType, SizedTypeId, TypedExpressionId, TypedKind};

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

    /// Requires that a type abbreviation has its size parameters in its definition.
    pub(super) fn require_used_sizes(
        &self,
        declared: &[TypeParameter],
        parameters: &[TypeParameterBinding],
        definition: SizedTypeId,
    ) -> CheckResult<()> {
        for (declared, parameter) in declared.iter().zip(parameters) {
            if let TypeParameterBinding::Size(local) = parameter
                && !self.mentions_size(*local, definition)
            {
                let name = self.name_text(declared.name.name);
                let message = format!("the size parameter `{name}` is no size of the definition");
                return Err(self.fail(declared.name.range, message));
            }
        }
        Ok(())
    }

    /// Whether a type has a size with a variable.
    fn mentions_size(&self, size: LocalId, id: SizedTypeId) -> bool {
        let is_in_term = |term: &SizeTerm| match *term {
            SizeTerm::Anonymous => false,
            SizeTerm::Local(local) => local == size,
            SizeTerm::Expression(expression) => self.reads_local(size, expression),
        };
        match &self.program.sized_types[id] {
            SizedType::Plain(_) => false,
            SizedType::Array(length, element) => {
                is_in_term(length) || self.mentions_size(size, *element)
            }
            SizedType::Record(fields) => {
                let mut fields = fields.iter();
                fields.any(|(_, field)| self.mentions_size(size, *field))
            }
            SizedType::Sum(clauses) => {
                let mut parts = clauses.iter().flat_map(|(_, payload)| payload);
                parts.any(|part| self.mentions_size(size, *part))
            }
            SizedType::Function(_, parameter, result) => {
                self.mentions_size(size, *parameter) || self.mentions_size(size, *result)
            }
            SizedType::Abstract(_, sizes, arguments) => {
                let mut arguments = arguments.iter();
                sizes.iter().any(is_in_term)
                    || arguments.any(|part| self.mentions_size(size, *part))
            }
            SizedType::Unique(inner) | SizedType::Existential(_, inner) => {
                self.mentions_size(size, *inner)
            }
        }
    }

    /// Whether an expression uses a variable.
    fn reads_local(&self, local: LocalId, expression: TypedExpressionId) -> bool {
        let mut pending = vec![expression];
        while let Some(id) = pending.pop() {
            let kind = &self.program.expressions[id].kind;
            if matches!(kind, TypedKind::Local(other, _) if *other == local) {
                return true;
            }
            kind.for_each_child(&mut |child| pending.push(child));
        }
        false
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
