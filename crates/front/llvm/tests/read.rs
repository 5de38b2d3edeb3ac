//! Reader tests: programs that are read, printed and read again, and programs that are refused.
//!
//! `read/NAME.ll` is printed as `NAME.printed`. `NAME.vN.bc` is the same program as LLVM N writes
//! it, without the features that version lacks; it is printed as `NAME.vN.printed`.
//! `refused/NAME.ll` is refused with the message in `NAME.err`.

use spirula_diagnostics::{SourceFile, render_diagnostic};
use spirula_testing::{GoldenFiles, list_files};
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn read(path: &Path) -> spirula_llvm::ir::LlvmModule {
    let bytes = std::fs::read(path).expect("the input can be read");
    spirula_llvm::read_module(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn programs_survive_printing_and_reading() {
    let mut expected = GoldenFiles::new();
    for suffix in [".ll", ".bc"] {
        for path in list_files(&folder("read"), suffix) {
            let printed = spirula_llvm::print_assembly(&read(&path));
            expected.compare_file(&path.with_extension("printed"), &printed);
            let again = match spirula_llvm::read_module(printed.as_bytes()) {
                Ok(module) => spirula_llvm::print_assembly(&module),
                Err(error) => panic!("{} printed: {error}\n{printed}", path.display()),
            };
            assert_eq!(again, printed, "{}", path.display());
        }
    }
    expected.finish_comparison();
}

#[test]
fn faults_are_refused_with_their_place() {
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder("refused"), ".ll") {
        let bytes = std::fs::read(&path).expect("the input can be read");
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        match spirula_llvm::read_module(&bytes) {
            Ok(_) => panic!("{} is not refused", path.display()),
            Err(error) => {
                let shown = render_diagnostic(
                    &error,
                    SourceFile {
                        name,
                        bytes: &bytes,
                    },
                    false,
                );
                expected.compare_file(&path.with_extension("err"), &shown);
            }
        }
    }
    expected.finish_comparison();
}

/// Generator of pseudorandom numbers: Marsaglia, "Xorshift RNGs", 2003.
struct XorshiftGenerator(u64);

impl XorshiftGenerator {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn inputs() -> Vec<Vec<u8>> {
    let mut paths = list_files(&folder("read"), ".bc");
    paths.extend(list_files(&folder("read"), ".ll"));
    assert!(paths.len() > 5);
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("the input can be read"))
        .collect()
}

/// Reading either fails or yields a module that can be printed; it never panics.
fn survive(bytes: &[u8]) -> bool {
    match spirula_llvm::read_module(bytes) {
        Ok(module) => !spirula_llvm::print_assembly(&module).is_empty(),
        Err(_) => false,
    }
}

#[test]
fn inputs_cut_short_anywhere() {
    for bytes in inputs() {
        let whole = (0..bytes.len())
            .filter(|&len| survive(&bytes[..len]))
            .count();
        assert!(whole < bytes.len());
        assert!(survive(&bytes));
    }
}

#[test]
fn inputs_with_flipped_bits() {
    let mut random = XorshiftGenerator(0x9e37_79b9_7f4a_7c15);
    for bytes in inputs() {
        let mut survived = 0;
        for _ in 0..1000 {
            let mut broken = bytes.clone();
            for _ in 0..=random.below(3) {
                let bit = random.below(broken.len() * 8);
                broken[bit / 8] ^= 1 << (bit % 8);
            }
            survived += usize::from(survive(&broken));
        }
        assert!(survived < 1000);
    }
}

#[test]
fn false_counts_allocate_nothing() {
    // A module whose type table announces 2^32 types.
    let mut bits = BitstreamWriter::default();
    bits.put(0xdec0_4342, 32);
    bits.block(8, |bits| {
        bits.block(17, |bits| {
            bits.put(3, 3);
            bits.vbr(1, 6);
            bits.vbr(1, 6);
            bits.vbr(u64::from(u32::MAX), 6);
        });
    });
    let error = spirula_llvm::read_module(&bits.bytes()).expect_err("a lie");
    assert!(error.message.contains("more types"), "{error}");
}

/// A writer of bit streams.
#[derive(Default)]
struct BitstreamWriter {
    bits: Vec<bool>,
    /// Width of abbreviation numbers in the current block; 2 outside of all blocks.
    width: Option<usize>,
}

impl BitstreamWriter {
    fn put(&mut self, value: u64, width: usize) {
        self.bits
            .extend((0..width).map(|bit| value >> bit & 1 != 0));
    }

    fn vbr(&mut self, mut value: u64, width: usize) {
        let low = width - 1;
        while value >> low != 0 {
            self.put(value & ((1 << low) - 1) | 1 << low, width);
            value >>= low;
        }
        self.put(value, width);
    }

    fn align(&mut self) {
        self.bits
            .resize(self.bits.len().next_multiple_of(32), false);
    }

    /// A block of a kind whose abbreviation numbers have three bits.
    fn block(&mut self, kind: u64, contents: impl FnOnce(&mut Self)) {
        let outer = self.width.replace(3);
        self.put(1, outer.unwrap_or(2));
        self.vbr(kind, 8);
        self.vbr(3, 4);
        self.align();
        let at = self.bits.len();
        self.put(0, 32);
        contents(self);
        self.put(0, 3);
        self.align();
        let words = (self.bits.len() - at) / 32 - 1;
        for bit in 0..32 {
            self.bits[at + bit] = words >> bit & 1 != 0;
        }
        self.width = outer;
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter()
                .rev()
                .fold(0, |byte, &bit| byte << 1 | u8::from(bit))
        };
        self.bits.chunks(8).map(byte).collect()
    }
}
