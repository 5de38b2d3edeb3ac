//! Syntax tree of declarations, modules and module types.

use super::token::TextRange;
use super::tree::{
    ExpressionId, FunctionSignature, ModuleExpressionId, ModuleTypeId, QualifiedName,
    SourceAttribute, SourceName, TypeExpressionId, TypeLiftedness, TypeParameter,
};

/// A declaration with its attributes and documentation.
#[derive(Clone, Debug)]
pub struct SourceDeclaration {
    /// Where it stands, without attributes.
    pub range: TextRange,
    /// The documentation comment in front of it.
    pub documentation: Option<TextRange>,
    /// Its attributes.
    pub attributes: Vec<SourceAttribute>,
    /// Which declaration it is.
    pub kind: DeclarationKind,
}

/// The forms of declarations.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `def f p: t = e`
    Value(ValueDeclaration),
    /// `type t 'a = u`
    Type(TypeDeclaration),
    /// `module type s = …`
    ModuleType {
        /// Its name.
        name: SourceName,
        /// Its definition.
        definition: ModuleTypeId,
    },
    /// `module m (p: s): s = …`
    Module {
        /// Its name.
        name: SourceName,
        /// Its parameters.
        parameters: Vec<ModuleParameter>,
        /// The module type that is ascribed to it.
        ascribed: Option<ModuleTypeId>,
        /// Its definition.
        definition: ModuleExpressionId,
    },
    /// `open m`
    Open(ModuleExpressionId),
    /// `import "file"`
    Import(SourceName),
    /// `local …`
    Local(Box<SourceDeclaration>),
}

/// The keyword of a value declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKeyword {
    /// `def`
    Def,
    /// `entry`: the function can be called from outside.
    Entry,
    /// `let`, the older spelling of `def`.
    Let,
}

/// A function or constant.
#[derive(Clone, Debug)]
pub struct ValueDeclaration {
    /// The keyword.
    pub keyword: ValueKeyword,
    /// The name, or an operator.
    pub name: SourceName,
    /// Whether it is written between its two parameters.
    pub is_infix: bool,
    /// Its parameters and the type of its result.
    pub signature: FunctionSignature,
    /// Its value.
    pub body: ExpressionId,
}

/// A type abbreviation, or in a module type an abstract type.
#[derive(Clone, Debug)]
pub struct TypeDeclaration {
    /// Its name.
    pub name: SourceName,
    /// Which types may stand for it.
    pub liftedness: TypeLiftedness,
    /// Its parameters.
    pub parameters: Vec<TypeParameter>,
    /// Its definition. None for an abstract type.
    pub definition: Option<TypeExpressionId>,
}

/// A parameter of a module: `(p: s)`.
#[derive(Clone, Copy, Debug)]
pub struct ModuleParameter {
    /// Its name.
    pub name: SourceName,
    /// Its module type.
    pub module_type: ModuleTypeId,
}

/// A module expression with its place.
#[derive(Clone, Debug)]
pub struct ModuleNode {
    /// Where it stands.
    pub range: TextRange,
    /// Which module expression it is.
    pub kind: ModuleKind,
}

/// The forms of module expressions.
#[derive(Clone, Debug)]
pub enum ModuleKind {
    /// `m.n`
    Name(QualifiedName),
    /// `(m)`
    Parentheses(ModuleExpressionId),
    /// `{ … }`
    Declarations(Vec<SourceDeclaration>),
    /// `import "file"`. The name is the path without quotes.
    Import(SourceName),
    /// `m : s`
    Ascription(ModuleExpressionId, ModuleTypeId),
    /// `\(p: s): t -> m`
    Lambda {
        /// The parameter.
        parameter: ModuleParameter,
        /// The module type of the result.
        ascribed: Option<ModuleTypeId>,
        /// The body.
        body: ModuleExpressionId,
    },
    /// `m n`
    Application(ModuleExpressionId, ModuleExpressionId),
}

/// A module type expression with its place.
#[derive(Clone, Debug)]
pub struct ModuleTypeNode {
    /// Where it stands.
    pub range: TextRange,
    /// Which module type expression it is.
    pub kind: ModuleTypeKind,
}

/// The forms of module type expressions.
#[derive(Clone, Debug)]
pub enum ModuleTypeKind {
    /// `m.s`
    Name(QualifiedName),
    /// `(s)`
    Parentheses(ModuleTypeId),
    /// `{ … }`
    Specifications(Vec<ModuleSpecification>),
    /// `s with t = u`
    With {
        /// The module type.
        base: ModuleTypeId,
        /// The type that is defined.
        name: QualifiedName,
        /// Its parameters.
        parameters: Vec<TypeParameter>,
        /// Its definition.
        definition: TypeExpressionId,
    },
    /// `(p: s) -> t` or `s -> t`
    Function {
        /// The name of the parameter.
        name: Option<SourceName>,
        /// The module type of the parameter.
        parameter: ModuleTypeId,
        /// The module type of the result.
        result: ModuleTypeId,
    },
}

/// A specification of a module type.
#[derive(Clone, Debug)]
pub struct ModuleSpecification {
    /// Where it stands.
    pub range: TextRange,
    /// The documentation comment in front of it.
    pub documentation: Option<TextRange>,
    /// Its attributes.
    pub attributes: Vec<SourceAttribute>,
    /// Which specification it is.
    pub kind: SpecificationKind,
}

/// The forms of specifications.
#[derive(Clone, Debug)]
pub enum SpecificationKind {
    /// `val f [n] 'a : t`
    Value {
        /// The name, or an operator.
        name: SourceName,
        /// Size and type parameters.
        type_parameters: Vec<TypeParameter>,
        /// Its type.
        value_type: TypeExpressionId,
    },
    /// `type t 'a`, or `type t 'a = u`
    Type(TypeDeclaration),
    /// `module m : s`
    Module(SourceName, ModuleTypeId),
    /// `include s`
    Include(ModuleTypeId),
}
