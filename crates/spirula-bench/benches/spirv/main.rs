//! Throughput of the SPIR-V library over a corpus, beside rspirv in the same process and, on single
//! files, beside SPIRV-Tools' programs.
//!
//! `SPIRULA_CORPUS=… SPIRV_TOOLS=FOLDER cargo bench -p spirula-bench --bench spirv`
//!
//! Time is processor time of the one thread that works; contenders take turns, and the best of the
//! rounds counts, as other work on the machine only adds to it. SPIRV-Tools' programs are processes:
//! the time that they take to start is measured and left out.

mod corpus;
mod peers;

use corpus::{Corpus, Sample};
use cpu_time::ThreadTime;
use spirula_spirv::analysis::{Cfg, DefUse, Definitions, Dominators};
use spirula_spirv::binary::Stream;
use spirula_spirv::ir::Module;
use spirula_spirv::{ssa, text, verify};
use std::hint::black_box;
use std::time::Duration;

const ROUNDS: usize = 5;

/// A kind of work on a module.
struct Work {
    name: &'static str,
    run: fn(&Sample),
}

const WORK: &[Work] = &[
    Work {
        name: "copy the words (memcpy)",
        run: |s| drop(black_box(s.words.clone())),
    },
    Work {
        name: "walk over the instructions",
        run: walk,
    },
    Work {
        name: "build the IR",
        run: |s| drop(black_box(read(s))),
    },
    Work {
        name: "build the IR and write it",
        run: |s| drop(black_box(read(s).to_words())),
    },
    Work {
        name: "the same with def-use chains",
        run: with_uses,
    },
    Work {
        name: "rspirv: load and assemble",
        run: peers::rspirv,
    },
    Work {
        name: "definitions, graphs, dominators",
        run: analyses,
    },
    Work {
        name: "disassemble",
        run: disassemble,
    },
    Work {
        name: "assemble",
        run: |s| {
            drop(black_box(text::parse(
                &s.text,
                &text::ParseOptions::default(),
            )))
        },
    },
    Work {
        name: "validate",
        run: validate,
    },
    Work {
        name: "SSA construction",
        run: construct_ssa,
    },
];

fn main() {
    let Some(corpus) = Corpus::read() else {
        println!("no corpus: set SPIRULA_CORPUS");
        return;
    };
    println!(
        "{} modules, {:.1} MB\n",
        corpus.samples.len(),
        corpus.bytes as f64 / 1e6
    );
    println!("| work | MB/s | of a walk |\n| --- | --- | --- |");
    let mut best = vec![Duration::MAX; WORK.len()];
    for _ in 0..ROUNDS {
        for (work, best) in WORK.iter().zip(&mut best) {
            let start = ThreadTime::now();
            corpus.samples.iter().for_each(work.run);
            *best = start.elapsed().min(*best);
        }
    }
    for (work, time) in WORK.iter().zip(&best) {
        let rate = corpus.bytes as f64 / 1e6 / time.as_secs_f64();
        let share = best[1].as_secs_f64() / time.as_secs_f64();
        println!("| {} | {rate:.0} | {share:.2} |", work.name);
    }
    peers::programs(&corpus, ROUNDS);
}

fn read(sample: &Sample) -> Module {
    Module::from_words(sample.words.clone()).expect("the corpus is read")
}

fn walk(sample: &Sample) {
    let mut sum = 0u64;
    for inst in Stream::new(&sample.words).flatten() {
        sum += u64::from(inst.op.0) + inst.words.len() as u64;
    }
    black_box(sum);
}

fn with_uses(sample: &Sample) {
    let module = read(sample);
    black_box(DefUse::compute(&module));
    black_box(module.to_words());
}

fn analyses(sample: &Sample) {
    let module = read(sample);
    let definitions = Definitions::compute(&module);
    for func in module.functions() {
        if let Ok(cfg) = Cfg::compute(&module, &definitions, *func) {
            black_box(Dominators::compute(&cfg));
        }
    }
}

fn disassemble(sample: &Sample) {
    let _ = black_box(text::print(&sample.words, &text::PrintOptions::default()));
}

fn validate(sample: &Sample) {
    let _ = black_box(verify::words(sample.words.clone(), &sample.options));
}

fn construct_ssa(sample: &Sample) {
    let mut module = read(sample);
    let _ = black_box(ssa::construct(&mut module));
}
