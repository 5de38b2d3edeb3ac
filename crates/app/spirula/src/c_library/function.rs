//! Functions of an interface, and the C types of their parameters.

use super::names::{escape_name, opaque_name};
use spirula_futhark::export::{ExportedPart, ExportedType, ProgramExports};
use spirula_program::element_type_name;
use std::collections::BTreeMap;

/// A function of C.
pub struct ApiFunction {
    /// The type of its result, with a blank or a star after it.
    pub result: String,
    /// Its name.
    pub name: String,
    /// Its parameters after the context.
    pub parameters: Vec<String>,
    /// The lines of its body.
    pub body: Vec<String>,
}

impl ApiFunction {
    /// A function that returns a code.
    pub fn with_code(name: String, parameters: Vec<String>, body: Vec<String>) -> ApiFunction {
        ApiFunction {
            result: "int ".to_owned(),
            name,
            parameters,
            body,
        }
    }

    /// The function without its body.
    pub fn signature(&self) -> String {
        let parameters: String = self.parameters.iter().map(|p| format!(", {p}")).collect();
        let (result, name) = (&self.result, &self.name);
        format!("{result}{name}(struct futhark_context *ctx{parameters})")
    }
}

/// The C types of scalars, by their names in Futhark.
const SCALARS: &[(&str, &str)] = &[
    ("i8", "int8_t"),
    ("i16", "int16_t"),
    ("i32", "int32_t"),
    ("i64", "int64_t"),
    ("u8", "uint8_t"),
    ("u16", "uint16_t"),
    ("u32", "uint32_t"),
    ("u64", "uint64_t"),
    ("f16", "uint16_t"),
    ("f32", "float"),
    ("f64", "double"),
    ("bool", "bool"),
];

/// The C type of a scalar.
pub fn scalar_type(name: &str) -> Option<&'static str> {
    let row = SCALARS.iter().find(|(scalar, _)| *scalar == name);
    row.map(|(_, c_type)| *c_type)
}

/// The name of a part's element type.
pub fn element_name(part: &ExportedPart) -> String {
    element_type_name(part.element, part.unsigned)
}

/// The word of a part: its type such as `[][]f32`, or `size`.
pub fn part_word(part: &ExportedPart) -> String {
    if part.is_size {
        "size".to_owned()
    } else {
        "[]".repeat(part.rank) + &element_name(part)
    }
}

/// The type words of parts, with blanks between them.
pub fn part_words(parts: &[ExportedPart]) -> String {
    let words: Vec<String> = parts.iter().map(part_word).collect();
    words.join(" ")
}

/// An exported type with its name in C.
pub struct ApiType<'e> {
    /// The type.
    pub exported: &'e ExportedType,
    /// The type of C: `int32_t`, or `struct futhark_i32_1d`.
    pub c_type: String,
    /// The name after the prefix of each function; none for scalars.
    pub stem: Option<String>,
    /// The word that stands for it in calls of the library.
    pub word: String,
}

impl ApiType<'_> {
    /// A parameter that takes a value.
    pub fn input_parameter(&self, name: &str) -> String {
        match self.stem {
            None => format!("const {} {name}", self.c_type),
            Some(_) => format!("const {} *{name}", self.c_type),
        }
    }

    /// A pointer to the value of a parameter.
    pub fn input_pointer(&self, name: &str) -> String {
        match self.stem {
            None => format!("&{name}"),
            Some(_) => name.to_owned(),
        }
    }

    /// A parameter that a result is written to.
    pub fn output_parameter(&self, name: &str) -> String {
        match self.stem {
            None => format!("{} *{name}", self.c_type),
            Some(_) => format!("{} **{name}", self.c_type),
        }
    }
}

/// The types of an interface.
pub struct ApiTypes<'e> {
    types: BTreeMap<&'e str, ApiType<'e>>,
}

impl<'e> ApiTypes<'e> {
    /// The types of a program.
    pub fn new(exports: &'e ProgramExports) -> Self {
        let types = exports.types.iter();
        let types = types.map(|(name, exported)| (name.as_str(), make_type(name, exported)));
        ApiTypes {
            types: types.collect(),
        }
    }

    /// The type of a name that the exports have.
    pub fn get(&self, name: &str) -> &ApiType<'e> {
        &self.types[name]
    }

    /// All types that are no scalars, with their names in Futhark and their stems.
    pub fn iter_structures(&self) -> impl Iterator<Item = (&'e str, &ApiType<'e>, &str)> {
        let types = self.types.iter();
        types.filter_map(|(name, found)| Some((*name, found, found.stem.as_deref()?)))
    }
}

fn make_type<'e>(name: &str, exported: &'e ExportedType) -> ApiType<'e> {
    if let Some(c_type) = scalar_type(name) {
        return ApiType {
            exported,
            c_type: c_type.to_owned(),
            stem: None,
            word: name.to_owned(),
        };
    }
    let stem = array_name(name).unwrap_or_else(|| opaque_name(name));
    ApiType {
        exported,
        c_type: format!("struct futhark_{stem}"),
        stem: Some(stem),
        word: "*".to_owned(),
    }
}

/// The name of an array of scalars, `i32_1d`.
fn array_name(type_name: &str) -> Option<String> {
    let element = type_name.trim_start_matches("[]");
    let rank = (type_name.len() - element.len()) / 2;
    scalar_type(element).map(|_| format!("{element}_{rank}d"))
}

/// The name of the function of an entry point.
pub fn entry_function(name: &str) -> String {
    format!("futhark_entry_{}", escape_name(name))
}

/// Parameters of the type `int64_t` with a name and a number each.
pub fn number_parameters(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("int64_t {name}{n}")).collect()
}

/// The declaration of an array of such parameters.
pub fn number_array(array: &str, name: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("{name}{n}")).collect();
    format!("const int64_t {array}[] = {{{}}};", names.join(", "))
}

/// The declaration of an array of pointers; nothing is declared without pointers. Returns the declaration and the array.
pub fn pointer_array(array: &str, pointers: &[String]) -> (Vec<String>, String) {
    if pointers.is_empty() {
        return (Vec::new(), "NULL".to_owned());
    }
    let declaration = format!("const void *const {array}[] = {{{}}};", pointers.join(", "));
    (vec![declaration], array.to_owned())
}
