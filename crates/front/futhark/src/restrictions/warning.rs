//! Warnings: what is allowed but probably not intended.

use super::RestrictionChecker;
use crate::check::SourceFault;
use crate::check::types::TypeForm;
use crate::syntax::tree::SourceAttribute;
use crate::typed::{
    DefinitionId, LocalId, ProgramPlace, SizeTerm, SizedType, SizedTypeId, TypedExpressionId,
    TypedKind, TypedLiteral, TypedLoopForm, TypedPatternId, TypedPatternKind, TypedStep,
};
use rustc_hash::FxHashSet;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

impl RestrictionChecker<'_> {
    /// Adds a warning, unless one was given at its place.
    pub(super) fn warn(&mut self, place: ProgramPlace, message: String, hint: &str) {
        let key = (place.file, place.range.start, place.range.end);
        if self.is_prelude(place) || !self.warned.insert(key) {
            return;
        }
        let location =
            SourceLocation::from_text_range(place.range.start as usize, place.range.end as usize);
        self.warnings.push(SourceFault {
            file: place.file,
            diagnostic: SourceDiagnostic::warning(location, message).with_hint(hint),
        });
    }

    /// Warns of variables that nothing uses. A name that begins with an underscore says that it is unused.
    pub(super) fn warn_of_unused(&mut self) {
        let program = self.program;
        let mut used: FxHashSet<LocalId> = FxHashSet::default();
        for (_, node) in program.expressions.iter() {
            if let TypedKind::Local(local, _) = node.kind {
                used.insert(local);
            }
        }
        for (_, sized) in program.sized_types.iter() {
            for size in direct_sizes(sized) {
                if let SizeTerm::Local(local) = size {
                    used.insert(*local);
                }
            }
        }
        for (_, node) in program.patterns.iter() {
            let TypedPatternKind::Local(local) = node.kind else {
                continue;
            };
            let name = &program.names[program.locals[local].name];
            if !used.contains(&local) && !name.starts_with('_') {
                let message = format!("unused variable `{name}`");
                let hint = format!("if this is intended, call it `_{name}`");
                self.warn(node.place, message, &hint);
            }
        }
    }

    /// Warns of an expression, without its parts.
    pub(super) fn warn_of_expression(&mut self, id: TypedExpressionId) {
        let program = self.program;
        let node = &program.expressions[id];
        match &node.kind {
            TypedKind::Application(function, arguments) => {
                self.warn_of_array_equality(*function, arguments);
                if let TypedKind::Global(definition, _) = program.expressions[*function].kind {
                    self.warn_of_bound_sizes(definition, arguments);
                }
            }
            TypedKind::Range {
                first,
                second: Some(second),
                ..
            } => self.warn_of_empty_step(*first, *second, node.place),
            TypedKind::Attributed(attribute, inner) => {
                self.warn_of_attribute(attribute, *inner);
            }
            _ => {}
        }
    }

    fn warn_of_array_equality(
        &mut self,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
    ) {
        let program = self.program;
        let node = &program.expressions[function];
        let TypedKind::Intrinsic(intrinsic, _) = node.kind else {
            return;
        };
        let name = &program.names[program.intrinsics[intrinsic]];
        let is_array = arguments.first().is_some_and(|&argument| {
            let type_id = program.expressions[argument].type_id;
            matches!(program.types.form(type_id), TypeForm::Array(_))
        });
        if matches!(name, "==" | "!=") && is_array {
            let message = format!("comparing arrays with `{name}` is deprecated");
            self.warn(
                node.place,
                message,
                "compare the elements: `and (map2 (==) xs ys)`",
            );
        }
    }

    /// Warns where the size of a result would be an expression with bindings of its own.
    fn warn_of_bound_sizes(&mut self, definition: DefinitionId, arguments: &[TypedExpressionId]) {
        let program = self.program;
        let definition = &program.definitions[definition];
        let Some(result) = definition.result else {
            return;
        };
        for (&parameter, &argument) in definition.parameters.iter().zip(arguments) {
            let type_id = program.expressions[argument].type_id;
            let is_size = matches!(program.types.form(type_id), TypeForm::Scalar(_));
            if is_size
                && self.has_binding(argument)
                && let Some(local) = self.find_variable(parameter)
                && self.mentions_size(result, local, &mut FxHashSet::default())
            {
                let place = program.expressions[argument].place;
                let message = "the size expression with binding is replaced by an unknown size";
                self.warn(
                    place,
                    message.to_owned(),
                    "bind the size to a name with `let` before",
                );
            }
        }
    }

    /// Whether an expression binds names.
    fn has_binding(&self, id: TypedExpressionId) -> bool {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let kind = &self.program.expressions[id].kind;
            if matches!(
                kind,
                TypedKind::Let(..)
                    | TypedKind::Lambda(_)
                    | TypedKind::Match(..)
                    | TypedKind::Loop(_)
            ) {
                return true;
            }
            kind.for_each_child(&mut |child| pending.push(child));
        }
        false
    }

    /// The variable that a whole parameter is bound to.
    fn find_variable(&self, pattern: TypedPatternId) -> Option<LocalId> {
        match self.program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => Some(local),
            TypedPatternKind::Ascribed(inner) => self.find_variable(inner),
            _ => None,
        }
    }

    /// Whether a variable is a size of a type.
    fn mentions_size(
        &self,
        id: SizedTypeId,
        local: LocalId,
        seen: &mut FxHashSet<SizedTypeId>,
    ) -> bool {
        if !seen.insert(id) {
            return false;
        }
        let sized = &self.program.sized_types[id];
        let is_size = direct_sizes(sized)
            .iter()
            .any(|size| matches!(size, SizeTerm::Local(other) if *other == local));
        let parts: Vec<SizedTypeId> = match sized {
            SizedType::Plain(_) => Vec::new(),
            SizedType::Array(_, part)
            | SizedType::Unique(part)
            | SizedType::Existential(_, part) => vec![*part],
            SizedType::Record(fields) => fields.iter().map(|(_, field)| *field).collect(),
            SizedType::Sum(clauses) => {
                let payloads = clauses.iter().flat_map(|(_, payload)| payload);
                payloads.copied().collect()
            }
            SizedType::Function(_, parameter, result) => vec![*parameter, *result],
            SizedType::Abstract(_, _, arguments) => arguments.clone(),
        };
        is_size
            || parts
                .into_iter()
                .any(|part| self.mentions_size(part, local, seen))
    }

    /// Warns of a range whose first two elements are equal.
    fn warn_of_empty_step(
        &mut self,
        first: TypedExpressionId,
        second: TypedExpressionId,
        place: ProgramPlace,
    ) {
        let expressions = &self.program.expressions;
        let is_equal = match (&expressions[first].kind, &expressions[second].kind) {
            (TypedKind::Local(first, _), TypedKind::Local(second, _)) => first == second,
            (
                TypedKind::Scalar(TypedLiteral::Integer(first)),
                TypedKind::Scalar(TypedLiteral::Integer(second)),
            ) => first == second,
            _ => false,
        };
        if is_equal {
            let message = "first and second element of the range are equal, so it has no step";
            self.warn(
                place,
                message.to_owned(),
                "leave the second element out for a step of one",
            );
        }
    }

    fn warn_of_attribute(&mut self, attribute: &SourceAttribute, inner: TypedExpressionId) {
        let program = self.program;
        let argument = attribute.arguments.as_ref().and_then(|all| all.first());
        let argument = argument.map(|argument| &program.names[argument.name.name]);
        match (&program.names[attribute.name.name], argument) {
            ("warn", Some("safety_checks")) => self.warn_of_safety_check(inner),
            ("unroll", None) => self.warn_of_unroll(inner),
            _ => {}
        }
    }

    fn warn_of_safety_check(&mut self, inner: TypedExpressionId) {
        let mut pending = vec![inner];
        while let Some(id) = pending.pop() {
            let node = &self.program.expressions[id];
            let needs_check = match &node.kind {
                TypedKind::Index(..) | TypedKind::Coercion(..) => true,
                TypedKind::Update { steps, .. } => steps
                    .iter()
                    .any(|step| matches!(step, TypedStep::Indices(_))),
                _ => false,
            };
            if needs_check {
                let message = "Safety check required when the program runs";
                self.warn(
                    node.place,
                    message.to_owned(),
                    "`#[unsafe]` leaves the check out, and then it must hold",
                );
                return;
            }
            node.kind.for_each_child(&mut |child| pending.push(child));
        }
    }

    /// Warns of a loop that is to be unrolled, but runs as often as an input of the program says.
    fn warn_of_unroll(&mut self, inner: TypedExpressionId) {
        let program = self.program;
        let node = &program.expressions[inner];
        let TypedKind::Loop(source) = &node.kind else {
            return;
        };
        let is_unknown = match source.form {
            TypedLoopForm::While(_) => true,
            TypedLoopForm::Count(_, bound) => {
                matches!(program.expressions[bound].kind, TypedKind::Local(local, _) if self.inputs.contains(&local))
            }
            TypedLoopForm::Elements(..) => false,
        };
        if is_unknown {
            let message = "`#[unroll]` has no effect, as it is not known how often the loop runs";
            self.warn(
                node.place,
                message.to_owned(),
                "unroll a loop whose bound is a constant",
            );
        }
    }

    /// Notes the variables of a parameter of an entry point.
    pub(super) fn note_inputs(&mut self, pattern: TypedPatternId) {
        match &self.program.patterns[pattern].kind {
            TypedPatternKind::Local(local) => {
                self.inputs.insert(*local);
            }
            TypedPatternKind::Ascribed(inner) => self.note_inputs(*inner),
            TypedPatternKind::Record(fields) => {
                for (_, field) in fields {
                    self.note_inputs(*field);
                }
            }
            _ => {}
        }
    }
}

/// The sizes of a type, without those of its parts.
fn direct_sizes(sized: &SizedType) -> &[SizeTerm] {
    match sized {
        SizedType::Array(size, _) => std::slice::from_ref(size),
        SizedType::Abstract(_, sizes, _) => sizes,
        _ => &[],
    }
}
