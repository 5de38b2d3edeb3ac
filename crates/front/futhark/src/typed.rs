//! Typed source: Futhark programs after type inference.
//!
//! Names are resolved: locals and definitions have ids, modules are gone, sections are functions. Each expression has
//! its type without sizes. Types with sizes stand where the source writes them ([`SizedType`]), and in what the second
//! pass found ([`SizeFacts`]).

use crate::check::SourceFault;
use crate::check::types::{AbstractTypeId, TypeId, TypeParameterId, TypeTable};
use crate::sizes::SizeFacts;
use crate::syntax::token::TextRange;
use crate::syntax::tree::{RangeBound, SourceAttribute, SourceNameId};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceLocation;
use spirula_entity::{EntityArena, StringInterner};

spirula_entity::define_ids! {
    /// A source file of a program.
    pub struct FileId: "file";
    /// A definition at top level of a file or module.
    pub struct DefinitionId: "def";
    /// A typed expression.
    pub struct TypedExpressionId: "x";
    /// A typed pattern.
    pub struct TypedPatternId: "pat";
    /// A variable that a pattern, a loop or a size parameter binds.
    pub struct LocalId: "local";
    /// A type with sizes.
    pub struct SizedTypeId: "sized";
    /// A function that the prelude takes from the compiler.
    pub struct IntrinsicId: "intrinsic";
}

/// A program: its definitions in the order in which they may refer to each other.
#[derive(Debug, Default)]
pub struct TypedProgram {
    /// All names.
    pub names: StringInterner<SourceNameId>,
    /// All types without sizes.
    pub types: TypeTable,
    /// All definitions. A definition refers to itself and to those before it.
    pub definitions: EntityArena<DefinitionId, TypedDefinition>,
    /// The expressions of all definitions.
    pub expressions: EntityArena<TypedExpressionId, TypedExpression>,
    /// The patterns of all definitions.
    pub patterns: EntityArena<TypedPatternId, TypedPattern>,
    /// The variables of all definitions.
    pub locals: EntityArena<LocalId, LocalVariable>,
    /// The types with sizes of all definitions.
    pub sized_types: EntityArena<SizedTypeId, SizedType>,
    /// The functions of the compiler, by the names that the prelude has for them.
    pub intrinsics: EntityArena<IntrinsicId, SourceNameId>,
    /// The types that module types give to values, where these are used.
    pub specified_uses: FxHashMap<TypedExpressionId, SpecifiedType>,
    /// The definitions that stand for values of a module type.
    pub ascriptions: Vec<ValueAscription>,
    /// The abstract types that are known to be others, or hide them.
    pub hidden_types: FxHashMap<AbstractTypeId, HiddenType>,
    /// The type parameters of local functions that have some.
    pub local_type_parameters: FxHashMap<LocalId, Vec<TypeParameterId>>,
    /// Warnings: constructs that are allowed but probably not intended.
    pub warnings: Vec<SourceFault>,
    /// The values of local functions, which are polymorphic in sizes.
    pub local_functions: FxHashSet<TypedExpressionId>,
    /// The sizes that values and expressions have.
    pub sizes: SizeFacts,
    /// The entry points, in the order of the source.
    pub entries: Vec<DefinitionId>,
}

impl TypedProgram {
    /// Puts the warnings into the order of the source. A warning that is given for several instances is kept once.
    pub(crate) fn sort_warnings(&mut self) {
        self.warnings.sort_by_key(|warning| {
            let start = match warning.diagnostic.place {
                SourceLocation::Text { start, .. } => start,
                _ => 0,
            };
            (
                warning.file.index(),
                start,
                warning.diagnostic.message.clone(),
            )
        });
        self.warnings.dedup_by(|left, right| {
            left.file == right.file
                && left.diagnostic.place == right.diagnostic.place
                && left.diagnostic.message == right.diagnostic.message
        });
    }
}

/// A place in a file of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramPlace {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub range: TextRange,
}

/// A type that a module type gives to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecifiedType {
    /// The type with sizes.
    pub sized: SizedTypeId,
    /// The type without sizes.
    pub type_id: TypeId,
}

/// The type that an abstract type is or hides.
#[derive(Clone, Debug)]
pub struct HiddenType {
    /// The size parameters.
    pub sizes: Vec<LocalId>,
    /// The type parameters.
    pub types: Vec<TypeParameterId>,
    /// The type.
    pub sized: SizedTypeId,
}

