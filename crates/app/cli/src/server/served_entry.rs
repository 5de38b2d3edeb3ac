//! Entry points of a served program, with the names of their types in Futhark's protocol.

use super::types::{ServerTypes, result_name, type_name};
use spirula_futhark::export::{ExportedEntry, ExportedForm, ExportedValue, ProgramExports};
use spirula_program::CompiledProgram;
use spirula_program::program::ProgramEntry;

/// A parameter or result.
pub struct ServedValue {
    /// The name of its type.
    pub type_name: String,
    /// Whether a parameter is consumed, or a result has no alias.
    pub is_unique: bool,
}

/// An entry point.
pub struct ServedEntry {
    /// Its name.
    pub name: String,
    /// Its attributes as they are written, without brackets.
    pub attributes: Vec<String>,
    /// Its parameters.
    pub parameters: Vec<ServedValue>,
    /// The values that a call gives.
    pub results: Vec<ServedValue>,
    /// All of them together.
    pub result: ServedValue,
}

/// The entry points of a program. Those of a program without source have names by their structure.
pub fn list_served_entries(
    program: &CompiledProgram,
    exports: Option<&ProgramExports>,
) -> Vec<ServedEntry> {
    let entries = program.entries.iter();
    let entries = entries.map(|entry| {
        let exported = exports.and_then(|exports| {
            let mut declared = exports.entries.iter();
            let declared = declared.find(|declared| declared.name == entry.name)?;
            Some((exports, declared))
        });
        match exported {
            Some((exports, declared)) => describe_exported(exports, declared, entry),
            None => describe_compiled(entry),
        }
    });
    entries.collect()
}

fn serve_value(exported: &ExportedValue) -> ServedValue {
    ServedValue {
        type_name: exported.type_name.clone(),
        is_unique: exported.is_unique,
    }
}

fn plain_value(type_name: String) -> ServedValue {
    ServedValue {
        type_name,
        is_unique: false,
    }
}

/// An entry point as the source declares it. The results of a tuple are those of its fields.
fn describe_exported(
    exports: &ProgramExports,
    declared: &ExportedEntry,
    entry: &ProgramEntry,
) -> ServedEntry {
    let form = exports.types.get(&declared.result.type_name);
    let results = match form.map(|made| &made.form) {
        Some(ExportedForm::Record(fields)) if entry.results.len() != 1 => {
            let fields = fields.iter();
            fields.map(|(_, name)| plain_value(name.clone())).collect()
        }
        _ => vec![serve_value(&declared.result)],
    };
    ServedEntry {
        name: entry.name.clone(),
        attributes: declared.attributes.clone(),
        parameters: declared.parameters.iter().map(serve_value).collect(),
        results,
        result: serve_value(&declared.result),
    }
}

/// An entry point of a compiled program.
fn describe_compiled(entry: &ProgramEntry) -> ServedEntry {
    let parameters = entry.parameters.iter();
    let results = entry.results.iter();
    ServedEntry {
        name: entry.name.clone(),
        attributes: Vec::new(),
        parameters: parameters
            .map(|p| plain_value(type_name(p.value.as_ref(), p.opaque.as_ref())))
            .collect(),
        results: results
            .map(|r| plain_value(type_name(r.value.as_ref(), r.opaque.as_ref())))
            .collect(),
        result: plain_value(result_name(entry)),
    }
}

/// The types of a program.
pub fn list_served_types(
    program: &CompiledProgram,
    exports: Option<&ProgramExports>,
) -> ServerTypes {
    match exports {
        Some(exports) => ServerTypes::from_exports(exports),
        None => ServerTypes::new(program, &Default::default()),
    }
}
