//! Types without sizes, as the first pass of the checker infers them.
//!
//! Types are interned: equal types have one id. A type may contain variables of inference, which are bound in
//! [`super::unify::VariableTable`].

use super::unify::ScalarClass;
use crate::syntax::tree::{NumberType, SourceNameId, TypeLiftedness};
use spirula_entity::{StringInterner, ValueInterner};
use std::cmp::Ordering;
use std::fmt::Write as _;

spirula_entity::define_ids! {
    /// A type.
    pub struct TypeId: "type";
    /// A variable of type inference.
    pub struct TypeVariableId: "?";
    /// A type parameter of a definition.
    pub struct TypeParameterId: "'";
    /// A type whose definition is hidden by a module type.
    pub struct AbstractTypeId: "abstract";
}

/// A built-in scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrimitiveType {
    /// A number.
    Number(NumberType),
    /// `bool`
    Bool,
}

impl PrimitiveType {
    /// How the type is spelled.
    pub const fn spelling(self) -> &'static str {
        match self {
            PrimitiveType::Number(number_type) => number_type.spelling(),
            PrimitiveType::Bool => "bool",
        }
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = PrimitiveType> {
        let numbers = NumberType::ALL
            .iter()
            .map(|&number_type| PrimitiveType::Number(number_type));
        numbers.chain([PrimitiveType::Bool])
    }
}

/// The forms of types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeForm {
    /// A built-in scalar type.
    Scalar(PrimitiveType),
    /// An array of one dimension more than its elements.
    Array(TypeId),
    /// A record or tuple. The fields are in their canonical order ([`compare_fields`]).
    Record(Vec<(SourceNameId, TypeId)>),
    /// A sum. The constructors are in the order of their names.
    Sum(Vec<(SourceNameId, Vec<TypeId>)>),
    /// A function of one parameter.
    Function(TypeId, TypeId),
    /// An abstract type with its arguments.
    Abstract(AbstractTypeId, Vec<TypeId>),
    /// A type parameter of the definition at hand.
    Parameter(TypeParameterId),
    /// A variable of inference.
    Variable(TypeVariableId),
}

/// The canonical order of fields: numbers by their value, in front of names by their text.
pub fn compare_fields(left: &str, right: &str) -> Ordering {
    match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.cmp(right),
    }
}

/// Brings named parts into the canonical order of fields. The names alone are sorted, so that parts of all types share
/// one sort.
pub fn sort_fields<T>(parts: &mut Vec<(SourceNameId, T)>, names: &StringInterner<SourceNameId>) {
    if parts
        .is_sorted_by(|(left, _), (right, _)| compare_fields(&names[*left], &names[*right]).is_le())
    {
        return;
    }
    let ids: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
    let mut unsorted: Vec<_> = parts.drain(..).map(Some).collect();
    let order = order_fields(&ids, names).into_iter();
    parts.extend(order.filter_map(|position| unsorted[position].take()));
}

/// The positions of names in the canonical order of fields.
fn order_fields(ids: &[SourceNameId], names: &StringInterner<SourceNameId>) -> Vec<usize> {
    let mut order: Vec<_> = (0..ids.len()).collect();
    order.sort_by(|left, right| compare_fields(&names[ids[*left]], &names[ids[*right]]));
    order
}

/// All types of a program.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    forms: ValueInterner<TypeId, TypeForm>,
    parameters: Vec<ParameterRecord>,
    abstracts: Vec<AbstractType>,
}

/// A type parameter of a definition.
#[derive(Clone, Copy, Debug)]
struct ParameterRecord {
    name: SourceNameId,
    /// Which types may stand for it. None if it was inferred.
    declared: Option<TypeLiftedness>,
}

/// A type whose definition a module type hides.
#[derive(Clone, Debug)]
struct AbstractType {
    /// Its name, for messages.
    name: String,
    /// Which types may stand for it.
    liftedness: TypeLiftedness,
    /// The class of scalars that it belongs to, in the prelude.
    class: Option<ScalarClass>,
    /// The type that it is known to be, with the parameters that occur in it. It is that of a `with`, or of an argument
    /// of a parametric module.
    definition: Option<(Vec<TypeParameterId>, TypeId)>,
    /// The type that it hides, of which the checker knows nothing and code generation all.
    representation: Option<(Vec<TypeParameterId>, TypeId)>,
}

