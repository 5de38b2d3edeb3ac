//! Translation tests: files with the expected disassembly beside them, and the corpora.

use spirula_diagnostics::SourceDiagnostic;
use spirula_llvm::{AllowedExtensions, TranslationOptions, read_module, translate_module};
use spirula_spirv::grammar::Kind;
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::text::{PrintOptions, print_assembly};
use spirula_testing::{GoldenFiles, SpirvValTool, find_corpus, list_files};
use std::path::{Path, PathBuf};

const ENVIRONMENT: &str = "spv1.4";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/translate")
}

/// The translation of an input: the module's bytes, or the refusals.
fn translated(bytes: &[u8]) -> Result<Vec<u8>, Vec<SourceDiagnostic>> {
    translated_with(bytes, &TranslationOptions::default())
}

fn translated_with(
    bytes: &[u8],
    options: &TranslationOptions,
) -> Result<Vec<u8>, Vec<SourceDiagnostic>> {
    let module = read_module(bytes).map_err(|fault| vec![fault])?;
    let module = translate_module(&module, options)?;
    Ok(module.to_bytes())
}

/// The options in a file's first line: `; options: NAME=VALUE ...`.
fn options_of(bytes: &[u8]) -> TranslationOptions {
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let mut options = TranslationOptions::default();
    let Some(line) = first.strip_prefix("; options: ") else {
        return options;
    };
    for option in line.split_whitespace() {
        let (name, value) = option.split_once('=').expect("an option has a value");
        match name {
            "debug" => options.debug = value.parse().expect("the debug information is known"),
            "extensions" => options.extensions = value.parse().expect("extensions are listed"),
            "target" => options.target = Some(value.parse().expect("the target is known")),
            "capabilities" => {
                let row = |name| Kind::Capability.info().by_name(name);
                let known = value
                    .split(',')
                    .map(|name| row(name).expect("the capability is known"));
                options.capabilities = Some(known.map(|row| Capability(row.value)).collect());
            }
            "pointers" => options.pointers = value.parse().expect("the pointers are known"),
            "kernels" => options.kernels.extend(value.split(',').map(str::to_owned)),
            "import" => options.imported.push(value.to_owned()),
            _ => panic!("{name} is no option"),
        }
    }
    options
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.chunks_exact(4);
    chunks
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

fn lines(diagnostics: &[SourceDiagnostic]) -> String {
    let lines = diagnostics.iter().map(|d| format!("{}\n", d.message));
    lines.collect()
}

#[test]
fn files_yield_the_expected_output() {
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder(), ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let text = match translated_with(&bytes, &options_of(&bytes)) {
            Ok(module) => {
                let checked = validator
                    .as_ref()
                    .map(|v| v.validate_module(&module, ENVIRONMENT));
                if let Some(Err(fault)) = checked {
                    panic!("{}: {fault}", path.display());
                }
                let options = PrintOptions::default();
                print_assembly(&words(&module), &options).expect("the module can be printed")
            }
            Err(diagnostics) => lines(&diagnostics),
        };
        expected.compare_file(&path.with_extension("spvasm"), &text);
    }
    expected.finish_comparison();
}

/// Files that Khronos' validator wrongly rejects. It takes the later set of non-semantic debug
/// information for the earlier one, and so does not know its array and string types.
#[test]
fn files_that_the_validator_rejects() {
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder().with_file_name("unvalidated"), ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        let module = translated_with(&bytes, &options_of(&bytes));
        let module = module.unwrap_or_else(|all| panic!("{}: {}", path.display(), lines(&all)));
        let text = print_assembly(&words(&module), &PrintOptions::default());
        let text = text.expect("the module can be printed");
        expected.compare_file(&path.with_extension("spvasm"), &text);
    }
    expected.finish_comparison();
}

