//! Facts about sizes, for evaluation and compilation.

use crate::check::types::{AbstractTypeId, TypeParameterId};
use crate::typed::{LocalId, SizeTerm, SizedTypeId, TypedExpressionId, TypedPatternId};
use std::collections::{HashMap, HashSet};

/// The sizes of a program, as far as values do not have them.
#[derive(Debug, Default)]
pub struct SizeFacts {
    /// The sizes and types for the parameters of a definition, local function or function of the compiler, where it is used.
    pub instances: HashMap<TypedExpressionId, SizeInstance>,
    /// The sizes that an expression produces, and its type: the sizes are those of its value.
    pub results: HashMap<TypedExpressionId, ProducedSizes>,
    /// The size that the value of an integer expression is.
    pub values: HashMap<TypedExpressionId, LocalId>,
    /// The types of arrays without elements, and of sums.
    pub types: HashMap<TypedExpressionId, SizedTypeId>,
    /// The types of parameters, and of what loops pass on.
    pub patterns: HashMap<TypedPatternId, SizedTypeId>,
    /// The types that abstract types are or hide.
    pub hidden_types: HashMap<AbstractTypeId, HiddenType>,
    /// Applications whose arguments are evaluated from the first to the last: those of infix operators.
    pub infix: HashSet<TypedExpressionId>,
}

/// What stands for the parameters of a value, in terms of the variables where it is used.
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

/// The type that an abstract type is or hides.
#[derive(Clone, Debug)]
pub struct HiddenType {
    /// Its size parameters.
    pub sizes: Vec<LocalId>,
    /// Its type parameters.
    pub types: Vec<TypeParameterId>,
    /// The type.
    pub sized: SizedTypeId,
}
