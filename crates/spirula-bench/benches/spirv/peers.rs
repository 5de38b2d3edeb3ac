//! What others take for the same work.

use super::corpus::{Corpus, Sample};
use cpu_time::ThreadTime;
use spirula_spirv::ir::Module;
use spirula_spirv::{ssa, text, verify};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// rspirv reads a module into its data representation and assembles it.
pub fn rspirv(sample: &Sample) {
    use rspirv::binary::Assemble;
    if let Ok(module) = rspirv::dr::load_words(&sample.words) {
        black_box(module.assemble());
    }
}

/// A program of SPIRV-Tools and our function for the same work.
struct Pair {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    input: fn(&Sample, &Path) -> PathBuf,
    ours: fn(&Sample),
}

const PAIRS: &[Pair] = &[
    Pair {
        name: "validate",
        program: "spirv-val",
        arguments: &["--target-env"],
        input: |s, _| s.file.clone(),
        ours: |s| drop(black_box(verify::words(s.words.clone(), &s.options))),
    },
    Pair {
        name: "disassemble",
        program: "spirv-dis",
        arguments: &["--raw-id", "-o", "/dev/null"],
        input: |s, _| s.file.clone(),
        ours: |s| {
            drop(black_box(text::print(
                &s.words,
                &text::PrintOptions::default(),
            )))
        },
    },
    Pair {
        name: "assemble",
        program: "spirv-as",
        arguments: &["--preserve-numeric-ids", "-o", "/dev/null"],
        input: write_text,
        ours: |s| {
            drop(black_box(text::parse(
                &s.text,
                &text::ParseOptions::default(),
            )))
        },
    },
    Pair {
        name: "build and write",
        program: "spirv-opt",
        arguments: &["--preserve-bindings", "-o", "/dev/null"],
        input: |s, _| s.file.clone(),
        ours: |s| {
            drop(black_box(
                Module::from_words(s.words.clone()).map(|m| m.to_words()),
            ))
        },
    },
    Pair {
        name: "SSA construction",
        program: "spirv-opt",
        arguments: &["--ssa-rewrite", "-o", "/dev/null"],
        input: |s, _| s.file.clone(),
        ours: |s| {
            if let Ok(mut module) = Module::from_words(s.words.clone()) {
                let _ = black_box(ssa::construct(&mut module));
                black_box(module.to_words());
            }
        },
    },
];

fn write_text(sample: &Sample, folder: &Path) -> PathBuf {
    let file = folder.join("spirula-bench.spvasm");
    std::fs::write(&file, &sample.text).expect("the text can be written");
    file
}

/// Compares with the programs in the folder `SPIRV_TOOLS` on the two largest ladders.
pub fn programs(corpus: &Corpus, rounds: usize) {
    let Some(tools) = std::env::var_os("SPIRV_TOOLS").map(PathBuf::from) else {
        println!("\nSPIRV-Tools not measured: SPIRV_TOOLS names no folder with its programs");
        return;
    };
    println!(
        "\n| work | file | SPIRV-Tools, MB/s | ours, MB/s | ratio |\n| --- | --- | --- | --- | --- |"
    );
    let ladder = corpus.folder.join("ladder");
    for pair in PAIRS {
        for name in ["many-0.5MB.spv", "large-0.5MB.spv"] {
            let file = ladder.join(name);
            let Some(sample) = corpus.samples.iter().find(|s| s.file == file) else {
                continue;
            };
            row(pair, sample, &tools, rounds, name);
        }
    }
}

fn row(pair: &Pair, sample: &Sample, tools: &Path, rounds: usize, name: &str) {
    let program = tools.join(pair.program);
    let input = (pair.input)(sample, &std::env::temp_dir());
    let start = of_children(rounds, || run(&program, &["--version"], None));
    let mut arguments = pair.arguments.to_vec();
    if arguments.last() == Some(&"--target-env") {
        arguments.push("vulkan1.1");
    }
    let theirs = of_children(rounds, || run(&program, &arguments, Some(&input)));
    let (Some(start), Some(theirs)) = (start, theirs) else {
        println!("| {} | {name} | not measured here | | |", pair.name);
        return;
    };
    let theirs = theirs.saturating_sub(start);
    let ours = best(rounds, || (pair.ours)(sample));
    let megabytes = sample.words.len() as f64 * 4e-6;
    let rate = |time: Duration| megabytes / time.as_secs_f64();
    println!(
        "| {} | {name} | {:.1} | {:.1} | {:.1} |",
        pair.name,
        rate(theirs),
        rate(ours),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

fn run(program: &Path, arguments: &[&str], input: Option<&Path>) {
    let mut command = Command::new(program);
    command.args(arguments).args(input);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    black_box(status.expect("the program can be run"));
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let times = (0..rounds).map(|_| {
        let start = ThreadTime::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Mean processor time of child processes, which Linux counts in hundredths of a second.
fn of_children(rounds: usize, mut work: impl FnMut()) -> Option<Duration> {
    let begin = children()?;
    (0..rounds).for_each(|_| work());
    let ticks = children()? - begin;
    Some(Duration::from_millis(10) * ticks as u32 / rounds as u32)
}

/// Ticks of all children so far, user and system time.
fn children() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let behind_name = stat.rsplit_once(") ")?.1;
    let mut fields = behind_name.split(' ').skip(13);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}
