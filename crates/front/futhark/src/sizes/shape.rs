//! Shaped types: types with a size for each dimension of each array, as the second pass infers them.
//!
//! Sizes and shaped types are interned, so that equal ones have one id. A size may be a variable of inference, whose state
//! is in [`super::variable::SizeVariables`].

use super::variable::SizeVariables;
use crate::check::types::{AbstractTypeId, TypeId, TypeParameterId};
use crate::syntax::tree::{SourceNameId, TypeLiftedness};
use crate::typed::{DefinitionId, IntrinsicId, LocalId, TypedExpressionId};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_entity::ValueInterner;
use std::sync::Arc;

spirula_entity::define_ids! {
    /// A size.
    pub struct SizeId: "size";
    /// A type with sizes.
    pub struct ShapedTypeId: "shaped";
    /// A size that inference is to find.
    pub struct SizeVariableId: "?size";
}

/// The forms of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SizeForm {
    /// A number.
    Constant(i64),
    /// A variable of the program: a size parameter, an integer, or a size that an expression produces.
    Local(LocalId),
    /// A variable of inference.
    Variable(SizeVariableId),
    /// An expression of other parts. The type is that of its value.
    Compound(SizeHead, Vec<SizeId>, TypeId),
    /// A size of which nothing is known. It is equal to all others.
    Unknown,
}

/// The operation of a compound size on its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SizeHead {
    /// A number that is no `i64`, or a truth value.
    Number(i128),
    /// A truth value.
    Truth(bool),
    /// A definition.
    Global(DefinitionId, Vec<TypeId>),
    /// A function of the compiler.
    Intrinsic(IntrinsicId, Vec<TypeId>),
    /// A value that is only known by its module type. It is equal to all others. If the value behind a size is known,
    /// that is the first part, and the size as the module type has it the second. Equality is then that of the second
    /// part.
    Specified,
    /// A local function or variable with types for its type parameters.
    Instance(LocalId, Vec<TypeId>),
    /// A function, then its arguments.
    Apply,
    /// A field of a record.
    Field(SourceNameId),
    /// A record of its fields.
    Record(Vec<SourceNameId>),
    /// An array, then the positions of an element.
    Index,
    /// An array of its elements.
    Array,
    /// A condition and two branches.
    Choice,
}

/// The forms of shaped types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ShapedForm {
    /// A type without arrays, functions, parameters and hidden types, so without sizes.
    Plain(TypeId),
    /// An array.
    Array(SizeId, ShapedTypeId),
    /// A record, with its fields in canonical order.
    Record(Vec<(SourceNameId, ShapedTypeId)>),
    /// A sum, with its constructors in the order of their names.
    Sum(Vec<(SourceNameId, Vec<ShapedTypeId>)>),
    /// A function.
    Function(FunctionShape),
    /// An abstract type with its sizes and types.
    Abstract(AbstractTypeId, Vec<SizeId>, Vec<ShapedTypeId>),
    /// A type parameter.
    Parameter(TypeParameterId),
    /// A type of which no sizes are known. It is equal to all others.
    Any,
}

/// A function with sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionShape {
    /// The parameter's name, to which the sizes of the result may refer.
    pub name: Option<LocalId>,
    /// The type of the parameter.
    pub parameter: ShapedTypeId,
    /// The sizes that the function itself chooses for its result.
    pub sizes: Vec<LocalId>,
    /// The type of the result.
    pub result: ShapedTypeId,
}

/// A shaped type with parameters.
#[derive(Clone, Debug)]
pub struct ShapedScheme {
    /// The size parameters.
    pub sizes: Vec<LocalId>,
    /// The type parameters, each with the types that may stand for it.
    pub types: Vec<(TypeParameterId, TypeLiftedness)>,
    /// The type.
    pub shape: ShapedTypeId,
}

/// The definition of an abstract type.
#[derive(Clone, Debug)]
pub struct AbstractShape {
    /// Its size parameters.
    pub sizes: Vec<LocalId>,
    /// Its type parameters.
    pub types: Vec<TypeParameterId>,
    /// The type.
    pub shape: ShapedTypeId,
}

