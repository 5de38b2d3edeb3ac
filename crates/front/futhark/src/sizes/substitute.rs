//! Substitution of variables in sizes of typed source.

use crate::typed::{LocalId, SizeTerm, TypedExpressionId, TypedIndex, TypedKind, TypedProgram};
use rustc_hash::FxHashMap;

/// The size with other sizes in place of variables.
pub(crate) fn substitute_size(
    program: &mut TypedProgram,
    size: SizeTerm,
    sizes: &FxHashMap<LocalId, SizeTerm>,
) -> SizeTerm {
    match size {
        SizeTerm::Anonymous => size,
        SizeTerm::Local(local) => sizes.get(&local).copied().unwrap_or(size),
        SizeTerm::Expression(id) if sizes.is_empty() => SizeTerm::Expression(id),
        SizeTerm::Expression(id) => SizeTerm::Expression(substitute_part(program, id, sizes)),
    }
}

/// The expression with sizes in place of variables. Expressions of forms that sizes do not have stay as they are.
fn substitute_part(
    program: &mut TypedProgram,
    id: TypedExpressionId,
    sizes: &FxHashMap<LocalId, SizeTerm>,
) -> TypedExpressionId {
    let mut expression = program.expressions[id].clone();
    let mut replace = |part: &mut TypedExpressionId| *part = substitute_part(program, *part, sizes);
    match &mut expression.kind {
        TypedKind::Local(local, _) => match sizes.get(local) {
            Some(SizeTerm::Local(other)) => *local = *other,
            Some(SizeTerm::Expression(other)) => return *other,
            Some(SizeTerm::Anonymous) | None => return id,
        },
        TypedKind::Application(function, arguments) => {
            replace(function);
            arguments.iter_mut().for_each(replace);
        }
        TypedKind::Projection(inner, _)
        | TypedKind::Ascription(inner, _)
        | TypedKind::Attributed(_, inner) => replace(inner),
        TypedKind::Record(fields) => fields.iter_mut().for_each(|(_, field)| replace(field)),
        TypedKind::Array(elements) => elements.iter_mut().for_each(replace),
        TypedKind::Index(array, indices) => {
            replace(array);
            for index in indices {
                if let TypedIndex::Point(point) = index {
                    replace(point);
                }
            }
        }
        _ => return id,
    }
    program.expressions.push(expression)
}
