//! Compares translations with what the inputs' own comments expect of them.
//!
//! `expected FOLDER [PEERS CACHE] [PART]` reads `FOLDER/index.tsv` as the example `conformance` does,
//! finds out from the RUN lines of each test which texts of SPIR-V are checked and by which
//! prefixes, and checks Spirula's translation by three measures: *named*, the module has every
//! instruction whose name an expected line has; *found*, every expected line stands somewhere in
//! the text, whatever its ids and its place; *exact*, as LLVM's FileCheck has it. A
//! test holds when what one of its RUN lines asks for holds, as Spirula is run with the options
//! that it has by default. With the folder of `llvm-spirv-22` and `llc-22` these are checked
//! beside, each with the options of the line; their modules are kept in CACHE. PART chooses files
//! whose names hold it.
//!
//! On standard output stand the first expectation of each file that does not hold and, at the
//! end, how many hold by folder and tool.

mod checker;
mod listing;
mod patterns;
mod peers;
mod runs;

use patterns::{Expectation, expectations};
use peers::{Peer, Peers};
use runs::Run;
use spirula_llvm::{Options, read, translate};
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs;
use std::path::Path;

/// The tools that are compared.
const TOOLS: [&str; 3] = ["spirula", "llvm-spirv", "llc"];

/// How many tests of a folder hold, by tool and measure.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    tests: usize,
    hold: [[usize; 3]; 3],
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
    let peers = peers.map(|(peers, cache)| Peers::new(Path::new(peers), Path::new(cache)));
    let peers = peers.transpose()?;
    let mut figures: BTreeMap<String, Figures> = BTreeMap::new();
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
        let test = fs::read_to_string(&path)?;
        let runs = runs::runs(&test);
        let checks: Vec<(Run, Vec<Expectation>)> = runs
            .into_iter()
            .map(|run| {
                let all = expectations(&test, &run.prefixes);
                (run, all)
            })
            .filter(|(_, all)| all.iter().any(Expectation::is_positive))
            .collect();
        if checks.is_empty() {
            continue;
        }
        let ours = translated(test.as_bytes(), triple);
        let mut hold = [[false; 3]; 3];
        let mut said = [const { String::new() }; 3];
        let mut texts = HashMap::new();
        for (run, all) in &checks {
            for tool in 0..TOOLS.len() {
                let module = match (tool, &peers) {
                    (0, _) => ours.clone(),
                    (1, Some(peers)) => peers.run(Peer::Translator, &path, triple, &run.flags),
                    (2, Some(peers)) => peers.run(Peer::Backend, &path, triple, &run.flags),
                    _ => continue,
                };
                let measured = match module {
                    Ok(words) => {
                        let key = (tool, run.form, words.clone());
                        let text = texts
                            .entry(key)
                            .or_insert_with(|| listing::listing(&words, run.form));
                        let unnamed = checker::unnamed(all, &listing::zeros(&words, run.form), run.form);
                        let missing = checker::missing(all, text);
                        let violated = checker::violated(all, text);
                        if said[tool].is_empty()
                            && let Some(e) = unnamed.or(missing).or(violated)
                        {
                            let word = match (unnamed, missing) {
                                (Some(_), _) => "unnamed",
                                (None, Some(_)) => "missing",
                                _ => "order",
                            };
                            said[tool] = format!("{word}\t{}: {}", e.line, e.text);
                        }
                        [unnamed.is_none(), missing.is_none(), violated.is_none()]
                    }
                    Err(why) => {
                        said[tool] = format!("refused\t{why}");
                        [false; 3]
                    }
                };
                for (held, now) in hold[tool].iter_mut().zip(measured) {
                    *held |= now;
                }
            }
        }
        let peer = match (hold[1][1], hold[2][1]) {
            _ if peers.is_none() => "",
            (true, _) | (_, true) => "a peer holds",
            _ => "no peer holds",
        };
        if hold[0].contains(&false) {
            println!("{file}\t{peer}\t{}", said[0].replace('\n', " "));
        }
        let parts: Vec<&str> = file.split('/').collect();
        let name = parts[..parts.len().min(3) - 1].join("/");
        for name in [name, parts[0].to_owned()] {
            let sum = figures.entry(name).or_default();
            sum.tests += 1;
            for tool in 0..TOOLS.len() {
                for measure in 0..3 {
                    sum.hold[tool][measure] += usize::from(hold[tool][measure]);
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

/// Spirula's translation with the options that it has by default.
fn translated(bytes: &[u8], triple: &str) -> Result<Vec<u32>, String> {
    let module = read(bytes).map_err(|fault| fault.message)?;
    let triple = (!triple.is_empty()).then(|| triple.to_owned());
    let options = Options {
        triple,
        ..Options::default()
    };
    let module = translate(&module, &options).map_err(|all| {
        let reasons: Vec<String> = all.into_iter().map(|d| d.message).collect();
        reasons.join("; ")
    })?;
    Ok(module.to_words())
}
