//! `spirula-differential [--way NAME] [--seed N] [--count N] [--keep FOLDER] [--write FOLDER] | [FILE …]`
//!
//! Runs random programs, or files of LLVM IR, in all execution variants or in those named. It reports differences,
//! each with the smallest program that shows it. `--write` only writes the programs.

use rand_mt::Mt64;
use spirula_differential::{
    DifferentialFault, EXECUTION_VARIANTS, ExecutionVariant, evaluate_module, generate_kernel,
    verify_variant,
};
use spirula_testing::{ChoiceSequence, reduce_input};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

struct DifferentialArgs {
    variants: Vec<String>,
    seed: u64,
    count: u64,
    keep: Option<PathBuf>,
    write: Option<PathBuf>,
    files: Vec<PathBuf>,
}

fn parse_arguments() -> DifferentialArgs {
    let mut all = DifferentialArgs {
        variants: Vec::new(),
        seed: 1,
        count: 100,
        keep: None,
        write: None,
        files: Vec::new(),
    };
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        let mut next = || given.next().unwrap_or_default();
        match word.as_str() {
            "--way" => all.variants.push(next()),
            "--seed" => all.seed = next().parse().unwrap_or(1),
            "--count" => all.count = next().parse().unwrap_or(100),
            "--keep" => all.keep = Some(next().into()),
            "--write" => all.write = Some(next().into()),
            _ => all.files.push(word.into()),
        }
    }
    all
}

/// Whether a program is defined; an error if a variant executes it wrongly.
fn find_fault(program: &[u8], variant: &ExecutionVariant) -> Result<bool, DifferentialFault> {
    let module = spirula_llvm::read_module(program);
    let module = module.map_err(|f| DifferentialFault::Program(f.to_string()))?;
    let Some(expected) = evaluate_module(&module)? else {
        return Ok(false);
    };
    verify_variant(&module, &expected, variant).map(|()| true)
}

/// A key that is the same for faults with the same cause.
fn classify_fault(fault: &DifferentialFault) -> String {
    match fault {
        DifferentialFault::Wrong(_) => "wrong".to_owned(),
        // Numbers are ids and bytes.
        other => other
            .to_string()
            .split(|c: char| c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .collect(),
    }
}

fn main() -> ExitCode {
    let arguments = parse_arguments();
    let wanted = |variant: &&ExecutionVariant| {
        arguments.variants.is_empty() || arguments.variants.iter().any(|w| w == variant.name)
    };
    let variants: Vec<&ExecutionVariant> = EXECUTION_VARIANTS.iter().filter(wanted).collect();
    if !arguments.files.is_empty() {
        check_files(&arguments.files, &variants);
        return ExitCode::SUCCESS;
    }
    let mut run = DifferentialRun::default();
    for seed in arguments.seed..arguments.seed + arguments.count {
        let bytes = make_decisions(seed);
        if let Some(folder) = &arguments.write {
            let file = folder.join(format!("{seed}.ll"));
            std::fs::write(&file, generate_text(&bytes)).expect("the folder can be written to");
            continue;
        }
        for variant in &variants {
            run.check_program(seed, &bytes, variant, arguments.keep.as_deref());
        }
    }
    for (what, number) in run.counts {
        println!("{number:6} {what}");
    }
    match run.failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn check_files(files: &[PathBuf], variants: &[&ExecutionVariant]) {
    for file in files {
        let text = std::fs::read(file).unwrap_or_default();
        for variant in variants {
            let (file, name) = (file.display(), variant.name);
            match find_fault(&text, variant) {
                Ok(is_defined) => println!("{file} {name}: defined {is_defined}"),
                Err(fault) => println!("{file} {name}: {fault}"),
            }
        }
    }
}

/// The decisions of the program with a seed.
fn make_decisions(seed: u64) -> Vec<u8> {
    let mut random = Mt64::new(seed);
    let mut bytes = vec![0; 300 + (random.next_u64() % 1200) as usize];
    random.fill_bytes(&mut bytes);
    bytes
}

fn generate_text(decisions: &[u8]) -> String {
    generate_kernel(&mut ChoiceSequence::new(decisions))
}

/// The outcomes of all programs.
#[derive(Default)]
struct DifferentialRun {
    /// Number of programs for each variant and outcome.
    counts: BTreeMap<String, u64>,
    failed: u64,
}

impl DifferentialRun {
    /// Checks a program in a variant, and keeps the reduced program of the first faults of each cause in a folder.
    fn check_program(
        &mut self,
        seed: u64,
        decisions: &[u8],
        variant: &ExecutionVariant,
        keep: Option<&Path>,
    ) {
        let fault_of = |decisions: &[u8]| find_fault(generate_text(decisions).as_bytes(), variant);
        let fault = match fault_of(decisions) {
            Ok(is_defined) => {
                let outcome = if is_defined { "right" } else { "undefined" };
                self.count_outcome(variant, outcome);
                return;
            }
            Err(fault) => fault,
        };
        self.failed += 1;
        let class = classify_fault(&fault);
        let number = self.count_outcome(variant, &class);
        println!("seed {seed}, {}: {fault}", variant.name);
        let Some(folder) = keep.filter(|_| number <= 3) else {
            return;
        };
        let small = reduce_input(decisions, |less| {
            fault_of(less)
                .err()
                .is_some_and(|fault| classify_fault(&fault) == class)
        });
        let fault = fault_of(&small).err().map(|fault| fault.to_string());
        let file = folder.join(format!("{}-{seed}.ll", variant.name));
        let text = format!("; {}\n{}", fault.unwrap_or_default(), generate_text(&small));
        std::fs::write(&file, text).expect("the folder can be written to");
    }

    /// Counts an outcome; returns how often there was this one.
    fn count_outcome(&mut self, variant: &ExecutionVariant, outcome: &str) -> u64 {
        let number = self
            .counts
            .entry(format!("{}: {outcome}", variant.name))
            .or_default();
        *number += 1;
        *number
    }
}
