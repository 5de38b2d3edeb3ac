//! Linking: modules of `tests/link` with what becomes of them, and the corpus.

use spirula_spirv::binary;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{EntryNames, LinkError, LinkOptions, link_modules};
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::verify;
use spirula_testing::{GoldenFiles, SpirvValTool, find_corpus, list_files};
use std::path::Path;

fn module(source: &str) -> SpirvModule {
    let words =
        parse_assembly(source, &ParseOptions::default()).unwrap_or_else(|e| panic!("{}", e[0]));
    SpirvModule::from_words(words).unwrap_or_else(|e| panic!("{e}"))
}

/// The modules of a file: parts after lines that begin with `; module`, with a version after it.
fn modules(source: &str) -> Vec<SpirvModule> {
    let parts = source.split("; module ").skip(1);
    parts
        .map(|part| {
            let (head, text) = part.split_once('\n').expect("a module has lines");
            let mut module = module(text);
            let minor = head.trim().strip_prefix("1.").and_then(|m| m.parse().ok());
            module.version = SpirvVersion::new(1, minor.expect("a module has a version"));
            module
        })
        .collect()
}

#[test]
fn modules_are_linked_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/link");
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    for file in list_files(&folder, ".spvasm") {
        let source = std::fs::read_to_string(&file).expect("the test can be read");
        let first = source.split("; module").next().unwrap_or("");
        let options = LinkOptions {
            library: first.contains("--library"),
            allow_partial: first.contains("--allow-partial"),
            entry_names: if first.contains("--number-entry-points") {
                EntryNames::Number
            } else {
                EntryNames::Refuse
            },
            ceiling: if first.contains("--at-most-1.0") {
                SpirvVersion::V1_0
            } else {
                SpirvVersion::NEWEST
            },
        };
        let found = match link_modules(modules(&source), &options) {
            Ok(module) => {
                if let Err(faults) =
                    verify::verify_module(&module, &verify::VerifyOptions::default())
                {
                    panic!("{}: {}", file.display(), faults[0]);
                }
                if let Some(validator) = &validator {
                    let environment = format!("spv{}", module.version);
                    let verdict = validator.validate_module(&module.to_bytes(), &environment);
                    assert_eq!(verdict, Ok(()), "{}", file.display());
                }
                let options = PrintOptions {
                    friendly_names: true,
                    ..PrintOptions::default()
                };
                print_assembly(&module.to_words(), &options).expect("the module can be printed")
            }
            Err(error) => format!("error: {error}\n"),
        };
        expected.compare_file(&file.with_extension("txt"), &found);
    }
    expected.finish_comparison();
}

#[test]
fn nothing_and_no_memory_model() {
    let options = LinkOptions::default();
    assert_eq!(
        link_modules(vec![], &options).err(),
        Some(LinkError::Nothing)
    );
    let bare = module("OpCapability Shader");
    let found = link_modules(vec![bare], &options).err();
    assert_eq!(found, Some(LinkError::NoMemoryModel { module: 0 }));
}

#[test]
fn a_module_linked_alone_keeps_its_meaning() {
    let source = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reflect/shader.spvasm"),
    );
    let first = module(&source.expect("the test can be read"));
    let count = first.all_insts().count();
    let linked = link_modules(vec![first], &LinkOptions::default()).expect("it links");
    assert_eq!(linked.all_insts().count(), count);
}

/// Modules of the corpus that are of one memory model and can be joined, in tens.
#[test]
fn the_corpus_links() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let mut groups: Vec<(Vec<u32>, Vec<SpirvModule>, Vec<String>)> = Vec::new();
    let mut linked = 0;
    let all = list_files(&folder.join("modules"), ".spv");
    // The whole corpus takes minutes: every ninth by default, so that each origin is met.
    let step = std::env::var("EVERY").map_or(9, |n| n.parse().expect("EVERY is a number"));
    for file in all.iter().step_by(step) {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the corpus is well-formed");
        let valid = verify::verify_module(&module, &scalar());
        if valid.is_err() {
            continue;
        }
        let model = module
            .all_insts()
            .find(|i| i.op().to_string() == "OpMemoryModel");
        let model = model.map(|m| m.words().to_vec()).unwrap_or_default();
        let at = groups.iter().position(|g| g.0 == model && g.1.len() < 10);
        let at = at.unwrap_or_else(|| {
            groups.push((model, vec![], vec![]));
            groups.len() - 1
        });
        groups[at].1.push(module);
        groups[at].2.push(file.display().to_string());
    }
    for (_, mut modules, names) in groups {
        let options = LinkOptions {
            entry_names: EntryNames::Number,
            allow_partial: true,
            ..LinkOptions::default()
        };
        let module = loop {
            match link_modules(modules.clone(), &options) {
                Ok(module) => break module,
                // The same symbol or a type of its own in two programs: no fault of the linker.
                Err(
                    LinkError::Duplicate { modules: two, .. }
                    | LinkError::Type { modules: two, .. },
                ) => {
                    modules.remove(two[1]);
                }
                Err(error) => panic!("{error}: {names:?}"),
            }
        };
        linked += modules.len();
        if let Err(faults) = verify::verify_module(&module, &scalar()) {
            panic!("{names:?}: {}", faults[0]);
        }
        let again =
            SpirvModule::from_bytes(&module.to_bytes()).expect("what is linked is a module");
        assert_eq!(again.clone().compact_ids().len(), module.bound() as usize);
        if let Some(validator) = &validator {
            let verdict =
                validator.validate_module(&module.to_bytes(), &format!("spv{}", module.version));
            assert!(
                verdict.is_ok() || blames_layout(&verdict),
                "{names:?}: {verdict:?}"
            );
        }
    }
    assert!(linked > 50, "only {linked} modules");
}

fn scalar() -> verify::VerifyOptions {
    verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    }
}

/// The validator runs without the option for scalar layouts.
fn blames_layout(verdict: &Result<(), String>) -> bool {
    verdict.as_ref().is_err_and(|said| said.contains("layout"))
}

#[test]
fn words_are_those_of_a_module() {
    let linked = link_modules(
        vec![module(
            "OpCapability Linkage\nOpCapability Shader\nOpMemoryModel Logical GLSL450",
        )],
        &LinkOptions::default(),
    );
    let words = linked.expect("it links").to_words();
    assert!(binary::is_spirv(&binary::to_bytes(&words)));
}
