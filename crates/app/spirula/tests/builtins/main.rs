//! Built-in functions from their names to their results. Every function that the CPU device can run is called by its
//! mangled name from LLVM IR, in every overload and width of vectors. It is translated and run, and its results are
//! compared with the semantics of OpenCL C. Integers and conversions are exact. Errors of floats are measured with
//! arbitrary precision.

mod case;
mod convert;
mod float;
mod geometry;
mod int;
mod memory;
mod number;
#[path = "../../../../core/scalar/tests/accuracy/reference.rs"]
mod reference;
mod relation;
mod run;
mod subgroup;

use case::BuiltinCase;
use number::{FLOATS, INTS, OpenClScalar};
use run::BuiltinRunner;
use std::collections::BTreeSet;

/// Faults that are shown.
const SHOWN: usize = 40;

/// The device, by default the CPU.
fn device() -> String {
    std::env::var("SPIRULA_BUILTINS_DEVICE").unwrap_or_else(|_| "cpu".to_owned())
}

fn check(cases: &[BuiltinCase]) {
    let faults = run::run(BuiltinRunner::of(&device()), cases);
    let shown = faults.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    assert!(
        faults.is_empty(),
        "{} faults of {} overloads:\n{}",
        faults.len(),
        cases.len(),
        shown.join("\n")
    );
    println!("{} overloads", cases.len());
}

#[test]
fn functions_of_halves() {
    check(&float::elementary(OpenClScalar::F16));
}

#[test]
fn functions_of_floats() {
    check(&float::elementary(OpenClScalar::F32));
}

#[test]
fn functions_of_doubles() {
    check(&float::elementary(OpenClScalar::F64));
}

#[test]
fn geometric_functions() {
    check(&geometry::geometry());
}

#[test]
fn functions_of_integers() {
    check(&int::elementary());
}

#[test]
fn choices_and_shuffles() {
    check(&int::choices());
    check(&int::shuffles());
    check(&int::byte_products());
}

#[test]
fn conversions_of_integers() {
    for from in INTS {
        check(&convert::conversions(from));
    }
}

#[test]
fn conversions_of_floats() {
    for from in FLOATS {
        check(&convert::conversions(from));
    }
}

#[test]
fn loads_and_stores_of_vectors() {
    check(&convert::vectors());
}

#[test]
fn atomics_positions_and_groups() {
    check(&memory::atomics());
    check(&memory::positions());
    check(&memory::groups());
    check(&subgroup::all());
}

/// Functions that are left out on Vulkan, with the reasons.
const NOT_ON_VULKAN: &[(&str, &str)] = &[(
    "fma",
    "an instruction, which graphics processors round once and lavapipe twice",
)];

/// Functions of scalars.
fn scalars() -> Vec<BuiltinCase> {
    let mut cases: Vec<BuiltinCase> = FLOATS.into_iter().flat_map(float::elementary).collect();
    cases.extend(int::elementary());
    cases.retain(|case| case.result.is_some_and(|(_, lanes)| lanes == 1));
    cases
}

/// These functions in shaders, on the CPU device, whose sums and products are exact.
#[test]
fn functions_in_shaders() {
    let cases = scalars();
    let runner = BuiltinRunner {
        device: "cpu",
        as_shader: true,
    };
    let faults = run::run(runner, &cases);
    assert!(
        faults.is_empty(),
        "{} faults of {} overloads:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n")
    );
}

/// The functions on Vulkan keep OpenCL's bounds, too. Only scalars are tested, since vectors are computed by
/// components. `SPIRULA_BUILTINS_VULKAN` sets driver and device; the default is the first.
#[test]
fn functions_on_vulkan() {
    let device = std::env::var("SPIRULA_BUILTINS_VULKAN").unwrap_or_else(|_| "vulkan".to_owned());
    if !spirula_runtime::list_devices()
        .iter()
        .any(|d| d.id.starts_with("vulkan"))
    {
        eprintln!("NOT TESTED: this machine has no Vulkan device");
        return;
    }
    let mut cases = scalars();
    cases.retain(|case| NOT_ON_VULKAN.iter().all(|row| row.0 != case.name));
    let faults = run::run(BuiltinRunner::of(&device), &cases);
    assert!(
        faults.is_empty(),
        "{} faults of {} overloads:\n{}",
        faults.len(),
        cases.len(),
        faults.join("\n")
    );
    println!("{} overloads", cases.len());
}

