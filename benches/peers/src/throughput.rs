//! Throughput in megabytes of modules per second, over the whole corpus.

use crate::corpus::Corpus;
use crate::measure::{Taken, Work, times};
#[cfg(feature = "spirv-tools")]
use crate::spirv_tools;
use crate::{ours, peers};

/// One kind of work by several contenders, Spirula first.
type Race = &'static [Work];

macro_rules! race {
    ($($name:literal: $run:path),* $(,)?) => {
        &[$(Work { name: $name, run: $run }),*]
    };
}

const RACES: &[Race] = &[
    race! {
        "walk over the instructions": ours::walk,
        "copy the words (memcpy)": ours::copy,
        "index of the module": ours::index,
        "build the IR": ours::build,
        "build the IR and write it": ours::build_and_write,
        "definitions, graphs, dominators": ours::graphs,
    },
    #[cfg(feature = "spirv-tools")]
    race! {
        "build with def-use chains and write": ours::with_uses,
        "rspirv: load and assemble": peers::rspirv,
        "rspirv2: load and write": peers::rspirv2,
        "rspirv2: load, decode and encode each, write": peers::rspirv2_each,
        "SPIRV-Tools: build and write": spirv_tools::build_and_write,
    },
    #[cfg(not(feature = "spirv-tools"))]
    race! {
        "build with def-use chains and write": ours::with_uses,
        "rspirv: load and assemble": peers::rspirv,
        "rspirv2: load and write": peers::rspirv2,
        "rspirv2: load, decode and encode each, write": peers::rspirv2_each,
    },
    #[cfg(not(feature = "spirv-tools"))]
    race! {
        "disassemble": ours::disassemble,
        "assemble": ours::assemble,
        "validate": ours::validate,
        "SSA construction": ours::construct_ssa,
    },
    #[cfg(feature = "spirv-tools")]
    race! {
        "disassemble": ours::disassemble,
        "SPIRV-Tools: disassemble": spirv_tools::disassemble,
    },
    #[cfg(feature = "spirv-tools")]
    race! {
        "assemble": ours::assemble,
        "SPIRV-Tools: assemble": spirv_tools::assemble,
    },
    #[cfg(feature = "spirv-tools")]
    race! {
        "validate": ours::validate,
        "SPIRV-Tools: validate": spirv_tools::validate,
    },
    #[cfg(feature = "spirv-tools")]
    race! {
        "SSA construction": ours::construct_ssa,
        "SPIRV-Tools: --ssa-rewrite": spirv_tools::construct_ssa,
    },
];

/// A table of all races. A ratio covers the modules that both contenders accept; throughput covers those that the
/// contender accepts.
pub fn print(corpus: &Corpus) {
    println!(
        "| work | MB/s | modules refused | first of the group / this |\n| --- | --- | --- | --- |"
    );
    for race in RACES {
        let taken = times(corpus, race);
        for (work, own) in race.iter().zip(&taken) {
            row(corpus, work, own, &taken[0]);
        }
    }
}

fn row(corpus: &Corpus, work: &Work, own: &Taken, first: &Taken) {
    println!(
        "| {} | {:.1} | {} | {:.2} |",
        work.name,
        own.rate(corpus),
        own.refused(),
        first.ratio(own),
    );
}
