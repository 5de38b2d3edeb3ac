//! Syntax tree of a Futhark source file.
//!
//! Nodes stand in arenas and refer to each other by dense ids, so that an analysis keeps what it finds in vectors
//! beside the tree. The tree has what the source says and nothing else: parentheses are kept, sugar is not resolved.
//! A chain of `let` is one node, so its length adds nothing to the depth of the tree.

pub use super::declaration_tree::{
    DeclarationKind, ModuleKind, ModuleNode, ModuleParameter, ModuleSpecification, ModuleTypeKind,
    ModuleTypeNode, SourceDeclaration, SpecificationKind, TypeDeclaration, ValueDeclaration,
    ValueKeyword,
};
use super::token::TextRange;
pub use super::type_tree::{
    TypeArgument, TypeKind, TypeLiftedness, TypeNode, TypeParameter, TypeParameterKind,
};
use spirula_entity::EntityArena;

spirula_entity::define_ids! {
    /// An interned name.
    pub struct SourceNameId: "n";
    /// An expression of a file.
    pub struct ExpressionId: "e";
    /// A pattern of a file.
    pub struct PatternId: "p";
    /// A type expression of a file.
    pub struct TypeExpressionId: "t";
    /// A module expression of a file.
    pub struct ModuleExpressionId: "m";
    /// A module type expression of a file.
    pub struct ModuleTypeId: "s";
}

/// A file as it was parsed.
#[derive(Debug, Default)]
pub struct SyntaxTree {
    /// All expressions.
    pub expressions: EntityArena<ExpressionId, ExpressionNode>,
    /// All patterns.
    pub patterns: EntityArena<PatternId, PatternNode>,
    /// All type expressions.
    pub types: EntityArena<TypeExpressionId, TypeNode>,
    /// All module expressions.
    pub modules: EntityArena<ModuleExpressionId, ModuleNode>,
    /// All module type expressions.
    pub module_types: EntityArena<ModuleTypeId, ModuleTypeNode>,
    /// The declarations of the file, in order.
    pub declarations: Vec<SourceDeclaration>,
    /// The files that the file imports, in order. A name is the path without its quotes.
    pub imports: Vec<SourceName>,
    /// The documentation comment at the head of the file, if another one or a declaration follows it.
    pub documentation: Option<TextRange>,
    /// The line comments of the file.
    pub comments: Vec<TextRange>,
}

/// A name at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceName {
    /// The name.
    pub name: SourceNameId,
    /// Where it stands.
    pub range: TextRange,
}

/// A name after the modules that lead to it: `m.n.x`. In an expression the tail may turn out to be fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualifiedName {
    /// The modules, outermost first.
    pub modules: Vec<SourceName>,
    /// The name itself.
    pub name: SourceName,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct ExpressionNode {
    /// Where it stands.
    pub range: TextRange,
    /// Which expression it is.
    pub kind: ExpressionKind,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number, a truth value, a character or a string.
    Literal(SourceLiteral),
    /// `???`
    Hole,
    /// `m.x`, or `r.field`
    Name(QualifiedName),
    /// `(e)`
    Parentheses(ExpressionId),
    /// `()` or `(a, b)`
    Tuple(Vec<ExpressionId>),
    /// `{a = e, b}`
    Record(Vec<RecordField>),
    /// `[a, b]`
    Array(Vec<ExpressionId>),
    /// `#c a b`
    Constructor {
        /// The constructor, without its `#`.
        name: SourceName,
        /// Its payload.
        payload: Vec<ExpressionId>,
    },
    /// `e.field`, where `e` is no name
    Projection {
        /// The record.
        record: ExpressionId,
        /// The field.
        field: SourceName,
    },
    /// `m.(e)`
    LocalOpen {
        /// The module whose names are in scope.
        module: QualifiedName,
        /// The expression.
        body: ExpressionId,
    },
    /// `a[i, j:k]`
    Index {
        /// The array.
        array: ExpressionId,
        /// One index or slice for each of its outer dimensions.
        indices: Vec<SliceIndex>,
    },
    /// `f a b`
    Application {
        /// The function.
        function: ExpressionId,
        /// Its arguments, at least one.
        arguments: Vec<ExpressionId>,
    },
    /// `a + b`
    Binary {
        /// The operator, or a name between backticks.
        operator: QualifiedName,
        /// The left operand.
        left: ExpressionId,
        /// The right operand.
        right: ExpressionId,
    },
    /// `-e`
    Negation(ExpressionId),
    /// `!e`
    Complement(ExpressionId),
    /// `(+)`
    OperatorSection(QualifiedName),
    /// `(e +)`
    LeftSection {
        /// The operator.
        operator: QualifiedName,
        /// Its left operand.
        operand: ExpressionId,
    },
    /// `(+ e)`
    RightSection {
        /// The operator.
        operator: QualifiedName,
        /// Its right operand.
        operand: ExpressionId,
    },
    /// `(.a.b[i])`
    AccessSection(Vec<AccessStep>),
    /// `e : t`
    Ascription {
        /// The expression.
        value: ExpressionId,
        /// The type that it has.
        ascribed: TypeExpressionId,
    },
    /// `e :> t`
    Coercion {
        /// The expression.
        value: ExpressionId,
        /// The type whose sizes it has when the program runs.
        coerced: TypeExpressionId,
    },
    /// `a..b..<c`
    Range {
        /// The first element.
        first: ExpressionId,
        /// The second element, if the step is not one.
        second: Option<ExpressionId>,
        /// How the last element counts.
        bound: RangeBound,
        /// The last element, or one beyond it.
        last: ExpressionId,
    },
    /// `if c then a else b`
    If {
        /// The condition.
        condition: ExpressionId,
        /// The result if it holds.
        accept: ExpressionId,
        /// The result if it does not.
        reject: ExpressionId,
    },
    /// `let p = a let q = b in e`
    Let {
        /// The bindings, at least one, each in scope of the next.
        bindings: Vec<LetBinding>,
        /// The result.
        body: ExpressionId,
    },
    /// `\p q: t -> e`
    Lambda(SourceFunction),
    /// `loop p = e for i < n do b`
    Loop(Box<SourceLoop>),
    /// `match e case p -> a`
    Match {
        /// The value that is matched.
        subject: ExpressionId,
        /// The cases in order, at least one.
        cases: Vec<MatchCase>,
    },
    /// `assert c e`
    Assert {
        /// The condition.
        condition: ExpressionId,
        /// The result if it holds.
        body: ExpressionId,
    },
    /// `e with [i].f = v`
    Update {
        /// The record or array that is updated.
        source: ExpressionId,
        /// The path to what is replaced.
        steps: Vec<AccessStep>,
        /// The new value.
        value: ExpressionId,
    },
    /// `#[a] e`
    Attributed {
        /// The attribute.
        attribute: SourceAttribute,
        /// The expression.
        body: ExpressionId,
    },
}