/// Wrong results are detected.
#[test]
fn wrong_results_are_found() {
    let all = int::elementary();
    let mut case = all
        .into_iter()
        .find(|case| case.name == "hadd")
        .expect("it is called");
    let right = case.eval.clone();
    case.eval = std::rc::Rc::new(move |all| {
        let mut results = right(all);
        results[3][0][0] = case::ExpectedLane::Bits(0x55);
        results
    });
    assert_eq!(run::run(BuiltinRunner::of("cpu"), &[case]).len(), 1);
}

/// Prefixes of functions that are not called here, with the reasons.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "__",
        "pipes, queues and casts: they need what a buffer is not",
    ),
    ("read_image", "images: tests of the device"),
    ("write_image", "images: tests of the device"),
    ("get_image", "images: tests of the device"),
    ("sub_group_barrier", "no result"),
    ("intel_", "extensions that the CPU device does not have"),
    ("clock_read_", "what a clock says is not known before"),
    ("barrier", "no result"),
    ("work_group_barrier", "no result"),
    ("mem_fence", "no result"),
    ("read_mem_fence", "no result"),
    ("write_mem_fence", "no result"),
    ("atomic_work_item_fence", "no result"),
    ("async_work_group_", "events: the corpus of kernels"),
    ("wait_group_events", "events: the corpus of kernels"),
    ("prefetch", "no result"),
    ("printf", "no result in memory"),
    ("to_", "casts between address spaces: the corpus of kernels"),
    ("get_fence", "casts between address spaces"),
    ("is_valid_", "pipes and queues"),
    ("enqueue_marker", "queues"),
    ("get_default_queue", "queues"),
    ("ndrange_", "queues"),
    ("create_user_event", "queues"),
    ("retain_event", "queues"),
    ("release_event", "queues"),
    ("set_user_event_status", "queues"),
    ("capture_event_profiling_info", "queues"),
    ("vload_halfn", "the instruction of vload_half2 and so on"),
    ("vloada_halfn", "the instruction of vloada_half2 and so on"),
    ("vloadn", "the instruction of vload2 and so on"),
    (
        "vstore_half_r",
        "the instruction of vstore_half_rte and so on",
    ),
    ("vstore_halfn", "the instruction of vstore_half2 and so on"),
    (
        "vstorea_halfn",
        "the instruction of vstorea_half2 and so on",
    ),
    ("vstoren", "the instruction of vstore2 and so on"),
];

/// Every name of the table is called here, or has a reason to be left out.
#[test]
fn every_name_is_called() {
    let mut cases: Vec<BuiltinCase> = FLOATS.into_iter().flat_map(float::elementary).collect();
    cases.extend(geometry::geometry());
    cases.extend(int::elementary());
    cases.extend(int::choices());
    cases.extend(int::shuffles());
    cases.extend(int::byte_products());
    cases.extend(convert::vectors());
    cases.extend(memory::atomics());
    cases.extend(memory::positions());
    cases.extend(memory::groups());
    cases.extend(subgroup::all());
    let called: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let page = spirula_llvm::print_reference();
    let functions = page
        .split("\n## ")
        .find(|part| part.starts_with("Built-in functions of OpenCL C"));
    let functions = functions.expect("the page lists functions");
    let mut missing = Vec::new();
    for line in functions
        .lines()
        .filter_map(|line| line.strip_prefix("- `"))
    {
        let Some((name, _)) = line.split_once('`') else {
            continue;
        };
        // Conversions have a test for each type that they are from.
        let is_called = name == "convert_" || called.iter().any(|c| c.starts_with(name));
        let has_reason = ELSEWHERE.iter().any(|row| name.starts_with(row.0));
        if !is_called && !has_reason {
            missing.push(name);
        }
    }
    assert!(missing.is_empty(), "nothing calls {}", missing.join(" "));
}
