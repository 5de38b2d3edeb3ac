//! `spirula devices`.

use crate::cli::{Outcome, files};
use spirula_runtime::{DeviceInfo, devices};
use std::fmt::Write;
use std::path::Path;

/// Lists the devices, the default first.
pub fn run() -> Outcome {
    let all: String = devices().iter().map(describe).collect();
    files::write_text(Path::new("-"), &all)
}

fn describe(device: &DeviceInfo) -> String {
    let limits = &device.limits;
    let [x, y, z] = limits.workgroup_size;
    let mut out = format!("{}: {}\n", device.id, device.name);
    let rows = [
        ("driver", device.driver.clone()),
        ("subgroup size", device.subgroup_size.to_string()),
        (
            "workgroup",
            format!(
                "{} invocations, at most {x}x{y}x{z}",
                limits.workgroup_invocations
            ),
        ),
        ("workgroup memory", size(limits.workgroup_memory)),
        ("largest buffer", size(limits.buffer_size)),
    ];
    for (name, value) in rows {
        // Writing to a string does not fail.
        let _ = writeln!(out, "  {name:17} {value}");
    }
    out
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match value.fract() == 0.0 {
        true => format!("{value} {}", UNITS[unit]),
        false => format!("{value:.1} {}", UNITS[unit]),
    }
}
