//! The manifest of an interface: names and types of its functions, for generators of bindings.

use super::CLibraryParts;
use super::function::{ApiType, ApiTypes, element_name, entry_function};
use super::opaque::{projection_name, variant_names};
use serde_json::{Map, Value, json};
use spirula_futhark::export::{ExportedEntry, ExportedForm, ExportedValue};

/// Writes the manifest.
pub fn write_manifest(parts: &CLibraryParts<'_>, types: &ApiTypes<'_>) -> String {
    let parameters = parts.parameters.iter();
    let parameters: Vec<&str> = parameters.map(|p| p.name.as_str()).collect();
    let entries = parts.exports.entries.iter();
    let entries = entries.map(|entry| (entry.name.clone(), describe_entry(entry, &parameters)));
    let structures = types.iter_structures();
    let structures =
        structures.map(|(name, found, stem)| (name.to_owned(), describe_type(found, stem)));
    let manifest = json!({
        "backend": "spirula",
        "version": env!("CARGO_PKG_VERSION"),
        "entry_points": Value::Object(entries.collect()),
        "types": Value::Object(structures.collect()),
    });
    format!("{manifest:#}\n")
}

fn describe_entry(entry: &ExportedEntry, parameters: &[&str]) -> Value {
    let inputs = entry.parameters.iter().enumerate();
    let inputs = inputs.map(|(number, input)| {
        let mut described = describe_value(input);
        let name = match input.name.as_str() {
            "" => format!("in{number}"),
            name => name.to_owned(),
        };
        described.insert("name".to_owned(), name.into());
        Value::Object(described)
    });
    let inputs: Vec<Value> = inputs.collect();
    let mut described = json!({
        "cfun": entry_function(&entry.name),
        "tuning_params": parameters,
        "attributes": entry.attributes,
        "output": describe_value(&entry.result),
        "inputs": inputs,
    });
    if let Some(text) = &entry.documentation {
        described["doc"] = text.as_str().into();
    }
    described
}

fn describe_value(value: &ExportedValue) -> Map<String, Value> {
    let mut described = Map::new();
    described.insert("type".to_owned(), value.type_name.as_str().into());
    described.insert("unique".to_owned(), value.is_unique.into());
    described
}

/// Names of functions by their operations.
fn name_operations(stem: &str, operations: &[&str]) -> Map<String, Value> {
    let names = operations.iter();
    let names = names.map(|name| ((*name).to_owned(), format!("futhark_{name}_{stem}").into()));
    names.collect()
}

fn describe_type(found: &ApiType<'_>, stem: &str) -> Value {
    let c_type = format!("{} *", found.c_type);
    if found.exported.form == ExportedForm::Array {
        let part = found.exported.parts[0];
        let operations = [
            "free",
            "shape",
            "values",
            "values_raw",
            "new",
            "new_raw",
            "index",
        ];
        return json!({
            "kind": "array",
            "ctype": c_type,
            "rank": part.rank,
            "elemtype": element_name(&part),
            "ops": name_operations(stem, &operations),
        });
    }
    let mut described = json!({
        "kind": "opaque",
        "ctype": c_type,
        "ops": name_operations(stem, &["free", "store", "restore"]),
    });
    if let Some((key, structure)) = describe_structure(&found.exported.form, stem) {
        described[key] = structure;
    }
    described
}

/// The structure of a type that is neither a scalar nor an array of scalars, with its key.
fn describe_structure(form: &ExportedForm, stem: &str) -> Option<(&'static str, Value)> {
    let described = match form {
        ExportedForm::Scalar | ExportedForm::Array => return None,
        ExportedForm::Record(fields) => {
            let structure = json!({
                "new": format!("futhark_new_{stem}"),
                "fields": describe_fields(fields, stem),
            });
            ("record", structure)
        }
        ExportedForm::Sum(variants) => {
            let variants = variants.iter().map(|(name, payload)| {
                let [construct, destruct] = variant_names(stem, name);
                json!({
                    "name": name,
                    "construct": construct,
                    "destruct": destruct,
                    "payload": payload,
                })
            });
            let variants: Vec<Value> = variants.collect();
            let structure = json!({
                "variant": format!("futhark_variant_{stem}"),
                "variants": variants,
            });
            ("sum", structure)
        }
        ExportedForm::RecordArray {
            rank,
            element,
            columns,
        } => {
            let operations = ["zip", "index", "shape", "new", "set"];
            let mut structure = name_operations(stem, &operations);
            structure.insert("rank".to_owned(), (*rank).into());
            structure.insert("elemtype".to_owned(), element.as_str().into());
            structure.insert("fields".to_owned(), describe_fields(columns, stem));
            ("record_array", Value::Object(structure))
        }
        ExportedForm::OpaqueArray { rank, element } => {
            let mut structure = name_operations(stem, &["index", "shape", "new", "set"]);
            structure.insert("rank".to_owned(), (*rank).into());
            structure.insert("elemtype".to_owned(), element.as_str().into());
            ("opaque_array", Value::Object(structure))
        }
    };
    Some(described)
}

fn describe_fields(fields: &[(String, String)], stem: &str) -> Value {
    let fields = fields.iter().map(|(name, type_name)| {
        json!({
            "name": name,
            "type": type_name,
            "project": projection_name(stem, name),
        })
    });
    fields.collect()
}
