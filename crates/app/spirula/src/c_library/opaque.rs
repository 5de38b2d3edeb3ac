//! Functions of records, sums, and arrays of these.

use super::array::make_shape_function;
use super::function::{
    ApiFunction, ApiType, ApiTypes, number_array, number_parameters, part_words, pointer_array,
};
use super::names::escape_member;
use spirula_futhark::export::{ExportedForm, ExportedPart};

/// The functions of all types that are neither scalars nor arrays of scalars.
pub fn make_functions(types: &ApiTypes<'_>) -> Vec<ApiFunction> {
    let mut functions = Vec::new();
    for (_, found, stem) in types.iter_structures() {
        let form = &found.exported.form;
        if *form != ExportedForm::Array {
            functions.extend(make_storage_functions(found, stem));
        }
        match form {
            ExportedForm::Scalar | ExportedForm::Array => {}
            ExportedForm::Record(fields) => {
                functions.extend(make_projections(types, stem, fields));
                functions.push(make_join_function(types, stem, "new", fields, 0));
            }
            ExportedForm::Sum(variants) => {
                functions.extend(make_sum_functions(types, found, stem, variants));
            }
            ExportedForm::RecordArray {
                rank,
                element,
                columns,
            } => {
                functions.extend(make_projections(types, stem, columns));
                functions.push(make_join_function(types, stem, "zip", columns, *rank));
                functions.extend(make_array_functions(types, stem, *rank, element));
            }
            ExportedForm::OpaqueArray { rank, element } => {
                functions.extend(make_array_functions(types, stem, *rank, element));
            }
        }
    }
    functions
}

fn make_storage_functions(found: &ApiType<'_>, stem: &str) -> Vec<ApiFunction> {
    let words = part_words(&found.exported.parts);
    vec![
        ApiFunction::with_code(
            format!("futhark_free_{stem}"),
            vec![format!("struct futhark_{stem} *obj")],
            vec!["return spirula_futhark_value_free(CONTEXT(ctx), VALUE(obj));".to_owned()],
        ),
        ApiFunction::with_code(
            format!("futhark_store_{stem}"),
            vec![
                format!("const struct futhark_{stem} *obj"),
                "void **p".to_owned(),
                "size_t *n".to_owned(),
            ],
            vec![
                "return spirula_futhark_value_store(CONTEXT(ctx), VALUE(obj), p, n, malloc);"
                    .to_owned(),
            ],
        ),
        ApiFunction {
            result: format!("struct futhark_{stem} *"),
            name: format!("futhark_restore_{stem}"),
            parameters: vec!["const void *p".to_owned()],
            body: vec![format!(
                "return (struct futhark_{stem} *)spirula_futhark_value_restore(CONTEXT(ctx), \"{words}\", p);"
            )],
        },
    ]
}

/// The name of the function that extracts a field.
pub fn projection_name(stem: &str, field: &str) -> String {
    format!("futhark_project_{stem}_{}", escape_member(stem, field))
}

/// The names of the functions that make and take apart a sum with a constructor.
pub fn variant_names(stem: &str, variant: &str) -> [String; 2] {
    let variant = escape_member(stem, variant);
    ["new", "destruct"].map(|prefix| format!("futhark_{prefix}_{stem}_{variant}"))
}

/// A line that extracts some parts of a value.
fn project_call(first: usize, found: &ApiType<'_>, out: &str) -> String {
    let (count, word) = (found.exported.parts.len(), &found.word);
    format!(
        "spirula_futhark_value_project(CONTEXT(ctx), VALUE(obj), {first}, {count}, \"{word}\", {out})"
    )
}

fn make_projections(
    types: &ApiTypes<'_>,
    stem: &str,
    fields: &[(String, String)],
) -> Vec<ApiFunction> {
    let mut first = 0;
    let functions = fields.iter().map(|(field, type_name)| {
        let found = types.get(type_name);
        let call = project_call(first, found, "out");
        first += found.exported.parts.len();
        let parameters = vec![
            found.output_parameter("out"),
            format!("const struct futhark_{stem} *obj"),
        ];
        let body = vec![format!("return {call};")];
        ApiFunction::with_code(projection_name(stem, field), parameters, body)
    });
    functions.collect()
}

/// The function that makes a record of its fields, or an array of records of the arrays of its fields.
fn make_join_function(
    types: &ApiTypes<'_>,
    stem: &str,
    prefix: &str,
    fields: &[(String, String)],
    rank: usize,
) -> ApiFunction {
    let mut parameters = vec![format!("struct futhark_{stem} **out")];
    let (mut words, mut pointers) = (Vec::new(), Vec::new());
    for (field, type_name) in fields {
        let (found, name) = (types.get(type_name), escape_member("f", field));
        let name = format!("f_{name}");
        parameters.push(found.input_parameter(&name));
        words.push(found.word.as_str());
        pointers.push(found.input_pointer(&name));
    }
    let (mut body, array) = pointer_array("fields", &pointers);
    body.push(new_call(&words.join(" "), rank, &array));
    ApiFunction::with_code(format!("futhark_{prefix}_{stem}"), parameters, body)
}

