//! Lifting tests: files with the expected assembly beside them, round trips, and the corpora.

use spirula_diagnostics::SourceDiagnostic;
use spirula_llvm::{
    TranslationOptions, lift_module, print_assembly, read_module, translate_module,
};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text::{ParseOptions, parse_assembly};
use spirula_testing::{GoldenFiles, SpirvValTool, find_corpus, list_files};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lift")
}

fn lines(diagnostics: &[SourceDiagnostic]) -> String {
    let lines = diagnostics.iter().map(|d| format!("{}\n", d.message));
    lines.collect()
}

/// LLVM's assembler, which verifies its input.
struct LlvmAsTool(&'static str);

impl LlvmAsTool {
    fn find() -> Option<Self> {
        let names = [
            "llvm-as-22",
            "llvm-as-21",
            "llvm-as-20",
            "llvm-as-19",
            "llvm-as",
        ];
        // Assemblers before LLVM 15 lack opaque pointers.
        let works = |name: &LlvmAsTool| name.check("declare void @f(ptr)").is_ok();
        let found = names.into_iter().map(LlvmAsTool).find(works);
        if found.is_none() {
            eprintln!("LLVM's assembler is not there: its verdict is not asked for");
        }
        found
    }

    fn check(&self, text: &str) -> Result<(), String> {
        let process = Command::new(self.0)
            .args(["-o", "/dev/null", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut process = process.map_err(|e| e.to_string())?;
        if let Some(mut input) = process.stdin.take() {
            input
                .write_all(text.as_bytes())
                .map_err(|e| e.to_string())?;
        }
        let output = process.wait_with_output().map_err(|e| e.to_string())?;
        if output.status.success() {
            Ok(())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

fn assembled(path: &Path) -> SpirvModule {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let words = parse_assembly(&text, &ParseOptions::default());
    let words = words.unwrap_or_else(|all| panic!("{}: {}", path.display(), lines(&all)));
    SpirvModule::from_words(words).expect("the file is a module")
}

/// A module after lifting and translating back, and the lifted text.
fn there_and_back(module: &SpirvModule) -> Result<(String, SpirvModule), String> {
    let lifted = lift_module(module).map_err(|all| lines(&all))?;
    let text = print_assembly(&lifted);
    let again = read_module(text.as_bytes()).map_err(|e| format!("reading back: {e}\n{text}"))?;
    if print_assembly(&again) != text {
        return Err("the text reads back as another module".to_owned());
    }
    match translate_module(&again, &TranslationOptions::default()) {
        Ok(module) => Ok((text, module)),
        Err(read_type_list) => Err(format!("translating back: {}", lines(&read_type_list))),
    }
}

#[test]
fn files_yield_the_expected_output() {
    let validator = SpirvValTool::find_program();
    let assembler = LlvmAsTool::find();
    let mut expected = GoldenFiles::new();
    for path in list_files(&folder(), ".spvasm") {
        let module = assembled(&path);
        if path.to_string_lossy().contains("refused") {
            let all = lift_module(&module)
                .map(|m| print_assembly(&m))
                .map_err(|all| lines(&all));
            let text = all.expect_err("a module that cannot be lifted");
            expected.compare_file(&path.with_extension("txt"), &text);
            continue;
        }
        let (text, back) = match there_and_back(&module) {
            Ok(both) => both,
            Err(why) => panic!("{}: {why}", path.display()),
        };
        expected.compare_file(&path.with_extension("ll"), &text);
        if let Some(Err(fault)) = assembler.as_ref().map(|a| a.check(&text)) {
            panic!("{}: {fault}", path.display());
        }
        // Shaders return without the merge instructions that the validator demands.
        let is_kernel = !text.contains("triple = \"spirv-unknown-vulkan");
        let checked = validator.as_ref().filter(|_| is_kernel);
        let checked = checked.map(|v| v.validate_module(&back.to_bytes(), "spv1.6"));
        if let Some(Err(fault)) = checked {
            panic!("{}: {fault}", path.display());
        }
    }
    expected.finish_comparison();
}

/// Words are changed anywhere. Each module is lifted or refused, and each lifted module is printed.
#[test]
fn damaged_modules_never_crash() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    // Marsaglia, "Xorshift RNGs", 2003.
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let mut lifted = 0;
    for path in list_files(&folder(), ".spvasm") {
        let words = assembled(&path).to_words();
        for _ in 0..ROUNDS {
            let mut damaged = words.clone();
            for _ in 0..=below(2) {
                let at = 5 + below(words.len() - 5);
                damaged[at] = match below(3) {
                    0 => words[below(words.len())],
                    1 => damaged[at] ^ 1 << below(32),
                    _ => below(64) as u32,
                };
            }
            let module = SpirvModule::from_words(damaged);
            if let Some(module) = module.ok().and_then(|module| lift_module(&module).ok()) {
                print_assembly(&module);
                lifted += 1;
            }
        }
    }
    assert!(lifted > 0);
}

const ROUNDS: usize = 200;

/// LLVM's assembler checks one of this many modules.
const SAMPLE: usize = 8;

/// Number of corpus modules whose names have one of the prefixes, and how many of them are lifted,
/// accepted by LLVM, and translated back.
fn sweep(prefixes: &[&str]) -> Option<[usize; 4]> {
    let folder = find_corpus("spirv/modules")?;
    let assembler = LlvmAsTool::find();
    let mut counts = [0; 4];
    for path in list_files(&folder, ".spv") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let bytes = std::fs::read(&path).expect("the module can be read");
        let module = SpirvModule::from_bytes(&bytes).expect("the file is a module");
        counts[0] += 1;
        match lift_module(&module) {
            Ok(lifted) => {
                counts[1] += 1;
                let text = print_assembly(&lifted);
                let assembler = assembler.as_ref().filter(|_| counts[0] % SAMPLE == 0);
                match assembler.map(|a| a.check(&text)) {
                    Some(Err(why)) => eprintln!("{name}: {why}"),
                    _ => counts[2] += 1,
                }
            }
            Err(all) => eprintln!("{name}: {}", lines(&all)),
        }
        match there_and_back(&module) {
            Ok(_) => counts[3] += 1,
            Err(why) => eprintln!("{name}: {}", why.lines().next().unwrap_or_default()),
        }
    }
    Some(counts)
}

/// All kernel modules that packages ship or that were made for the corpus.
#[test]
fn kernel_modules_of_the_corpus_are_lifted() {
    if let Some(counts) = sweep(&["own-cl__", "pkg-dpctl__", "pkg-dpnp__"]) {
        let all = counts[0];
        assert_eq!(counts, [all; 4]);
    }
}

/// All compute shaders with a result to compare with.
#[test]
fn shaders_of_the_corpus_are_lifted() {
    if let Some(counts) = sweep(&["own-glsl__", "own-torture__"]) {
        let all = counts[0];
        assert_eq!(counts, [all; 4]);
    }
}

/// All kernels of the corpus, translated by this crate, lifted, and translated back.
#[test]
fn kernels_of_the_corpus_are_lifted() {
    let Some(folder) = find_corpus("llvm-ir/kernels") else {
        return;
    };
    let assembler = LlvmAsTool::find();
    let mut faults = Vec::new();
    for (index, path) in list_files(&folder, ".bc").into_iter().enumerate() {
        let bytes = std::fs::read(&path).expect("the kernel can be read");
        let module = read_module(&bytes).expect("the kernel is a module");
        let Ok(module) = translate_module(&module, &TranslationOptions::default()) else {
            continue;
        };
        // Starting the assembler takes longer than everything else, so it checks a sample.
        let assembler = assembler.as_ref().filter(|_| index % SAMPLE == 0);
        let checked = there_and_back(&module).and_then(|(text, _)| match assembler {
            Some(assembler) => assembler.check(&text),
            None => Ok(()),
        });
        if let Err(why) = checked {
            faults.push(format!("{}: {why}", path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
