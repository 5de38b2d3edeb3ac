//! Types of a served program: their structure, and the plain values that their values consist of.

use super::variable::ValueLayout;
use spirula_futhark::export::{ExportedForm, ExportedType, ProgramExports};
use spirula_futhark::interface::{InterfaceType, ProgramInterface};
use spirula_program::program::{EntryOpaque, EntryValueType, ProgramEntry};
use spirula_program::{CompiledProgram, ScalarType};
use std::collections::BTreeMap;

/// The types of a program by their names.
pub struct ServerTypes {
    types: BTreeMap<String, InterfaceType>,
    /// The parts of types that the program takes and gives without an external form.
    opaque: BTreeMap<String, Vec<ValueLayout>>,
    /// The types of the arrays that an array of records consists of, where they have names of their own.
    columns: BTreeMap<String, Vec<String>>,
}

/// The scalar types, with their names.
const SCALARS: &[(&str, ScalarType, bool)] = &[
    ("i8", ScalarType::I8, false),
    ("i16", ScalarType::I16, false),
    ("i32", ScalarType::I32, false),
    ("i64", ScalarType::I64, false),
    ("u8", ScalarType::I8, true),
    ("u16", ScalarType::I16, true),
    ("u32", ScalarType::I32, true),
    ("u64", ScalarType::I64, true),
    ("f16", ScalarType::F16, false),
    ("f32", ScalarType::F32, false),
    ("f64", ScalarType::F64, false),
    ("bool", ScalarType::Bool, false),
];

/// The layout of a plain value.
fn value_layout(value: &EntryValueType) -> ValueLayout {
    ValueLayout {
        element: value.element,
        unsigned: value.unsigned && value.element.is_int(),
        rank: value.shape.as_ref().map_or(0, Vec::len),
    }
}

/// The name of a parameter's or result's type.
pub fn type_name(value: Option<&EntryValueType>, opaque: Option<&EntryOpaque>) -> String {
    match (value, opaque) {
        (Some(value), _) => value_layout(value).type_name(),
        (None, Some(opaque)) => opaque.name.clone(),
        (None, None) => "()".to_owned(),
    }
}

/// The name of the type of all results together.
pub fn result_name(entry: &ProgramEntry) -> String {
    let mut names = entry
        .results
        .iter()
        .map(|result| type_name(result.value.as_ref(), result.opaque.as_ref()));
    match (entry.results.len(), names.next()) {
        (1, Some(name)) => name,
        (_, first) => {
            let names: Vec<String> = first.into_iter().chain(names).collect();
            format!("({})", names.join(", "))
        }
    }
}

/// The structure of an exported type.
fn describe_form(exported: &ExportedType) -> InterfaceType {
    match &exported.form {
        ExportedForm::Scalar => InterfaceType::Scalar,
        ExportedForm::Array => {
            let part = exported.parts.first();
            let (rank, element) = part.map_or((0, String::new()), |part| {
                let layout = ValueLayout {
                    element: part.element,
                    unsigned: part.unsigned && part.element.is_int(),
                    rank: 0,
                };
                (part.rank, layout.type_name())
            });
            InterfaceType::Array(rank, element)
        }
        ExportedForm::Record(fields) => InterfaceType::Record(fields.clone()),
        ExportedForm::Sum(variants) => InterfaceType::Sum(variants.clone()),
        ExportedForm::RecordArray { rank, element, .. }
        | ExportedForm::OpaqueArray { rank, element } => {
            InterfaceType::Array(*rank, element.clone())
        }
    }
}

/// The scalar types by their names.
fn scalar_types() -> BTreeMap<String, InterfaceType> {
    let names = SCALARS.iter().map(|(name, ..)| (*name).to_owned());
    names.map(|name| (name, InterfaceType::Scalar)).collect()
}

impl ServerTypes {
    /// The types that a program exports, with the names of foreign interfaces.
    pub fn from_exports(exports: &ProgramExports) -> ServerTypes {
        let mut table = ServerTypes {
            types: scalar_types(),
            opaque: BTreeMap::new(),
            columns: BTreeMap::new(),
        };
        for (name, exported) in &exports.types {
            table.types.insert(name.clone(), describe_form(exported));
            let parts = exported.parts.iter().map(|part| ValueLayout {
                element: part.element,
                unsigned: part.unsigned && part.element.is_int(),
                rank: part.rank,
            });
            table.opaque.insert(name.clone(), parts.collect());
            if let ExportedForm::RecordArray { columns, .. } = &exported.form {
                let columns = columns.iter().map(|(_, column)| column.clone());
                table.columns.insert(name.clone(), columns.collect());
            }
        }
        table
    }

