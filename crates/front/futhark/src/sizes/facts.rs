//! Facts about sizes, for evaluation and compilation.

use crate::typed::{
    DefinitionId, LocalId, SizeTerm, SizedTypeId, TypedExpressionId, TypedIndex, TypedKind,
    TypedPatternId, TypedProgram,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The sizes of a program, as far as values do not have them.
#[derive(Debug, Default)]
pub struct SizeFacts {
    /// The sizes and types for the parameters of a definition, local function or function of the compiler, where it is used.
    pub instances: FxHashMap<TypedExpressionId, SizeInstance>,
    /// The sizes that an expression produces, and its type: the sizes are those of its value.
    pub results: FxHashMap<TypedExpressionId, ProducedSizes>,
    /// The size that the value of an integer expression is.
    pub values: FxHashMap<TypedExpressionId, LocalId>,
    /// The types of arrays without elements, and of sums.
    pub types: FxHashMap<TypedExpressionId, SizedTypeId>,
    /// The types of parameters, and of what loops pass on. Each iteration of a loop produces sizes.
    pub patterns: FxHashMap<TypedPatternId, ProducedSizes>,
    /// The types of the arguments that a definition takes beyond its parameters: of those after the parameters in its type. Their sizes
    /// are its size parameters, or known where it is defined.
    pub unnamed: FxHashMap<DefinitionId, Vec<SizedTypeId>>,
    /// Applications of infix operators.
    pub infix: FxHashSet<TypedExpressionId>,
}

impl SizeFacts {
    /// The positions of the arguments of an application, in the order in which they are evaluated. The function is evaluated
    /// after them.
    ///
    /// Operands of infix operators are evaluated from the first to the last, other arguments from the last to the first. A
    /// function may need sizes that its arguments produce.
    pub fn argument_order(
        &self,
        application: TypedExpressionId,
        count: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let is_infix = self.infix.contains(&application);
        (0..count).map(move |step| if is_infix { step } else { count - 1 - step })
    }
}

/// The arguments for the parameters of a value, in terms of the variables where it is used.
#[derive(Clone, Debug, Default)]
pub struct SizeInstance {
    /// The sizes for the size parameters.
    pub sizes: Vec<SizeTerm>,
    /// The types for the type parameters.
    pub types: Vec<SizedTypeId>,
}

/// Sizes that an expression produces.
#[derive(Clone, Debug)]
pub struct ProducedSizes {
    /// The sizes.
    pub sizes: Vec<LocalId>,
    /// The type of the expression.
    pub sized: SizedTypeId,
}

/// Whether all variables in a size expression have a property.
pub(crate) fn all_locals(
    program: &TypedProgram,
    id: TypedExpressionId,
    has: &dyn Fn(LocalId) -> bool,
) -> bool {
    let all = |part: TypedExpressionId| all_locals(program, part, has);
    match &program.expressions[id].kind {
        TypedKind::Local(local, _) => has(*local),
        TypedKind::Application(function, arguments) => {
            all(*function) && arguments.iter().all(|argument| all(*argument))
        }
        TypedKind::Projection(inner, _)
        | TypedKind::Ascription(inner, _)
        | TypedKind::Attributed(_, inner) => all(*inner),
        TypedKind::Record(fields) => fields.iter().all(|(_, field)| all(*field)),
        TypedKind::Array(elements) => elements.iter().all(|element| all(*element)),
        TypedKind::Index(array, indices) => {
            all(*array)
                && indices.iter().all(|index| match index {
                    TypedIndex::Point(point) => all(*point),
                    TypedIndex::Slice { .. } => false,
                })
        }
        TypedKind::If(condition, accept, reject) => all(*condition) && all(*accept) && all(*reject),
        TypedKind::Scalar(_) | TypedKind::Global(..) | TypedKind::Intrinsic(..) => true,
        _ => false,
    }
}
