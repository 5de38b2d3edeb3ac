//! The meaning of the name of a function inside the function.
//!
//! A function calls itself by its name. Before Futhark 0.27, no function could: the name meant an earlier definition, such
//! as one of the prelude. A function is read like that if it has a fault as a recursive one, or would never return because
//! each call of it calls it again.

use super::environment::{TermBinding, ValueBinding};
use super::name_record::NameMeaning;
use super::types::TypeId;
use super::{CheckResult, SourceChecker};
use crate::syntax::tree::{SourceAttribute, SourceName, ValueDeclaration};
use crate::typed::{DefinitionId, TypedDefinition, TypedKind, TypedPatternKind};

/// The meaning of the name of a definition inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnName {
    /// The definition.
    Itself,
    /// The meaning of the name around the definition.
    Earlier,
}

/// The state before a check of a definition.
struct CheckStart {
    scope: usize,
    warnings: usize,
    expressions: usize,
    patterns: usize,
}

impl SourceChecker<'_> {
    /// Checks a function or constant. A function that cannot be meant as a recursive one may use an earlier meaning of its
    /// name.
    pub(super) fn check_value_declaration(
        &mut self,
        value: &ValueDeclaration,
        attributes: &[SourceAttribute],
    ) -> CheckResult<ValueBinding> {
        let id = self.add_definition(value.name, attributes);
        self.record_definition(value.name, NameMeaning::Definition(id));
        if value.signature.parameters.is_empty() {
            return self.check_definition(id, value, OwnName::Earlier);
        }
        let earlier = self.scope.terms.get(&value.name.name);
        let has_earlier = matches!(earlier, Some(TermBinding::Value(_)));
        let start = self.mark_check();
        let faults = self.faults.len();
        let itself = self.check_definition(id, value, OwnName::Itself);
        let may_be_earlier = has_earlier && self.program.definitions[id].is_recursive;
        if !may_be_earlier || (itself.is_ok() && !self.always_calls_itself(id)) {
            return itself;
        }
        self.undo_check(&start);
        let reported = self.faults.split_off(faults);
        if let Ok(binding) = self.check_definition(id, value, OwnName::Earlier) {
            self.warn_of_earlier_meaning(value.name);
            return Ok(binding);
        }
        self.undo_check(&start);
        self.faults.truncate(faults);
        self.faults.extend(reported);
        match itself {
            // Nothing is left of its check.
            Ok(_) => self.check_definition(id, value, OwnName::Itself),
            Err(fault) => Err(fault),
        }
    }

    /// Whether each call of a definition calls it again, whatever the arguments.
    fn always_calls_itself(&self, id: DefinitionId) -> bool {
        let definition = &self.program.definitions[id];
        let count = definition.parameters.len();
        let mut pending = Vec::from_iter(definition.body);
        while let Some(expression) = pending.pop() {
            let kind = &self.program.expressions[expression].kind;
            match kind {
                TypedKind::Application(function, arguments) => {
                    let called = &self.program.expressions[*function].kind;
                    let is_itself = matches!(called, TypedKind::Global(other, _) if *other == id);
                    if is_itself && arguments.len() >= count {
                        return true;
                    }
                    kind.for_each_child(&mut |child| pending.push(child));
                }
                // The other parts may never be evaluated.
                TypedKind::If(condition, ..) => pending.push(*condition),
                TypedKind::Match(source, _) => pending.push(*source),
                TypedKind::Assert(condition, _) => pending.push(*condition),
                TypedKind::Lambda(_) | TypedKind::Loop(_) => {}
                _ => kind.for_each_child(&mut |child| pending.push(child)),
            }
        }
        false
    }

    /// A definition that is not checked yet.
    fn add_definition(&mut self, name: SourceName, attributes: &[SourceAttribute]) -> DefinitionId {
        let place = self.place(name.range);
        let locals = self.program.locals.len();
        let type_id = self.unit_type();
        self.program.definitions.push(TypedDefinition {
            name: name.name,
            modules: self.module_path.clone(),
            place,
            type_parameters: Vec::new(),
            size_parameters: Vec::new(),
            parameters: Vec::new(),
            result: None,
            type_id,
            body: None,
            is_recursive: false,
            attributes: attributes.to_vec(),
            locals: locals..locals,
        })
    }

    fn mark_check(&self) -> CheckStart {
        CheckStart {
            scope: self.mark_scope(),
            warnings: self.program.warnings.len(),
            expressions: self.program.expressions.len(),
            patterns: self.program.patterns.len(),
        }
    }

    /// Takes back what was checked since a start. Its expressions and patterns are emptied: nothing refers to them.
    fn undo_check(&mut self, start: &CheckStart) {
        self.end_scope(start.scope);
        self.program.warnings.truncate(start.warnings);
        let unit = self.unit_type();
        let expressions = self.program.expressions.ids().skip(start.expressions);
        for id in expressions.collect::<Vec<_>>() {
            let expression = &mut self.program.expressions[id];
            expression.kind = TypedKind::Record(Vec::new());
            expression.type_id = unit;
        }
        let patterns = self.program.patterns.ids().skip(start.patterns);
        for id in patterns.collect::<Vec<_>>() {
            self.program.patterns[id].kind = TypedPatternKind::Wildcard;
        }
    }

    fn unit_type(&mut self) -> TypeId {
        self.program.types.tuple(&[], &mut self.program.names)
    }

    fn warn_of_earlier_meaning(&mut self, name: SourceName) {
        let place = self.place(name.range);
        let message = format!(
            "`{}` uses an earlier definition of its own name",
            self.name_text(name.name)
        );
        self.warn(
            place,
            message,
            "rename one of them: since Futhark 0.27 the name means the function itself",
        );
    }
}
