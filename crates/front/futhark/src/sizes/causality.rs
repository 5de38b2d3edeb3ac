//! Causality check: the size of a value must exist before the value is made.
//!
//! A function, an array without elements and a value of a sum need the sizes of their types where they stand, and a lambda
//! those of its parameters. An expression that produces a size must therefore be evaluated before.
//! [`super::SizeFacts::argument_order`] has the order of arguments.

use super::shape::{ShapedForm, ShapedTypeId};
use super::{SizeInference, SizeResult};
use crate::typed::{
    LocalId, ProgramPlace, TypedExpressionId, TypedIndex, TypedKind, TypedLoopForm, TypedPatternId,
    TypedStep,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The check of a definition.
struct CausalityCheck<'i, 'c> {
    inference: &'i mut SizeInference<'c>,
    /// The sizes that expressions produce.
    results: FxHashMap<TypedExpressionId, Vec<LocalId>>,
    /// The sizes that arguments are.
    values: FxHashMap<TypedExpressionId, LocalId>,
    /// The types of parameters.
    parameters: FxHashMap<TypedPatternId, ShapedTypeId>,
}

/// Checks the body of a definition whose sizes are inferred.
///
/// # Errors
///
/// The first value whose size is produced later.
pub(super) fn check_causality(
    inference: &mut SizeInference<'_>,
    body: TypedExpressionId,
) -> SizeResult<()> {
    let results = inference.record.results.iter();
    let results = results.map(|(id, sizes, _)| (*id, sizes.clone())).collect();
    let values = inference.record.values.iter().copied().collect();
    let parameters = inference.record.patterns.iter();
    let parameters = parameters.map(|(id, _, shape)| (*id, *shape)).collect();
    let mut check = CausalityCheck {
        inference,
        results,
        values,
        parameters,
    };
    check.visit(body, &mut FxHashSet::default())
}

impl CausalityCheck<'_, '_> {
    /// Visits an expression. The sizes that it produces are added to those that are known.
    fn visit(&mut self, id: TypedExpressionId, known: &mut FxHashSet<LocalId>) -> SizeResult<()> {
        let kind = self.inference.program.expressions[id].kind.clone();
        match &kind {
            TypedKind::Local(..) | TypedKind::Global(..) | TypedKind::Intrinsic(..) => {
                self.require_known(id, known)?;
            }
            TypedKind::Lambda(lambda) => {
                if !self.inference.program.local_functions.contains(&id) {
                    for &parameter in &lambda.parameters {
                        self.require_known_parameter(parameter, known)?;
                    }
                }
                self.visit(lambda.body, &mut known.clone())?;
            }
            TypedKind::Application(function, arguments) => {
                let sizes = &self.inference.program.sizes;
                for index in sizes.argument_order(id, arguments.len()) {
                    let argument = arguments[index];
                    self.visit(argument, known)?;
                    known.extend(self.values.get(&argument));
                }
                self.visit(*function, known)?;
            }
            TypedKind::If(condition, accept, reject) => {
                self.visit(*condition, known)?;
                self.visit(*accept, &mut known.clone())?;
                self.visit(*reject, &mut known.clone())?;
            }
            TypedKind::Match(subject, cases) => {
                self.visit(*subject, known)?;
                for (_, body) in cases {
                    self.visit(*body, &mut known.clone())?;
                }
            }
            TypedKind::Loop(typed_loop) => {
                self.visit(typed_loop.initial, known)?;
                match typed_loop.form {
                    TypedLoopForm::Count(_, bound) | TypedLoopForm::Elements(_, bound) => {
                        self.visit(bound, known)?;
                    }
                    TypedLoopForm::While(condition) => {
                        self.visit(condition, &mut known.clone())?;
                    }
                }
                self.visit(typed_loop.body, &mut known.clone())?;
            }
            other => {
                for part in parts_in_order(other) {
                    self.visit(part, known)?;
                }
                let is_made = match other {
                    TypedKind::Array(elements) => elements.is_empty(),
                    TypedKind::Constructor(..) | TypedKind::Hole => true,
                    _ => false,
                };
                if is_made {
                    self.require_known(id, known)?;
                }
            }
        }
        if let Some(produced) = self.results.get(&id) {
            known.extend(produced);
        }
        Ok(())
    }

    /// Requires that the sizes of the type of an expression are known.
    fn require_known(
        &mut self,
        id: TypedExpressionId,
        known: &FxHashSet<LocalId>,
    ) -> SizeResult<()> {
        match self.inference.record.shapes.get(&id) {
            Some(&shape) => {
                self.require_known_shape(shape, self.inference.program.expressions[id].place, known)
            }
            None => Ok(()),
        }
    }

    /// Requires that the sizes of the type of a lambda's parameter are known where the lambda stands.
    fn require_known_parameter(
        &mut self,
        id: TypedPatternId,
        known: &FxHashSet<LocalId>,
    ) -> SizeResult<()> {
        match self.parameters.get(&id) {
            Some(&shape) => {
                self.require_known_shape(shape, self.inference.program.patterns[id].place, known)
            }
            None => Ok(()),
        }
    }

    /// Requires that the sizes of the type of what stands at a place are known.
    fn require_known_shape(
        &mut self,
        shape: ShapedTypeId,
        place: ProgramPlace,
        known: &FxHashSet<LocalId>,
    ) -> SizeResult<()> {
        let shape = self
            .inference
            .variables
            .resolve_shape(self.inference.table, shape);
        let mut unknown = None;
        self.visit_free(
            shape,
            &mut Vec::new(),
            &mut FxHashSet::default(),
            &mut |inference, local| {
                if inference.is_produced(local) && !known.contains(&local) {
                    unknown = Some(local);
                }
            },
        );
        match unknown {
            Some(local) => Err(self.fail_unknown(place, shape, local)),
            None => Ok(()),
        }
    }

    /// Calls a function for each size of a type that is no size of a function type in it.
    fn visit_free(
        &self,
        id: ShapedTypeId,
        bound: &mut Vec<LocalId>,
        seen: &mut FxHashSet<ShapedTypeId>,
        visit: &mut dyn FnMut(&SizeInference<'_>, LocalId),
    ) {
        if bound.is_empty() && !seen.insert(id) {
            return;
        }
        let inference = &*self.inference;
        for size in inference.table.own_sizes(id) {
            inference.table.visit_locals(size, &mut |local| {
                if !bound.contains(&local) {
                    visit(inference, local);
                }
            });
        }
        if let ShapedForm::Function(function) = inference.table.shape(id) {
            self.visit_free(function.parameter, bound, seen, visit);
            let mark = bound.len();
            bound.extend(function.name);
            bound.extend(&function.sizes);
            self.visit_free(function.result, bound, seen, visit);
            bound.truncate(mark);
            return;
        }
        for part in inference.table.parts_of(id) {
            self.visit_free(part, bound, seen, visit);
        }
    }

    /// The fault that a size is needed before it is produced.
    fn fail_unknown(
        &mut self,
        place: ProgramPlace,
        shape: ShapedTypeId,
        local: LocalId,
    ) -> Box<crate::check::SourceFault> {
        let [name, printed] = self.inference.print_size_and_shape(local, shape);
        let origin = self.inference.describe_produced(local, &name);
        let message = format!(
            "causality: this is of type `{printed}`, but the size `{name}` is produced only later"
        );
        self.inference.fail_at(place, message, |diagnostic| {
            let diagnostic = match origin {
                Some(origin) => diagnostic.with_note(origin),
                None => diagnostic,
            };
            diagnostic.with_hint(format!(
                "bind the expression that produces `{name}` with `let` before this one"
            ))
        })
    }
}

/// The parts of an expression in the order in which they are evaluated.
fn parts_in_order(kind: &TypedKind) -> Vec<TypedExpressionId> {
    match kind {
        TypedKind::Record(fields) => fields.iter().map(|(_, field)| *field).collect(),
        TypedKind::Array(elements) => elements.clone(),
        TypedKind::Constructor(_, payload) => payload.clone(),
        TypedKind::Projection(part, _)
        | TypedKind::Ascription(part, _)
        | TypedKind::Coercion(part, _)
        | TypedKind::Attributed(_, part) => vec![*part],
        TypedKind::Index(array, indices) => {
            let mut parts = vec![*array];
            parts.extend(parts_of_indices(indices));
            parts
        }
        TypedKind::Let(bindings, body) => {
            let mut parts: Vec<_> = bindings.iter().map(|binding| binding.value).collect();
            parts.push(*body);
            parts
        }
        TypedKind::Assert(condition, body) => vec![*condition, *body],
        TypedKind::Update {
            source,
            steps,
            value,
        } => {
            let mut parts = vec![*source];
            for step in steps {
                if let TypedStep::Indices(indices) = step {
                    parts.extend(parts_of_indices(indices));
                }
            }
            parts.push(*value);
            parts
        }
        TypedKind::Range {
            first,
            second,
            last,
            ..
        } => [Some(*first), *second, Some(*last)]
            .into_iter()
            .flatten()
            .collect(),
        _ => Vec::new(),
    }
}

fn parts_of_indices(indices: &[TypedIndex]) -> Vec<TypedExpressionId> {
    let parts = indices.iter().flat_map(|index| match *index {
        TypedIndex::Point(point) => [Some(point), None, None],
        TypedIndex::Slice { start, end, step } => [start, end, step],
    });
    parts.flatten().collect()
}