/// The arguments for parameters.
#[derive(Clone, Debug, Default)]
pub struct ShapeSubstitution {
    /// The sizes for variables.
    pub sizes: FxHashMap<LocalId, SizeId>,
    /// The types for type parameters.
    pub types: FxHashMap<TypeParameterId, ShapedTypeId>,
}

/// All sizes and shaped types of a program.
#[derive(Debug, Default)]
pub struct ShapeTable {
    sizes: ValueInterner<SizeId, SizeForm>,
    shapes: ValueInterner<ShapedTypeId, ShapedForm>,
    /// The types of definitions.
    pub definitions: FxHashMap<DefinitionId, Arc<ShapedScheme>>,
    /// The number of size parameters of abstract types that have some.
    pub abstract_sizes: FxHashMap<AbstractTypeId, usize>,
    /// Whether types contain no arrays, functions, type parameters and hidden types.
    pub sizeless: FxHashMap<TypeId, bool>,
    /// The abstract types that are known to be others.
    pub abstracts: FxHashMap<AbstractTypeId, AbstractShape>,
    /// The size parameters of values of module types that no one wrote: a module may have any size there.
    pub unwritten: FxHashSet<LocalId>,
    /// The types of expressions and variables, if they are recorded.
    pub record: Option<ShapeRecord>,
}

/// The types with sizes of expressions and variables, for tools that show them to people.
#[derive(Debug, Default)]
pub struct ShapeRecord {
    /// The types of expressions.
    pub expressions: FxHashMap<TypedExpressionId, ShapedTypeId>,
    /// The types of variables. That of a local function is the one of its definition.
    pub locals: FxHashMap<LocalId, Arc<ShapedScheme>>,
}

impl ShapeTable {
    /// The id of a size.
    pub fn add_size(&mut self, form: SizeForm) -> SizeId {
        self.sizes.intern(form)
    }

    /// A number as a size.
    pub fn add_constant(&mut self, value: i64) -> SizeId {
        self.add_size(SizeForm::Constant(value))
    }

    /// A variable of the program as a size.
    pub fn add_local(&mut self, local: LocalId) -> SizeId {
        self.add_size(SizeForm::Local(local))
    }

    /// The form of a size.
    pub fn size(&self, id: SizeId) -> &SizeForm {
        self.sizes.get(id)
    }

    /// The id of a shaped type.
    pub fn add_shape(&mut self, form: ShapedForm) -> ShapedTypeId {
        self.shapes.intern(form)
    }

    /// A type of which no sizes are known.
    pub fn add_any(&mut self) -> ShapedTypeId {
        self.add_shape(ShapedForm::Any)
    }

    /// An array.
    pub fn add_array(&mut self, size: SizeId, element: ShapedTypeId) -> ShapedTypeId {
        self.add_shape(ShapedForm::Array(size, element))
    }

    /// The form of a shaped type.
    pub fn shape(&self, id: ShapedTypeId) -> &ShapedForm {
        self.shapes.get(id)
    }

    /// Number of shaped types.
    pub fn count_shapes(&self) -> usize {
        self.shapes.len()
    }

    /// The size with its direct parts replaced.
    pub fn map_size(
        &mut self,
        id: SizeId,
        part: &mut dyn FnMut(&mut Self, SizeId) -> SizeId,
    ) -> SizeId {
        let SizeForm::Compound(head, parts, type_id) = self.size(id).clone() else {
            return id;
        };
        let parts = parts.into_iter().map(|inner| part(self, inner)).collect();
        self.add_size(SizeForm::Compound(head, parts, type_id))
    }

    /// The size with others in place of variables of the program.
    pub fn substitute_size(
        &mut self,
        id: SizeId,
        substitution: &FxHashMap<LocalId, SizeId>,
    ) -> SizeId {
        match self.size(id) {
            SizeForm::Local(local) => substitution.get(local).copied().unwrap_or(id),
            SizeForm::Compound(..) => self.map_size(id, &mut |table, part| {
                table.substitute_size(part, substitution)
            }),
            _ => id,
        }
    }