impl TypeTable {
    /// The id of a type.
    pub fn intern(&mut self, form: TypeForm) -> TypeId {
        self.forms.intern(form)
    }

    /// The form of a type.
    pub fn form(&self, id: TypeId) -> &TypeForm {
        self.forms.get(id)
    }

    /// A scalar type.
    pub fn scalar(&mut self, scalar: PrimitiveType) -> TypeId {
        self.intern(TypeForm::Scalar(scalar))
    }

    /// `bool`
    pub fn bool(&mut self) -> TypeId {
        self.scalar(PrimitiveType::Bool)
    }

    /// `i64`
    pub fn int64(&mut self) -> TypeId {
        self.scalar(PrimitiveType::Number(NumberType::I64))
    }

    /// An array.
    pub fn array(&mut self, element: TypeId) -> TypeId {
        self.intern(TypeForm::Array(element))
    }

    /// A function of one parameter.
    pub fn function(&mut self, parameter: TypeId, result: TypeId) -> TypeId {
        self.intern(TypeForm::Function(parameter, result))
    }

    /// A function of several parameters, one after the other.
    pub fn functions(&mut self, parameters: &[TypeId], result: TypeId) -> TypeId {
        let parameters = parameters.iter().rev();
        parameters.fold(result, |result, &parameter| {
            self.function(parameter, result)
        })
    }

    /// A record. The fields may be in any order.
    pub fn record(
        &mut self,
        mut fields: Vec<(SourceNameId, TypeId)>,
        names: &StringInterner<SourceNameId>,
    ) -> TypeId {
        sort_fields(&mut fields, names);
        self.intern(TypeForm::Record(fields))
    }

    /// A tuple.
    pub fn tuple(
        &mut self,
        elements: &[TypeId],
        names: &mut StringInterner<SourceNameId>,
    ) -> TypeId {
        let fields = elements.iter().enumerate();
        let fields = fields.map(|(index, &element)| (names.intern(&index.to_string()), element));
        let fields = fields.collect();
        self.intern(TypeForm::Record(fields))
    }

    /// A sum. The constructors may be in any order.
    pub fn sum(
        &mut self,
        mut clauses: Vec<(SourceNameId, Vec<TypeId>)>,
        names: &StringInterner<SourceNameId>,
    ) -> TypeId {
        clauses.sort_by(|(left, _), (right, _)| names[*left].cmp(&names[*right]));
        self.intern(TypeForm::Sum(clauses))
    }

    /// A new type parameter. One that is not declared was inferred.
    pub fn add_parameter(
        &mut self,
        name: SourceNameId,
        declared: Option<TypeLiftedness>,
    ) -> TypeParameterId {
        self.parameters.push(ParameterRecord { name, declared });
        TypeParameterId::new(self.parameters.len() - 1)
    }

    /// Which types may stand for a type parameter.
    pub fn parameter_liftedness(&self, id: TypeParameterId) -> TypeLiftedness {
        let declared = self.parameters[id.index()].declared;
        declared.unwrap_or(TypeLiftedness::FullyLifted)
    }

    /// Whether a type parameter was inferred.
    pub fn is_inferred(&self, id: TypeParameterId) -> bool {
        self.parameters[id.index()].declared.is_none()
    }

    /// The name of a type parameter.
    pub fn parameter_name(&self, id: TypeParameterId) -> SourceNameId {
        self.parameters[id.index()].name
    }

    /// A new abstract type. Its name is for messages only.
    pub fn add_abstract(
        &mut self,
        name: String,
        liftedness: TypeLiftedness,
        class: Option<ScalarClass>,
    ) -> AbstractTypeId {
        self.abstracts.push(AbstractType {
            name,
            liftedness,
            class,
            definition: None,
            representation: None,
        });
        AbstractTypeId::new(self.abstracts.len() - 1)
    }

    /// Number of abstract types.
    pub fn count_abstracts(&self) -> usize {
        self.abstracts.len()
    }

