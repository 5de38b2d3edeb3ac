//! Compile time: 100 kB of LLVM bitcode to SPIR-V, stage by stage in this process, and as a whole process against
//! `llvm-spirv` if it is installed (`LLVM_SPIRV` names it).
//!
//! `cargo bench -p spirula-bench --bench compile [-- FILE.bc…]`

use spirula::{CompileOptions, compile_input, read_input};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 21;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut files: Vec<_> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .map(Into::into)
        .collect();
    if files.is_empty() {
        files.push(root.join("benches/kernels/large.bc"));
    }
    println!("| file | kB | read, ms | translate, ms | write, ms | MB/s | llvm-spirv / spirula |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for file in files {
        let bytes = std::fs::read(&file).expect("the input can be read");
        let stages = stages(&bytes);
        let total: Duration = stages.iter().sum();
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let [read, translate, write] = stages.map(|s| s.as_secs_f64() * 1e3);
        println!(
            "| {name} | {} | {read:.3} | {translate:.3} | {write:.3} | {:.1} | {} |",
            bytes.len() / 1000,
            bytes.len() as f64 / 1e6 / total.as_secs_f64(),
            against_peer(&root, &file)
        );
    }
}

/// Medians of reading, translating and writing.
fn stages(bytes: &[u8]) -> [Duration; 3] {
    let options = CompileOptions::default();
    compile_input(bytes, &options).expect("the input compiles");
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let program = read_input(bytes).expect("the input is read");
        let was_read = Instant::now();
        let compiled = program.compile_with(&options).expect("the input compiles");
        let translated = Instant::now();
        let module = compiled.into_module().expect("the input is a module");
        std::hint::black_box(module.to_bytes());
        let written = Instant::now();
        times[0].push(was_read - start);
        times[1].push(translated - was_read);
        times[2].push(written - translated);
    }
    times.map(median)
}

/// Ratio of the times of whole processes, which take turns.
fn against_peer(root: &Path, file: &Path) -> String {
    let peer = std::env::var("LLVM_SPIRV").unwrap_or_else(|_| "llvm-spirv-22".to_owned());
    let ours = root.join("target/release/spirula");
    let out = std::env::temp_dir().join(format!("spirula-bench-{}.spv", std::process::id()));
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        let mut own = Command::new(&ours);
        own.arg("compile").arg(file).arg("-o").arg(&out);
        let mut other = Command::new(&peer);
        other.arg("--spirv-ext=+all").arg(file).arg("-o").arg(&out);
        for (command, times) in [&mut own, &mut other].into_iter().zip(&mut times) {
            let start = Instant::now();
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            if !status.is_ok_and(|s| s.success()) {
                let name = command.get_program().to_string_lossy().into_owned();
                return format!("{name} is missing or fails");
            }
            times.push(start.elapsed());
        }
    }
    _ = std::fs::remove_file(out);
    let [own, other] = times.map(median);
    format!("{:.1}", other.as_secs_f64() / own.as_secs_f64())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
