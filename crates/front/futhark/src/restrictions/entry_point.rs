//! Entry points: they have no type parameters, and no functions as parameters or results.

use super::RestrictionChecker;
use crate::check::types::TypeForm;
use crate::typed::DefinitionId;

impl RestrictionChecker<'_> {
    /// Checks the type of an entry point.
    pub(super) fn check_entry(&mut self, id: DefinitionId) {
        let program = self.program;
        let definition = &program.definitions[id];
        let name = &program.names[definition.name];
        let printed = self.print_type(definition.type_id);
        if !definition.type_parameters.is_empty() {
            let message = format!(
                "Entry point functions may not be polymorphic, but `{name}` is of type `{printed}`"
            );
            self.faults.report(definition.place, message, |fault| {
                fault.with_hint("write the types of its parameters")
            });
            return;
        }
        let mut rest = definition.type_id;
        let mut is_first_order = true;
        while let TypeForm::Function(parameter, result) = program.types.form(rest) {
            is_first_order &= self.is_first_order(*parameter);
            rest = *result;
        }
        if !is_first_order || !self.is_first_order(rest) {
            let message = format!(
                "Entry point functions may not be higher-order, but `{name}` is of type `{printed}`"
            );
            self.faults.report(definition.place, message, |fault| {
                fault.with_hint(
                    "let the entry point call the function with a value in place of the function",
                )
            });
        }
    }
}
