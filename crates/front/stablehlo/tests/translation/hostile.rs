//! Damaged programs are translated or rejected, without panics and without exhausting memory.

use spirula_stablehlo::mlir::parse_text;
use spirula_stablehlo::sharding::EntryShardings;
use spirula_stablehlo::translate::translate_entry;
use spirula_testing::list_files;
use std::path::Path;

/// Replacements of parts of a program.
const PIECES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "f32",
    "i32",
    "i1",
    "i4",
    "bf16",
    "f64",
    "i64",
    "ui8",
    "complex<f32>",
    "x",
    "?",
    "4x",
    "tensor<f32>",
    "tensor<4xf32>",
    "add",
    "maximum",
    "compare",
    "select",
    "[0]",
    "[1]",
    "[]",
    "[0, 1]",
    "%0",
    "%a",
    "%1",
    "true",
    "false",
    "",
];

/// A linear congruential generator (D. Knuth's constants for MMIX).
struct KnuthRandom(u64);

impl KnuthRandom {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % count.max(1)
    }
}

/// Beginnings and ends of numbers, names and types.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_word = c.is_ascii_alphanumeric() || c == '_' || c == '%';
        match (is_word, start) {
            (true, None) => start = Some(at),
            (false, Some(first)) => {
                tokens.push((first, at));
                start = None;
            }
            _ => {}
        }
    }
    tokens
}

#[test]
fn changed_programs_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/translation");
    let mut paths = list_files(&folder.join("programs"), ".mlir");
    paths.push(folder.join("right/manual.mlir"));
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let mut random = KnuthRandom(7);
    let (mut read, mut translated) = (0, 0);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("the program can be read");
        let tokens = tokens(&text);
        for _ in 0..rounds.unwrap_or(400) {
            let mut changed = text.clone();
            let (start, end) = tokens[random.below(tokens.len())];
            let piece = match random.below(3) {
                0 => {
                    let (start, end) = tokens[random.below(tokens.len())];
                    &text[start..end]
                }
                _ => PIECES[random.below(PIECES.len())],
            };
            changed.replace_range(start..end, piece);
            if let Ok(module) = parse_text(changed.as_bytes()) {
                read += 1;
                for function in module.functions() {
                    let name = module.symbol_name(*function).unwrap_or_default();
                    translated += usize::from(translate_entry(&module, name).is_ok());
                    // Shardings are read or refused.
                    let _ = EntryShardings::read(&module, name);
                }
            }
        }
    }
    assert!(read > 0 && translated > 0, "{translated} of {read}");
}