    /// The shaped type with its sizes and direct parts replaced.
    pub fn map_shape(
        &mut self,
        id: ShapedTypeId,
        size: &mut dyn FnMut(&mut Self, SizeId) -> SizeId,
        part: &mut dyn FnMut(&mut Self, ShapedTypeId) -> ShapedTypeId,
    ) -> ShapedTypeId {
        let form = match self.shape(id).clone() {
            ShapedForm::Plain(_) | ShapedForm::Parameter(_) | ShapedForm::Any => return id,
            ShapedForm::Array(length, element) => {
                ShapedForm::Array(size(self, length), part(self, element))
            }
            ShapedForm::Record(mut fields) => {
                for (_, field) in &mut fields {
                    *field = part(self, *field);
                }
                ShapedForm::Record(fields)
            }
            ShapedForm::Sum(mut clauses) => {
                for payload in clauses.iter_mut().flat_map(|(_, payload)| payload) {
                    *payload = part(self, *payload);
                }
                ShapedForm::Sum(clauses)
            }
            ShapedForm::Function(function) => ShapedForm::Function(FunctionShape {
                parameter: part(self, function.parameter),
                result: part(self, function.result),
                ..function
            }),
            ShapedForm::Abstract(name, mut sizes, mut types) => {
                for length in &mut sizes {
                    *length = size(self, *length);
                }
                for argument in &mut types {
                    *argument = part(self, *argument);
                }
                ShapedForm::Abstract(name, sizes, types)
            }
        };
        self.add_shape(form)
    }

    /// The shaped type with arguments in place of parameters.
    pub fn substitute(
        &mut self,
        id: ShapedTypeId,
        substitution: &ShapeSubstitution,
    ) -> ShapedTypeId {
        if substitution.sizes.is_empty() && substitution.types.is_empty() {
            return id;
        }
        self.substitute_part(id, substitution, &mut FxHashMap::default())
    }

    fn substitute_part(
        &mut self,
        id: ShapedTypeId,
        substitution: &ShapeSubstitution,
        done: &mut FxHashMap<ShapedTypeId, ShapedTypeId>,
    ) -> ShapedTypeId {
        if let Some(&known) = done.get(&id) {
            return known;
        }
        let result = match self.shape(id) {
            ShapedForm::Parameter(parameter) => {
                substitution.types.get(parameter).copied().unwrap_or(id)
            }
            _ => self.map_shape(
                id,
                &mut |table, size| table.substitute_size(size, &substitution.sizes),
                &mut |table, part| table.substitute_part(part, substitution, done),
            ),
        };
        done.insert(id, result);
        result
    }

    /// The direct parts of a shaped type.
    pub fn parts_of(&self, id: ShapedTypeId) -> Vec<ShapedTypeId> {
        match self.shape(id) {
            ShapedForm::Plain(_) | ShapedForm::Parameter(_) | ShapedForm::Any => Vec::new(),
            ShapedForm::Array(_, element) => vec![*element],
            ShapedForm::Record(fields) => fields.iter().map(|(_, field)| *field).collect(),
            ShapedForm::Sum(clauses) => clauses
                .iter()
                .flat_map(|(_, payload)| payload.iter().copied())
                .collect(),
            ShapedForm::Function(function) => vec![function.parameter, function.result],
            ShapedForm::Abstract(_, _, types) => types.clone(),
        }
    }

    /// The sizes of a shaped type itself, without those of its parts.
    pub fn own_sizes(&self, id: ShapedTypeId) -> Vec<SizeId> {
        match self.shape(id) {
            ShapedForm::Array(size, _) => vec![*size],
            ShapedForm::Abstract(_, sizes, _) => sizes.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether a type has a size with a variable of the program.
    pub fn mentions(&self, id: ShapedTypeId, local: LocalId) -> bool {
        let mut mentions = false;
        SizeVariables::visit_sizes(self, id, &mut |size| {
            self.visit_locals(size, &mut |other| mentions |= other == local);
        });
        mentions
    }

    /// Calls a function for each variable of the program in a size.
    pub fn visit_locals(&self, id: SizeId, visit: &mut dyn FnMut(LocalId)) {
        match self.size(id) {
            SizeForm::Local(local) => visit(*local),
            SizeForm::Compound(head, parts, _) => {
                if let SizeHead::Instance(local, _) = head {
                    visit(*local);
                }
                for part in parts {
                    self.visit_locals(*part, visit);
                }
            }
            SizeForm::Constant(_) | SizeForm::Variable(_) | SizeForm::Unknown => {}
        }
    }
}
