//! Run time of kernels translated by Spirula and by `llvm-spirv`. The kernels of the corpus run with their inputs,
//! both translations in turn, on the CPU device with one thread or on another device, such as `opencl:0`.
//!
//! `SPIRULA_CORPUS=FOLDER LLVM_SPIRV=PROGRAM cargo bench -p spirula-bench --bench translation [-- [--device DEVICE]
//! NAME…]`
//!
//! The measured code is compiled by the CPU device, so the build profile of the benchmark matters little.

mod manifest;

use manifest::{Manifest, Program, Run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each program, of which the fastest counts.
const ROUNDS: usize = 15;
/// Shorter runs consist mostly of the launch.
const SHORTEST: Duration = Duration::from_micros(20);
/// Number of programs that are listed: those with the largest and smallest ratios.
const NAMED: usize = 5;

fn main() {
    let (device, wanted) = arguments();
    let Some(corpus) = std::env::var_os("SPIRULA_CORPUS") else {
        println!("SPIRULA_CORPUS does not say where the corpus is: nothing is measured");
        return;
    };
    let folder = PathBuf::from(corpus).join("llvm-ir/kernels");
    let manifest = Manifest::read(&folder).expect("the folder has a manifest");
    let mut ratios: Vec<(f64, String)> = Vec::new();
    let mut short = 0;
    for program in &manifest.tests {
        for ir in program.ir.iter().filter(|ir| is_wanted(ir, &wanted)) {
            match compare(&device, &folder, program, ir) {
                Ok(Some([ours, theirs])) => {
                    ratios.push((ours.as_secs_f64() / theirs.as_secs_f64(), ir.clone()));
                }
                Ok(None) => short += 1,
                Err(why) => println!("{ir}: {why}"),
            }
        }
    }
    report(ratios, short);
}

/// The device, and parts of programs' names.
fn arguments() -> (String, Vec<String>) {
    let mut device = "cpu".to_owned();
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--device" {
            device = arguments.next().expect("a device is named");
        } else if !argument.starts_with('-') {
            names.push(argument);
        }
    }
    (device, names)
}

/// The CPU device supports all extensions that the peer uses; for other devices the peer must use none.
fn peer_option(device: &str) -> &'static str {
    match device {
        "cpu" => "--spirv-ext=+all",
        _ => "--spirv-max-version=1.4",
    }
}

fn is_wanted(ir: &str, wanted: &[String]) -> bool {
    wanted.is_empty() || wanted.iter().any(|name| ir.contains(name.as_str()))
}

fn report(mut ratios: Vec<(f64, String)>, short: usize) {
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sum: f64 = ratios.iter().map(|r| r.0.ln()).sum();
    let mean = (sum / ratios.len().max(1) as f64).exp();
    println!(
        "{} programs, {short} too short to be measured",
        ratios.len()
    );
    println!("\n| program | time of ours / of llvm-spirv's |\n| --- | --- |");
    println!("| geometric mean | {mean:.3} |");
    let ends = ratios
        .iter()
        .take(NAMED)
        .chain(ratios.iter().rev().take(NAMED));
    for (ratio, name) in ends {
        println!("| {name} | {ratio:.2} |");
    }
}

/// The fastest run of both translations; `None` if it is too short.
fn compare(
    device: &str,
    folder: &Path,
    program: &Program,
    ir: &str,
) -> Result<Option<[Duration; 2]>, String> {
    let input = folder.join(ir);
    let bytes = std::fs::read(&input).map_err(|e| e.to_string())?;
    let ours = spirula::compile_input(&bytes, &spirula::CompileOptions::default())
        .and_then(|compiled| compiled.into_module());
    let ours = ours.map_err(|_| "it is not translated")?;
    let peer = std::env::var("LLVM_SPIRV").unwrap_or_else(|_| "llvm-spirv-22".to_owned());
    let out = std::env::temp_dir().join(format!("spirula-bench-{}.spv", std::process::id()));
    let status = Command::new(&peer)
        .arg(peer_option(device))
        .arg(&input)
        .arg("-o")
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !status.is_ok_and(|s| s.success()) {
        return Err(format!("{peer} is missing or refuses it"));
    }
    let theirs = std::fs::read(&out).map_err(|e| e.to_string())?;
    _ = std::fs::remove_file(&out);
    let theirs = spirula::compile_input(&theirs, &spirula::CompileOptions::default())
        .and_then(|compiled| compiled.into_module());
    let theirs = theirs.map_err(|_| format!("what {peer} makes is no module"))?;
    let theirs_runs = |why| format!("as {peer} makes it: {why}");
    let mut runs = [
        Run::new(device, program, &ours)?,
        Run::new(device, program, &theirs).map_err(theirs_runs)?,
    ];
    let mut best = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            run.reset()?;
            let start = Instant::now();
            run.launch()?;
            *best = start.elapsed().min(*best);
        }
    }
    Ok((best[1] >= SHORTEST).then_some(best))
}
