//! Structures of values: what tools print values by, where these are given as plain values.

use crate::check::types::{TypeForm, TypeId, TypeTable};
use crate::typed::TypedProgram;

/// The structure of the values of a type. Its scalars are plain values, each with a dimension for every array around
/// it. A value of a sum is the number of its constructor, then the payloads of all constructors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueStructure {
    /// A scalar.
    Scalar,
    /// An array of its elements.
    Array(Box<ValueStructure>),
    /// A record or tuple, with its fields in order.
    Record(Vec<(String, ValueStructure)>),
    /// A sum: its constructors with their payloads, in order.
    Sum(Vec<(String, Vec<ValueStructure>)>),
    /// A function, or a value that is not known.
    Function,
}

/// Describes the values of a type. Types that modules hide are shown.
pub fn describe_structure(program: &TypedProgram, type_id: TypeId) -> ValueStructure {
    let mut types = program.types.clone();
    describe_type(program, &mut types, type_id)
}

fn describe_type(program: &TypedProgram, types: &mut TypeTable, type_id: TypeId) -> ValueStructure {
    match types.form(type_id).clone() {
        TypeForm::Scalar(_) => ValueStructure::Scalar,
        TypeForm::Array(element) => {
            ValueStructure::Array(Box::new(describe_type(program, types, element)))
        }
        TypeForm::Record(fields) => {
            let fields = fields.into_iter().map(|(name, field)| {
                (
                    program.names[name].to_owned(),
                    describe_type(program, types, field),
                )
            });
            ValueStructure::Record(fields.collect())
        }
        TypeForm::Sum(clauses) => {
            let clauses = clauses.into_iter().map(|(name, payload)| {
                let payload = payload.into_iter();
                let payload = payload.map(|part| describe_type(program, types, part));
                (program.names[name].to_owned(), payload.collect())
            });
            ValueStructure::Sum(clauses.collect())
        }
        TypeForm::Abstract(name, arguments) => {
            match types.expand_representation(name, &arguments) {
                Some(hidden) => describe_type(program, types, hidden),
                None => ValueStructure::Function,
            }
        }
        TypeForm::Function(..) | TypeForm::Parameter(_) | TypeForm::Variable(_) => {
            ValueStructure::Function
        }
    }
}
