//! Functions of entry points.

use super::function::{ApiFunction, ApiTypes, entry_function, pointer_array};
use spirula_futhark::export::{ExportedEntry, ProgramExports};

/// The functions of all entry points.
pub fn make_functions(types: &ApiTypes<'_>, exports: &ProgramExports) -> Vec<ApiFunction> {
    let entries = exports.entries.iter();
    entries
        .map(|entry| make_entry_function(types, entry))
        .collect()
}

fn make_entry_function(types: &ApiTypes<'_>, entry: &ExportedEntry) -> ApiFunction {
    let result = types.get(&entry.result.type_name);
    let mut parameters = vec![result.output_parameter("out")];
    let (mut words, mut pointers) = (Vec::new(), Vec::new());
    for (number, parameter) in entry.parameters.iter().enumerate() {
        let (found, name) = (types.get(&parameter.type_name), format!("in{number}"));
        parameters.push(found.input_parameter(&name));
        words.push(found.word.as_str());
        pointers.push(found.input_pointer(&name));
    }
    let (mut body, inputs) = pointer_array("inputs", &pointers);
    let (words, result) = (words.join(" "), &result.word);
    body.push(format!(
        "return spirula_futhark_call(CONTEXT(ctx), \"{}\", \"{words}\", {inputs}, \"{result}\", out);",
        entry.name
    ));
    ApiFunction::with_code(entry_function(&entry.name), parameters, body)
}