    /// The name of an abstract type.
    pub fn abstract_name(&self, id: AbstractTypeId) -> &str {
        &self.abstracts[id.index()].name
    }

    /// Which types may stand for an abstract type.
    pub fn abstract_liftedness(&self, id: AbstractTypeId) -> TypeLiftedness {
        self.abstracts[id.index()].liftedness
    }

    /// The class of scalars that an abstract type belongs to.
    pub fn abstract_class(&self, id: AbstractTypeId) -> Option<ScalarClass> {
        self.abstracts[id.index()].class
    }

    /// Whether it is known which type an abstract type is.
    pub fn is_defined(&self, id: AbstractTypeId) -> bool {
        self.abstracts[id.index()].definition.is_some()
    }

    /// Makes an abstract type an abbreviation.
    pub fn define_abstract(
        &mut self,
        id: AbstractTypeId,
        parameters: Vec<TypeParameterId>,
        definition: TypeId,
    ) {
        self.abstracts[id.index()].definition = Some((parameters, definition));
    }

    /// Says which type an abstract type hides.
    pub fn represent_abstract(
        &mut self,
        id: AbstractTypeId,
        parameters: Vec<TypeParameterId>,
        hidden: TypeId,
    ) {
        self.abstracts[id.index()].representation = Some((parameters, hidden));
    }

    /// The type that an abstract type with arguments is known to be.
    pub fn expand_definition(
        &mut self,
        id: AbstractTypeId,
        arguments: &[TypeId],
    ) -> Option<TypeId> {
        let (parameters, definition) = self.abstracts[id.index()].definition.clone()?;
        Some(self.substitute(definition, &parameters, arguments))
    }

    /// The type that an abstract type with arguments is or hides.
    pub fn expand_representation(
        &mut self,
        id: AbstractTypeId,
        arguments: &[TypeId],
    ) -> Option<TypeId> {
        let known = &self.abstracts[id.index()];
        let (parameters, hidden) = known
            .definition
            .clone()
            .or_else(|| known.representation.clone())?;
        Some(self.substitute(hidden, &parameters, arguments))
    }

    /// The type with the types that abstract types hide in place of these.
    pub fn expand_hidden(&mut self, id: TypeId) -> TypeId {
        let form = self.form(id).clone();
        let TypeForm::Abstract(name, arguments) = form else {
            return self.map_parts(id, Self::expand_hidden);
        };
        match self.expand_representation(name, &arguments) {
            Some(hidden) => self.expand_hidden(hidden),
            None => id,
        }
    }

    /// The rank of an array, and the type of its elements.
    pub fn split_array(&self, mut id: TypeId) -> (usize, TypeId) {
        let mut rank = 0;
        while let TypeForm::Array(element) = *self.form(id) {
            id = element;
            rank += 1;
        }
        (rank, id)
    }

    /// The type with arguments in place of type parameters.
    pub fn substitute(
        &mut self,
        id: TypeId,
        parameters: &[TypeParameterId],
        arguments: &[TypeId],
    ) -> TypeId {
        if parameters.is_empty() {
            return id;
        }
        if let TypeForm::Parameter(parameter) = self.form(id) {
            let index = parameters.iter().position(|other| other == parameter);
            return index
                .and_then(|index| arguments.get(index))
                .copied()
                .unwrap_or(id);
        }
        self.map_parts(id, |types, part| {
            types.substitute(part, parameters, arguments)
        })
    }

    /// The type with its direct parts replaced.
    pub fn map_parts(
        &mut self,
        id: TypeId,
        mut part: impl FnMut(&mut Self, TypeId) -> TypeId,
    ) -> TypeId {
        let form = match self.form(id).clone() {
            form @ (TypeForm::Scalar(_) | TypeForm::Parameter(_) | TypeForm::Variable(_)) => form,
            TypeForm::Array(element) => TypeForm::Array(part(self, element)),
            TypeForm::Record(mut fields) => {
                for (_, field) in &mut fields {
                    *field = part(self, *field);
                }
                TypeForm::Record(fields)
            }
            TypeForm::Sum(mut clauses) => {
                for payload in clauses.iter_mut().flat_map(|(_, payload)| payload) {
                    *payload = part(self, *payload);
                }
                TypeForm::Sum(clauses)
            }
            TypeForm::Function(parameter, result) => {
                TypeForm::Function(part(self, parameter), part(self, result))
            }
            TypeForm::Abstract(name, mut arguments) => {
                for argument in &mut arguments {
                    *argument = part(self, *argument);
                }
                TypeForm::Abstract(name, arguments)
            }
        };
        self.intern(form)
    }

