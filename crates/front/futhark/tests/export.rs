//! Exports: the names and structures of the types of entry points.

use spirula_futhark::compile::check_source;
use spirula_futhark::export::{ExportedForm, ProgramExports, describe_exports};

fn export(files: &[(&str, &str)]) -> Result<ProgramExports, String> {
    let mut read = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found
            .map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| format!("no {path}"))
    };
    let checked = check_source("main.fut", &mut read).expect("the program is right");
    describe_exports(&checked)
}

fn names(exports: &ProgramExports) -> Vec<&str> {
    exports.types.keys().map(String::as_str).collect()
}

const NAMED: &str = "
type point = {x: f32, y: f32}
type vec [n] = {vec: [n]i64}
type triad 'a = (a, a, a)
type m33 = triad point
entry a (p: point) (_: [](point, i32)) : vec [] = {vec = [i64.f32 p.x]}
entry b (m: m33) : *[]point = [m.0]
";

/// Names of abbreviations are kept, and those of fields are found in their definitions.
#[test]
fn types_are_named_as_they_are_written() {
    let exports = export(&[("main.fut", NAMED)]).expect("names are distinct");
    assert_eq!(
        names(&exports),
        [
            "(point, i32)",
            "[](point, i32)",
            "[]f32",
            "[]i32",
            "[]i64",
            "[]point",
            "f32",
            "i32",
            "m33",
            "point",
            "vec",
            "{x: f32, y: f32}",
        ]
    );
    let field = |name: &str, type_name: &str| (name.to_owned(), type_name.to_owned());
    let plain = "{x: f32, y: f32}";
    let form = &exports.types["m33"].form;
    let fields = ["0", "1", "2"].map(|name| field(name, plain));
    assert_eq!(*form, ExportedForm::Record(fields.to_vec()));
    let form = &exports.types["[](point, i32)"].form;
    let columns = vec![field("0", "[]point"), field("1", "[]i32")];
    let element = "(point, i32)".to_owned();
    let rank = 1;
    assert_eq!(
        *form,
        ExportedForm::RecordArray {
            rank,
            element,
            columns
        }
    );
    let result = &exports.entries[1].result;
    assert_eq!(
        (result.type_name.as_str(), result.is_unique),
        ("[]point", true)
    );
    assert_eq!(exports.entries[0].parameters[0].name, "p");
}

#[test]
fn abstract_types_are_what_they_hide() {
    let source = "
module m : {type t val make: i32 -> t} = {type t = #some i32 | #none def make (x: i32): t = #some x}
type alias = m.t
entry named (x: i32) : alias = m.make x
entry inferred (x: i32) = [m.make x]
";
    let exports = export(&[("main.fut", source)]).expect("names are distinct");
    let form = &exports.types["alias"].form;
    assert!(matches!(form, ExportedForm::Sum(variants) if variants.len() == 2));
    let parts = &exports.types["alias"].parts;
    assert_eq!(parts.len(), 2);
    let inferred = &exports.entries[1].result.type_name;
    assert_eq!(inferred, "[](#none | #some i32)");
    assert_eq!(exports.types[inferred].parts[1].rank, 1);
}

/// An abbreviation may have the name of an imported one that it stands for.
#[test]
fn abbreviations_of_other_files_are_found() {
    let other = "type t = {a: i8, b: bool}";
    let source = "import \"other\" type t = t entry f (x: t) = x.a";
    let exports = export(&[("main.fut", source), ("other.fut", other)]).expect("one name");
    let form = &exports.types["t"].form;
    assert!(matches!(form, ExportedForm::Record(fields) if fields.len() == 2));
}

#[test]
fn functions_without_parameters_have_the_types_of_their_signature() {
    let source = "type s = (i32, i32) -- | Does nothing.\n#[test(3)] entry f : s -> s = id";
    let exports = export(&[("main.fut", source)]).expect("one name");
    let entry = &exports.entries[0];
    assert_eq!(entry.parameters[0].type_name, "s");
    assert_eq!(entry.result.type_name, "s");
    assert_eq!(entry.attributes, ["test(3)"]);
}

#[test]
fn different_types_of_one_name_are_refused() {
    let other = "type t = (bool, bool) def g (x: t) = x.0";
    let source = "import \"other\"
module m = {type t = (i32, i32)}
entry f (x: t) = g x
open m
entry h (x: t) = x.0";
    let message = export(&[("main.fut", source), ("other.fut", other)]).expect_err("two types");
    assert!(message.contains("two different types"), "{message}");
}
