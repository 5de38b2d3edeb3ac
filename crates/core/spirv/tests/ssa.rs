//! SSA construction over the corpus: what comes out is valid wherever what went in was.

use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::{binary, ssa, verify};
use spirula_testing::{SpirvValTool, find_corpus};
use std::path::Path;

/// One module of this number is tested; `EVERY` names another number.
fn step() -> usize {
    std::env::var("EVERY").map_or(7, |n| n.parse().expect("EVERY is a number"))
}

/// A file of the corpus as words, and the environment that it is valid for.
fn module(folder: &Path, row: &str) -> (Vec<u32>, verify::VerifyOptions) {
    let columns: Vec<&str> = row.split('\t').collect();
    let bytes = std::fs::read(folder.join(columns[0])).expect("the corpus can be read");
    let environment = columns[5];
    let options = verify::VerifyOptions {
        target: (environment.trim_end_matches("+scalar").parse()).expect("there is such a target"),
        scalar_block_layout: environment.ends_with("+scalar"),
    };
    if binary::is_spirv(&bytes) {
        return (
            binary::words_from_bytes(&bytes).expect("it is a module"),
            options,
        );
    }
    let source = String::from_utf8(bytes).expect("it is a text");
    let how = ParseOptions {
        version: Some(options.target.version),
        ..ParseOptions::default()
    };
    (
        parse_assembly(&source, &how).expect("it is a module"),
        options,
    )
}

#[test]
fn the_corpus_stays_valid() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("it has a manifest");
    let (mut count, mut changed) = (0, 0);
    let mut faults = Vec::new();
    for row in manifest.lines().skip(1).step_by(step()) {
        let (words, options) = module(&folder, row);
        let Ok(mut module) = verify::verify_words(words, &options) else {
            continue;
        };
        count += 1;
        let before = module.to_words().len();
        if let Err(fault) = ssa::construct_ssa(&mut module) {
            faults.push(format!("{row}: {fault}"));
            continue;
        }
        module.compact_ids();
        changed += usize::from(module.to_words().len() != before);
        if let Err(fault) = verdict(&module, &options, validator.as_ref()) {
            faults.push(format!("{row}: {fault}"));
        }
    }
    eprintln!("{count} modules, {changed} with other words than before");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 100, "only {count} modules");
    assert!(changed * 4 > count, "only {changed} of {count} changed");
}

/// The verdicts of the verifier, and of the validator where there is one.
fn verdict(
    module: &SpirvModule,
    options: &verify::VerifyOptions,
    validator: Option<&SpirvValTool>,
) -> Result<(), String> {
    verify::verify_module(module, options).map_err(|faults| faults[0].to_string())?;
    let validator = validator.filter(|_| !options.scalar_block_layout);
    validator.map_or(Ok(()), |v| {
        v.validate_module(&module.to_bytes(), &options.target.to_string())
    })
}
