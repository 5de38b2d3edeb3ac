//! Last step of inference: variables give way to the types that they stand for.

use super::SourceChecker;
use super::types::TypeId;
use crate::typed::TypedKind;

impl SourceChecker<'_> {
    /// Resolves the types of all expressions, patterns and variables of the program.
    pub(super) fn resolve_types(&mut self) {
        for id in self.program.expressions.ids() {
            let type_id = self.program.expressions[id].type_id;
            self.program.expressions[id].type_id = self.resolve_last(type_id);
            let mut kind =
                std::mem::replace(&mut self.program.expressions[id].kind, TypedKind::Hole);
            if let TypedKind::Local(_, arguments)
            | TypedKind::Global(_, arguments)
            | TypedKind::Intrinsic(_, arguments) = &mut kind
            {
                for argument in arguments {
                    *argument = self.resolve_last(*argument);
                }
            }
            self.program.expressions[id].kind = kind;
        }
        for id in self.program.patterns.ids() {
            let type_id = self.program.patterns[id].type_id;
            self.program.patterns[id].type_id = self.resolve_last(type_id);
        }
        let mut specified = std::mem::take(&mut self.program.specified_uses);
        for used in specified.values_mut() {
            used.type_id = self.resolve_last(used.type_id);
        }
        self.program.specified_uses = specified;
        for index in 0..self.program.ascriptions.len() {
            let type_id = self.program.ascriptions[index].specified.type_id;
            self.program.ascriptions[index].specified.type_id = self.resolve_last(type_id);
        }
        for id in self.program.locals.ids() {
            let type_id = self.program.locals[id].type_id;
            self.program.locals[id].type_id = self.resolve_last(type_id);
        }
    }

    fn resolve_last(&mut self, id: TypeId) -> TypeId {
        self.variables.resolve_all(&mut self.program.types, id)
    }
}
