//! Uses of names in expressions: what they name, and with which type.

use super::environment::{TermBinding, TypeScheme, ValueBinding, ValueTarget};
use super::name_record::PathTarget;
use super::{CheckFault, CheckResult, SourceChecker};
use crate::sizes::SealedUse;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{QualifiedName, SourceName};
use crate::typed::{SpecifiedType, TypedExpressionId, TypedKind};
use std::rc::Rc;
use std::sync::Arc;

impl SourceChecker<'_> {
    /// Checks a name with the fields after it.
    pub(super) fn check_name(
        &mut self,
        path: &QualifiedName,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        self.record_path(path, PathTarget::Terms);
        let (term, used) = self.find_term(path)?;
        let text = self.name_text(path.name.name);
        if text.starts_with('_') {
            let message =
                format!("`{text}` is used, but a name that begins with an underscore must not be");
            return Err(self.fail_with(path.name.range, message, |fault| {
                fault.with_hint("the underscore says that it is unused: give it another name")
            }));
        }
        let parts = path.modules.iter().copied().chain([path.name]);
        let fields: Vec<SourceName> = parts.clone().skip(used).collect();
        let head = TextRange {
            start: range.start,
            end: if fields.is_empty() {
                range.end
            } else {
                path.modules[used - 1].range.end
            },
        };
        let mut typed = match term {
            TermBinding::Local(local, None) => {
                let type_id = self.program.locals[local].type_id;
                self.add_typed(TypedKind::Local(local, Vec::new()), type_id, head)
            }
            TermBinding::Local(local, Some(scheme)) => {
                let (type_id, arguments) = self.instantiate(&scheme, range);
                self.add_typed(TypedKind::Local(local, arguments), type_id, head)
            }
            TermBinding::Value(value) => self.check_value(&value, head),
            TermBinding::Module(..) => {
                let text = self.name_text(path.name.name);
                return Err(self.fail(range, format!("`{text}` is a module, not a value")));
            }
            TermBinding::Faulty(_) => return Err(CheckFault(None)),
        };
        if let Some(name) = parts.clone().nth(used - 1) {
            self.record_expression(name, typed);
        }
        for field in fields {
            let range = head.extend_to(field.range);
            typed = self.check_projection(typed, field, range)?;
        }
        Ok(typed)
    }

    /// A reference to a value of a module or file.
    fn check_value(&mut self, value: &ValueBinding, range: TextRange) -> TypedExpressionId {
        let scheme: Rc<TypeScheme> = Rc::clone(&value.scheme);
        let (type_id, instance) = self.instantiate(&scheme, range);
        let arguments = self.instantiate_arguments(value, &instance);
        let kind = match value.target {
            ValueTarget::Definition(id) => {
                let definition = &mut self.program.definitions[id];
                definition.is_recursive |= definition.body.is_none();
                TypedKind::Global(id, arguments)
            }
            ValueTarget::Intrinsic(intrinsic) => TypedKind::Intrinsic(intrinsic, arguments),
            ValueTarget::Specified(_) => TypedKind::Hole,
        };
        let typed = self.add_typed(kind, type_id, range);
        if let ValueTarget::Specified(id) = value.target {
            self.specification_uses[id].push(typed);
        }
        if let Some(sized) = scheme.specified {
            let type_id = scheme.body;
            self.program
                .specified_uses
                .insert(typed, SpecifiedType { sized, type_id });
        }
        if let Some(shape) = &value.shape {
            let scheme = Arc::clone(shape);
            let used = SealedUse {
                scheme,
                types: instance,
                targets: value.arguments.clone(),
            };
            self.sealed.insert(typed, used);
        }
        typed
    }
}
