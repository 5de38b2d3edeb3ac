//! Environments: which names stand for which values, types, modules and module types.

use super::types::{TypeId, TypeParameterId};
use super::unify::ScalarClass;
use crate::sizes::shape::ShapedScheme;
use crate::syntax::tree::{
    ModuleExpressionId, ModuleParameter, ModuleTypeId, SourceName, SourceNameId, TypeLiftedness,
};
use crate::typed::{DefinitionId, FileId, IntrinsicId, LocalId, ProgramPlace, SizedTypeId};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

spirula_entity::define_ids! {
    /// A value that a module type names, in one evaluation of the module type.
    pub struct SpecificationId: "specification";
}

/// The names of a module, or those that are visible at a place of a file.
#[derive(Clone, Debug, Default)]
pub struct ModuleScope {
    /// Values and modules, which share a name space.
    pub terms: FxHashMap<SourceNameId, TermBinding>,
    /// Types.
    pub types: FxHashMap<SourceNameId, TypeBinding>,
    /// Module types.
    pub module_types: FxHashMap<SourceNameId, Rc<ModuleTypeBinding>>,
}

impl ModuleScope {
    /// Adds all names of another scope, which hide those of the same names.
    pub fn extend(&mut self, other: &ModuleScope) {
        self.terms
            .extend(other.terms.iter().map(|(name, term)| (*name, term.clone())));
        self.types.extend(
            other
                .types
                .iter()
                .map(|(name, binding)| (*name, binding.clone())),
        );
        let module_types = other.module_types.iter();
        self.module_types
            .extend(module_types.map(|(name, binding)| (*name, Rc::clone(binding))));
    }
}

/// The meaning of a name of the term name space.
#[derive(Clone, Debug)]
pub enum TermBinding {
    /// A value.
    Value(ValueBinding),
    /// A module, with the place of its name.
    Module(ModuleValue, ProgramPlace),
    /// A variable of an expression, with its type parameters if it is a local function that has some.
    Local(LocalId, Option<Rc<TypeScheme>>),
    /// A definition that has a fault, with the place of its name. Its uses are not reported again.
    Faulty(ProgramPlace),
}

/// A value with its type.
#[derive(Clone, Debug)]
pub struct ValueBinding {
    /// The entity that it refers to.
    pub target: ValueTarget,
    /// Its type.
    pub scheme: Rc<TypeScheme>,
    /// Its type with sizes, if a module type gives it.
    pub shape: Option<Arc<ShapedScheme>>,
    /// The types for the type parameters of the target, in terms of those of the scheme. None where they are the same.
    pub arguments: Option<Rc<[TypeId]>>,
    /// Where its name stands.
    pub place: ProgramPlace,
}

/// The entity that a value refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueTarget {
    /// A definition.
    Definition(DefinitionId),
    /// A function of the compiler.
    Intrinsic(IntrinsicId),
    /// A member of a module that is only known by its module type.
    Specified(SpecificationId),
}

/// A type with parameters.
#[derive(Clone, Debug)]
pub struct TypeScheme {
    /// The parameters, with what may stand for each.
    pub parameters: Vec<(TypeParameterId, ParameterClass)>,
    /// The type.
    pub body: TypeId,
    /// The type as a module type gives it.
    pub specified: Option<SizedTypeId>,
}

impl TypeScheme {
    /// A type without parameters.
    pub fn from_type(body: TypeId) -> Rc<TypeScheme> {
        Rc::new(TypeScheme {
            parameters: Vec::new(),
            body,
            specified: None,
        })
    }

    /// The parameters alone.
    pub fn parameter_ids(&self) -> Vec<TypeParameterId> {
        self.parameters
            .iter()
            .map(|(parameter, _)| *parameter)
            .collect()
    }
}

/// Which types may stand for a type parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterClass {
    /// All types of a liftedness.
    Any(TypeLiftedness),
    /// The scalar types of a class.
    Scalar(ScalarClass),
    /// All types whose values can be compared.
    Comparable,
}

/// A parameter of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeParameterBinding {
    /// A size.
    Size(LocalId),
    /// A type.
    Type(TypeParameterId, TypeLiftedness),
}

/// A named type.
#[derive(Clone, Debug)]
pub struct TypeBinding {
    /// Its parameters.
    pub parameters: Rc<[TypeParameterBinding]>,
    /// Which types may stand for it.
    pub liftedness: TypeLiftedness,
    /// The type with sizes.
    pub sized: SizedTypeId,
    /// The type without sizes.
    pub type_id: TypeId,
    /// Where its name stands. A built-in type is at the beginning of the functions of the compiler.
    pub place: ProgramPlace,
}

/// A module.
#[derive(Clone, Debug)]
pub enum ModuleValue {
    /// A module with its names.
    Structure(Rc<ModuleScope>),
    /// A parametric module.
    Parametric(Rc<ParametricModule>),
}

/// A parametric module: a function from modules to modules.
#[derive(Clone, Debug)]
pub enum ParametricModule {
    /// It is defined in the source, and checked again for each argument.
    Defined(ModuleClosure),
    /// It is only known by its module type.
    Specified {
        /// The module type of the parameter.
        parameter: ModuleTypeBinding,
        /// The name of the parameter in the module type of the result.
        name: Option<SourceName>,
        /// The module type of the result.
        result: ModuleTypeBinding,
    },
    /// Another one, seen through a module type.
    Ascribed {
        /// The module.
        module: Rc<ParametricModule>,
        /// The module type of the parameter.
        parameter: ModuleTypeBinding,
        /// The name of the parameter in the module type of the result.
        name: Option<SourceName>,
        /// The module type of the result.
        result: ModuleTypeBinding,
    },
}

/// A parametric module of the source with the names around it.
#[derive(Clone, Debug)]
pub struct ModuleClosure {
    /// The file.
    pub file: FileId,
    /// The parameters that have no argument yet, at least one.
    pub parameters: Vec<ModuleParameter>,
    /// The module type that is ascribed to the body.
    pub ascribed: Option<ModuleTypeId>,
    /// The body.
    pub body: ModuleExpressionId,
    /// The names around it.
    pub environment: Rc<ModuleScope>,
}

/// A module type with the names around it. It is evaluated at each use, with new abstract types.
#[derive(Clone, Debug)]
pub struct ModuleTypeBinding {
    /// The file.
    pub file: FileId,
    /// Its definition.
    pub definition: ModuleTypeId,
    /// The names around it.
    pub environment: Rc<ModuleScope>,
    /// Where its name stands, or its definition if it has none.
    pub place: ProgramPlace,
}
