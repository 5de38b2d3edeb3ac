//! Exports of programs: entry points and their types, with the names that foreign interfaces give them.
//!
//! A type has the name that the source writes for it, without sizes, and otherwise its structure. The rules are those of
//! Futhark's compiler (`Futhark.Internalise.Entry`): names of abbreviations at top level are kept and looked into, those of
//! modules and those with type arguments are only kept. Abstract types are the types that they hide.

use crate::check::types::{TypeForm, TypeId, TypeTable};
use crate::compile::CheckedSource;
use crate::intrinsic::{is_unsigned, machine_type};
use crate::spelled_type::{SpelledType, SpelledTypes};
use crate::syntax::tree::{
    DeclarationKind, PatternId, PatternKind, SourceAttribute, SourceDeclaration, SourceNameId,
    TypeExpressionId, ValueDeclaration,
};
use crate::typed::{DefinitionId, FileId};
use spirula_program::ScalarType;
use std::collections::BTreeMap;

/// The entry points of a program, and the types that they exchange.
#[derive(Clone, Debug, Default)]
pub struct ProgramExports {
    /// The entry points, in the order of the source.
    pub entries: Vec<ExportedEntry>,
    /// The types of all parameters, results and their parts, by their names.
    pub types: BTreeMap<String, ExportedType>,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct ExportedEntry {
    /// Its name.
    pub name: String,
    /// Its attributes as they are written, without brackets.
    pub attributes: Vec<String>,
    /// The documentation comment in front of it.
    pub documentation: Option<String>,
    /// Its parameters.
    pub parameters: Vec<ExportedValue>,
    /// Its result.
    pub result: ExportedValue,
}

/// A parameter or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedValue {
    /// The name of a parameter. Empty for one that is a pattern, and for results.
    pub name: String,
    /// The name of its type.
    pub type_name: String,
    /// Whether a parameter is consumed, or a result has no alias.
    pub is_unique: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedType {
    /// Its structure.
    pub form: ExportedForm,
    /// The scalars and arrays that a value consists of.
    pub parts: Vec<ExportedPart>,
}

/// The structure of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedForm {
    /// A scalar.
    Scalar,
    /// An array of scalars.
    Array,
    /// A record or tuple: its fields with the names of their types, in canonical order.
    Record(Vec<(String, String)>),
    /// A sum: its constructors with the names of their payloads' types, in the order of their names.
    Sum(Vec<(String, Vec<String>)>),
    /// An array of records: an array for each field.
    RecordArray {
        /// The number of dimensions.
        rank: usize,
        /// The name of the elements' type.
        element: String,
        /// The fields with the names of their arrays' types.
        columns: Vec<(String, String)>,
    },
    /// An array of sums, or of values without parts.
    OpaqueArray {
        /// The number of dimensions.
        rank: usize,
        /// The name of the elements' type.
        element: String,
    },
}

/// The type of a scalar or array of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedPart {
    /// Type of the elements.
    pub element: ScalarType,
    /// Whether integers have no sign.
    pub unsigned: bool,
    /// Number of dimensions.
    pub rank: usize,
    /// Whether it is the size of an array without data. The elements of an array have such sizes in common.
    pub is_size: bool,
}

/// The number of a sum's constructor.
const TAG: ExportedPart = ExportedPart {
    element: ScalarType::I8,
    unsigned: false,
    rank: 0,
    is_size: false,
};

/// The size of an array without data.
const SIZE: ExportedPart = ExportedPart {
    element: ScalarType::I64,
    unsigned: false,
    rank: 0,
    is_size: true,
};

/// Describes what a program exports.
///
/// # Errors
///
/// When two different types have the same name.
pub fn describe_exports(source: &CheckedSource) -> Result<ProgramExports, String> {
    let mut description = ExportDescription {
        source,
        types: source.program.types.clone(),
        written: SpelledTypes::new(source),
        exports: BTreeMap::new(),
    };
    let entries = source.program.entries.iter();
    let entries = entries.map(|&id| description.describe_entry(id));
    let entries = entries.collect::<Result<_, String>>()?;
    Ok(ProgramExports {
        entries,
        types: description.exports,
    })
}

/// Exports while they are described.
struct ExportDescription<'s> {
    source: &'s CheckedSource,
    types: TypeTable,
    written: SpelledTypes<'s>,
    exports: BTreeMap<String, ExportedType>,
}