/// A literal. Numbers have the value that is written, before they are rounded to a type.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceLiteral {
    /// `true` or `false`
    Truth(bool),
    /// A whole number below 2^128, with the type of its suffix if it has one. The type may be that of a float.
    Integer(u128, Option<NumberType>),
    /// The text of a number with a fraction or an exponent, without underscores and suffix, with its type.
    Float(String, Option<NumberType>),
    /// A character, as the number of its code point.
    Character(char),
    /// A string, with its escapes resolved, in UTF-8.
    String(String),
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the types")]
pub enum NumberType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl NumberType {
    /// All of them, in the order of the definition.
    pub const ALL: &[NumberType] = &[
        NumberType::I8,
        NumberType::I16,
        NumberType::I32,
        NumberType::I64,
        NumberType::U8,
        NumberType::U16,
        NumberType::U32,
        NumberType::U64,
        NumberType::F16,
        NumberType::F32,
        NumberType::F64,
    ];

    /// How the type is spelled: `i32`.
    pub const fn spelling(self) -> &'static str {
        match self {
            NumberType::I8 => "i8",
            NumberType::I16 => "i16",
            NumberType::I32 => "i32",
            NumberType::I64 => "i64",
            NumberType::U8 => "u8",
            NumberType::U16 => "u16",
            NumberType::U32 => "u32",
            NumberType::U64 => "u64",
            NumberType::F16 => "f16",
            NumberType::F32 => "f32",
            NumberType::F64 => "f64",
        }
    }
}

/// A field of a record expression. Without a value it is the variable of its name.
#[derive(Clone, Copy, Debug)]
pub struct RecordField {
    /// The field.
    pub name: SourceName,
    /// Its value.
    pub value: Option<ExpressionId>,
}

/// An index of one dimension.
#[derive(Clone, Copy, Debug)]
pub enum SliceIndex {
    /// `i`
    Point(ExpressionId),
    /// `i:j:s`, each part optional
    Slice {
        /// The first index.
        start: Option<ExpressionId>,
        /// One beyond the last index.
        end: Option<ExpressionId>,
        /// The step.
        step: Option<ExpressionId>,
        /// Whether the second colon is written.
        has_second_colon: bool,
    },
}

/// A step of a path into records and arrays.
#[derive(Clone, Debug)]
pub enum AccessStep {
    /// `.f`
    Field(SourceName),
    /// `[i]`
    Indices(Vec<SliceIndex>),
}

/// How the last element of a range counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeBound {
    /// `...`: it is part of the range.
    Inclusive,
    /// `..<`: the range goes up and ends before it.
    UpTo,
    /// `..>`: the range goes down and ends before it.
    DownTo,
}

