//! Equality: which values can be compared.

use super::RestrictionChecker;
use crate::check::types::{TypeForm, TypeId};
use crate::typed::{TypedExpressionId, TypedKind};

impl RestrictionChecker<'_> {
    /// Requires that a comparison is of values without functions and without parts of unknown type.
    pub(super) fn check_equality(&mut self, id: TypedExpressionId) {
        let program = self.program;
        let node = &program.expressions[id];
        let TypedKind::Intrinsic(intrinsic, arguments) = &node.kind else {
            return;
        };
        if !matches!(&program.names[program.intrinsics[*intrinsic]], "==" | "!=") {
            return;
        }
        for &compared in arguments {
            if let Some(part) = self.find_incomparable(compared) {
                let (whole, part) = (self.print_type(compared), self.print_type(part));
                let message =
                    format!("values of type `{whole}` have no equality and cannot be compared");
                let note = format!("`{part}` is not known here, or a function");
                self.faults.report(node.place, message, |fault| {
                    fault
                        .with_note(note)
                        .with_hint("take a function that compares as a parameter")
                });
            }
        }
    }

    /// A part of a type whose values cannot be compared. Type parameters that were inferred stand for types that can.
    fn find_incomparable(&self, type_id: TypeId) -> Option<TypeId> {
        match self.program.types.form(type_id) {
            TypeForm::Function(..) => Some(type_id),
            TypeForm::Parameter(parameter) => {
                (!self.program.types.is_inferred(*parameter)).then_some(type_id)
            }
            TypeForm::Abstract(abstract_id, _) => {
                let is_scalar = self.program.types.abstract_class(*abstract_id).is_some();
                (!is_scalar).then_some(type_id)
            }
            _ => {
                let parts = self.program.types.parts_of(type_id);
                parts
                    .into_iter()
                    .find_map(|part| self.find_incomparable(part))
            }
        }
    }
}
