//! `spirula-differential [--way NAME] [--seed N] [--count N] [--keep FOLDER] [--write FOLDER] | [FILE …]`:
//! runs programs made at random, or files of LLVM IR, in all ways that are named and tells of
//! differences, with the smallest program that has one. `--write` only writes the programs.

use rand_mt::Mt64;
use spirula_differential::{
    DifferentialFault, ExecutionVariant, WAYS, evaluate_module, generate_kernel, reduce_input,
    verify_way,
};
use spirula_testing::ChoiceSequence;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

struct DifferentialArgs {
    ways: Vec<String>,
    seed: u64,
    count: u64,
    keep: Option<PathBuf>,
    write: Option<PathBuf>,
    files: Vec<PathBuf>,
}

fn parse_arguments() -> DifferentialArgs {
    let mut all = DifferentialArgs {
        ways: Vec::new(),
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
            "--way" => all.ways.push(next()),
            "--seed" => all.seed = next().parse().unwrap_or(1),
            "--count" => all.count = next().parse().unwrap_or(100),
            "--keep" => all.keep = Some(next().into()),
            "--write" => all.write = Some(next().into()),
            _ => all.files.push(word.into()),
        }
    }
    all
}

/// What is wrong with a program in one way.
fn find_fault(program: &[u8], way: &ExecutionVariant) -> Result<bool, DifferentialFault> {
    let module = spirula_llvm::read_module(program);
    let module = module.map_err(|f| DifferentialFault::Program(f.to_string()))?;
    let Some(expected) = evaluate_module(&module)? else {
        return Ok(false);
    };
    verify_way(&module, &expected, way).map(|()| true)
}

/// What tells faults of one cause from those of another.
fn classify_fault(fault: &DifferentialFault) -> String {
    match fault {
        DifferentialFault::Wrong(_) => "wrong".to_owned(),
        // Numbers are those of ids and bytes.
        other => other
            .to_string()
            .split(|c: char| c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .collect(),
    }
}

fn main() -> ExitCode {
    let arguments = parse_arguments();
    let wanted = |way: &&ExecutionVariant| {
        arguments.ways.is_empty() || arguments.ways.iter().any(|w| w == way.name)
    };
    let ways: Vec<&ExecutionVariant> = WAYS.iter().filter(wanted).collect();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for file in &arguments.files {
        let text = std::fs::read(file).unwrap_or_default();
        for way in &ways {
            match find_fault(&text, way) {
                Ok(is_defined) => println!("{} {}: defined {is_defined}", file.display(), way.name),
                Err(fault) => println!("{} {}: {fault}", file.display(), way.name),
            }
        }
    }
    if !arguments.files.is_empty() {
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for seed in arguments.seed..arguments.seed + arguments.count {
        let mut random = Mt64::new(seed);
        let mut bytes = vec![0; 300 + (random.next_u64() % 1200) as usize];
        random.fill_bytes(&mut bytes);
        let text = generate_kernel(&mut ChoiceSequence::new(&bytes));
        if let Some(folder) = &arguments.write {
            let file = folder.join(format!("{seed}.ll"));
            std::fs::write(&file, &text).expect("the folder can be written to");
            continue;
        }
        for way in &ways {
            let fault_of = |bytes: &[u8]| {
                let text = generate_kernel(&mut ChoiceSequence::new(bytes));
                find_fault(text.as_bytes(), way)
            };
            let found = match find_fault(text.as_bytes(), way) {
                Ok(true) => {
                    *counts.entry(format!("{}: right", way.name)).or_default() += 1;
                    continue;
                }
                Ok(false) => {
                    *counts
                        .entry(format!("{}: undefined", way.name))
                        .or_default() += 1;
                    continue;
                }
                Err(found) => found,
            };
            failed += 1;
            let class_of = classify_fault(&found);
            let number = counts
                .entry(format!("{}: {class_of}", way.name))
                .or_default();
            *number += 1;
            println!("seed {seed}, {}: {found}", way.name);
            let Some(folder) = arguments.keep.as_ref().filter(|_| *number <= 3) else {
                continue;
            };
            let small = reduce_input(&bytes, |less| {
                fault_of(less)
                    .err()
                    .is_some_and(|f| classify_fault(&f) == class_of)
            });
            let text = generate_kernel(&mut ChoiceSequence::new(&small));
            let file = folder.join(format!("{}-{seed}.ll", way.name));
            let told = fault_of(&small)
                .err()
                .map(|f| f.to_string())
                .unwrap_or_default();
            std::fs::write(&file, format!("; {told}\n{text}"))
                .expect("the folder can be written to");
        }
    }
    for (what, number) in counts {
        println!("{number:6} {what}");
    }
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
