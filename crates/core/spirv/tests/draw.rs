//! Drawings: modules of `tests/draw` with what is drawn of them.

use spirula_spirv::draw::GraphvizOptions;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_testing::{GoldenFiles, find_corpus, list_files};
use std::path::Path;

#[test]
fn modules_are_drawn_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/draw");
    let mut expected = GoldenFiles::new();
    for file in list_files(&folder, ".spvasm") {
        let source = std::fs::read_to_string(&file).expect("the test can be read");
        let words = parse_assembly(&source, &ParseOptions::default()).expect("it is a module");
        let module = SpirvModule::from_words(words).expect("it is a module");
        let first = source.lines().next().unwrap_or("");
        let only = first
            .split_once("--function ")
            .map(|(_, name)| name.to_owned());
        let drawing = GraphvizOptions {
            dominators: first.contains("--dominators"),
            post_dominators: first.contains("--post-dominators"),
            instructions: first.contains("--instructions"),
            only,
        };
        let found = drawing
            .draw_module(&module)
            .unwrap_or_else(|e| format!("error: {e}\n"));
        expected.compare_file(&file.with_extension("dot"), &found);
        let picture = drawing
            .draw_module_as_svg(&module)
            .unwrap_or_else(|e| format!("error: {e}\n"));
        expected.compare_file(&file.with_extension("svg"), &picture);
    }
    expected.finish_comparison();
}

#[test]
fn the_corpus_is_drawn() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    for file in list_files(&folder, ".spv").iter().step_by(31) {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let drawing = GraphvizOptions {
            dominators: true,
            post_dominators: true,
            instructions: true,
            only: None,
        };
        let text = drawing
            .draw_module(&module)
            .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let picture = drawing.draw_module_as_svg(&module);
        let picture = picture.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(picture.ends_with("</svg>\n"), "{}", file.display());
        assert!(!picture.contains("NaN"), "{}", file.display());
        assert_eq!(
            text.matches('{').count(),
            text.matches('}').count(),
            "{}",
            file.display()
        );
    }
}