    /// The direct parts of a type.
    pub fn parts_of(&self, id: TypeId) -> Vec<TypeId> {
        match self.form(id) {
            TypeForm::Scalar(_) | TypeForm::Parameter(_) | TypeForm::Variable(_) => Vec::new(),
            TypeForm::Array(element) => vec![*element],
            TypeForm::Record(fields) => fields.iter().map(|(_, field)| *field).collect(),
            TypeForm::Sum(clauses) => clauses
                .iter()
                .flat_map(|(_, payload)| payload.iter().copied())
                .collect(),
            TypeForm::Function(parameter, result) => vec![*parameter, *result],
            TypeForm::Abstract(_, arguments) => arguments.clone(),
        }
    }

    /// The type as it is written in the source. Variables of inference are written as `?n`.
    pub fn print(&self, id: TypeId, names: &StringInterner<SourceNameId>) -> String {
        let mut out = String::new();
        self.print_at(id, 0, names, &mut out);
        out
    }

    /// Prints a type where `level` says what needs parentheses: 0 nothing, 1 functions and sums, 2 applications too. An abstract
    /// type that is known is printed as the type that it is.
    fn print_at(
        &self,
        id: TypeId,
        level: u8,
        names: &StringInterner<SourceNameId>,
        out: &mut String,
    ) {
        let needs = match self.form(id) {
            TypeForm::Function(..) | TypeForm::Sum(_) => level > 0,
            TypeForm::Abstract(_, arguments) => level > 1 && !arguments.is_empty(),
            _ => false,
        };
        if needs {
            out.push('(');
        }
        match self.form(id) {
            TypeForm::Scalar(scalar) => out.push_str(scalar.spelling()),
            TypeForm::Array(element) => {
                out.push_str("[]");
                self.print_at(*element, 1, names, out);
            }
            TypeForm::Record(fields) => self.print_record(fields, names, out),
            TypeForm::Sum(clauses) => {
                for (index, (name, payload)) in clauses.iter().enumerate() {
                    out.push_str(if index > 0 { " | #" } else { "#" });
                    out.push_str(&names[*name]);
                    for &payload in payload {
                        out.push(' ');
                        self.print_at(payload, 2, names, out);
                    }
                }
            }
            TypeForm::Function(parameter, result) => {
                self.print_at(*parameter, 1, names, out);
                out.push_str(" -> ");
                self.print_at(*result, 0, names, out);
            }
            TypeForm::Abstract(name, arguments) => {
                if let Some((parameters, definition)) = &self.abstracts[name.index()].definition
                    && parameters.is_empty()
                {
                    return self.print_at(*definition, level, names, out);
                }
                out.push_str(self.abstract_name(*name));
                for &argument in arguments {
                    out.push(' ');
                    self.print_at(argument, 2, names, out);
                }
            }
            TypeForm::Parameter(parameter) => out.push_str(&names[self.parameter_name(*parameter)]),
            TypeForm::Variable(variable) => {
                let _ = write!(out, "?{}", variable.index());
            }
        }
        if needs {
            out.push(')');
        }
    }

    /// Prints a record or a tuple.
    fn print_record(
        &self,
        fields: &[(SourceNameId, TypeId)],
        names: &StringInterner<SourceNameId>,
        out: &mut String,
    ) {
        let mut fields_in_order = fields.iter().enumerate();
        let is_tuple = fields.len() != 1
            && fields_in_order.all(|(index, (name, _))| names[*name] == *index.to_string());
        out.push(if is_tuple { '(' } else { '{' });
        for (index, (name, field)) in fields.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            if !is_tuple {
                out.push_str(&names[*name]);
                out.push_str(": ");
            }
            self.print_at(*field, 0, names, out);
        }
        out.push(if is_tuple { ')' } else { '}' });
    }
}
