//! Container tests: wrappers and other content around a module, and files that hold no module.

use spirula_testing::list_files;
use std::path::Path;

fn bitcode() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read");
    std::fs::read(folder.join("kernel.v19.bc")).expect("the input can be read")
}

fn printed(bytes: &[u8]) -> String {
    match spirula_llvm::read_module(bytes) {
        Ok(module) => spirula_llvm::print_assembly(&module),
        Err(error) => panic!("{error}"),
    }
}

fn refusal(bytes: &[u8]) -> String {
    match spirula_llvm::read_module(bytes) {
        Ok(_) => panic!("it is not refused"),
        Err(error) => error.message,
    }
}

/// The top-level blocks of a stream: kind, first byte, end.
fn blocks(bytes: &[u8]) -> Vec<(u64, usize, usize)> {
    let mut found = Vec::new();
    let mut at = 4;
    while at + 12 <= bytes.len() {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a word"));
        // Abbreviation 1 in two bits, then the kind in a VBR chunk of eight bits.
        let kind = u64::from(word(at) >> 2 & 0xff);
        let end = at + 8 + 4 * word(at + 4) as usize;
        found.push((kind, at, end));
        at = end;
    }
    assert_eq!(at, bytes.len());
    found
}

const MODULE: u64 = 8;
const SYMBOL_TABLE: u64 = 25;
const STRINGS: u64 = 23;

#[test]
fn the_wrapper_is_removed() {
    let bytes = bitcode();
    for padding in [0, 12] {
        let fields = [0x0b17_c0de_u32, 0, 20, bytes.len() as u32, 7];
        let mut wrapped: Vec<u8> = fields.iter().flat_map(|f| f.to_le_bytes()).collect();
        wrapped.extend_from_slice(&bytes);
        wrapped.resize(wrapped.len() + padding, 0);
        assert_eq!(printed(&wrapped), printed(&bytes));
        let cut = &wrapped[..wrapped.len() - padding - 4];
        assert_eq!(refusal(cut), "the wrapper reaches past its contents");
    }
}

#[test]
fn symbol_tables_are_not_needed() {
    let bytes = bitcode();
    let mut bare = bytes[..4].to_vec();
    for (kind, start, end) in blocks(&bytes) {
        if kind != SYMBOL_TABLE {
            bare.extend_from_slice(&bytes[start..end]);
        }
    }
    assert!(bare.len() < bytes.len());
    assert_eq!(printed(&bare), printed(&bytes));
}

#[test]
fn modules_without_their_strings_are_refused() {
    let bytes = bitcode();
    let (_, start, _) = blocks(&bytes)
        .into_iter()
        .find(|block| block.0 == STRINGS)
        .expect("a table of strings");
    assert_eq!(
        refusal(&bytes[..start]),
        "a name past the end of the string table"
    );
}

#[test]
fn several_modules_are_refused_with_their_names() {
    let bytes = bitcode();
    let mut both = bytes.clone();
    both.extend_from_slice(&bytes[4..]);
    let message = refusal(&both);
    assert!(
        message.starts_with("the bitcode holds 2 modules: "),
        "{message}"
    );
    let name = &spirula_llvm::read_module(&bytes)
        .expect("a module")
        .source_filename;
    assert_eq!(message.matches(name.as_str()).count(), 2, "{message}");
    let (_, start, _) = blocks(&bytes)
        .into_iter()
        .find(|block| block.0 == MODULE)
        .expect("a module");
    let mut none = bytes[..start].to_vec();
    assert_eq!(refusal(&none), "the bitcode holds no module");
    none.truncate(4);
    assert_eq!(refusal(&none), "the bitcode holds no module");
}

#[test]
fn archives_are_refused() {
    let mut archive = b"!<arch>\n".to_vec();
    archive.extend_from_slice(&bitcode());
    assert_eq!(refusal(&archive), "an archive, not a module");
}

#[test]
fn types_that_double_at_each_level_take_no_time() {
    let mut text = String::from("%t0 = type { i32, i32 }\n");
    for level in 1..90 {
        let below = level - 1;
        text += &format!("%t{level} = type {{ %t{below}, %t{below} }}\n");
    }
    text += "define spir_kernel void @k(ptr addrspace(1) %p) {\n";
    text += "  %a = getelementptr %t60, ptr addrspace(1) %p, i64 0, i32 1\n";
    text += "  store i32 0, ptr addrspace(1) %a\n  ret void\n}\n";
    let module = spirula_llvm::read_module(text.as_bytes()).expect("a module");
    // Sizes that exceed all memory must be handled at once.
    let _ = spirula_llvm::translate_module(&module, &spirula_llvm::TranslationOptions::default());
}

/// Damaged compiler output: truncated files, and files with flipped bits.
#[test]
fn damaged_files_of_the_corpus_never_crash() {
    let Some(folder) = spirula_testing::find_corpus("llvm-ir/perf") else {
        return;
    };
    let paths = list_files(&folder, ".bc");
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    for path in paths {
        let bytes = std::fs::read(&path).expect("the input can be read");
        if bytes.len() > 200_000 {
            continue;
        }
        let mut refused = 0;
        for round in 0..60 {
            let mut broken = bytes.clone();
            if round % 3 == 0 {
                broken.truncate(below(bytes.len()));
            }
            for _ in 0..=below(4) {
                // The beginning determines how the rest is read.
                let reach = if round % 2 == 0 { 2000 } else { broken.len() };
                let bit = below(reach.min(broken.len()).max(1) * 8);
                if let Some(byte) = broken.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }
            match spirula_llvm::read_module(&broken) {
                Ok(module) => _ = spirula_llvm::translate_module(&module, &Default::default()),
                Err(error) => {
                    assert!(!error.message.is_empty());
                    refused += 1;
                }
            }
        }
        assert!(refused > 20, "{}", path.display());
    }
}
