//! Speed comparison: processor time and peak memory of `spirula compile` on LLVM IR, beside Khronos' translator and
//! LLVM's backend, and their growth with the input. Whole processes are measured.
//!
//! Run `cargo xtask speed [FILE.bc…]` after `cargo build --release`. Without files it measures `llvm-ir/perf` of the
//! corpora and a generated ladder of modules, which `llvm-as` converts to bitcode. Contenders take turns. Figures are
//! medians, and ratios of runs in turns.

mod ladder;
mod measure;

use anyhow::{Context, bail};
use measure::{Cost, measure_process};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Modules to translate; by default those of the corpus and a ladder up to 10 MB
    files: Vec<PathBuf>,
    /// Number of times that each contender translates each module
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Spirula's command
    #[arg(long, default_value = "target/release/spirula")]
    spirula: PathBuf,
    /// Measure the library's example `translate` instead of the command: a process of the translation alone, which
    /// takes less time to build
    #[arg(long)]
    library: bool,
    /// Khronos' translator
    #[arg(long, default_value = "llvm-spirv-22")]
    llvm_spirv: PathBuf,
    /// LLVM's command with the SPIR-V backend; left out where it is missing
    #[arg(long, default_value = "llc-22")]
    llc: PathBuf,
    /// LLVM's assembler, for the ladder
    #[arg(long, default_value = "llvm-as-19")]
    llvm_as: PathBuf,
}

/// Least bytes of a module that counts for the growth. For smaller ones the start of the process dominates.
const LEAST: u64 = 100_000;

pub fn run_speed_comparison(root: &Path, args: &Args) -> anyhow::Result<()> {
    let work = root.join("target/speed");
    fs::create_dir_all(&work)?;
    let output = work.join("out.spv");
    let contenders = list_contenders(root, args, &output);
    println!(
        "| module | kB | spirula, ms | MB | llvm-spirv / spirula | its memory | backend / spirula |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    if args.files.is_empty() {
        for file in list_corpus_modules(root) {
            measure_row(&file, &contenders, args.rounds)?;
        }
        let rungs = ladder::make_ladder_modules(&work, &args.llvm_as)?;
        measure_growth(&rungs, &contenders, args.rounds)
    } else {
        measure_growth(&args.files, &contenders, args.rounds)
    }
}

/// Measures modules of several sizes, and prints the power of the size with which the time grows.
fn measure_growth(
    files: &[PathBuf],
    contenders: &[Contender],
    rounds: usize,
) -> anyhow::Result<()> {
    let mut points = Vec::new();
    for file in files {
        let cost = measure_row(file, contenders, rounds)?;
        let bytes = fs::metadata(file)?.len();
        if bytes >= LEAST {
            points.push((bytes as f64, cost.seconds));
        }
    }
    if let Some(exponent) = fit_exponent(&points) {
        println!("\ntime grows with the power {exponent:.3} of the size");
    }
    Ok(())
}

/// Fits the exponent: the slope of the line through the logarithms, by least squares.
fn fit_exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|p| (p.0.ln(), p.1.ln())).collect();
    let count = logs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    (below > 0.0).then(|| above / below)
}

/// A command that translates a file, with its arguments before and after the file.
struct Contender {
    program: PathBuf,
    before: Vec<OsString>,
    after: Vec<OsString>,
}

/// Spirula first, then its peers.
fn list_contenders(root: &Path, args: &Args, output: &Path) -> Vec<Contender> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let target = words(&["-o"]).into_iter().chain([output.into()]);
    let to: Vec<OsString> = target.collect();
    let spirula = if args.library {
        Contender {
            program: root.join("target/release/examples/translate"),
            before: Vec::new(),
            after: vec![output.into()],
        }
    } else {
        Contender {
            program: root.join(&args.spirula),
            before: words(&["compile"]),
            after: to.clone(),
        }
    };
    let backend = ["-O0", "-filetype=obj", "--spirv-ext=all"];
    vec![
        spirula,
        Contender {
            program: args.llvm_spirv.clone(),
            before: words(&["--spirv-ext=+all"]),
            after: to.clone(),
        },
        Contender {
            program: args.llc.clone(),
            before: words(&[&backend[..], &["-mtriple=spirv64-unknown-unknown"]].concat()),
            after: to,
        },
    ]
}

/// The modules of the corpus for this comparison, where the corpus is present.
fn list_corpus_modules(root: &Path) -> Vec<PathBuf> {
    let beside = root.join("../shared/corpus");
    let folder = std::env::var_os("SPIRULA_CORPUS").map_or(beside, PathBuf::from);
    let entries = fs::read_dir(folder.join("llvm-ir/perf"));
    let entries = entries.into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "bc"));
    files.sort();
    files
}

/// Measures one module, prints its row, and returns the cost of Spirula.
fn measure_row(file: &Path, contenders: &[Contender], rounds: usize) -> anyhow::Result<Cost> {
    let mut costs: Vec<Vec<Cost>> = contenders.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds.max(1) {
        for (contender, costs) in contenders.iter().zip(&mut costs) {
            let arguments = contender.before.iter().map(OsString::as_os_str);
            let arguments = arguments.chain([file.as_os_str()]);
            let after = contender.after.iter().map(OsString::as_os_str);
            costs.extend(measure_process(&contender.program, arguments.chain(after)));
        }
    }
    let medians: Vec<Option<Cost>> = costs.into_iter().map(Cost::median_cost).collect();
    let Some(own) = medians[0] else {
        let program = contenders[0].program.display();
        bail!("{program} is missing, or refuses {}", file.display());
    };
    let ratio = |peer: Option<Cost>, of: fn(&Cost) -> f64| match peer {
        Some(peer) => format!("{:.1}", of(&peer) / of(&own)),
        None => "–".to_owned(),
    };
    let name = file.file_name().context("a module without a name")?;
    println!(
        "| {} | {} | {:.1} | {:.1} | {} | {} | {} |",
        name.to_string_lossy(),
        fs::metadata(file)?.len() / 1000,
        own.seconds * 1e3,
        own.megabytes,
        ratio(medians[1], |cost| cost.seconds),
        ratio(medians[1], |cost| cost.megabytes),
        ratio(medians[2], |cost| cost.seconds),
    );
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_slopes() {
        let square: Vec<(f64, f64)> = (1..9).map(f64::from).map(|x| (x, 3.0 * x * x)).collect();
        assert!((fit_exponent(&square).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(fit_exponent(&[(1.0, 1.0)]), None);
    }
}