/// One file for each extension, named after it. Its module declares the extension and is valid.
#[test]
fn extensions_are_declared_where_they_are_needed() {
    let validator = SpirvValTool::find_program();
    let mut expected = GoldenFiles::new();
    let folder = folder().with_file_name("extensions");
    let mut faults = Vec::new();
    for path in list_files(&folder, ".ll") {
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        let bytes = std::fs::read(&path).expect("the file can be read");
        let module = match translated_with(&bytes, &options_of(&bytes)) {
            Ok(module) => module,
            Err(diagnostics) => {
                faults.push(format!("{name}: {}", lines(&diagnostics)));
                continue;
            }
        };
        let checked = validator
            .as_ref()
            .map(|v| v.validate_module(&module, "spv1.6"));
        if let Some(Err(fault)) = checked {
            faults.push(format!("{name}: {fault}"));
        }
        let text = print_assembly(&words(&module), &PrintOptions::default());
        let text = text.expect("the module can be printed");
        if !text.contains(&format!("OpExtension \"{name}\"")) {
            faults.push(format!("{name} is not declared"));
        }
        expected.compare_file(&path.with_extension("spvasm"), &text);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    expected.finish_comparison();
}

/// Every file for every version of SPIR-V. A translated module is valid there; a refusal names the
/// missing feature.
#[test]
fn all_versions_are_valid() {
    let Some(validator) = SpirvValTool::find_program() else {
        return;
    };
    let mut faults = Vec::new();
    let mut valid = 0;
    for path in list_files(&folder(), ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        for minor in 0..=6 {
            let version = format!("spv1.{minor}");
            let options = TranslationOptions {
                target: version.parse().ok(),
                ..options_of(&bytes)
            };
            let Ok(module) = translated_with(&bytes, &options) else {
                continue;
            };
            valid += 1;
            if let Err(fault) = validator.validate_module(&module, &version) {
                faults.push(format!("{} {version}: {fault}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(valid > 150, "only {valid} modules were translated");
}

/// Texts with words removed, doubled, swapped or changed. Each is translated or refused, and each
/// translated module can be written.
#[test]
fn damaged_texts_never_crash() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    // Marsaglia, "Xorshift RNGs", 2003.
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let mut survived = 0;
    for path in list_files(&folder(), ".ll") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..ROUNDS {
            let mut damaged = words.clone();
            for _ in 0..=below(2) {
                let at = below(damaged.len());
                let other = words[below(words.len())];
                match below(4) {
                    0 => damaged[at] = other,
                    1 => damaged.insert(at, other),
                    2 => drop(damaged.remove(at)),
                    _ => damaged[at] = NUMBERS[below(NUMBERS.len())],
                }
            }
            survived += usize::from(translated(damaged.concat().as_bytes()).is_ok());
        }
    }
    assert!(survived > 0, "some damage does no harm");
}

/// Number of damaged texts made of each file.
const ROUNDS: usize = 150;

/// Words that replace others.
const NUMBERS: &[&str] = &[
    "0, ",
    "1, ",
    "-1, ",
    "4294967296, ",
    "i1 ",
    "i128 ",
    "ptr ",
    "<3 x i7> ",
    "undef, ",
    "poison, ",
    "null, ",
    "[0 x i32] ",
    "half ",
    "void ",
    "metadata ",
    "zeroinitializer, ",
];

/// The reference page matches the tables.
#[test]
fn the_reference_is_up_to_date() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/llvm-reference.md");
    let mut expected = GoldenFiles::new();
    expected.compare_file(&page, &spirula_llvm::print_reference());
    expected.finish_comparison();
}

/// The result of a text under options: its extensions, or the refusals.
fn extensions(text: &str, options: &TranslationOptions) -> Result<Vec<String>, String> {
    let module = read_module(text.as_bytes()).expect("the text is sound");
    let module =
        translate_module(&module, options).map_err(|read_type_list| lines(&read_type_list))?;
    let printed = print_assembly(&words(&module.to_bytes()), &PrintOptions::default());
    let printed = printed.expect("the module can be printed");
    let named = printed
        .lines()
        .filter_map(|line| line.split_once("OpExtension "));
    Ok(named
        .map(|(_, name)| name.trim_matches('"').to_owned())
        .collect())
}

#[test]
fn extensions_can_be_forbidden() {
    let hint = "target triple = \"spir64\"
        declare i32 @llvm.expect.i32(i32, i32)
        define spir_func i32 @f(i32 %a) {
          %b = call i32 @llvm.expect.i32(i32 %a, i32 7)
          ret i32 %b
        }";
    let needed = "target triple = \"spir64\"
        define spir_func void @f(i64 %n) {
          %a = alloca i32, i64 %n, align 4
          store i32 1, ptr %a, align 4
          ret void
        }";
    let all = TranslationOptions::default();
    let none = TranslationOptions {
        extensions: AllowedExtensions::Only(Vec::new()),
        ..TranslationOptions::default()
    };
    assert_eq!(
        extensions(hint, &all),
        Ok(vec!["SPV_KHR_expect_assume".to_owned()])
    );
    assert_eq!(extensions(hint, &none), Ok(Vec::new()));
    assert_eq!(
        extensions(needed, &all),
        Ok(vec!["SPV_INTEL_variable_length_array".to_owned()])
    );
    let refused = extensions(needed, &none).expect_err("the extension is not allowed");
    assert!(
        refused.contains("SPV_INTEL_variable_length_array"),
        "{refused}"
    );
}

/// The library has no state of its own: many threads translate at once, with equal results.
#[test]
fn threads_translate_at_once() {
    let inputs: Vec<Vec<u8>> = list_files(&folder(), ".ll")
        .iter()
        .map(|path| std::fs::read(path).expect("the file can be read"))
        .collect();
    let all = || -> Vec<Option<Vec<u8>>> {
        let each = |bytes: &Vec<u8>| translated_with(bytes, &options_of(bytes)).ok();
        inputs.iter().map(each).collect()
    };
    let expected = all();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(all)).collect();
        for thread in threads {
            assert!(thread.join().expect("no thread panics") == expected);
        }
    });
}

