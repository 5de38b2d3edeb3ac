//! Direct parts of typed expressions.

use crate::typed::{TypedExpressionId, TypedIndex, TypedKind, TypedLoopForm, TypedStep};

impl TypedKind {
    /// Calls a function with each direct part of an expression, in the order of the source.
    pub fn for_each_child(&self, action: &mut dyn FnMut(TypedExpressionId)) {
        match self {
            TypedKind::Scalar(_)
            | TypedKind::Bytes(_)
            | TypedKind::Hole
            | TypedKind::Local(..)
            | TypedKind::Global(..)
            | TypedKind::Intrinsic(..) => {}
            TypedKind::Record(fields) => fields.iter().for_each(|(_, field)| action(*field)),
            TypedKind::Array(parts) | TypedKind::Constructor(_, parts) => {
                parts.iter().for_each(|&part| action(part));
            }
            TypedKind::Projection(part, _)
            | TypedKind::Ascription(part, _)
            | TypedKind::Coercion(part, _)
            | TypedKind::Attributed(_, part) => action(*part),
            TypedKind::Index(array, indices) => {
                action(*array);
                visit_indices(indices, action);
            }
            TypedKind::Application(function, arguments) => {
                action(*function);
                arguments.iter().for_each(|&argument| action(argument));
            }
            TypedKind::Lambda(lambda) => action(lambda.body),
            TypedKind::If(condition, accept, reject) => {
                action(*condition);
                action(*accept);
                action(*reject);
            }
            TypedKind::Let(bindings, body) => {
                bindings.iter().for_each(|binding| action(binding.value));
                action(*body);
            }
            TypedKind::Match(subject, cases) => {
                action(*subject);
                cases.iter().for_each(|(_, body)| action(*body));
            }
            TypedKind::Loop(source) => {
                action(source.initial);
                match source.form {
                    TypedLoopForm::Count(_, part)
                    | TypedLoopForm::Elements(_, part)
                    | TypedLoopForm::While(part) => action(part),
                }
                action(source.body);
            }
            TypedKind::Assert(condition, body) => {
                action(*condition);
                action(*body);
            }
            TypedKind::Update {
                source,
                steps,
                value,
            } => {
                action(*source);
                for step in steps {
                    if let TypedStep::Indices(indices) = step {
                        visit_indices(indices, action);
                    }
                }
                action(*value);
            }
            TypedKind::Range {
                first,
                second,
                last,
                ..
            } => {
                action(*first);
                second.iter().for_each(|&second| action(second));
                action(*last);
            }
        }
    }
}

fn visit_indices(indices: &[TypedIndex], action: &mut dyn FnMut(TypedExpressionId)) {
    for index in indices {
        match *index {
            TypedIndex::Point(point) => action(point),
            TypedIndex::Slice { start, end, step } => {
                [start, end, step]
                    .into_iter()
                    .flatten()
                    .for_each(&mut *action);
            }
        }
    }
}
