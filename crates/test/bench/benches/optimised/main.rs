//! Run time of optimised shaders: the corpus' compute tests as they are, after each preset, and after `spirv-opt
//! -O`. Instructions are counted by the CPU device; the time is that of the fastest of several runs on it. Every
//! variant must leave the same bits in every buffer; otherwise the benchmark fails, which makes it a differential
//! test of the optimiser.
//!
//! `SPIRULA_CORPUS=… SPIRV_TOOLS=… cargo bench -p spirula-bench --bench optimised [-- --time] [FILTER]`

mod case;
mod peer;

use case::{Case, Found};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use std::path::PathBuf;
use std::process::ExitCode;

/// Pipelines that are measured in addition to the input and the peer.
const PRESETS: [&str; 4] = ["O1", "O2", "O3", "Os"];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let timed = args.iter().any(|a| a == "--time");
    let filter = args.iter().find(|a| !a.starts_with('-'));
    let Some(corpus) = std::env::var_os("SPIRULA_CORPUS") else {
        eprintln!("SPIRULA_CORPUS does not name the corpora");
        return ExitCode::FAILURE;
    };
    let folder = PathBuf::from(corpus).join("spirv");
    let mut table = Table::default();
    for case in case::read(&folder) {
        if filter.is_some_and(|f| !case.id().contains(f.as_str())) {
            continue;
        }
        one(&case, timed, &mut table);
    }
    table.print(timed);
    if table.differing.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs all variants of a test.
fn one(case: &Case, timed: bool, table: &mut Table) {
    let Some(input) = case.run(case.bytes(), timed) else {
        table.skipped += 1;
        return;
    };
    let peer = peer::optimised(case.bytes()).and_then(|bytes| case.run(&bytes, timed));
    let mut row = Row {
        id: case.id().to_owned(),
        input: input.instructions,
        peer: peer.as_ref().map(|p| (p.instructions, p.seconds)),
        own: Vec::new(),
    };
    for preset in PRESETS {
        let bytes = preset_of(case.bytes(), preset);
        match case.run(&bytes, timed) {
            Some(found) if found.buffers == input.buffers => {
                row.own.push((found.instructions, found.seconds));
            }
            Some(_) => table.differing.push(format!("{}: -{preset}", case.id())),
            None => table
                .differing
                .push(format!("{}: -{preset} does not run", case.id())),
        }
    }
    if peer.is_some_and(|p: Found| p.buffers != input.buffers) {
        table.peer_differs.push(case.id().to_owned());
    }
    if row.own.len() == PRESETS.len() {
        table.rows.push(row);
    }
}

fn preset_of(bytes: &[u8], preset: &str) -> Vec<u8> {
    let mut module = SpirvModule::from_bytes(bytes).expect("the corpus has modules");
    let pipeline: PassPipeline = preset.parse().expect("there are such presets");
    optimise_module(&mut module, &pipeline, &mut PipelineOptions::default())
        .expect("modules are valid");
    module.to_bytes()
}

/// The row of a test: instructions, and seconds if time was measured.
struct Row {
    id: String,
    input: u64,
    peer: Option<(u64, f64)>,
    own: Vec<(u64, f64)>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    differing: Vec<String>,
    peer_differs: Vec<String>,
    skipped: usize,
}

/// Geometric mean and maximum of ratios.
fn summary(ratios: impl Iterator<Item = f64>) -> (f64, f64) {
    let all: Vec<f64> = ratios.collect();
    let sum: f64 = all.iter().map(|r| r.ln()).sum();
    let most = all.iter().copied().fold(0.0, f64::max);
    ((sum / all.len().max(1) as f64).exp(), most)
}

impl Table {
    fn print(&self, timed: bool) {
        println!(
            "| preset | instructions / input | / spirv-opt -O | most | time / spirv-opt -O | most |"
        );
        println!("| --- | --- | --- | --- | --- | --- |");
        let compared = || self.rows.iter().filter_map(|r| Some((r, r.peer?)));
        for (at, preset) in PRESETS.iter().enumerate() {
            let of_input = |r: &Row| r.own[at].0 as f64 / r.input as f64;
            let (input, _) = summary(self.rows.iter().map(of_input));
            let (mean, most) = summary(compared().map(|(r, p)| r.own[at].0 as f64 / p.0 as f64));
            let time = if timed {
                let (mean, most) = summary(compared().map(|(r, p)| r.own[at].1 / p.1));
                format!("{mean:.3} | {most:.2}")
            } else {
                "|".to_owned()
            };
            println!("| -{preset} | {input:.3} | {mean:.3} | {most:.3} | {time} |");
        }
        println!(
            "{} tests, {} do not run as they are",
            self.rows.len(),
            self.skipped
        );
        let second = PRESETS.iter().position(|p| *p == "O2").unwrap_or(0);
        let mut more: Vec<(f64, &str)> = compared()
            .map(|(r, p)| (r.own[second].0 as f64 / p.0 as f64, r.id.as_str()))
            .filter(|m| m.0 > 1.02)
            .collect();
        more.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (ratio, id) in more {
            println!("-O2 runs more: {ratio:.3} {id}");
        }
        for id in &self.peer_differs {
            println!("spirv-opt -O gives other results: {id}");
        }
        for what in &self.differing {
            println!("DIFFERENT {what}");
        }
    }
}
