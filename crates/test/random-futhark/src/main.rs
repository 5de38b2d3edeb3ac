//! `spirula-random-futhark [--seed N] [--count N] [--write FOLDER] [--keep FOLDER]`
//!
//! Compares the forms of random Futhark programs. `--write` writes the programs with test blocks, for `spirula test` and for
//! `futhark test`; `--keep` writes the smallest program that shows a difference.

use rand_mt::Mt64;
use spirula_random_futhark::{FormDifference, RandomProgram, compare_forms, generate_program};
use spirula_testing::{ChoiceSequence, reduce_input};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Fewest and most bytes of decisions.
const DECISIONS: std::ops::Range<u64> = 60..600;

struct RandomFutharkArgs {
    seed: u64,
    count: u64,
    write: Option<PathBuf>,
    keep: Option<PathBuf>,
}

fn parse_arguments() -> Result<RandomFutharkArgs, String> {
    let mut all = RandomFutharkArgs {
        seed: 1,
        count: 100,
        write: None,
        keep: None,
    };
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        let value = given.next().ok_or(format!("{word} needs a value"))?;
        let number = || value.parse().map_err(|_| format!("{value} is no number"));
        match word.as_str() {
            "--seed" => all.seed = number()?,
            "--count" => all.count = number()?,
            "--write" => all.write = Some(value.into()),
            "--keep" => all.keep = Some(value.into()),
            _ => return Err(format!("there is no option {word}")),
        }
    }
    Ok(all)
}

/// The decisions of the program with a seed.
fn make_decisions(seed: u64) -> Vec<u8> {
    let mut random = Mt64::new(seed);
    let length = DECISIONS.start + random.next_u64() % (DECISIONS.end - DECISIONS.start);
    let mut bytes = vec![0; length as usize];
    random.fill_bytes(&mut bytes);
    bytes
}

fn make_program(decisions: &[u8]) -> RandomProgram {
    generate_program(&mut ChoiceSequence::new(decisions))
}

/// Writes the smallest program with a difference in the same form.
fn keep_smallest(
    folder: &Path,
    seed: u64,
    decisions: &[u8],
    difference: &FormDifference,
) -> std::io::Result<()> {
    let is_same = |less: &[u8]| {
        compare_forms(&make_program(less))
            .err()
            .is_some_and(|other| other.form == difference.form)
    };
    let small = make_program(&reduce_input(decisions, is_same));
    let found = compare_forms(&small).err().map(|found| found.to_string());
    let text = format!(
        "-- {}\n-- {}\n{}",
        found.unwrap_or_default().replace('\n', " "),
        small.arguments,
        small.text
    );
    std::fs::write(folder.join(format!("{seed}.fut")), text)
}

fn main() -> ExitCode {
    let arguments = match parse_arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match compare_programs(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares the programs. Returns the number of differences.
fn compare_programs(arguments: &RandomFutharkArgs) -> std::io::Result<u64> {
    let (mut right, mut long, mut wrong) = (0, 0, 0);
    for seed in arguments.seed..arguments.seed + arguments.count {
        let decisions = make_decisions(seed);
        let program = make_program(&decisions);
        match compare_forms(&program) {
            Ok(Some(results)) => {
                right += 1;
                if let Some(folder) = &arguments.write {
                    let path = folder.join(format!("{seed}.fut"));
                    std::fs::write(path, program.print_test(&results))?;
                }
            }
            Ok(None) => long += 1,
            Err(difference) => {
                wrong += 1;
                println!("seed {seed}, {difference}");
                if let Some(folder) = &arguments.keep {
                    keep_smallest(folder, seed, &decisions, &difference)?;
                }
            }
        }
    }
    println!("{right} right, {wrong} wrong, {long} that take too long");
    Ok(wrong)
}
