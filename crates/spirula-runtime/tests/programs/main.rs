//! Programs of the corpus, compiled and run with the cases of their sources on every device.

mod cases;

use cases::{agree, cases};
use spirula_program::{Program, RunError, Session};
use spirula_runtime::{Device, DeviceMachine, DeviceOptions, devices};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Largest printed program that is run, in bytes.
const LARGEST: usize = 200_000;

fn text(file: &Path) -> String {
    let bytes = fs::read(file).expect("the file can be read");
    let mut text = String::new();
    match file.extension().is_some_and(|e| e == "gz") {
        true => flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .map(|_| ())
            .expect("the file can be decompressed"),
        false => text = String::from_utf8(bytes).expect("the file is text"),
    }
    text
}

/// What came of the cases.
#[derive(Default)]
struct Outcome {
    passed: usize,
    programs: usize,
    failed: Vec<String>,
    unsupported: BTreeMap<String, usize>,
}

fn run(name: &str, program: &Program, source: &str, device: &str, outcome: &mut Outcome) {
    let mut right = true;
    for case in cases(source) {
        let mut device = Device::open(device, &DeviceOptions::default()).expect("the device opens");
        let machine = DeviceMachine::new(&mut device);
        let found =
            Session::new(program, machine).and_then(|mut s| s.call(&case.entry, &case.input));
        let problem = match (&case.output, found) {
            (_, Err(RunError::Unsupported(what))) => {
                *outcome.unsupported.entry(what).or_default() += 1;
                continue;
            }
            (None, Err(RunError::Failed(..) | RunError::Invalid(_))) => None,
            (None, Ok(_)) => Some("no error".to_owned()),
            (_, Err(error)) => Some(error.to_string()),
            (Some(expected), Ok(found)) => {
                let found: Vec<_> = found.into_iter().flatten().collect();
                let equal = expected.len() == found.len()
                    && expected.iter().zip(&found).all(|(e, f)| agree(e, f));
                let shown = || {
                    found
                        .iter()
                        .map(|v| v.to_string().chars().take(150).collect())
                        .collect::<Vec<String>>()
                };
                let wanted = || {
                    expected
                        .iter()
                        .map(|v| v.to_string().chars().take(150).collect())
                        .collect::<Vec<String>>()
                };
                (!equal).then(|| format!("{:?}, expected {:?}", shown(), wanted()))
            }
        };
        match problem {
            None => outcome.passed += 1,
            Some(problem) => {
                right = false;
                outcome
                    .failed
                    .push(format!("{name} {}: {problem}", case.entry));
            }
        }
    }
    outcome.programs += usize::from(right);
}

fn all(device: &str) -> Option<Outcome> {
    let corpus = spirula_testing::corpus("futhark")?;
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut outcome = Outcome::default();
    for file in spirula_testing::files(&corpus.join("imp/tests"), ".fut.imp") {
        let name = file
            .strip_prefix(corpus.join("imp"))
            .expect("a file of the corpus");
        let name = name.display().to_string();
        if !name.contains(&only) {
            continue;
        }
        let printed = text(&file);
        let source = corpus.join(name.trim_end_matches(".imp"));
        let (true, Ok(source)) = (printed.len() < LARGEST, fs::read_to_string(source)) else {
            continue;
        };
        let program = spirula_kernel::read_futhark(&printed).expect("the program reads");
        let program = spirula_kernel::compile(&program).expect("the program compiles");
        run(&name, &program, &source, device, &mut outcome);
    }
    eprintln!(
        "{device}: {} programs, {} passed, {} failed, unsupported {:#?}\n{}",
        outcome.programs,
        outcome.passed,
        outcome.failed.len(),
        outcome.unsupported,
        outcome.failed.join("\n")
    );
    Some(outcome)
}

#[test]
fn programs_run_on_the_cpu_device() {
    if let Some(outcome) = all("cpu") {
        assert!(outcome.failed.is_empty() && outcome.passed > 0);
    }
}

/// On Vulkan devices, where there are any.
#[test]
fn programs_run_on_vulkan_devices() {
    let others: Vec<_> = devices()
        .into_iter()
        .map(|d| d.id)
        .filter(|id| id != "cpu")
        .collect();
    if others.is_empty() {
        eprintln!("NOT TESTED: no Vulkan device");
    }
    for device in others {
        if let Some(outcome) = all(&device) {
            assert!(outcome.failed.is_empty() && outcome.passed > 0);
        }
    }
}
