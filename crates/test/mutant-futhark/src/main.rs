//! `spirula-mutant-futhark CORPUS [--seed N] [--count N] [--keep FOLDER]`
//!
//! Compares the verdicts of the checker on mutants of the programs in a folder with those of `futhark check`. Programs on which the
//! two differ unchanged are left out, and programs that cannot be parsed.

mod report;
mod verdict;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use report::{MutantTally, VerdictPair};
use spirula_futhark::compile::check_files;
use spirula_mutant_futhark::{
    MUTATION_KINDS, MutableSource, MutationChoice, SourceMutant, make_mutant,
};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use verdict::{CheckVerdict, ProgramFiles, ReferenceChecker, run_own_checker};

#[derive(Parser)]
#[command(about = "Compares verdicts on mutants of Futhark programs with those of `futhark check`")]
struct MutantArgs {
    /// Folder of programs, in subfolders too
    corpus: PathBuf,
    /// Seed of the first mutant; the others have the seeds after it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of mutants
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Folder for the mutants on which the checkers disagree, with both messages
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Only changes of this kind
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
    /// Futhark's compiler
    #[arg(long, value_name = "PATH", default_value = "futhark")]
    futhark: PathBuf,
    /// Processes of Futhark's compiler at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Seconds after which a checker has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    timeout: u64,
}

/// A program of the corpus on which both checkers agree.
struct AgreedProgram {
    files: ProgramFiles,
    source: MutableSource,
}

/// The programs of the corpus, which are checked when a mutant needs them.
struct MutantCorpus {
    folder: PathBuf,
    programs: Vec<(String, OnceLock<Option<AgreedProgram>>)>,
}

impl MutantCorpus {
    /// Lists the programs of a folder in the order of their names.
    fn list_programs(folder: &Path) -> Result<Self> {
        let mut names = Vec::new();
        list_sources(folder, "", &mut names)?;
        names.sort();
        ensure!(!names.is_empty(), "{} has no programs", folder.display());
        let programs = names.into_iter().map(|name| (name, OnceLock::new()));
        Ok(MutantCorpus {
            folder: folder.to_owned(),
            programs: programs.collect(),
        })
    }

    /// A program. None if the checkers differ on it unchanged, or if it cannot be parsed.
    fn load_program(&self, at: usize, reference: &ReferenceChecker) -> Option<&AgreedProgram> {
        let (name, loaded) = &self.programs[at];
        let load = || load_program(&self.folder, name, reference);
        loaded.get_or_init(load).as_ref()
    }
}

/// Adds the paths of the Futhark programs in a folder, relative to `prefix`.
fn list_sources(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list_sources(&entry.path(), &format!("{name}/"), names)?;
        } else if name.ends_with(".fut") {
            names.push(name);
        }
    }
    Ok(())
}

fn load_program(folder: &Path, name: &str, reference: &ReferenceChecker) -> Option<AgreedProgram> {
    let mut imported = HashMap::new();
    let mut read = |path: &str| {
        let text = fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())?;
        imported.insert(path.to_owned(), text.clone());
        Ok(text)
    };
    let ours = match check_files(name, &mut read) {
        Ok(_) => CheckVerdict::Accepted,
        Err(_) => CheckVerdict::Refused(String::new()),
    };
    let text = imported.remove(name)?;
    let files = ProgramFiles {
        main: name.to_owned(),
        imported: Arc::new(imported),
    };
    let source = MutableSource::parse(text)?;
    let theirs = reference.run(&files, source.text()).ok()?;
    let pair = VerdictPair {
        kind: "unchanged",
        ours,
        theirs,
    };
    pair.is_agreement()
        .then_some(AgreedProgram { files, source })
}

/// How often another program is chosen for a kind of change, and how often another kind.
const ATTEMPTS: usize = 30;

/// The mutant of a seed with its program. None if no program of those that are tried can be changed.
fn choose_mutant<'a>(
    corpus: &'a MutantCorpus,
    reference: &ReferenceChecker,
    seed: u64,
    kind_name: Option<&str>,
) -> Option<(&'a AgreedProgram, SourceMutant)> {
    let kinds = MUTATION_KINDS.iter();
    let kinds = kinds.filter(|kind| kind_name.is_none_or(|name| name == kind.name));
    let kinds: Vec<_> = kinds.collect();
    let mut choice = MutationChoice::new(seed);
    for _ in 0..ATTEMPTS {
        let kind = choice.choose_one(&kinds)?;
        for _ in 0..ATTEMPTS {
            let at = choice.choose_below(corpus.programs.len());
            let Some(program) = corpus.load_program(at, reference) else {
                continue;
            };
            if let Some(mutant) = make_mutant(&program.source, kind, &mut choice) {
                return Some((program, mutant));
            }
        }
    }
    None
}

/// Compares the verdicts on one mutant.
fn compare_verdicts(
    args: &MutantArgs,
    corpus: &MutantCorpus,
    reference: &ReferenceChecker,
    seed: u64,
) -> Result<VerdictPair> {
    let chosen = choose_mutant(corpus, reference, seed, args.kind.as_deref());
    let (program, mutant) = chosen.context("no program can be changed")?;
    let ours = run_own_checker(&program.files, &mutant.text, reference.limit);
    let theirs = reference.run(&program.files, &mutant.text)?;
    let pair = VerdictPair {
        kind: mutant.kind,
        ours,
        theirs,
    };
    if let (Some(folder), false) = (&args.keep, pair.is_agreement()) {
        let name = &program.files.main;
        let text = format!(
            "{} in {name}: {}\n\nours: {}\n\ntheirs: {}\n",
            pair.kind,
            pair.describe(),
            pair.ours.message(),
            pair.theirs.message()
        );
        fs::write(folder.join(format!("{seed}.txt")), text)?;
        fs::write(folder.join(format!("{seed}.fut")), &mutant.text)?;
        fs::write(folder.join(format!("{seed}.orig")), program.source.text())?;
    }
    Ok(pair)
}

/// Compares the verdicts on all mutants.
fn compare_checkers(args: &MutantArgs) -> Result<MutantTally> {
    let corpus = MutantCorpus::list_programs(&args.corpus)?;
    if let Some(folder) = &args.keep {
        fs::create_dir_all(folder)?;
    }
    let work = std::env::temp_dir().join(format!("spirula-mutants-{}", std::process::id()));
    let next = AtomicU64::new(args.seed);
    let end = args.seed + args.count;
    let tally = Mutex::new(MutantTally::default());
    std::thread::scope(|scope| {
        for worker in 0..args.jobs.max(1) {
            let reference = ReferenceChecker {
                command: args.futhark.clone(),
                folder: work.join(worker.to_string()),
                limit: Duration::from_secs(args.timeout),
            };
            let (corpus, next, tally) = (&corpus, &next, &tally);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        break;
                    }
                    let pair = compare_verdicts(args, corpus, &reference, seed);
                    if let Ok(mut tally) = tally.lock() {
                        tally.record_pair(seed, pair);
                    }
                }
            });
        }
    });
    fs::remove_dir_all(&work)?;
    tally
        .into_inner()
        .map_err(|_| anyhow::anyhow!("a worker failed"))
}

fn main() -> ExitCode {
    let args = MutantArgs::parse();
    match compare_checkers(&args) {
        Ok(tally) => {
            print!("{}", tally.format_report());
            if tally.count_differences() == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