    /// The types of the arrays that an array of records consists of, if they have names of their own.
    pub fn find_columns(&self, name: &str) -> Option<Vec<String>> {
        self.columns.get(name).cloned()
    }

    /// The types of a program, as its source and its entry points have them.
    pub fn new(program: &CompiledProgram, interface: &ProgramInterface) -> ServerTypes {
        let mut types = interface.types.clone();
        types.extend(scalar_types());
        let mut table = ServerTypes {
            types,
            opaque: BTreeMap::new(),
            columns: BTreeMap::new(),
        };
        for entry in &program.entries {
            for parameter in &entry.parameters {
                table.add_type(parameter.value.as_ref(), parameter.opaque.as_ref());
            }
            for result in &entry.results {
                table.add_type(result.value.as_ref(), result.opaque.as_ref());
            }
            if entry.results.len() != 1 {
                table.add_tuple(entry);
            }
        }
        table
    }

    fn add_type(&mut self, value: Option<&EntryValueType>, opaque: Option<&EntryOpaque>) {
        let name = type_name(value, opaque);
        let form = match (value, opaque) {
            (Some(value), _) => {
                let layout = value_layout(value);
                let element = ValueLayout { rank: 0, ..layout };
                match layout.rank {
                    0 => InterfaceType::Scalar,
                    rank => InterfaceType::Array(rank, element.type_name()),
                }
            }
            (None, opaque) => {
                let parts = opaque.iter().flat_map(|opaque| &opaque.parts);
                self.opaque
                    .insert(name.clone(), parts.map(value_layout).collect());
                InterfaceType::Opaque
            }
        };
        self.types.entry(name).or_insert(form);
    }

    /// Adds the tuple of all results.
    fn add_tuple(&mut self, entry: &ProgramEntry) {
        let names = entry
            .results
            .iter()
            .map(|result| type_name(result.value.as_ref(), result.opaque.as_ref()));
        let fields = names.enumerate().map(|(n, name)| (n.to_string(), name));
        let tuple = InterfaceType::Record(fields.collect());
        self.types.entry(result_name(entry)).or_insert(tuple);
    }

    /// The names of all types.
    pub fn names(&self) -> Vec<String> {
        self.types.keys().cloned().collect()
    }

    /// The structure of a type. Arrays of a known type are known, too.
    pub fn find(&self, name: &str) -> Result<InterfaceType, String> {
        if let Some(found) = self.types.get(name) {
            return Ok(found.clone());
        }
        let element = name.trim_start_matches("[]");
        let rank = (name.len() - element.len()) / 2;
        let bare = element
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let known = [Some(element), bare].into_iter().flatten();
        let mut known = known.filter(|element| self.types.contains_key(*element));
        match known.next() {
            Some(element) if rank > 0 => Ok(InterfaceType::Array(rank, element.to_owned())),
            _ => Err(format!("Unknown type: {name}")),
        }
    }

    /// The plain values that a value of a type consists of.
    pub fn layout(&self, name: &str) -> Result<Vec<ValueLayout>, String> {
        if let Some(parts) = self.opaque.get(name) {
            return Ok(parts.clone());
        }
        if let Some((_, element, unsigned)) = SCALARS.iter().find(|row| row.0 == name) {
            return Ok(vec![ValueLayout {
                element: *element,
                unsigned: *unsigned,
                rank: 0,
            }]);
        }
        match self.find(name)? {
            InterfaceType::Array(rank, element) => {
                let mut parts = self.layout(&element)?;
                parts.iter_mut().for_each(|part| part.rank += rank);
                Ok(parts)
            }
            InterfaceType::Record(fields) => self.layout_of_all(fields.iter().map(|(_, ty)| ty)),
            InterfaceType::Sum(variants) => {
                let tag = ValueLayout {
                    element: ScalarType::I8,
                    unsigned: false,
                    rank: 0,
                };
                let payloads = variants.iter().flat_map(|(_, payload)| payload);
                let mut parts = vec![tag];
                parts.extend(self.layout_of_all(payloads)?);
                Ok(parts)
            }
            _ => Err(format!("nothing is known of the values of type {name}")),
        }
    }

    /// The layouts of several types, one after the other.
    pub fn layout_of_all<'n>(
        &self,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<Vec<ValueLayout>, String> {
        let mut parts = Vec::new();
        for name in names {
            parts.extend(self.layout(name)?);
        }
        Ok(parts)
    }
}
