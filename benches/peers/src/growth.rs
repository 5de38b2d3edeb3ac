//! Growth of time and memory with the size of the module, from 1 to 100 MB.
//!
//! The modules are made by linking copies of one of the corpus' two ladders: many small functions, and few large
//! ones. Their types and constants are merged.

use crate::corpus::{Corpus, Sample};
use crate::memory::peak;
use crate::ours;
use cpu_time::ThreadTime;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{EntryNames, LinkOptions, link_modules};
use spirula_spirv::text;
use std::time::Duration;

/// Sizes in megabytes.
const SIZES: [usize; 5] = [1, 3, 10, 30, 100];

const LADDERS: [&str; 2] = ["ladder/many-0.5MB.spv", "ladder/large-0.5MB.spv"];

type Row = (&'static str, fn(&Sample) -> bool);

const ROWS: &[Row] = &[
    ("index of the module", ours::index),
    ("build with def-use chains and write", ours::with_uses),
    ("definitions, graphs, dominators", ours::graphs),
    ("disassemble in parts", ours::disassemble_in_parts),
    ("assemble", ours::assemble),
    ("validate", ours::validate),
    ("SSA construction", ours::construct_ssa),
];

pub fn print(corpus: &Corpus) {
    for ladder in LADDERS {
        let Some(sample) = corpus.samples.iter().find(|s| s.name == ladder) else {
            println!("no {ladder} in the corpus");
            continue;
        };
        family(sample);
    }
}

/// The measurements of a row at each size.
#[derive(Clone, Copy)]
struct Cell {
    bytes: usize,
    time: Duration,
    peak: usize,
}

/// Megabytes per second at each size; the exponent with which time grows with the size; peak memory at the largest
/// size, relative to the file.
fn family(base: &Sample) {
    let mut cells: Vec<Vec<Cell>> = vec![Vec::new(); ROWS.len()];
    for size in SIZES {
        let copies = (size * 1_000_000).div_ceil(base.bytes.len());
        let sample = linked(base, copies);
        for ((_, run), cells) in ROWS.iter().zip(&mut cells) {
            cells.push(measure(&sample, *run));
        }
    }
    println!("{}, in copies\n", base.name);
    let sizes = SIZES.map(|s| format!("{s} MB")).join(" | ");
    println!("| work | {sizes} | power | peak / file |");
    println!("| --- |{} --- | --- |", " --- |".repeat(SIZES.len()));
    for ((name, _), cells) in ROWS.iter().zip(&cells) {
        let rates: Vec<_> = cells.iter().map(|c| format!("{:.0}", c.rate())).collect();
        let last = cells[cells.len() - 1];
        let peak = last.peak as f64 / last.bytes as f64;
        println!(
            "| {name} | {} | {:.2} | {peak:.2} |",
            rates.join(" | "),
            power(cells)
        );
    }
    println!();
}

impl Cell {
    fn rate(self) -> f64 {
        self.bytes as f64 / 1e6 / self.time.as_secs_f64()
    }
}

fn measure(sample: &Sample, run: fn(&Sample) -> bool) -> Cell {
    let bytes = sample.words.len() * 4;
    let rounds = if bytes < 20_000_000 { 5 } else { 2 };
    let mut time = Duration::MAX;
    let mut most = 0;
    for _ in 0..rounds {
        let start = ThreadTime::now();
        most = peak(|| assert!(run(sample), "a linked module is refused"));
        time = time.min(start.elapsed());
    }
    Cell {
        bytes,
        time,
        peak: most,
    }
}

/// Slope of the logarithm of time over that of size, by least squares.
fn power(cells: &[Cell]) -> f64 {
    let points = cells
        .iter()
        .map(|c| ((c.bytes as f64).ln(), c.time.as_secs_f64().ln()));
    let count = cells.len() as f64;
    let (x, y) = points
        .clone()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (x, y) = (x / count, y / count);
    let (above, below) = points.fold((0.0, 0.0), |(a, b), (px, py)| {
        (a + (px - x) * (py - y), b + (px - x) * (px - x))
    });
    above / below
}

fn linked(base: &Sample, copies: usize) -> Sample {
    let one = SpirvModule::from_words(base.words.clone()).expect("the corpus is read");
    let options = LinkOptions {
        entry_names: EntryNames::Number,
        ..LinkOptions::default()
    };
    let module = link_modules(vec![one; copies], &options).expect("copies of a module link");
    let words = module.to_words();
    Sample {
        name: format!("{} x {copies}", base.name),
        bytes: Vec::new(),
        text: text::print_assembly(&words, &text::PrintOptions::default()).expect("it is a module"),
        words,
        environment: base.environment.clone(),
        options: base.options.clone(),
    }
}
