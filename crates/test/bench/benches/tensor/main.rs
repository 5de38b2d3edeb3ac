//! Compile time of StableHLO programs, stage by stage, and the time of a launch on each device.
//!
//! `cargo bench -p spirula-bench --bench tensor [-- FILE.mlir…]`; Vulkan devices are those that the loader finds
//! (`VK_DRIVER_FILES` chooses).

use spirula_program::{ProgramSession, ProgramValue, ScalarType};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use spirula_stablehlo::{mlir, translate::translate_entry};
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const ROUNDS: usize = 21;

fn main() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../benches/models");
    let arguments = std::env::args().skip(1).filter(|a| !a.starts_with('-'));
    let mut files: Vec<PathBuf> = arguments.map(Into::into).collect();
    if files.is_empty() {
        files = ["dot", "pointwise", "hundred"]
            .map(|name| models.join(name).with_extension("mlir"))
            .to_vec();
    }
    for file in files {
        stages(&file);
    }
    launches(&models.join("loop.mlir"));
}

/// Medians of all stages of a model's compilation.
fn stages(file: &Path) {
    let bytes = std::fs::read(file).expect("the model can be read");
    let mut times: Vec<(String, Vec<Duration>)> = Vec::new();
    let mut kernels = 0;
    for _ in 0..ROUNDS {
        let mut at = 0;
        let mut last = Instant::now();
        let mut stage = |name: &str| {
            let took = last.elapsed();
            match times.get_mut(at) {
                Some((_, times)) => times.push(took),
                None => times.push((name.to_owned(), vec![took])),
            }
            at += 1;
            last = Instant::now();
        };
        let module = mlir::parse_text(&bytes).expect("the model is well formed");
        stage("read");
        let translated = translate_entry(&module, "main").expect("the model is translated");
        stage("translate");
        let program = spirula_tensor::compile_function(
            translated.function,
            ScheduleProfile::CPU,
            &DispatchTuning::default(),
            &mut |name, _| stage(name),
        );
        let program = program.expect("the model is compiled");
        stage("lower to kernels");
        spirula_kernel::verify_program(&program).expect("the program is well formed");
        stage("check");
        let program = spirula_kernel::compile_program(&program).expect("the kernels are lowered");
        stage("kernels to SPIR-V");
        kernels = program.kernels.len();
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    println!("\n{name}: {kernels} kernels\n\n| stage | µs |\n| --- | --- |");
    let mut total = 0.0;
    for (stage, times) in times {
        let time = median(times).as_secs_f64() * 1e6;
        total += time;
        println!("| {stage} | {time:.1} |");
    }
    println!("| together | {total:.1} |");
}

/// Time of one iteration of a loop with one launch.
fn launches(file: &Path) {
    const LAUNCHES: u32 = 1000;
    let bytes = std::fs::read(file).expect("the model can be read");
    let module = mlir::parse_text(&bytes).expect("the model is well formed");
    let translated = translate_entry(&module, "main").expect("the model is translated");
    let kernels = spirula_tensor::compile_function(
        translated.function,
        ScheduleProfile::CPU,
        &DispatchTuning::default(),
        &mut |_, _| {},
    );
    let program = spirula_kernel::compile_program(&kernels.expect("the model is compiled"));
    let program = program.expect("the kernels are lowered");
    let argument = ProgramValue {
        element: ScalarType::F32,
        unsigned: false,
        shape: vec![64],
        bytes: vec![0; 256],
    };
    println!("\n| device | µs for a launch in a loop |\n| --- | --- |");
    for device in spirula_runtime::list_devices() {
        let name = device.id.clone();
        let Ok(mut device) = ComputeDevice::open(&name, &DeviceOptions::default()) else {
            println!("| {name} | cannot be opened |");
            continue;
        };
        let machine = DeviceMachine::new(&mut device);
        let mut session = ProgramSession::new(&program, machine).expect("the program begins");
        let mut times = Vec::new();
        for _ in 0..=ROUNDS {
            let start = Instant::now();
            let called = session.call_entry("main", std::slice::from_ref(&argument));
            called.expect("the program runs");
            times.push(start.elapsed() / LAUNCHES);
        }
        // The first call compiles the kernels.
        times.remove(0);
        println!("| {name} | {:.2} |", median(times).as_secs_f64() * 1e6);
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
