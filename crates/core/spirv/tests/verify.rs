//! Modules that breach one rule each, named by its number, and the corpus.

use spirula_spirv::binary;
use spirula_spirv::grammar::SpirvVersion;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_spirv::verify::{self, VerifyOptions, VerifyRule};
use spirula_testing::{GoldenFiles, find_corpus, list_files};
use std::collections::BTreeSet;
use std::path::Path;

fn options(environment: &str) -> VerifyOptions {
    VerifyOptions {
        target: environment
            .trim_end_matches("+scalar")
            .parse()
            .expect("the environment has a name"),
        scalar_block_layout: environment.ends_with("+scalar"),
    }
}

/// Words of a text for the version of an environment.
fn assemble(source: &str, target: SpirvTarget) -> Vec<u32> {
    let mut words =
        parse_assembly(source, &ParseOptions::default()).unwrap_or_else(|e| panic!("{}", e[0]));
    words[1] = target.version.word();
    words
}

#[test]
fn every_rule_refuses_what_breaches_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify");
    let mut expected = GoldenFiles::new();
    let mut refusing = BTreeSet::new();
    for file in list_files(&folder, ".spvasm") {
        let source = std::fs::read_to_string(&file).expect("the test can be read");
        let environment = source
            .lines()
            .next()
            .and_then(|l| l.strip_prefix("; environment: "));
        let options = options(environment.expect("the first line names the environment"));
        let found = match verify::verify_words(assemble(&source, options.target), &options) {
            Ok(_) => "valid\n".to_owned(),
            Err(faults) => faults
                .iter()
                .map(|f| format!("{f} [{}]\n", f.notes.join(", ")))
                .collect(),
        };
        let name = file.file_stem().expect("it has a name").to_string_lossy();
        let number: u8 = name[..2].parse().expect("the name begins with a number");
        match VerifyRule::by_number(number) {
            Some(rule) => {
                assert!(found.contains(&format!("[{rule}]")), "{name}: {found}");
                refusing.insert(rule);
            }
            None => assert_eq!(found, "valid\n", "{name}"),
        }
        expected.compare_file(&file.with_extension("txt"), &found);
    }
    expected.finish_comparison();
    let untested: Vec<_> = VerifyRule::ALL
        .iter()
        .filter(|r| !refusing.contains(r))
        .collect();
    assert!(untested.is_empty(), "no test breaches {untested:?}");
}

#[test]
fn rules_have_numbers_and_texts() {
    for (at, rule) in VerifyRule::ALL.iter().enumerate() {
        assert_eq!(usize::from(rule.number()), at + 1);
        assert_eq!(VerifyRule::by_number(rule.number()), Some(*rule));
        assert!(rule.text().ends_with('.'));
    }
    assert_eq!(VerifyRule::by_number(0), None);
}

/// Modules of the corpus that Khronos' validator 2026.4 refuses too.
const REFUSED: &str = include_str!("verify/refused.txt");

#[test]
fn the_corpus_is_valid_but_for_what_others_refuse_too() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("it has a manifest");
    let mut found = Vec::new();
    let mut count = 0;
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let options = options(columns[5]);
        let bytes = std::fs::read(folder.join(columns[0])).expect("the module can be read");
        let words = if binary::is_spirv(&bytes) {
            binary::words_from_bytes(&bytes).expect("it is a module")
        } else {
            let source = String::from_utf8(bytes).expect("it is a text");
            let mut words = assemble(&source, options.target);
            let minor = columns[19].strip_prefix("1.").and_then(|m| m.parse().ok());
            words[1] = SpirvVersion::new(1, minor.expect("it has a version")).word();
            words
        };
        count += 1;
        if let Err(faults) = verify::verify_words(words, &options) {
            found.push((columns[0].to_owned(), faults[0].to_string()));
        }
    }
    assert!(count > 1900, "only {count} modules found");
    let known: BTreeSet<&str> = REFUSED.lines().filter(|l| !l.starts_with('#')).collect();
    for (name, fault) in &found {
        assert!(known.contains(name.as_str()), "{name}: {fault}");
    }
    assert_eq!(found.len(), known.len());
}
