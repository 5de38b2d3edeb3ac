//! Tests of reading: `read/NAME.mlir` has texts in custom forms, `read/NAME.generic` the same in
//! the generic form. Printed text reads back as itself.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_stablehlo::mlir::{LocationKind, SsaNumbering, parse_text};
use spirula_testing::{GoldenFiles, list_files};
use std::path::Path;

fn show(name: &str, bytes: &[u8], numbering: SsaNumbering) -> String {
    match parse_text(bytes) {
        Ok(module) => module.to_generic_text(numbering),
        Err(error) => panic!(
            "{}",
            render_diagnostic(&error, SourceFile { name, bytes }, false)
        ),
    }
}

#[test]
fn custom_forms_become_generic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read");
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder, ".mlir") {
        let name = path.file_name().expect("a file").to_string_lossy();
        let bytes = std::fs::read(&path).expect("the file can be read");
        let shown = show(&name, &bytes, SsaNumbering::Scoped);
        assert_eq!(shown, show(&name, shown.as_bytes(), SsaNumbering::Scoped));
        expected.compare_file(&path.with_extension("generic"), &shown);
    }
    expected.finish_comparison();
}

#[test]
fn parameters_keep_their_locations() {
    let source = b"func.func @f(%a: tensor<f32> {a.b} loc(\"x\"), %b: tensor<f32>) -> tensor<f32> {
        func.return %a : tensor<f32>
    }";
    let module = parse_text(source).expect("the text is well-formed");
    let function = module.find_function("f").expect("the function is there");
    let region = module.regions(function).next().expect("it has a body");
    let arguments = module.arguments(module.blocks(region)[0]);
    let names =
        arguments.map(
            |argument| match module.locations.kind(module.argument_location(argument)) {
                LocationKind::Name { name, .. } => module.symbol_text(*name),
                _ => "",
            },
        );
    assert_eq!(names.collect::<Vec<_>>(), ["x", ""]);
}
