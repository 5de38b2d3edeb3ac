//! Differential test of the optimiser: every executable module of the corpus computes the same results before and
//! after optimisation, on the CPU device and on a Vulkan device if there is one. Floats may differ by rounding.
//! Inputs are generated; inputs for which the device `cpu+san` reports a fault are skipped.
//!
//! By default a sample of the modules runs; `SPIRULA_EVERY=1` runs them all. `SPIRULA_FILTER` selects modules by a
//! part of their name. `SPIRULA_DEVICES` replaces the devices `cpu,vulkan`.

mod inputs;

use inputs::DifferentialFill;
use spirula_opt::{PASSES, PassPipeline, PipelineOptions, optimise_module};
use spirula_runtime::{ComputeDevice, DeviceOptions, SanitizerOptions};
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{self, EntryInterface};
use spirula_spirv::text;
use spirula_testing::{find_corpus, list_files};
use std::time::Duration;

/// Pipelines whose results are compared with those of the input, in addition to a random one.
const PRESETS: [&str; 5] = ["O2", "O3", "Os", "legalize", "legalize-naga"];
/// Tolerance of floats, relative to their magnitude.
const TOLERANCE: f32 = 1e-4;
/// Iterations of loops after which an invocation is assumed not to terminate.
const LOOPS: u64 = 1 << 14;

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// Final contents of buffers; `None` if the device rejects the module or fails.
type LaunchBufferContents = Option<Vec<Vec<u8>>>;

/// The results for all modules.
#[derive(Default)]
struct DifferentialTally {
    modules: usize,
    /// Number of inputs that ran on each device.
    compared: Vec<(String, usize)>,
    not_clean: usize,
    refused: usize,
    differing: Vec<String>,
}

#[test]
fn optimised_modules_compute_the_same() {
    let Some(folder) = find_corpus("spirv") else {
        return;
    };
    let every = setting("SPIRULA_EVERY").and_then(|e| e.parse().ok());
    let filter = setting("SPIRULA_FILTER").unwrap_or_default();
    let devices = setting("SPIRULA_DEVICES").unwrap_or_else(|| "cpu,vulkan".to_owned());
    let devices: Vec<&str> = devices
        .split(',')
        .filter(|name| ComputeDevice::open(name, &options(None)).is_ok())
        .collect();
    let mut sums = DifferentialTally {
        compared: devices.iter().map(|d| ((*d).to_owned(), 0)).collect(),
        ..DifferentialTally::default()
    };
    let mut all = list_files(&folder, ".spv");
    all.extend(list_files(&folder, ".spvasm"));
    all.extend(list_files(&folder, ".comp"));
    all.retain(|f| f.display().to_string().contains(&filter));
    for (number, file) in all.iter().enumerate().step_by(every.unwrap_or(61)) {
        let name = file.strip_prefix(&folder).unwrap_or(file);
        let Some(module) = read(file) else {
            continue;
        };
        one(&name.display().to_string(), &module, number, &mut sums);
    }
    println!(
        "{} modules; inputs compared on {:?}, {} not clean, {} refused",
        sums.modules, sums.compared, sums.not_clean, sums.refused
    );
    assert!(
        sums.modules > 10 || !filter.is_empty(),
        "the corpus has modules"
    );
    assert!(
        sums.differing.is_empty(),
        "{} differ:\n{}",
        sums.differing.len(),
        sums.differing.join("\n")
    );
}

fn options(seed: Option<u64>) -> DeviceOptions {
    DeviceOptions {
        threads: Some(1),
        timeout: Some(Duration::from_secs(60)),
        check: SanitizerOptions {
            seed,
            loops: LOOPS,
            ..SanitizerOptions::default()
        },
        ..DeviceOptions::default()
    }
}

fn read(file: &std::path::Path) -> Option<SpirvModule> {
    let bytes = std::fs::read(file).ok()?;
    if file.extension().is_some_and(|e| e == "spv") {
        return SpirvModule::from_bytes(&bytes).ok();
    }
    let source = std::str::from_utf8(&bytes).ok()?;
    let words = text::parse_assembly(source, &text::ParseOptions::default()).ok()?;
    SpirvModule::from_words(words).ok()
}

