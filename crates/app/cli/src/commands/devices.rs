//! `spirula devices`: lists devices and probes them.

use crate::cli::args::DevicesArgs;
use crate::cli::device_record::DeviceRecord;
use crate::cli::finding::print_json;
use crate::cli::{CommandFailure, CommandResult, failure, files};
use spirula_runtime::probe::{self, ProbeVerdict};
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceOptions, find_cache_folder, list_devices};
use std::fmt::Write;
use std::path::Path;

/// Runs `spirula devices`. The default device comes first.
pub fn run_devices(args: &DevicesArgs) -> CommandResult {
    let named = |name: &String| {
        ComputeDevice::find_info(name).map_err(|e| CommandFailure::from_message(e.to_string()))
    };
    let all = if args.names.is_empty() {
        list_devices()
    } else {
        args.names.iter().map(named).collect::<Result<_, _>>()?
    };
    if args.json {
        let records: Vec<_> = all.iter().map(DeviceRecord::new).collect();
        return print_json(Path::new("-"), &records);
    }
    let mut outcome = Ok(());
    for device in &all {
        let mut text = describe_device(device);
        if args.probe && device.newest_module.is_some() {
            outcome = append_probe_results(device, &mut text).and(outcome)
        } else {
            text += &format_earlier_probe(device)
        }
        files::write_text(Path::new("-"), &text)?;
    }
    outcome
}

/// Runs the probes and stores their findings. The result is a failure where the device has a fault.
fn append_probe_results(info: &DeviceInfo, text: &mut String) -> CommandResult {
    let failed =
        |e: spirula_runtime::DeviceError| CommandFailure::from_message(format!("{}: {e}", info.id));
    let device = ComputeDevice::open(&info.id, &DeviceOptions::default());
    let found = device
        .and_then(|mut device| probe::probe_device(&mut device))
        .map_err(failed)?;
    if found.iter().all(|f| f.verdict == ProbeVerdict::Lacking) {
        *text += &format_row("probed", "not: probes are shaders, which it does not run");
        return Ok(());
    }
    let mut outcome = Ok(());
    for finding in &found {
        let told = match &finding.verdict {
            ProbeVerdict::Right => "right".to_owned(),
            ProbeVerdict::Lacking => "not there".to_owned(),
            ProbeVerdict::Wrong(why) => {
                outcome = Err(CommandFailure::Reported);
                format!("WRONG: {why}")
            }
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {}: {told}", finding.subject);
    }
    if let Some(folder) = find_cache_folder()
        && let Err(e) = probe::save_findings(&folder, info, &found)
    {
        let warning = format!("what was found is not kept: {}: {e}", folder.display());
        failure::report_line("warning", &warning, None);
    }
    outcome
}

/// The findings of an earlier probe.
fn format_earlier_probe(info: &DeviceInfo) -> String {
    let known = find_cache_folder().and_then(|folder| probe::load_findings(&folder, info));
    let wrong: Vec<String> = match known {
        None => return String::new(),
        Some(wrong) => wrong.into_iter().map(|(_, subject)| subject).collect(),
    };
    if wrong.is_empty() {
        format_row("probed", "nothing wrong")
    } else {
        format_row("probed", &format!("wrong: {}", wrong.join(", ")))
    }
}

fn format_row(name: &str, value: &str) -> String {
    format!("  {name:17} {value}\n")
}

fn describe_device(device: &DeviceInfo) -> String {
    let limits = &device.limits;
    let [x, y, z] = limits.workgroup_size;
    let mut out = format!("{}: {}\n", device.id, device.name);
    let modules = match device.newest_module {
        Some(version) => format!("{version} at most"),
        None => "not taken by its driver".to_owned(),
    };
    let subgroup = match device.subgroup_size {
        0 => "unknown".to_owned(),
        size => size.to_string(),
    };
    let invocations = limits.workgroup_invocations;
    let groups = match limits.groups {
        [u32::MAX, ..] => "any number".to_owned(),
        [x, y, z] if limits.folds => format!("{x}x{y}x{z}, more are folded"),
        [x, y, z] => format!("{x}x{y}x{z}"),
    };
    let rows = [
        ("driver", device.driver.clone()),
        ("SPIR-V", modules),
        ("subgroup size", subgroup),
        (
            "workgroup",
            format!("{invocations} invocations, at most {x}x{y}x{z}"),
        ),
        ("workgroups", groups),
        (
            "workgroup memory",
            format_byte_size(limits.workgroup_memory),
        ),
        ("matrices", describe_matrix_shapes(device)),
        ("largest buffer", format_byte_size(limits.buffer_size)),
        (
            "push constants",
            format_byte_size(limits.push_constants.into()),
        ),
    ];
    for (name, value) in rows {
        out += &format_row(name, &value);
    }
    out
}

/// The matrix products that a device supports, by their types.
fn describe_matrix_shapes(device: &DeviceInfo) -> String {
    let each = device.matrices.iter().map(|shape| {
        let [m, n, k] = shape.size;
        let [a, b] = shape.factors;
        let text = format!("{m}x{n}x{k} {a:?} {b:?} {:?}", shape.sum);
        text.to_lowercase()
    });
    let dense = device
        .has_dense_matrices
        .then(|| "f32 of any size".to_owned());
    let all: Vec<String> = each.chain(dense).collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}

/// A readable number of bytes.
fn format_byte_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}
