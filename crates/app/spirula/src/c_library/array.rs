//! Functions of arrays of scalars.

use super::function::{
    ApiFunction, ApiTypes, element_name, number_array, number_parameters, part_word, scalar_type,
};
use spirula_futhark::export::ExportedForm;

/// The functions of all arrays of scalars.
pub fn make_functions(types: &ApiTypes<'_>) -> Vec<ApiFunction> {
    let arrays = types
        .iter_structures()
        .filter(|(_, found, _)| found.exported.form == ExportedForm::Array);
    let functions = arrays.flat_map(|(_, found, stem)| {
        let part = found.exported.parts[0];
        let element = scalar_type(&element_name(&part)).unwrap_or("void");
        make_array_functions(stem, &part_word(&part), element, part.rank)
    });
    functions.collect()
}

fn make_array_functions(stem: &str, word: &str, element: &str, rank: usize) -> Vec<ApiFunction> {
    let array = format!("struct futhark_{stem} *arr");
    let make_new = |prefix: &str, data: String| ApiFunction {
        result: format!("struct futhark_{stem} *"),
        name: format!("futhark_{prefix}_{stem}"),
        parameters: [data]
            .into_iter()
            .chain(number_parameters("dim", rank))
            .collect(),
        body: vec![
            number_array("sizes", "dim", rank),
            format!(
                "return (struct futhark_{stem} *)spirula_futhark_array_new(CONTEXT(ctx), \"{word}\", data, sizes);"
            ),
        ],
    };
    let mut index = vec![format!("{element} *out"), array.clone()];
    index.extend(number_parameters("i", rank));
    vec![
        make_new("new", format!("const {element} *data")),
        make_new("new_raw", "unsigned char *data".to_owned()),
        ApiFunction::with_code(
            format!("futhark_free_{stem}"),
            vec![array.clone()],
            vec!["return spirula_futhark_value_free(CONTEXT(ctx), VALUE(arr));".to_owned()],
        ),
        ApiFunction::with_code(
            format!("futhark_values_{stem}"),
            vec![array.clone(), format!("{element} *data")],
            vec!["return spirula_futhark_array_values(CONTEXT(ctx), VALUE(arr), data);".to_owned()],
        ),
        ApiFunction::with_code(
            format!("futhark_index_{stem}"),
            index,
            vec![
                number_array("indices", "i", rank),
                "return spirula_futhark_array_index(CONTEXT(ctx), VALUE(arr), indices, out);"
                    .to_owned(),
            ],
        ),
        ApiFunction {
            result: "unsigned char *".to_owned(),
            name: format!("futhark_values_raw_{stem}"),
            parameters: vec![array.clone()],
            body: vec!["return spirula_futhark_array_raw(CONTEXT(ctx), VALUE(arr));".to_owned()],
        },
        make_shape_function(stem),
    ]
}

/// The function that returns the shape of an array.
pub fn make_shape_function(stem: &str) -> ApiFunction {
    ApiFunction {
        result: "const int64_t *".to_owned(),
        name: format!("futhark_shape_{stem}"),
        parameters: vec![format!("struct futhark_{stem} *arr")],
        body: vec![
            "(void)ctx;".to_owned(),
            "return spirula_futhark_value_shape(VALUE(arr));".to_owned(),
        ],
    }
}