/// A definition that stands for a value of a module type.
#[derive(Clone, Copy, Debug)]
pub struct ValueAscription {
    /// The definition.
    pub definition: DefinitionId,
    /// The type of the value.
    pub specified: SpecifiedType,
    /// Where the module is matched with its module type.
    pub place: ProgramPlace,
}

/// A function or constant.
#[derive(Clone, Debug)]
pub struct TypedDefinition {
    /// Its name, for messages and entry points.
    pub name: SourceNameId,
    /// The names of the modules that it is in, from the outermost.
    pub modules: Vec<SourceNameId>,
    /// Where its name stands.
    pub place: ProgramPlace,
    /// The type parameters, written or inferred.
    pub type_parameters: Vec<TypeParameterId>,
    /// The size parameters.
    pub size_parameters: Vec<LocalId>,
    /// The parameters.
    pub parameters: Vec<TypedPatternId>,
    /// The type of the result with its sizes, if it is written.
    pub result: Option<SizedTypeId>,
    /// The type of the function or constant.
    pub type_id: TypeId,
    /// The value, or the body of the function. None while it is checked, and for members of module parameters.
    pub body: Option<TypedExpressionId>,
    /// Whether the body refers to the definition.
    pub is_recursive: bool,
    /// The attributes of the declaration.
    pub attributes: Vec<SourceAttribute>,
    /// The positions of its variables among those of the program.
    pub locals: std::ops::Range<usize>,
}

/// A variable.
#[derive(Clone, Copy, Debug)]
pub struct LocalVariable {
    /// Its name.
    pub name: SourceNameId,
    /// Its type.
    pub type_id: TypeId,
}

/// An expression with its type and place.
#[derive(Clone, Debug)]
pub struct TypedExpression {
    /// Which expression it is.
    pub kind: TypedKind,
    /// Its type.
    pub type_id: TypeId,
    /// Where it stands.
    pub place: ProgramPlace,
}

/// The forms of typed expressions.
#[derive(Clone, Debug)]
pub enum TypedKind {
    /// A scalar, whose value has the type of the expression.
    Scalar(TypedLiteral),
    /// An array of bytes: a string in UTF-8.
    Bytes(Vec<u8>),
    /// `???`
    Hole,
    /// A variable, with the types for the type parameters of a local function.
    Local(LocalId, Vec<TypeId>),
    /// A definition, with the types for its type parameters.
    Global(DefinitionId, Vec<TypeId>),
    /// A function of the compiler, with the types for its type parameters.
    Intrinsic(IntrinsicId, Vec<TypeId>),
    /// A record. The fields are in the order in which they are evaluated.
    Record(Vec<(SourceNameId, TypedExpressionId)>),
    /// An array of its elements.
    Array(Vec<TypedExpressionId>),
    /// A value of a sum.
    Constructor(SourceNameId, Vec<TypedExpressionId>),
    /// A field of a record.
    Projection(TypedExpressionId, SourceNameId),
    /// An element or a slice of an array.
    Index(TypedExpressionId, Vec<TypedIndex>),
    /// A function with one argument or more.
    Application(TypedExpressionId, Vec<TypedExpressionId>),
    /// A function without a name.
    Lambda(TypedLambda),
    /// A choice by a truth value.
    If(TypedExpressionId, TypedExpressionId, TypedExpressionId),
    /// Bindings, each in scope of the next, and the result.
    Let(Vec<TypedBinding>, TypedExpressionId),
    /// A choice by patterns.
    Match(TypedExpressionId, Vec<(TypedPatternId, TypedExpressionId)>),
    /// A loop.
    Loop(Box<TypedLoop>),
    /// A condition that must hold, and the result.
    Assert(TypedExpressionId, TypedExpressionId),
    /// A record or array with a part replaced.
    Update {
        /// The record or array.
        source: TypedExpressionId,
        /// The path to the part.
        steps: Vec<TypedStep>,
        /// The new value of the part.
        value: TypedExpressionId,
    },
    /// A value whose sizes are known to be those of a type.
    Ascription(TypedExpressionId, SizedTypeId),
    /// A value whose sizes must be those of a type when the program runs.
    Coercion(TypedExpressionId, SizedTypeId),
    /// The numbers of a range.
    Range {
        /// The first element.
        first: TypedExpressionId,
        /// The second element, if the step is not one.
        second: Option<TypedExpressionId>,
        /// How the last element counts.
        bound: RangeBound,
        /// The last element, or one beyond it.
        last: TypedExpressionId,
    },
    /// An expression with an attribute.
    Attributed(SourceAttribute, TypedExpressionId),
}