impl RangeBound {
    /// The sign before the bound.
    pub fn dots(self) -> &'static str {
        match self {
            RangeBound::Inclusive => "...",
            RangeBound::UpTo => "..<",
            RangeBound::DownTo => "..>",
        }
    }
}

/// One binding of a chain of `let`.
#[derive(Clone, Debug)]
pub struct LetBinding {
    /// Where it stands, from `let` to the end of the value.
    pub range: TextRange,
    /// The pattern or function that it binds.
    pub kind: LetKind,
    /// The value, or the body of the function.
    pub value: ExpressionId,
}

/// The forms of `let`.
#[derive(Clone, Debug)]
pub enum LetKind {
    /// `let [n] p = e`
    Pattern {
        /// The sizes that the pattern binds.
        sizes: Vec<SourceName>,
        /// The pattern.
        pattern: PatternId,
    },
    /// `let f p q: t = e`
    Function {
        /// The function.
        name: SourceName,
        /// Its parameters and the type of its result. The body is the binding's value.
        signature: FunctionSignature,
    },
    /// `let a[i] = v` or `let r.f = v`
    Update {
        /// The variable that is updated and bound again.
        name: SourceName,
        /// The path to what is replaced.
        steps: Vec<AccessStep>,
    },
}

/// Parameters and type of the result of a function.
#[derive(Clone, Debug, Default)]
pub struct FunctionSignature {
    /// Size and type parameters.
    pub type_parameters: Vec<TypeParameter>,
    /// Parameters.
    pub parameters: Vec<PatternId>,
    /// The type of the result, if it is written.
    pub result: Option<TypeExpressionId>,
}

/// A function without a name.
#[derive(Clone, Debug)]
pub struct SourceFunction {
    /// Its parameters and the type of its result. It has no type parameters.
    pub signature: FunctionSignature,
    /// Its body.
    pub body: ExpressionId,
}

/// A loop.
#[derive(Clone, Debug)]
pub struct SourceLoop {
    /// The pattern of what an iteration passes to the next.
    pub pattern: PatternId,
    /// The first value, if it is not that of the variables of the same names.
    pub initial: Option<ExpressionId>,
    /// How often it runs.
    pub form: LoopForm,
    /// The value for the next iteration.
    pub body: ExpressionId,
}

/// How often a loop runs.
#[derive(Clone, Copy, Debug)]
pub enum LoopForm {
    /// `for i < n`
    Count(SourceName, ExpressionId),
    /// `for p in xs`
    Elements(PatternId, ExpressionId),
    /// `while c`
    While(ExpressionId),
}

/// A case of a match.
#[derive(Clone, Copy, Debug)]
pub struct MatchCase {
    /// Where it stands.
    pub range: TextRange,
    /// The pattern.
    pub pattern: PatternId,
    /// The result.
    pub body: ExpressionId,
}

/// An attribute: `name`, `3` or `name(a, b)`.
#[derive(Clone, Debug)]
pub struct SourceAttribute {
    /// The name, or the digits of a number.
    pub name: SourceName,
    /// The arguments, if there are parentheses.
    pub arguments: Option<Vec<SourceAttribute>>,
}

/// A pattern with its place.
#[derive(Clone, Debug)]
pub struct PatternNode {
    /// Where it stands.
    pub range: TextRange,
    /// Which pattern it is.
    pub kind: PatternKind,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// A name, or an operator in parentheses.
    Name(SourceName),
    /// `_`
    Wildcard,
    /// A literal.
    Literal {
        /// Whether a minus stands in front of it.
        is_negative: bool,
        /// The literal without its sign.
        literal: SourceLiteral,
    },
    /// `(p)`
    Parentheses(PatternId),
    /// `()` or `(p, q)`
    Tuple(Vec<PatternId>),
    /// `{a = p, b}`
    Record(Vec<RecordFieldPattern>),
    /// `#c p q`
    Constructor {
        /// The constructor, without its `#`.
        name: SourceName,
        /// Patterns of its payload.
        payload: Vec<PatternId>,
    },
    /// `p : t`
    Ascription {
        /// The pattern.
        pattern: PatternId,
        /// Its type.
        ascribed: TypeExpressionId,
    },
    /// `#[a] p`
    Attributed {
        /// The attribute.
        attribute: SourceAttribute,
        /// The pattern.
        pattern: PatternId,
    },
}

/// A field of a record pattern: `a = p`, `a: t`, or `a`, which binds the name of the field.
#[derive(Clone, Copy, Debug)]
pub struct RecordFieldPattern {
    /// The field.
    pub name: SourceName,
    /// Its pattern. For `a` and `a: t` it is made from the name.
    pub pattern: PatternId,
    /// Whether the pattern is written after `=`.
    pub is_explicit: bool,
}
