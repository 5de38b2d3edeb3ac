//! The SPIR-V library holds at most four times the size of the file, for every module of the corpus. Small modules
//! are left out, because tables of fixed size dominate there.
//!
//! There is one test only, because memory is measured for the whole process.

use spirula_fuzz::measure_peak_memory;
use spirula_spirv::analysis::DefUse;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::{binary, ssa, text, verify};
use spirula_testing::find_corpus;
use std::fmt::Write;
use std::hint::black_box;

/// Size in bytes above which modules are measured.
const SMALL: usize = 10_000;

/// Most bytes of memory for a byte of the file.
const MOST: usize = 4;

type MemoryWorkFn = fn(Vec<u32>, &verify::VerifyOptions);

const WORKS: &[(&str, MemoryWorkFn)] = &[
    ("build with def-use chains and write", |words, _| {
        let module = SpirvModule::from_words(words).expect("the corpus is read");
        black_box(DefUse::from_module(&module));
        black_box(module.to_words());
    }),
    ("validate", |words, options| {
        let _ = black_box(verify::verify_words(words, options));
    }),
    ("SSA construction", |words, _| {
        let mut module = SpirvModule::from_words(words).expect("the corpus is read");
        ssa::construct_ssa(&mut module).expect("the corpus is valid");
        black_box(module.to_words());
    }),
    ("disassemble", |words, _| {
        let text = text::ModuleDisassembly::new(&words, text::PrintOptions::default());
        let text = text.expect("the corpus is read");
        write!(DiscardingWriter, "{text}").expect("nothing fails to be forgotten");
    }),
];

/// A writer that discards its text.
struct DiscardingWriter;

impl Write for DiscardingWriter {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        black_box(part);
        Ok(())
    }
}

#[test]
fn modules_take_four_times_their_size_at_most() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).expect("it has a manifest");
    let rows = manifest
        .lines()
        .skip(1)
        .map(|l| l.split('\t').collect::<Vec<_>>());
    let mut count = 0;
    let mut above = Vec::new();
    for row in rows.filter(|row| row[0].ends_with(".spv")) {
        let bytes = std::fs::read(folder.join(row[0])).expect("the module can be read");
        if bytes.len() < SMALL {
            continue;
        }
        let words = binary::words_from_bytes(&bytes).expect("it has whole words");
        let target = row[5].trim_end_matches("+scalar");
        let options = verify::VerifyOptions {
            target: target.parse().expect("an environment"),
            scalar_block_layout: row[5].ends_with("+scalar"),
        };
        for (name, work) in WORKS {
            // Tables that are initialised once do not count.
            if count == 0 {
                work(words.clone(), &options);
            }
            let peak = measure_peak_memory(|| work(words.clone(), &options));
            if peak > MOST * bytes.len() {
                let ratio = peak as f64 / bytes.len() as f64;
                above.push(format!(
                    "{}: {name} takes {ratio:.2} times the file",
                    row[0]
                ));
            }
        }
        count += 1;
    }
    assert!(count > 150, "only {count} modules");
    assert!(above.is_empty(), "{above:#?}");
}