#[test]
fn versions_rise_unless_a_target_fixes_them() {
    let text = "target triple = \"spir64\"
        declare spir_func i32 @_Z31sub_group_non_uniform_broadcastij(i32, i32)
        define spir_func i32 @f(i32 %a, i32 %n) {
          %b = call spir_func i32 @_Z31sub_group_non_uniform_broadcastij(i32 %a, i32 %n)
          ret i32 %b
        }";
    let module = read_module(text.as_bytes()).expect("the text is sound");
    let version = |options: &TranslationOptions| {
        let module =
            translate_module(&module, options).map_err(|read_type_list| lines(&read_type_list));
        module.map(|module| module.version.to_string())
    };
    assert_eq!(
        version(&TranslationOptions::default()),
        Ok("1.5".to_owned())
    );
    let fixed = TranslationOptions {
        target: "spv1.4".parse().ok(),
        ..TranslationOptions::default()
    };
    let refused = version(&fixed).expect_err("SPIR-V 1.4 does not have it");
    assert!(refused.contains("needs SPIR-V 1.5"), "{refused}");
}

#[test]
fn kernels_of_the_corpus_are_valid() {
    let (Some(kernels), Some(validator)) =
        (find_corpus("llvm-ir/kernels"), SpirvValTool::find_program())
    else {
        return;
    };
    let mut paths = list_files(&kernels, ".bc");
    paths.extend(list_files(&kernels, ".ll"));
    assert!(paths.len() > 200, "the corpus is there");
    let mut faults = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).expect("the file can be read");
        match translated(&bytes) {
            Ok(module) => {
                if let Err(fault) = validator.validate_module(&module, ENVIRONMENT) {
                    faults.push(format!("{}: {fault}", path.display()));
                }
            }
            Err(refused) => faults.push(format!("{}: {}", path.display(), lines(&refused))),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The upstream tests use many features that Spirula lacks. None of them may crash it.
#[test]
fn conformance_tests_are_translated_or_refused() {
    let Some(folder) = find_corpus("llvm-ir/conformance") else {
        return;
    };
    let (mut taken, mut all) = (0, 0);
    for path in list_files(&folder, ".ll") {
        let bytes = std::fs::read(&path).expect("the file can be read");
        all += 1;
        match translated(&bytes) {
            Ok(_) => taken += 1,
            Err(diagnostics) => assert!(!diagnostics.is_empty(), "{}", path.display()),
        }
    }
    eprintln!("{taken} of {all} conformance tests are translated");
    assert!(taken * 10 > all * 6, "only {taken} of {all} are translated");
}

/// Damaged inputs that can still be read yield a module or diagnostics.
#[test]
fn damaged_inputs_never_crash() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % below.max(1)
    };
    let mut read_again = 0;
    for path in list_files(&folder(), ".ll") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let lines: Vec<&str> = text.lines().collect();
        for _ in 0..60 {
            let mut damaged = lines.clone();
            let (at, from) = (random(lines.len()), random(lines.len()));
            match random(3) {
                0 => {
                    damaged.remove(at);
                }
                1 => damaged[at] = lines[from],
                _ => damaged.swap(at, from),
            }
            let text = damaged.join("\n");
            let types = ["i1", "i8", "i24", "i64", "i128", "float", "ptr", "<5 x i8>"];
            let text = match random(3) {
                0 => text.replacen("i32", types[random(types.len())], 1 + random(3)),
                1 => text.replacen("float", types[random(types.len())], 1 + random(3)),
                _ => text,
            };
            if let Ok(module) = read_module(text.as_bytes()) {
                read_again += 1;
                _ = translate_module(&module, &TranslationOptions::default());
            }
        }
    }
    assert!(read_again > 0, "no damaged input could be read");
}