impl<'s> ExportDescription<'s> {
    fn describe_entry(&mut self, id: DefinitionId) -> Result<ExportedEntry, String> {
        let source = self.source;
        let program = &source.program;
        let definition = &program.definitions[id];
        let file = definition.place.file;
        let declared = self.find_declaration(id);
        let patterns = declared.map_or(&[][..], |(_, value)| &value.signature.parameters);
        let mut result = declared.and_then(|(_, value)| value.signature.result);
        let mut type_id = definition.type_id;
        let mut parameters = Vec::new();
        while let TypeForm::Function(parameter, rest) = *self.types.form(type_id) {
            let (name, written) = match patterns.get(parameters.len()) {
                Some(pattern) => self.read_pattern(file, *pattern),
                None => {
                    let (written, rest) = self.written.split_function(file, result);
                    result = rest;
                    (String::new(), written)
                }
            };
            parameters.push(self.describe_value(name, parameter, file, written)?);
            type_id = rest;
        }
        let attributes = definition.attributes.iter();
        Ok(ExportedEntry {
            name: program.names[definition.name].to_owned(),
            attributes: attributes.map(|a| self.print_attribute(a)).collect(),
            documentation: declared.and_then(|(found, _)| self.read_documentation(file, found)),
            parameters,
            result: self.describe_value(String::new(), type_id, file, result)?,
        })
    }

    /// The declaration of a definition.
    fn find_declaration(
        &self,
        id: DefinitionId,
    ) -> Option<(&'s SourceDeclaration, &'s ValueDeclaration)> {
        let source = self.source;
        let place = source.program.definitions[id].place;
        let tree = &source.files.files[place.file].tree;
        let mut declarations = tree.declarations.iter();
        declarations.find_map(|declaration| match &declaration.kind {
            DeclarationKind::Value(value) if value.name.range == place.range => {
                Some((declaration, value))
            }
            _ => None,
        })
    }

    /// The name and the written type of a parameter.
    fn read_pattern(
        &self,
        file: FileId,
        mut pattern: PatternId,
    ) -> (String, Option<TypeExpressionId>) {
        let tree = &self.source.files.files[file].tree;
        let mut written = None;
        loop {
            match &tree.patterns[pattern].kind {
                PatternKind::Parentheses(inner) => pattern = *inner,
                PatternKind::Attributed { pattern: inner, .. } => pattern = *inner,
                PatternKind::Ascription {
                    pattern: inner,
                    ascribed,
                } => {
                    written = written.or(Some(*ascribed));
                    pattern = *inner;
                }
                PatternKind::Name(name) => {
                    return (self.source.program.names[name.name].to_owned(), written);
                }
                _ => return (String::new(), written),
            }
        }
    }

    fn describe_value(
        &mut self,
        name: String,
        type_id: TypeId,
        file: FileId,
        written: Option<TypeExpressionId>,
    ) -> Result<ExportedValue, String> {
        let written = written.map(|id| SpelledType { file, id, rank: 0 });
        let type_id = self.types.expand_hidden(type_id);
        Ok(ExportedValue {
            name,
            type_name: self.describe_type(type_id, written)?,
            is_unique: written.is_some_and(|written| self.written.is_unique(written)),
        })
    }

    /// Describes a type with its parts, and returns its name.
    fn describe_type(
        &mut self,
        id: TypeId,
        written: Option<SpelledType>,
    ) -> Result<String, String> {
        let (rank, element) = self.types.split_array(id);
        if let TypeForm::Scalar(scalar) = *self.types.form(element) {
            let part = ExportedPart {
                element: machine_type(scalar),
                unsigned: is_unsigned(scalar),
                rank,
                is_size: false,
            };
            let form = match rank {
                0 => ExportedForm::Scalar,
                _ => ExportedForm::Array,
            };
            let name = "[]".repeat(rank) + scalar.spelling();
            return self.add_type(name, form, vec![part]);
        }
        let name = match written {
            Some(written) => self.written.print_name(written),
            None => self.types.print(id, &self.source.program.names),
        };
        let (form, parts) = match rank {
            0 => self.describe_form(id, written)?,
            _ => self.describe_array(rank, element, written)?,
        };
        self.add_type(name, form, parts)
    }

    fn add_type(
        &mut self,
        name: String,
        form: ExportedForm,
        parts: Vec<ExportedPart>,
    ) -> Result<String, String> {
        let made = ExportedType { form, parts };
        let known = self
            .exports
            .entry(name.clone())
            .or_insert_with(|| made.clone());
        if *known == made {
            return Ok(name);
        }
        Err(format!(
            "the entry points use two different types of the name {name}"
        ))
    }

