//! Every module of the corpus through each pass alone and each preset: still a module by the structural rules,
//! with what is kept of analyses right, valid by the verifier, and by Khronos' validator where that is installed.

use spirula_diagnostics::SourceDiagnostic;
use spirula_opt::{PASSES, PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::target::SpirvTarget;
use spirula_spirv::{binary, text, verify};
use spirula_testing::{SpirvValTool, find_corpus, list_files};
use std::collections::BTreeMap;
use std::path::Path;

/// A number that the environment may say.
fn setting(name: &str, otherwise: usize) -> usize {
    let said = std::env::var(name).ok();
    said.and_then(|s| s.parse().ok()).unwrap_or(otherwise)
}

/// One module of this number is tested; `SPIRULA_EVERY` names another number.
fn step() -> usize {
    setting("SPIRULA_EVERY", 7)
}

/// Environment of each file by its path below the corpus.
fn environments(folder: &Path) -> BTreeMap<String, String> {
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap_or_default();
    let rows = manifest.lines().skip(1);
    rows.filter_map(|row| {
        let mut fields = row.split('\t');
        let file = fields.next()?.to_owned();
        Some((file, fields.nth(4)?.to_owned()))
    })
    .collect()
}

#[test]
fn passes_keep_modules_valid() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let validator = SpirvValTool::find_program();
    let environments = environments(&folder);
    let mut pipelines: Vec<String> = PASSES
        .iter()
        .map(spirula_opt::SpirvPass::example_pipeline)
        .collect();
    pipelines.extend(["O1".to_owned(), "O2".to_owned()]);
    if let Ok(only) = std::env::var("SPIRULA_PASSES") {
        pipelines = vec![only];
    }
    let mut faults = Vec::new();
    let mut tested = 0;
    let mut all = list_files(&folder, ".spv");
    all.extend(list_files(&folder, ".spvasm"));
    for file in all.iter().step_by(step()) {
        let name = file
            .strip_prefix(&folder)
            .unwrap_or(file)
            .display()
            .to_string();
        let environment = environments.get(&name);
        let Some(bytes) = module(file, environment) else {
            continue;
        };
        for text in &pipelines {
            tested += 1;
            let validator = validator.as_ref().zip(environment);
            if let Err(fault) = one(&bytes, text, validator) {
                faults.push(format!("{name}: {text}: {fault}"));
            }
        }
    }
    assert!(tested > 100, "only {tested} runs");
    assert!(
        faults.is_empty(),
        "{} of {tested}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// The bytes of a module, or of an assembly text for the environment; `None` for texts that are
/// meant to be malformed.
fn module(file: &Path, environment: Option<&String>) -> Option<Vec<u8>> {
    let bytes = std::fs::read(file).expect("the corpus can be read");
    if file.extension().is_some_and(|e| e == "spv") {
        return Some(bytes);
    }
    let target: Option<SpirvTarget> = environment.and_then(|e| e.split('+').next()?.parse().ok());
    let options = text::ParseOptions {
        version: target.map(|t| t.version),
        ..text::ParseOptions::default()
    };
    let words = text::parse_assembly(std::str::from_utf8(&bytes).ok()?, &options).ok()?;
    Some(binary::to_bytes(&words))
}

fn one(
    bytes: &[u8],
    text: &str,
    validator: Option<(&SpirvValTool, &String)>,
) -> Result<(), String> {
    let mut module = SpirvModule::from_bytes(bytes).map_err(|e| e.to_string())?;
    let pipeline: PassPipeline = text.parse().map_err(|e| format!("{e}"))?;
    let mut options = PipelineOptions {
        verify_each: true,
        observer: None,
    };
    let was_valid = verified(&module).is_ok();
    optimise_module(&mut module, &pipeline, &mut options).map_err(|e| e.to_string())?;
    let changed = module.to_bytes() != bytes;
    if changed && was_valid {
        verified(&module).map_err(|all| all[0].to_string())?;
    }
    let Some((validator, environment)) = validator.filter(|_| changed) else {
        return Ok(());
    };
    if environment.ends_with("+scalar") {
        return Ok(());
    }
    let verdict = validator.validate_module(&module.to_bytes(), environment);
    match verdict {
        Err(fault) if validator.validate_module(bytes, environment).is_ok() => Err(fault),
        _ => Ok(()),
    }
}

/// Whether a module is valid for any consumer.
fn verified(module: &SpirvModule) -> Result<(), Vec<SourceDiagnostic>> {
    let options = verify::VerifyOptions {
        scalar_block_layout: true,
        ..verify::VerifyOptions::default()
    };
    verify::verify_module(module, &options)?;
    Ok(())
}

/// Numbers that are the same in every run.
struct CorpusRandom(u64);

impl CorpusRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    /// Passes in any order, also several times.
    fn pipeline(&mut self) -> String {
        let names: Vec<String> = (0..1 + self.below(7))
            .map(|_| PASSES[self.below(PASSES.len())].example_pipeline())
            .collect();
        names.join(",")
    }
}

/// Passes in any order leave what our verifier accepts as it accepts it. `SPIRULA_ROUNDS` is the number of
/// pipelines for each module, `SPIRULA_SEED` for other ones.
#[test]
fn random_pipelines_keep_modules_valid() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let mut random = CorpusRandom(setting("SPIRULA_SEED", 7) as u64);
    let rounds = setting("SPIRULA_ROUNDS", 1);
    let (mut faults, mut tested) = (Vec::new(), 0);
    let mut all = list_files(&folder, ".spv");
    all.extend(list_files(&folder, ".spvasm"));
    let environments = environments(&folder);
    for file in all.iter().skip(3).step_by(step()) {
        let name = file.strip_prefix(&folder).unwrap_or(file);
        let name = name.display().to_string();
        let Some(bytes) = module(file, environments.get(&name)) else {
            continue;
        };
        if bytes.len() > 100_000 {
            continue;
        }
        for _ in 0..rounds {
            let pipeline = random.pipeline();
            match random_pipeline(&bytes, &pipeline) {
                None => break,
                Some(Ok(())) => {}
                Some(Err(fault)) => faults.push(format!("{name}: {pipeline}: {fault}")),
            }
            tested += 1;
        }
    }
    assert!(tested > 50, "only {tested} runs");
    assert!(
        faults.is_empty(),
        "{} of {tested}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Runs a pipeline over a module; `None` where the module is not valid to begin with.
fn random_pipeline(bytes: &[u8], pipeline: &str) -> Option<Result<(), String>> {
    let mut module = SpirvModule::from_bytes(bytes).expect("the corpus is well-formed");
    verified(&module).ok()?;
    let passes: PassPipeline = pipeline.parse().expect("passes exist");
    let mut options = PipelineOptions {
        verify_each: true,
        observer: None,
    };
    let done = optimise_module(&mut module, &passes, &mut options).map_err(|e| e.to_string());
    let valid = verified(&module).map_err(|all| all[0].message.clone());
    Some(done.map(|_| ()).and(valid))
}

/// Modules with a word changed: whatever they mean, passes end and do not panic.
#[test]
fn damaged_modules_do_no_harm() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let presets: Vec<PassPipeline> = ["O2,strip-debug", "legalize-naga", "merge-return,O2"]
        .iter()
        .map(|p| p.parse().expect("passes exist"))
        .collect();
    let mut random = CorpusRandom(1);
    let mut read = 0;
    for file in list_files(&folder, ".spv").iter().step_by(41) {
        let bytes = std::fs::read(file).expect("the corpus can be read");
        let words = binary::words_from_bytes(&bytes).expect("the corpus is well-formed");
        if words.len() > 20_000 {
            continue;
        }
        for _ in 0..40 {
            let mut damaged = words.clone();
            let at = 5 + random.below(words.len() - 5);
            let word = words[5 + random.below(words.len() - 5)];
            // An id, or a number of any size.
            damaged[at] = match random.below(4) {
                0 => word,
                1 => u32::MAX >> random.below(32),
                _ => word % words[3].max(1),
            };
            if let Ok(mut module) = SpirvModule::from_words(damaged) {
                read += 1;
                // Errors are as good as results.
                let pipeline = &presets[random.below(presets.len())];
                _ = optimise_module(&mut module, pipeline, &mut PipelineOptions::default());
            }
        }
    }
    assert!(read > 100, "only {read} damaged modules could be read");
}
