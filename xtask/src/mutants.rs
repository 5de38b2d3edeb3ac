//! Mutation testing of the verifier: its verdicts on damaged modules are compared with those of Khronos' validator.
//!
//! Mutants are made from modules of the corpus by a generator that depends only on its seed. It changes operands,
//! types, literals and opcodes. It removes, repeats and moves instructions, redirects branches, reorders blocks, and
//! removes capabilities.

mod mutate;
mod verdict;

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use verdict::{Environment, Verdict};

/// Arguments of `cargo xtask mutants`.
#[derive(clap::Args)]
pub struct Args {
    /// Folder of the corpus, with `MANIFEST.tsv`
    corpus: PathBuf,
    /// Khronos' validator
    #[arg(long, default_value = "spirv-val")]
    validator: PathBuf,
    /// Number of mutants; 0 verifies the unchanged corpus
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Seed of the generator
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the mutant of each disagreement, with both messages
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// A module of the corpus.
struct Seed {
    name: String,
    words: Vec<u32>,
    environment: Environment,
}

/// Makes the mutants, runs both verifiers, and prints how often they agree.
pub fn compare_verifiers(args: &Args) -> Result<()> {
    let seeds = load_seed_modules(&args.corpus)?;
    ensure!(!seeds.is_empty(), "the corpus has no modules");
    if let Some(folder) = &args.keep {
        fs::create_dir_all(folder)?;
    }
    let total = if args.count == 0 {
        seeds.len()
    } else {
        args.count
    };
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (seeds, tally, next) = (&seeds, &tally, &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= total {
                        break;
                    }
                    let outcome = test_mutant(args, seeds, at, worker);
                    if let Ok(mut tally) = tally.lock() {
                        tally.record_outcome(at, outcome);
                    }
                }
            });
        }
    });
    let tally = tally
        .into_inner()
        .map_err(|_| anyhow::anyhow!("a worker failed"))?;
    print!("{}", tally.format_report());
    ensure!(tally.errors.is_empty(), "{}", tally.errors[0]);
    Ok(())
}

/// Result of one mutant.
struct Outcome {
    kind: &'static str,
    ours: Verdict,
    theirs: Verdict,
}

fn test_mutant(args: &Args, seeds: &[Seed], at: usize, worker: usize) -> Result<Outcome> {
    let mut random = mutate::Random::new(args.seed.wrapping_mul(1 << 32) + at as u64);
    let (seed, kind, words) = if args.count == 0 {
        (&seeds[at], "unchanged", seeds[at].words.clone())
    } else {
        let seed = &seeds[random.next_below(seeds.len())];
        let (kind, words) = mutate::make_mutant(&seed.words, &mut random);
        (seed, kind, words)
    };
    let file = std::env::temp_dir().join(format!(
        "spirula-mutant-{}-{worker}.spv",
        std::process::id()
    ));
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    fs::write(&file, bytes)?;
    let theirs = verdict::run_khronos_validator(&args.validator, &file, &seed.environment)?;
    let ours = verdict::run_own_verifier(words, &seed.environment)?;
    if let (Some(folder), true) = (&args.keep, ours.is_valid() != theirs.is_valid()) {
        fs::copy(&file, folder.join(format!("{at}.spv")))?;
        let text = format!(
            "{} {kind} {}\nours: {}\ntheirs: {}\n",
            seed.name, seed.environment.name, ours.message, theirs.message
        );
        fs::write(folder.join(format!("{at}.txt")), text)?;
    }
    fs::remove_file(&file)?;
    Ok(Outcome { kind, ours, theirs })
}

/// Loads every module and text of the corpus' manifest.
fn load_seed_modules(corpus: &Path) -> Result<Vec<Seed>> {
    let manifest = corpus.join("MANIFEST.tsv");
    let manifest = fs::read_to_string(&manifest)
        .with_context(|| format!("no manifest at {}", manifest.display()))?;
    let mut seeds = Vec::new();
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (Some(name), Some(environment)) = (columns.first(), columns.get(5)) else {
            continue;
        };
        let bytes = fs::read(corpus.join(name))?;
        let words = verdict::to_words(&bytes, columns.get(19).copied())?;
        seeds.push(Seed {
            name: (*name).to_owned(),
            words,
            environment: Environment::parse_environment(environment),
        });
    }
    Ok(seeds)
}

#[derive(Default)]
struct Tally {
    /// Numbers of mutants of each kind: all, refused by Khronos' validator, refused by both, disagreements.
    kinds: BTreeMap<&'static str, [usize; 4]>,
    /// Disagreements by the message of the refusing verifier, with the first example.
    messages: BTreeMap<String, (usize, usize)>,
    errors: Vec<String>,
}

impl Tally {
    fn record_outcome(&mut self, at: usize, outcome: Result<Outcome>) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return self.errors.push(format!("{at}: {error:#}")),
        };
        let row = self.kinds.entry(outcome.kind).or_default();
        let (ours, theirs) = (outcome.ours.is_valid(), outcome.theirs.is_valid());
        row[0] += 1;
        row[1] += usize::from(!theirs);
        row[2] += usize::from(!theirs && !ours);
        row[3] += usize::from(ours != theirs);
        if ours != theirs {
            let (who, message) = if ours {
                ("only theirs", outcome.theirs.generalise_message())
            } else {
                ("only ours", outcome.ours.generalise_message())
            };
            self.messages
                .entry(format!("{who}: {message}"))
                .or_insert((0, at))
                .0 += 1;
        }
    }

    fn format_report(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{:24} {:>7} {:>9} {:>9} {:>9}",
            "kind", "all", "refused", "by both", "disagree"
        );
        let mut sum = [0; 4];
        for (kind, row) in &self.kinds {
            let _ = writeln!(
                out,
                "{kind:24} {:7} {:9} {:9} {:9}",
                row[0], row[1], row[2], row[3]
            );
            for (sum, n) in sum.iter_mut().zip(row) {
                *sum += n;
            }
        }
        let _ = writeln!(
            out,
            "{:24} {:7} {:9} {:9} {:9}",
            "all", sum[0], sum[1], sum[2], sum[3]
        );
        let agree = sum[0] - sum[3];
        let _ = writeln!(
            out,
            "same verdict: {agree} of {} ({:.2} %)",
            sum[0],
            100.0 * agree as f64 / sum[0].max(1) as f64
        );
        let mut messages: Vec<_> = self.messages.iter().collect();
        messages.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (message, (count, example)) in messages {
            let _ = writeln!(out, "{count:5}  {message}  (mutant {example})");
        }
        out
    }
}
