//! Hostile input: reading ends with a module or a fault that has a place, whatever the bytes are.

use spirula_diagnostics::SourceLocation;
use spirula_stablehlo::mlir::{SsaNumbering, parse_text};
use spirula_stablehlo::verify_module;
use spirula_testing::{find_corpus, list_files};
use std::path::PathBuf;

/// Reads, verifies and prints an input.
fn survives(bytes: &[u8]) {
    match parse_text(bytes) {
        Ok(module) => {
            verify_module(&module);
            module.to_generic_text(SsaNumbering::Scoped);
        }
        Err(error) => assert_ne!(error.place, SourceLocation::Unknown, "{error}"),
    }
}

fn inputs() -> Vec<PathBuf> {
    let Some(folder) = find_corpus("stablehlo") else {
        return Vec::new();
    };
    let mut all = list_files(&folder.join("syntax"), ".mlir");
    all.extend(list_files(&folder.join("seeds"), ".mlir"));
    for name in ["testdata/quantized", "interpret"] {
        all.extend(
            list_files(&folder.join(name), ".mlir")
                .into_iter()
                .step_by(9),
        );
    }
    all.retain(|path| path.metadata().is_ok_and(|data| data.len() < 20_000));
    all
}

/// SplitMix64.
struct MutationRandom(u64);

impl MutationRandom {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % limit as u64) as usize
    }
}

#[test]
fn truncated_texts_are_survived() {
    for path in inputs() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 150) {
            survives(&bytes[..end]);
        }
    }
}

#[test]
fn damaged_texts_are_survived() {
    const PIECES: &[&str] = &[
        "<",
        ">",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "%",
        "^",
        "#",
        "@",
        "!",
        ":",
        "->",
        "-",
        "x",
        "?",
        "*",
        "0x",
        "99999999999999999999",
        "dense<",
        "loc(",
        "\\",
        "\0",
        "\u{e9}",
        "//",
        "{-#",
    ];
    for (at, path) in inputs().into_iter().enumerate() {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let mut random = MutationRandom(at as u64);
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                let piece = PIECES[random.below(PIECES.len())].as_bytes();
                match random.below(3) {
                    0 => damaged[at] = random.below(256) as u8,
                    1 => drop(damaged.splice(at..at, piece.iter().copied())),
                    _ => drop(
                        damaged.drain(
                            at..(at + random.below(40))
                                .min(bytes.len().min(damaged.len()))
                                .max(at),
                        ),
                    ),
                }
                if damaged.is_empty() {
                    break;
                }
            }
            survives(&damaged);
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let count = 100_000;
    for (open, middle) in [
        ("\"a\"() ({", ""),
        ("module {", ""),
        ("\"a\"() {x = [", ""),
        ("\"a\"() {x = {y = ", ""),
        ("\"a\"() : tuple<", ""),
        ("#x = ", "["),
        ("#x = ", "{a = "),
        ("!x = ", "tensor<2x"),
        ("!x = ", "("),
        ("!x = ", "complex<"),
        ("#x = loc(", "fused["),
        ("#x = loc(", "\"a\"("),
        ("#x = dense<", "["),
        ("#x = affine_map<(d0) -> (", "("),
        ("#x = affine_map<(d0) -> (", "-"),
        ("#x = affine_map<(d0) -> (d0", " + d0"),
        ("#x = #a.b<", "<"),
        ("!x = !quant.uniform<i8:f32:{0:1}, ", "{"),
    ] {
        let text = match middle {
            "" => open.repeat(count),
            _ => format!("{open}{}", middle.repeat(count)),
        };
        let error = parse_text(text.as_bytes()).expect_err("nothing is closed");
        assert_ne!(
            error.place,
            SourceLocation::Unknown,
            "{open}{middle}: {error}"
        );
    }
}

/// A location that was reached by many calls, in the forms that it may have.
#[test]
fn deep_calls_are_locations() {
    let depth = 10_000;
    let operation = |location: &str| format!("module attributes {{x = loc({location})}} {{}}\n");
    let mut inline = "\"a.py\":1:1".to_owned();
    for line in 2..depth {
        inline = format!("callsite(\"a.py\":{line}:1 at {inline})");
    }
    let mut aliases = "#loc1 = loc(\"a.py\":1:1)\n".to_owned();
    for line in 2..depth {
        let before = line - 1;
        aliases += &format!("#loc{line} = loc(callsite(\"a.py\":{line}:1 at #loc{before}))\n");
    }
    let last = operation(&format!("#loc{}", depth - 1));
    for text in [
        operation(&inline),
        format!("{aliases}{last}"),
        format!("{last}{aliases}"),
    ] {
        let module = parse_text(text.as_bytes()).expect("calls may be deep");
        let printed = module.to_generic_text(SsaNumbering::Scoped);
        assert!(printed.contains(&inline), "the location is printed");
    }
}

#[test]
fn claims_are_not_believed() {
    for text in [
        "%0:4000000000 = \"a\"() : () -> ()",
        "!x = tensor<99999999999999999999xi8>",
        "!x = i99999999999",
        "#x = dense<\"0x00\"> : tensor<9223372036854775807x9223372036854775807xi8>",
        "#x = dense<[1]> : tensor<9223372036854775807xi8>",
        "#x = dense<> : tensor<3xi8>",
        "#x = dense_resource<a> : tensor<99999999999x999999999999999xi8>",
    ] {
        survives(text.as_bytes());
    }
    // One element is stored for all of them.
    let text = "#x = dense<7> : tensor<4611686018427387904x2xi64> module attributes {x = #x} {}";
    let module = parse_text(text.as_bytes()).expect("a splat is small");
    let elements = module.find_elements(module.root(), "x").expect("elements");
    assert!(elements.splat && elements.data.len() == 8);
    assert_eq!(module.find_integers(module.root(), "x"), None);
}

#[test]
fn aliases_that_mean_each_other_are_refused() {
    for text in [
        "#a = #a\nmodule attributes {x = #a} {}",
        "module attributes {x = #a} {}\n#a = [#b]\n#b = [#a]\n",
        "!a = tuple<!b>\n!b = tuple<!a>\n\"x\"() : () -> !a",
    ] {
        let error = parse_text(text.as_bytes()).expect_err("there is no end");
        assert_ne!(error.place, SourceLocation::Unknown, "{error}");
    }
}
