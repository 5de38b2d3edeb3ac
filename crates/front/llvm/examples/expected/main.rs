//! Expectation run: compares translations with the expectations in the comments of the inputs.
//!
//! `expected FOLDER [PEERS CACHE] [PART]` reads `FOLDER/index.tsv` as the example `conformance`
//! does. The RUN lines of each test state which texts of SPIR-V are checked, and with which
//! prefixes. Spirula's translation is checked by three measures. *named*: the module has every
//! instruction that an expected line names. *found*: every expected line occurs somewhere in the
//! text, for any ids and in any order. *exact*: as LLVM's FileCheck checks it.
//!
//! A test holds if the checks of one of its RUN lines hold, with Spirula's default options or with
//! those of the line. With the folder of `llvm-spirv-22` and `llc-22`, these tools are checked too,
//! each with the options of the line; their modules are cached in CACHE. PART selects files whose
//! names contain it. If it is the full name of a file, the text is printed, too.
//!
//! Standard output has the first failed expectation of each file and, at the end, the number of
//! tests that hold by folder and tool.

mod checker;
mod listing;
mod patterns;
mod peers;
mod runs;

use patterns::{Expectation, parse_expectations};
use peers::{PeerTool, PeerTools};
use runs::CheckRun;
use spirula_llvm::{TranslationOptions, read_module, translate_module};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// The tools that are compared.
const TOOLS: [&str; 3] = ["spirula", "llvm-spirv", "llc"];

/// Whether a test holds by each measure: named, found, exact.
type MeasuredVerdicts = [bool; 3];

/// Number of tests of a folder that hold, by tool and measure.
#[derive(Clone, Copy, Debug, Default)]
struct FolderFigures {
    tests: usize,
    hold: [[usize; 3]; 3],
}

/// A test with the checks of its RUN lines.
struct ExpectationTest<'a> {
    path: &'a Path,
    text: &'a str,
    triple: &'a str,
    checks: Vec<(CheckRun, Vec<Expectation>)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (folder, peers, part) = match &arguments[..] {
        [folder] => (folder, None, ""),
        [folder, part] => (folder, None, part.as_str()),
        [folder, peers, cache] => (folder, Some((peers, cache)), ""),
        [folder, peers, cache, part] => (folder, Some((peers, cache)), part.as_str()),
        _ => return Err("usage: expected FOLDER [PEERS CACHE] [PART]".into()),
    };
    let folder = Path::new(folder);
    let peers = peers.map(|(peers, cache)| PeerTools::new(Path::new(peers), Path::new(cache)));
    let peers = peers.transpose()?;
    let mut figures: BTreeMap<String, FolderFigures> = BTreeMap::new();
    let index = fs::read_to_string(folder.join("index.tsv"))?;
    for line in index.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, "accept", _, triple, ..] = columns[..] else {
            continue;
        };
        if !file.contains(part) {
            continue;
        }
        let path = folder.join(file);
        let text = fs::read_to_string(&path)?;
        let test = ExpectationTest {
            path: &path,
            text: &text,
            triple,
            checks: parse_checks(&text),
        };
        if test.checks.is_empty() {
            continue;
        }
        let hold = compare_test(file, part, &test, peers.as_ref());
        let parts: Vec<&str> = file.split('/').collect();
        let name = parts[..parts.len().min(3) - 1].join("/");
        for name in [name, parts[0].to_owned()] {
            let sum = figures.entry(name).or_default();
            sum.tests += 1;
            for (sum, hold) in sum.hold.iter_mut().zip(hold) {
                for (sum, hold) in sum.iter_mut().zip(hold) {
                    *sum += usize::from(hold);
                }
            }
        }
    }
    println!(
        "folder\ttests\tnamed: {0}\tfound: {0}\texact: {0}",
        TOOLS.join("/")
    );
    for (name, sum) in figures {
        let column = |n: usize| sum.hold.map(|tool| tool[n].to_string()).join("/");
        println!(
            "{name}\t{}\t{}\t{}\t{}",
            sum.tests,
            column(0),
            column(1),
            column(2)
        );
    }
    Ok(())
}

/// The checks of a test that have expectations.
fn parse_checks(text: &str) -> Vec<(CheckRun, Vec<Expectation>)> {
    let runs = runs::find_runs(text).into_iter();
    let checks = runs.map(|run| {
        let all = parse_expectations(text, &run.prefixes);
        (run, all)
    });
    let expects = |all: &[Expectation]| all.iter().any(Expectation::is_positive);
    checks.filter(|(_, all)| expects(all)).collect()
}

