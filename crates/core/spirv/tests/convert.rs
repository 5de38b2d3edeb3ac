//! Modules of one version to another: those of `tests/convert` with what becomes of them, and the
//! corpus.

use spirula_spirv::binary;
use spirula_spirv::convert::to_version;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, PrintOptions, parse_assembly, print_assembly};
use spirula_spirv::verify;
use spirula_testing::{GoldenFiles, SpirvValTool, find_corpus, list_files};
use std::collections::BTreeMap;
use std::path::Path;

fn version(text: &str) -> SpirvVersion {
    let minor = text.trim().strip_prefix("1.").and_then(|m| m.parse().ok());
    SpirvVersion::new(1, minor.expect("it is a version"))
}

/// The first line of each file: `; 1.3 to 1.4`.
#[test]
fn modules_are_converted_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/convert");
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    for file in list_files(&folder, ".spvasm") {
        let source = std::fs::read_to_string(&file).expect("the test can be read");
        let head = source.lines().next().unwrap_or("").trim_start_matches("; ");
        let (from, to) = head
            .split_once(" to ")
            .expect("the first line has two versions");
        let mut words = parse_assembly(&source, &ParseOptions::default()).expect("it is a module");
        words[1] = version(from).word();
        let mut module = SpirvModule::from_words(words).expect("it is a module");
        let options = verify::VerifyOptions::default();
        if let Err(faults) = verify::verify_module(&module, &options) {
            panic!("{}: {}", file.display(), faults[0]);
        }
        let found = match to_version(&mut module, version(to)) {
            Ok(()) => {
                assert_eq!(module.version, version(to));
                if let Some(validator) = &validator {
                    let verdict =
                        validator.validate_module(&module.to_bytes(), &format!("spv{to}"));
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

/// A sample of the corpus in every version: upwards all of it goes, downwards what is refused names an
/// instruction or a capability; what comes out is valid.
#[test]
fn the_corpus_in_every_version() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("it has a manifest");
    let step = std::env::var("EVERY").map_or(29, |n| n.parse().expect("EVERY is a number"));
    let mut done: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    for line in manifest.lines().skip(1).step_by(step) {
        let columns: Vec<&str> = line.split('\t').collect();
        let bytes = std::fs::read(folder.join(columns[0])).expect("the corpus can be read");
        if !binary::is_spirv(&bytes) || columns[5].ends_with("+scalar") {
            continue;
        }
        let words = binary::words_from_bytes(&bytes).expect("it is a module");
        let Ok(module) = verify::verify_words(words, &verify::VerifyOptions::default()) else {
            continue;
        };
        for minor in 0..=6 {
            let target = SpirvVersion::new(1, minor);
            let mut converted = module.clone();
            let is_up = target >= module.version;
            let result = to_version(&mut converted, target);
            *done.entry((is_up, result.is_ok())).or_default() += 1;
            match result {
                Err(error) if is_up => faults.push(format!("{}: {error}", columns[0])),
                Err(error) => {
                    assert_eq!(converted.to_words(), module.to_words());
                    let what = error.to_string();
                    let what = what.split(": ").nth(1).unwrap_or("").to_owned();
                    *refusals.entry(what).or_default() += 1;
                }
                Ok(()) => {
                    let Some(validator) = &validator else {
                        continue;
                    };
                    let environment = format!("spv{target}");
                    if let Err(said) =
                        validator.validate_module(&converted.to_bytes(), &environment)
                    {
                        let said = said.lines().next().unwrap_or("").to_owned();
                        let from = module.version;
                        faults.push(format!("{} {from} to {target}: {said}", columns[0]));
                    }
                }
            }
        }
    }
    eprintln!("(up, done): {done:?}\nrefused: {refusals:#?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(done[&(true, true)] > 100);
}
