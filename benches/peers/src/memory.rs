//! Peak memory.

use crate::corpus::{Corpus, Sample};
use crate::{ours, peers};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with counts of the thread's memory and its peak.
pub struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be held while the contents are moved.
        count(size as isize);
        count(-(layout.size() as isize));
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Peak memory of some work in bytes, beyond the memory held before.
pub fn peak(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    work();
    (PEAK.get() - before) as usize
}

type Row = (&'static str, fn(&Sample) -> bool);

const ROWS: &[Row] = &[
    ("build the IR", ours::build),
    ("build and write", ours::build_and_write),
    ("build with def-use chains and write", ours::with_uses),
    ("validate", ours::validate),
    ("SSA construction", ours::construct_ssa),
    ("disassemble in parts", ours::disassemble_in_parts),
    ("disassemble, the text included", ours::disassemble),
    ("rspirv: load and assemble", peers::rspirv),
    ("rspirv2: load and write", peers::rspirv2),
];

/// Peak memory relative to the file's size: for all modules together, and the largest for a module above 10 kB.
pub fn print(corpus: &Corpus) {
    println!("| work | peak / file, all | largest | of |\n| --- | --- | --- | --- |");
    for (name, run) in ROWS {
        let (mut bytes, mut sum) = (0, 0);
        let mut worst = (0.0, "");
        for sample in &corpus.samples {
            let mut taken = false;
            let peak = peak(|| taken = run(sample));
            if !taken {
                continue;
            }
            bytes += sample.bytes.len();
            sum += peak;
            let ratio = peak as f64 / sample.bytes.len() as f64;
            if sample.bytes.len() > 10_000 && ratio > worst.0 {
                worst = (ratio, sample.name.as_str());
            }
        }
        let all = sum as f64 / bytes as f64;
        println!("| {name} | {all:.2} | {:.2} | {} |", worst.0, worst.1);
    }
}
