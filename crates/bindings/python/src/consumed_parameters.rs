//! Parameters that entry points of Futhark source consume: a call may change their arrays in place.

use crate::failure::NamedSource;
use spirula_futhark::compile::check_files;
use spirula_futhark::export::describe_exports;
use std::collections::HashMap;

/// For each entry point of a source, whether it consumes each of its parameters. Other sources than Futhark's have none here.
pub fn read_consumed_parameters(source: &NamedSource) -> HashMap<String, Vec<bool>> {
    let Ok(text) = std::str::from_utf8(&source.bytes) else {
        return HashMap::new();
    };
    let main = if source.name.ends_with(".fut") {
        source.name.clone()
    } else {
        format!("{}.fut", source.name)
    };
    let mut read = |file: &str| {
        if file == main {
            return Ok(text.to_owned());
        }
        std::fs::read_to_string(file).map_err(|error| error.to_string())
    };
    let checked = check_files(&main, &mut read);
    let exports = checked
        .ok()
        .and_then(|checked| describe_exports(&checked).ok());
    let entries = exports.map_or(Vec::new(), |exports| exports.entries);
    let entries = entries.into_iter().map(|entry| {
        let parameters = entry.parameters.iter();
        let consumed = parameters.map(|parameter| parameter.is_unique);
        (entry.name, consumed.collect())
    });
    entries.collect()
}