    /// Describes a record or sum.
    fn describe_form(
        &mut self,
        id: TypeId,
        written: Option<SpelledType>,
    ) -> Result<(ExportedForm, Vec<ExportedPart>), String> {
        match self.types.form(id).clone() {
            TypeForm::Record(fields) => {
                let fields = self.describe_fields(&fields, written, 0)?;
                let parts = self.join_parts(fields.iter().map(|(_, name)| name));
                Ok((ExportedForm::Record(fields), parts))
            }
            TypeForm::Sum(clauses) => {
                let names = &self.source.program.names;
                let clauses: Vec<_> = clauses
                    .into_iter()
                    .map(|(name, payload)| (names[name].to_owned(), payload))
                    .collect();
                let written = written.and_then(|written| self.written.find_sum(written));
                let mut variants = Vec::new();
                for (index, (name, payload)) in clauses.into_iter().enumerate() {
                    let written = written.as_ref().and_then(|clauses| clauses.get(index));
                    let mut types = Vec::new();
                    for (number, part) in payload.into_iter().enumerate() {
                        let written = written.and_then(|w| w.get(number).copied());
                        types.push(self.describe_type(part, written)?);
                    }
                    variants.push((name, types));
                }
                let payloads = variants.iter().flat_map(|(_, payload)| payload);
                let mut parts = vec![TAG];
                parts.extend(self.join_parts(payloads));
                Ok((ExportedForm::Sum(variants), parts))
            }
            _ => {
                let name = self.types.print(id, &self.source.program.names);
                Err(format!("an entry point exchanges values of type {name}"))
            }
        }
    }

    /// Describes an array of records or sums.
    fn describe_array(
        &mut self,
        rank: usize,
        element_id: TypeId,
        written: Option<SpelledType>,
    ) -> Result<(ExportedForm, Vec<ExportedPart>), String> {
        let row = written.and_then(|written| self.written.find_row(written, rank));
        let element = self.describe_type(element_id, row)?;
        let mut parts = self.exports[&element].parts.clone();
        if parts.iter().all(|part| part.is_size) {
            parts.splice(0..0, vec![SIZE; rank]);
        }
        let data = parts.iter_mut().filter(|part| !part.is_size);
        data.for_each(|part| part.rank += rank);
        let form = match self.types.form(element_id).clone() {
            TypeForm::Record(fields) if !fields.is_empty() => ExportedForm::RecordArray {
                rank,
                element,
                columns: self.describe_fields(&fields, row, rank)?,
            },
            _ => ExportedForm::OpaqueArray { rank, element },
        };
        Ok((form, parts))
    }

    /// Describes the fields of a record, or of an array of records.
    fn describe_fields(
        &mut self,
        fields: &[(SourceNameId, TypeId)],
        written: Option<SpelledType>,
        rank: usize,
    ) -> Result<Vec<(String, String)>, String> {
        let written = written.and_then(|written| self.written.find_record(written));
        let mut described = Vec::new();
        for (index, (name, field)) in fields.iter().enumerate() {
            let written = written.as_ref().and_then(|fields| fields.get(index));
            let written = written.map(|field| field.with_rank(rank));
            let field = (0..rank).fold(*field, |field, _| self.types.array(field));
            let name = self.source.program.names[*name].to_owned();
            described.push((name, self.describe_type(field, written)?));
        }
        Ok(described)
    }

    fn join_parts<'n>(&self, names: impl Iterator<Item = &'n String>) -> Vec<ExportedPart> {
        names
            .flat_map(|name| self.exports[name].parts.iter().copied())
            .collect()
    }

    fn print_attribute(&self, attribute: &SourceAttribute) -> String {
        let name = &self.source.program.names[attribute.name.name];
        match &attribute.arguments {
            None => name.to_owned(),
            Some(arguments) => {
                let arguments: Vec<String> =
                    arguments.iter().map(|a| self.print_attribute(a)).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }

    /// The text of a documentation comment, without the marks of comments.
    fn read_documentation(&self, file: FileId, declaration: &SourceDeclaration) -> Option<String> {
        let range = declaration.documentation?;
        let text = &self.source.files.files[file].text;
        let text = text.get(range.start as usize..range.end as usize)?;
        let lines = text.lines().map(|line| {
            let line = line.trim_start().trim_start_matches('-');
            let line = line.strip_prefix(" |").unwrap_or(line);
            line.strip_prefix(' ').unwrap_or(line)
        });
        let lines: Vec<&str> = lines.collect();
        Some(lines.join("\n").trim().to_owned())
    }
}
