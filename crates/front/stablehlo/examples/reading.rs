//! Speed of reading: `cargo run --release --example reading -- FILE…`.

use spirula_stablehlo::mlir::{parse_text, split_sections};
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let parts = split_sections(&bytes);
        let mut best = f64::INFINITY;
        let mut count = 0;
        for _ in 0..20 {
            let start = Instant::now();
            let modules = parts.iter().map(|part| parse_text(&bytes[part.clone()]));
            count = modules.map(|m| m.map_or(0, |m| m.op_count())).sum();
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!(
            "{path}: {} bytes, {count} operations, {:.3} ms, {:.0} MB/s",
            bytes.len(),
            best * 1e3,
            bytes.len() as f64 / best / 1e6
        );
    }
}
