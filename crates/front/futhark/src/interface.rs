//! Interfaces of programs: the entry points with their types and attributes, for tools that call them.

use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::SourceAttribute;
use crate::typed::{DefinitionId, SizedType, SizedTypeId, TypedProgram};
use std::collections::BTreeMap;

/// The entry points of a program, and the types that they exchange.
#[derive(Clone, Debug, Default)]
pub struct ProgramInterface {
    /// The entry points, in the order of the source.
    pub entries: Vec<DeclaredEntry>,
    /// The types of all parameters, results and their parts, by their names.
    pub types: BTreeMap<String, InterfaceType>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct DeclaredEntry {
    /// Its name.
    pub name: String,
    /// Its attributes as they are written, without brackets.
    pub attributes: Vec<String>,
    /// The names of the parameters' types.
    pub parameters: Vec<InterfaceValue>,
    /// The name of the result's type.
    pub result: InterfaceValue,
}

/// The type of a parameter or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceValue {
    /// Its name, without sizes.
    pub type_name: String,
    /// Whether a parameter is consumed, or a result has no alias.
    pub is_unique: bool,
}

/// The structure of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceType {
    /// A scalar.
    Scalar,
    /// An array: its rank, and the name of its elements' type.
    Array(usize, String),
    /// A record or tuple: its fields with the names of their types, in the order of the fields.
    Record(Vec<(String, String)>),
    /// A sum: its constructors with the names of their payload's types.
    Sum(Vec<(String, Vec<String>)>),
    /// A type that nothing is known of.
    Opaque,
}

impl ProgramInterface {
    /// The entry point of a name.
    pub fn find_entry(&self, name: &str) -> Option<&DeclaredEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

/// Describes the entry points of a program.
pub fn describe_interface(program: &TypedProgram) -> ProgramInterface {
    let mut description = InterfaceDescription {
        program,
        types: BTreeMap::new(),
    };
    let entries = program.entries.iter();
    let entries = entries.map(|&id| description.describe_entry(id)).collect();
    ProgramInterface {
        entries,
        types: description.types,
    }
}

/// An interface while it is described.
struct InterfaceDescription<'p> {
    program: &'p TypedProgram,
    types: BTreeMap<String, InterfaceType>,
}

impl InterfaceDescription<'_> {
    fn describe_entry(&mut self, id: DefinitionId) -> DeclaredEntry {
        let program = self.program;
        let definition = &program.definitions[id];
        let mut type_id = definition.type_id;
        let mut parameters = Vec::new();
        while let TypeForm::Function(parameter, result) = *program.types.form(type_id) {
            let pattern = definition.parameters.get(parameters.len());
            let written = pattern.and_then(|pattern| program.patterns[*pattern].ascribed);
            parameters.push(self.describe_value(parameter, written));
            type_id = result;
        }
        let attributes = definition.attributes.iter();
        DeclaredEntry {
            name: program.names[definition.name].to_owned(),
            attributes: attributes.map(|a| self.print_attribute(a)).collect(),
            parameters,
            result: self.describe_value(type_id, definition.result),
        }
    }

    fn describe_value(&mut self, type_id: TypeId, written: Option<SizedTypeId>) -> InterfaceValue {
        InterfaceValue {
            type_name: self.describe_type(type_id),
            is_unique: written.is_some_and(|written| self.is_unique(written)),
        }
    }

    /// Whether a written type has no alias.
    fn is_unique(&self, mut written: SizedTypeId) -> bool {
        loop {
            match &self.program.sized_types[written] {
                SizedType::Unique(_) => return true,
                SizedType::Existential(_, inner) => written = *inner,
                _ => return false,
            }
        }
    }

    /// Describes a type with its parts, and returns its name.
    fn describe_type(&mut self, id: TypeId) -> String {
        let program = self.program;
        let name = program.types.print(id, &program.names);
        if self.types.contains_key(&name) {
            return name;
        }
        // Types contain themselves nowhere, so the order of the insertions does not matter.
        let form = match program.types.form(id) {
            TypeForm::Scalar(_) => InterfaceType::Scalar,
            TypeForm::Array(element) => self.describe_array(*element),
            TypeForm::Record(fields) => {
                let fields = fields.iter().map(|(field, type_id)| {
                    (
                        program.names[*field].to_owned(),
                        self.describe_type(*type_id),
                    )
                });
                InterfaceType::Record(fields.collect())
            }
            TypeForm::Sum(clauses) => {
                let clauses = clauses.iter().map(|(constructor, payload)| {
                    let payload = payload.iter().map(|part| self.describe_type(*part));
                    (program.names[*constructor].to_owned(), payload.collect())
                });
                InterfaceType::Sum(clauses.collect())
            }
            _ => InterfaceType::Opaque,
        };
        self.types.insert(name.clone(), form);
        name
    }

    fn describe_array(&mut self, mut element: TypeId) -> InterfaceType {
        let mut rank = 1;
        while let TypeForm::Array(inner) = *self.program.types.form(element) {
            element = inner;
            rank += 1;
        }
        InterfaceType::Array(rank, self.describe_type(element))
    }

    fn print_attribute(&self, attribute: &SourceAttribute) -> String {
        let name = &self.program.names[attribute.name.name];
        match &attribute.arguments {
            None => name.to_owned(),
            Some(arguments) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|a| self.print_attribute(a)).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }
}
