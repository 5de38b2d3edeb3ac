//! Whole optimisers against SPIRV-Tools' own: from words to words, without validation.

use crate::corpus::{Corpus, Sample};
use crate::measure::{Taken, Work, times};
use crate::{ours, spirv_tools};
use std::collections::BTreeSet;

/// A preset of Spirula, and the preset of SPIRV-Tools with the same purpose.
type Pair = [Work; 2];

const PAIRS: &[Pair] = &[
    [
        Work {
            name: "-O2",
            run: ours::optimise_o2,
        },
        Work {
            name: "-O",
            run: spirv_tools::optimize_performance,
        },
    ],
    [
        Work {
            name: "-Os",
            run: ours::optimise_os,
        },
        Work {
            name: "-Os",
            run: spirv_tools::optimize_size,
        },
    ],
];

/// Modules generated to show the growth of time. In a sum they would dominate all others.
const LADDER: &str = "ladder";

/// For each pair: the modules of each folder of the corpus, then all without the ladders.
pub fn print(corpus: &Corpus) {
    println!(
        "| ours, theirs | folder | modules | ours, MB/s | SPIRV-Tools, MB/s | times as fast, in sum | geometric mean |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    );
    let folders: BTreeSet<&str> = corpus.samples.iter().map(folder).collect();
    for pair in PAIRS {
        let taken = times(corpus, pair);
        for name in &folders {
            row(corpus, pair, &taken, name, |f| f == *name);
        }
        row(corpus, pair, &taken, "all but the ladders", |f| f != LADDER);
    }
}

fn row(corpus: &Corpus, pair: &Pair, taken: &[Taken], name: &str, wanted: impl Fn(&str) -> bool) {
    let of = |taken: &Taken| taken.of(corpus, |sample| wanted(folder(sample)));
    let (ours, theirs) = (of(&taken[0]), of(&taken[1]));
    println!(
        "| {}, {} | {name} | {} | {:.2} | {:.2} | {:.1} | {:.1} |",
        pair[0].name,
        pair[1].name,
        theirs.accepted(),
        ours.rate(corpus),
        theirs.rate(corpus),
        ours.ratio(&theirs),
        ours.mean_ratio(&theirs),
    );
}

fn folder(sample: &Sample) -> &str {
    sample.name.split('/').next().unwrap_or_default()
}