fn one(name: &str, module: &SpirvModule, number: usize, sums: &mut DifferentialTally) {
    let points = reflect::entry_points(module);
    let found = points.iter().find_map(|(point, _)| {
        let interface = EntryInterface::from_module(module, point).ok()?;
        inputs::can_be_given(&interface).then_some(interface)
    });
    let Some(interface) = found else { return };
    // Results that depend on the order of invocations are skipped as well, such as those of some atomics.
    let [ordered, shuffled] = [None, Some(1)]
        .map(|seed| run(module, &interface, "cpu+san", seed, &DifferentialFill::ALL));
    let same = |(_, (a, b)): &(
        DifferentialFill,
        (LaunchBufferContents, LaunchBufferContents),
    )| a.is_some() && a == b;
    let all = DifferentialFill::ALL
        .into_iter()
        .zip(ordered.into_iter().zip(shuffled));
    let clean: Vec<DifferentialFill> = all.filter(same).map(|(fill, _)| fill).collect();
    sums.modules += 1;
    sums.not_clean += DifferentialFill::ALL.len() - clean.len();
    if clean.is_empty() {
        return;
    }
    let presets = PRESETS.iter().map(|p| (*p).to_owned());
    let optimised: Vec<(String, Option<SpirvModule>)> = presets
        .chain([at_random(number)])
        .map(|pipeline| {
            let module = optimised(module, &pipeline);
            (pipeline, module)
        })
        .collect();
    for at in 0..sums.compared.len() {
        let device = sums.compared[at].0.clone();
        let before = run(module, &interface, &device, None, &clean);
        sums.compared[at].1 += before.iter().flatten().count();
        sums.refused += before.iter().filter(|found| found.is_none()).count();
        for (pipeline, optimised) in &optimised {
            let after = match optimised {
                Some(optimised) => run(optimised, &interface, &device, None, &clean),
                None => vec![None; clean.len()],
            };
            for ((fill, before), after) in clean.iter().zip(&before).zip(&after) {
                let Some(before) = before else { continue };
                if !after.as_ref().is_some_and(|after| are_equal(before, after)) {
                    let what = match after {
                        Some(_) => "differs",
                        None => "fails",
                    };
                    let difference = format!("{name}: {pipeline}: {fill:?} {what} on {device}");
                    println!("{difference}");
                    sums.differing.push(difference);
                }
            }
        }
    }
}

fn optimised(module: &SpirvModule, pipeline: &str) -> Option<SpirvModule> {
    let mut module = module.clone();
    let pipeline: PassPipeline = pipeline.parse().expect("passes exist");
    optimise_module(&mut module, &pipeline, &mut PipelineOptions::default()).ok()?;
    Some(module)
}

/// Passes in an order that depends on a number. Passes that deliberately change the results or the bindings are
/// left out.
fn at_random(number: usize) -> String {
    let others = [
        "adce-bindings",
        "relax-floats",
        "relaxed-to-half",
        "set-spec-const",
        "split-descriptors",
        "workgroup-size",
    ];
    let passes: Vec<_> = PASSES
        .iter()
        .filter(|p| !others.contains(&p.name))
        .collect();
    let mut state = number as u64;
    let mut next = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % end
    };
    let names: Vec<String> = (0..3 + next(8))
        .map(|_| passes[next(passes.len())].example_pipeline())
        .collect();
    names.join(",")
}

/// Launches a kernel with each of several inputs.
fn run(
    module: &SpirvModule,
    interface: &EntryInterface,
    device: &str,
    seed: Option<u64>,
    fills: &[DifferentialFill],
) -> Vec<LaunchBufferContents> {
    let open = || {
        let mut device = ComputeDevice::open(device, &options(seed)).ok()?;
        let kernel = device.create_kernel(module, &interface.name, &[]).ok()?;
        Some((device, kernel))
    };
    let mut opened = open();
    let launches = fills.iter().map(|fill| {
        let (device, kernel) = opened.as_mut()?;
        let found = inputs::run(device, *kernel, interface, *fill).ok();
        if found.is_none() {
            // A device that has failed cannot be used any more.
            opened = open();
        }
        found
    });
    launches.collect()
}

/// Whether buffers hold the same words, or floats within the tolerance. Devices may contract products and sums, and
/// their functions may differ from those used in constant folding.
fn are_equal(a: &[Vec<u8>], b: &[Vec<u8>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
}

fn is_equal(a: &[u8], b: &[u8]) -> bool {
    let words = |bytes: &[u8]| -> Vec<u32> {
        let chunks = bytes.chunks_exact(4);
        chunks
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    };
    let (words_a, words_b) = (words(a), words(b));
    let largest = words_a
        .iter()
        .map(|word| f32::from_bits(*word).abs())
        .filter(|v| v.is_finite())
        .fold(0.0, f32::max);
    let mut pairs = words_a.iter().zip(&words_b);
    a == b
        || a.len() == b.len()
            && pairs
                .all(|(x, y)| x == y || are_close(f32::from_bits(*x), f32::from_bits(*y), largest))
}

/// Whether both are floats that differ little relative to the largest one. Small integers would be subnormal, and
/// are not taken for floats.
fn are_close(x: f32, y: f32, largest: f32) -> bool {
    let is_float = |v: f32| v.is_normal() || v == 0.0;
    let bound = TOLERANCE * x.abs().max(y.abs()) + TOLERANCE / 10.0 * largest;
    x.is_nan() && y.is_nan() || is_float(x) && is_float(y) && (x - y).abs() <= bound
}
