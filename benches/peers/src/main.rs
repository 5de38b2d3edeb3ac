//! Spirula's SPIR-V library beside rspirv, rspirv2 and SPIRV-Tools, in one process.
//!
//! `SPIRULA_CORPUS=FOLDER cargo run --release [-- TABLE…]` in this folder. The tables are in [`TABLES`]; without
//! names all are measured. `--no-default-features` leaves out SPIRV-Tools, which is C++ and takes minutes to build.
//!
//! Time is processor time of the single thread that works. Contenders take turns, and the best round counts,
//! because other work on the machine only adds to the time.

mod corpus;
mod dominators;
mod growth;
mod measure;
mod memory;
#[cfg(feature = "spirv-tools")]
mod optimisers;
mod ours;
mod peers;
#[cfg(feature = "spirv-tools")]
mod spirv_tools;
mod throughput;

use corpus::Corpus;

/// Peaks of memory are counted. The cost of counting is the same for all contenders written in Rust.
#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// A table of the report.
struct Table {
    name: &'static str,
    print: fn(&Corpus),
}

const TABLES: &[Table] = &[
    Table {
        name: "throughput",
        print: throughput::print,
    },
    #[cfg(feature = "spirv-tools")]
    Table {
        name: "optimisers",
        print: optimisers::print,
    },
    Table {
        name: "memory",
        print: memory::print,
    },
    Table {
        name: "growth",
        print: growth::print,
    },
    Table {
        name: "dominators",
        print: dominators::print,
    },
];

fn main() {
    let Some(corpus) = Corpus::read() else {
        eprintln!("no corpus: set SPIRULA_CORPUS");
        std::process::exit(1);
    };
    println!(
        "{} modules, {:.1} MB",
        corpus.samples.len(),
        corpus.bytes() as f64 / 1e6
    );
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for table in TABLES {
        if wanted.is_empty() || wanted.iter().any(|w| w == table.name) {
            println!("\n## {}\n", table.name);
            (table.print)(&corpus);
        }
    }
}
