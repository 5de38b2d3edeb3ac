//! Which modules of the corpus naga accepts: its front end for SPIR-V and its validator with all capabilities. Each
//! module is tried as it is, after `legalize`, and after `legalize-naga`.
//!
//! `SPIRULA_CORPUS=… cargo run --release [-- FILTER]` in this folder.

use naga::front::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use spirula_opt::{PassPipeline, PipelineOptions, optimise_module};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::text;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Pipelines that are tried in addition to the input.
const PRESETS: [&str; 2] = ["legalize", "legalize-naga"];

fn main() -> ExitCode {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let Some(corpus) = std::env::var_os("SPIRULA_CORPUS") else {
        eprintln!("SPIRULA_CORPUS does not name the corpora");
        return ExitCode::FAILURE;
    };
    let folder = PathBuf::from(corpus).join("spirv");
    // Panics of naga are counted as rejections; their messages are not shown.
    std::panic::set_hook(Box::new(|_| {}));
    let (mut all, mut taken) = (0, [0; 1 + PRESETS.len()]);
    for (file, words) in modules(&folder) {
        if filter.as_ref().is_some_and(|f| !file.contains(f.as_str())) {
            continue;
        }
        all += 1;
        let before = refusal(&words);
        taken[0] += usize::from(before.is_none());
        for (count, preset) in taken[1..].iter_mut().zip(PRESETS) {
            let after = refusal(&legalized(&words, preset));
            *count += usize::from(after.is_none());
            if let (None, Some(reason)) = (&before, after) {
                println!("{file} is lost by {preset}: {reason}");
            }
        }
    }
    println!("\n| of {all} modules | naga takes |\n| --- | --- |");
    let names = ["as they are"].into_iter().chain(PRESETS);
    for (name, count) in names.zip(taken) {
        println!("| {name} | {count} |");
    }
    ExitCode::SUCCESS
}

/// The binary and text modules of the corpus with the names of their files.
fn modules(folder: &Path) -> impl Iterator<Item = (String, Vec<u32>)> {
    let folders = ["modules", "modules-newer", "text", "text-newer"];
    let files = folders.map(|name| {
        let folder = folder.join(name);
        let mut files = spirula_testing::list_files(&folder, ".spv");
        files.extend(spirula_testing::list_files(&folder, ".spvasm"));
        files
    });
    files.into_iter().flatten().filter_map(|file| {
        let name = file.file_name()?.to_string_lossy().into_owned();
        let words = if name.ends_with(".spv") {
            spirula_spirv::binary::words_from_bytes(&std::fs::read(&file).ok()?).ok()?
        } else {
            let source = std::fs::read_to_string(&file).ok()?;
            text::parse_assembly(&source, &text::ParseOptions::default()).ok()?
        };
        Some((name, words))
    })
}

/// A module after a preset, or the module itself if the preset fails.
fn legalized(words: &[u32], preset: &str) -> Vec<u32> {
    let pipeline: PassPipeline = preset.parse().expect("the preset exists");
    let Ok(mut module) = SpirvModule::from_words(words.to_vec()) else {
        return words.to_vec();
    };
    match optimise_module(&mut module, &pipeline, &mut PipelineOptions::default()) {
        Ok(_) => module.to_words(),
        Err(_) => words.to_vec(),
    }
}

/// The reason why naga rejects a module.
fn refusal(words: &[u32]) -> Option<String> {
    let options = spv::Options {
        adjust_coordinate_space: false,
        strict_capabilities: false,
        ..spv::Options::default()
    };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let words = words.iter().copied();
        let module = spv::Frontend::new(words, &options).parse();
        let module = module.map_err(|e| format!("{e:?}"))?;
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
        let valid = validator.validate(&module);
        valid.map_err(|e| format!("{:?}", e.as_inner()))
    }));
    match result {
        Ok(result) => result.err(),
        Err(_) => Some("it panics".to_owned()),
    }
}
