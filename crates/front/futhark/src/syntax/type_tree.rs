//! Syntax tree of types in a Futhark source file.

use super::token::TextRange;
use super::tree::{ExpressionId, QualifiedName, SourceName, TypeExpressionId};

/// A type expression with its place.
#[derive(Clone, Debug)]
pub struct TypeNode {
    /// Where it stands.
    pub range: TextRange,
    /// Which type expression it is.
    pub kind: TypeKind,
}

/// The forms of type expressions.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `m.t`
    Name(QualifiedName),
    /// `(t)`
    Parentheses(TypeExpressionId),
    /// `()` or `(t, u)`
    Tuple(Vec<TypeExpressionId>),
    /// `{a: t, b: u}`
    Record(Vec<(SourceName, TypeExpressionId)>),
    /// `#a t | #b`
    Sum(Vec<(SourceName, Vec<TypeExpressionId>)>),
    /// `[e]t`, or `[]t` with an anonymous size
    Array {
        /// The size.
        size: Option<ExpressionId>,
        /// The type of the elements.
        element: TypeExpressionId,
    },
    /// `*t`
    Unique(TypeExpressionId),
    /// `t u` or `t [e]`
    Application {
        /// The type that is applied.
        constructor: TypeExpressionId,
        /// The argument.
        argument: TypeArgument,
    },
    /// `(x: t) -> u` or `t -> u`
    Function {
        /// The name of the parameter, for sizes of the result.
        name: Option<SourceName>,
        /// The type of the parameter.
        parameter: TypeExpressionId,
        /// The type of the result.
        result: TypeExpressionId,
    },
    /// `?[n][m].t`
    Existential {
        /// The sizes.
        sizes: Vec<SourceName>,
        /// The type.
        body: TypeExpressionId,
    },
}

/// An argument of a type abbreviation.
#[derive(Clone, Copy, Debug)]
pub enum TypeArgument {
    /// `t`
    Type(TypeExpressionId),
    /// `[e]`, or `[]` with an anonymous size
    Size(Option<ExpressionId>, TextRange),
}

/// A size or type parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeParameter {
    /// Its name.
    pub name: SourceName,
    /// Its kind, which decides the arguments that may stand for it.
    pub kind: TypeParameterKind,
}

/// The kinds of size and type parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeParameterKind {
    /// `[n]`
    Size,
    /// `'t`, `'~t` or `'^t`
    Type(TypeLiftedness),
}

/// Which types may stand for a type name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeLiftedness {
    /// Types whose sizes are known and which contain no function.
    #[default]
    Unlifted,
    /// Types that may have existential sizes (`type~`, `'~t`).
    SizeLifted,
    /// Types that may also contain functions (`type^`, `'^t`).
    FullyLifted,
}

impl TypeLiftedness {
    /// The mark in front of a type parameter.
    pub const fn sigil(self) -> &'static str {
        match self {
            TypeLiftedness::Unlifted => "'",
            TypeLiftedness::SizeLifted => "'~",
            TypeLiftedness::FullyLifted => "'^",
        }
    }
}