/// A line that makes a value of others.
fn new_call(words: &str, rank: usize, fields: &str) -> String {
    format!(
        "return spirula_futhark_value_new(CONTEXT(ctx), \"{words}\", {rank}, {fields}, (SpirulaFutharkValue **)out);"
    )
}

fn make_sum_functions(
    types: &ApiTypes<'_>,
    sum: &ApiType<'_>,
    stem: &str,
    variants: &[(String, Vec<String>)],
) -> Vec<ApiFunction> {
    let mut functions = Vec::new();
    let mut first = 1;
    for (number, (variant, payload)) in variants.iter().enumerate() {
        let [construct, destruct] = variant_names(stem, variant);
        let payload: Vec<&ApiType<'_>> = payload.iter().map(|name| types.get(name)).collect();
        let count: usize = payload.iter().map(|part| part.exported.parts.len()).sum();
        let parts = &sum.exported.parts;
        let words = variant_words(number, parts, first, count, &payload);
        functions.push(make_construct_function(stem, construct, &payload, &words));
        functions.push(make_destruct_function(
            stem, destruct, number, &payload, first,
        ));
        first += count;
    }
    functions.push(ApiFunction::with_code(
        format!("futhark_variant_{stem}"),
        vec![format!("const struct futhark_{stem} *v")],
        vec!["return spirula_futhark_value_variant(CONTEXT(ctx), VALUE(v));".to_owned()],
    ));
    functions
}

/// The words for the parts of a sum: its payload is given, and those of other constructors are empty.
fn variant_words(
    number: usize,
    parts: &[ExportedPart],
    first: usize,
    count: usize,
    payload: &[&ApiType<'_>],
) -> String {
    let make_empty = |part: &ExportedPart| format!("-{}", super::function::part_word(part));
    let mut words = vec![format!("={number}")];
    words.extend(parts[1..first].iter().map(make_empty));
    words.extend(payload.iter().map(|part| part.word.clone()));
    words.extend(parts[first + count..].iter().map(make_empty));
    words.join(" ")
}

fn make_construct_function(
    stem: &str,
    name: String,
    payload: &[&ApiType<'_>],
    words: &str,
) -> ApiFunction {
    let mut parameters = vec![format!("struct futhark_{stem} **out")];
    let mut pointers = Vec::new();
    for (number, part) in payload.iter().enumerate() {
        let name = format!("v{number}");
        parameters.push(part.input_parameter(&name));
        pointers.push(part.input_pointer(&name));
    }
    let (mut body, array) = pointer_array("payload", &pointers);
    body.push(new_call(words, 0, &array));
    ApiFunction::with_code(name, parameters, body)
}

fn make_destruct_function(
    stem: &str,
    name: String,
    variant: usize,
    payload: &[&ApiType<'_>],
    mut first: usize,
) -> ApiFunction {
    let mut parameters = Vec::new();
    let mut body = vec![format!(
        "int code = spirula_futhark_value_check_variant(CONTEXT(ctx), VALUE(obj), {variant});"
    )];
    for (number, part) in payload.iter().enumerate() {
        let name = format!("v{number}");
        parameters.push(part.output_parameter(&name));
        let call = project_call(first, part, &name);
        body.push(format!("if (code == 0) code = {call};"));
        first += part.exported.parts.len();
    }
    body.push("return code;".to_owned());
    parameters.push(format!("const struct futhark_{stem} *obj"));
    ApiFunction::with_code(name, parameters, body)
}

/// The functions of an array by which its elements are accessed.
fn make_array_functions(
    types: &ApiTypes<'_>,
    stem: &str,
    rank: usize,
    element: &str,
) -> Vec<ApiFunction> {
    let element = types.get(element);
    let (array, value) = (format!("struct futhark_{stem}"), &element.c_type);
    let words = part_words(&element.exported.parts);
    let with_numbers = |mut parameters: Vec<String>, name: &str| {
        parameters.extend(number_parameters(name, rank));
        parameters
    };
    vec![
        ApiFunction::with_code(
            format!("futhark_new_{stem}"),
            with_numbers(
                vec![format!("{array} **out"), format!("{value} **elems")],
                "dim",
            ),
            vec![
                number_array("sizes", "dim", rank),
                format!(
                    "return spirula_futhark_values_join(CONTEXT(ctx), \"{words}\", {rank}, (const SpirulaFutharkValue *const *)elems, sizes, (SpirulaFutharkValue **)out);"
                ),
            ],
        ),
        ApiFunction::with_code(
            format!("futhark_index_{stem}"),
            with_numbers(vec![format!("{value} **out"), format!("{array} *arr")], "i"),
            vec![
                number_array("indices", "i", rank),
                format!(
                    "return spirula_futhark_value_index(CONTEXT(ctx), VALUE(arr), {rank}, indices, (SpirulaFutharkValue **)out);"
                ),
            ],
        ),
        ApiFunction::with_code(
            format!("futhark_set_{stem}"),
            with_numbers(vec![format!("{array} *arr"), format!("{value} *v")], "i"),
            vec![
                number_array("indices", "i", rank),
                format!(
                    "return spirula_futhark_value_set(CONTEXT(ctx), VALUE(arr), VALUE(v), {rank}, indices);"
                ),
            ],
        ),
        make_shape_function(stem),
    ]
}