/// A scalar as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum TypedLiteral {
    /// A truth value.
    Truth(bool),
    /// A whole number. The type may be that of a float.
    Integer(i128),
    /// A number with a fraction or an exponent.
    Float(String),
}

/// An index of one dimension.
#[derive(Clone, Copy, Debug)]
pub enum TypedIndex {
    /// A position.
    Point(TypedExpressionId),
    /// A slice of the dimension.
    Slice {
        /// The first index.
        start: Option<TypedExpressionId>,
        /// One beyond the last index.
        end: Option<TypedExpressionId>,
        /// The step.
        step: Option<TypedExpressionId>,
    },
}

/// A step of a path into records and arrays.
#[derive(Clone, Debug)]
pub enum TypedStep {
    /// A field.
    Field(SourceNameId),
    /// Indices of the outer dimensions.
    Indices(Vec<TypedIndex>),
}

/// A function without a name.
#[derive(Clone, Debug)]
pub struct TypedLambda {
    /// Size parameters, of local functions only.
    pub size_parameters: Vec<LocalId>,
    /// Parameters, at least one.
    pub parameters: Vec<TypedPatternId>,
    /// The type of the result with its sizes, if it is written.
    pub result: Option<SizedTypeId>,
    /// The body.
    pub body: TypedExpressionId,
}

/// A binding of a `let`.
#[derive(Clone, Debug)]
pub struct TypedBinding {
    /// The type parameters of a local function.
    pub type_parameters: Vec<TypeParameterId>,
    /// The sizes that the pattern binds.
    pub sizes: Vec<LocalId>,
    /// The pattern.
    pub pattern: TypedPatternId,
    /// The value.
    pub value: TypedExpressionId,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct TypedLoop {
    /// The pattern of what an iteration passes to the next.
    pub pattern: TypedPatternId,
    /// The first value.
    pub initial: TypedExpressionId,
    /// How often it runs.
    pub form: TypedLoopForm,
    /// The value for the next iteration.
    pub body: TypedExpressionId,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug)]
pub enum TypedLoopForm {
    /// A variable counts from zero to a bound, which is excluded.
    Count(LocalId, TypedExpressionId),
    /// A pattern is matched against the elements of an array, one after the other.
    Elements(TypedPatternId, TypedExpressionId),
    /// A condition holds.
    While(TypedExpressionId),
}

/// A pattern with its type and place.
#[derive(Clone, Debug)]
pub struct TypedPattern {
    /// Which pattern it is.
    pub kind: TypedPatternKind,
    /// The type of what it matches.
    pub type_id: TypeId,
    /// The type with its sizes, if it is written.
    pub ascribed: Option<SizedTypeId>,
    /// Where it stands.
    pub place: ProgramPlace,
}

/// The forms of typed patterns.
#[derive(Clone, Debug)]
pub enum TypedPatternKind {
    /// It matches everything and binds a variable.
    Local(LocalId),
    /// It matches everything.
    Wildcard,
    /// It matches a scalar.
    Scalar(TypedLiteral),
    /// It matches the fields of a record.
    Record(Vec<(SourceNameId, TypedPatternId)>),
    /// It matches a constructor and its payload.
    Constructor(SourceNameId, Vec<TypedPatternId>),
    /// It matches what another pattern matches, with a type of its own.
    Ascribed(TypedPatternId),
}

/// A size in a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeTerm {
    /// A size that the source does not write.
    Anonymous,
    /// A variable.
    Local(LocalId),
    /// The value of an expression of type `i64`.
    Expression(TypedExpressionId),
}

/// A type as it is written, with abbreviations expanded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SizedType {
    /// A type without arrays and functions.
    Plain(TypeId),
    /// An array.
    Array(SizeTerm, SizedTypeId),
    /// A record or tuple, with its fields in canonical order.
    Record(Vec<(SourceNameId, SizedTypeId)>),
    /// A sum, with its constructors in the order of their names.
    Sum(Vec<(SourceNameId, Vec<SizedTypeId>)>),
    /// A function, whose parameter may have a name that the result refers to.
    Function(Option<LocalId>, SizedTypeId, SizedTypeId),
    /// An abstract type with its size and type arguments.
    Abstract(AbstractTypeId, Vec<SizeTerm>, Vec<SizedTypeId>),
    /// A value that nothing else refers to.
    Unique(SizedTypeId),
    /// A type with sizes of its own.
    Existential(Vec<LocalId>, SizedTypeId),
}
