//! File tests: `tests/<pass>/<name>.spvasm` after the pass of the folder's name is
//! `<name>.expected`. A line `; passes: a,b` names other passes.

use spirula_opt::{PASSES, PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::{binary, text};
use spirula_testing::{GoldenFiles, SpirvValTool, list_files};
use std::path::Path;

#[test]
fn files_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    for pass in PASSES {
        let inputs = list_files(&folder.join(pass.name), ".spvasm");
        assert!(!inputs.is_empty(), "{} has no tests", pass.name);
        for input in inputs {
            let source = std::fs::read_to_string(&input).expect("the test can be read");
            let words = text::parse_assembly(&source, &text::ParseOptions::default())
                .unwrap_or_else(|e| panic!("{}: {e:?}", input.display()));
            let mut module = SpirvModule::from_words(words.clone()).expect("the test is a module");
            let passes = source
                .lines()
                .next()
                .and_then(|l| l.strip_prefix("; passes: "));
            let pipeline: PassPipeline = passes
                .map_or_else(|| pass.example_pipeline(), str::to_owned)
                .parse()
                .expect("passes exist");
            let mut options = PipelineOptions {
                verify_each: true,
                observer: None,
            };
            let report = optimise_module(&mut module, &pipeline, &mut options)
                .unwrap_or_else(|e| panic!("{}: {e}", input.display()));
            if let Some(validator) = &validator {
                for bytes in [binary::to_bytes(&words), module.to_bytes()] {
                    let environment = format!("spv{}", module.version);
                    validator
                        .validate_module(&bytes, &environment)
                        .unwrap_or_else(|e| panic!("{}: {e}", input.display()));
                }
            }
            let options = text::PrintOptions {
                header: false,
                friendly_names: true,
                ..text::PrintOptions::default()
            };
            let printed =
                text::print_assembly(&module.to_words(), &options).expect("it can be printed");
            let found = format!("{report}{printed}");
            expected.compare_file(&input.with_extension("expected"), &found);
        }
    }
    expected.finish_comparison();
}