/// Whether a test holds, by tool. Prints the failed expectation of Spirula's translation.
fn compare_test(
    file: &str,
    part: &str,
    test: &ExpectationTest<'_>,
    peers: Option<&PeerTools>,
) -> [MeasuredVerdicts; 3] {
    let ours = translate_with_options(
        test.text.as_bytes(),
        test.triple,
        TranslationOptions::default(),
    );
    let mut hold = [[false; 3]; 3];
    // The printed failure is that of the translation which holds by most measures.
    let (mut most, mut said) = (None, String::new());
    let mut tell = |measured: MeasuredVerdicts, why: String| {
        let held = measured.iter().filter(|held| **held).count();
        if most.is_none_or(|most| most <= held) {
            (most, said) = (Some(held), why);
        }
    };
    for (run, all) in &test.checks {
        let peer =
            |peer| peers.map(|peers| peers.run_peer(peer, test.path, test.triple, &run.flags));
        let modules = [
            Some(ours.clone()),
            peer(PeerTool::Translator),
            peer(PeerTool::Backend),
        ];
        for (tool, (module, hold)) in modules.into_iter().zip(&mut hold).enumerate() {
            let (measured, why) = match module {
                Some(Ok(words)) => measure_expectations(&words, run, all),
                Some(Err(why)) => ([false; 3], format!("refused\t{why}")),
                None => continue,
            };
            if tool == 0 {
                tell(measured, why);
            }
            for (held, now) in hold.iter_mut().zip(measured) {
                *held |= now;
            }
        }
        // With the options of the test, which the other tools get, too.
        let asked = translate_with_options(test.text.as_bytes(), test.triple, run.to_options());
        if let Ok(words) = asked {
            let (measured, why) = measure_expectations(&words, run, all);
            tell(measured, why);
            for (held, now) in hold[0].iter_mut().zip(measured) {
                *held |= now;
            }
        }
    }
    let peer = match peers {
        None => "",
        Some(_) if hold[1][2] || hold[2][2] => "a peer holds exactly",
        Some(_) if hold[1][1] || hold[2][1] => "a peer holds",
        Some(_) => "no peer holds",
    };
    if let (Some((run, _)), true) = (test.checks.first(), file == part) {
        for words in [
            &ours,
            &translate_with_options(test.text.as_bytes(), test.triple, run.to_options()),
        ] {
            println!(
                "{}",
                words
                    .as_ref()
                    .map_or_else(String::clone, |w| listing::print_listing(w, run.form))
            );
        }
    }
    if hold[0].contains(&false) {
        println!("{file}\t{peer}\t{}", said.replace('\n', " "));
    }
    hold
}

/// The measures by which a module holds, and the first expectation that fails.
fn measure_expectations(
    words: &[u32],
    run: &CheckRun,
    all: &[Expectation],
) -> (MeasuredVerdicts, String) {
    let text = listing::print_listing(words, run.form);
    let unnamed =
        checker::find_missing_instruction(all, &listing::rewrite_zeros(words, run.form), run.form);
    let missing = checker::find_missing_line(all, &text);
    let violated = checker::find_violated_expectation(all, &text);
    let measured = [unnamed, missing, violated].map(|e| e.is_none());
    let faults = [
        ("unnamed", unnamed),
        ("missing", missing),
        ("order", violated),
    ];
    let fault = faults.iter().find_map(|(word, e)| Some((word, (*e)?)));
    let why = fault.map(|(word, e)| format!("{word}\t{}: {}", e.line, e.text));
    (measured, why.unwrap_or_default())
}

/// Spirula's translation with the given options.
fn translate_with_options(
    bytes: &[u8],
    triple: &str,
    options: TranslationOptions,
) -> Result<Vec<u32>, String> {
    let module = read_module(bytes).map_err(|fault| fault.message)?;
    let triple = (!triple.is_empty()).then(|| triple.to_owned());
    let options = TranslationOptions { triple, ..options };
    let module = translate_module(&module, &options).map_err(|all| {
        let reasons: Vec<String> = all.into_iter().map(|d| d.message).collect();
        reasons.join("; ")
    })?;
    Ok(module.to_words())
}
