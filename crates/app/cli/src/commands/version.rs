//! `spirula --version`: the version with what it was built from, and what it can use here.

use crate::cli::{CommandResult, files};
use spirula_runtime::list_devices;
use spirula_spirv::grammar::SpirvVersion;

/// Optional parts of this program.
const FEATURES: &[(&str, bool)] = &[
    ("fixed-address", cfg!(feature = "fixed-address")),
    ("wgsl", cfg!(feature = "wgsl")),
];

/// Prints the version, the commit, optional parts, and devices.
pub fn print_version() -> CommandResult {
    let features: Vec<_> = FEATURES
        .iter()
        .filter(|(_, is_there)| *is_there)
        .map(|(name, _)| *name)
        .collect();
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    files::print_line(&format!("spirula {}", env!("CARGO_PKG_VERSION")))?;
    let rows = [
        (
            "commit",
            option_env!("SPIRULA_COMMIT")
                .unwrap_or("unknown")
                .to_owned(),
        ),
        ("target", format!("{}, {profile}", env!("SPIRULA_TARGET"))),
        ("features", list_or_none(&features)),
        ("SPIR-V", format!("1.0 to {}", SpirvVersion::NEWEST)),
        ("inputs", spirula::list_accepted_inputs()),
    ];
    for (name, value) in rows {
        files::print_line(&format!("{name}: {value}"))?;
    }
    let devices = list_devices();
    devices.iter().try_for_each(|device| {
        files::print_line(&format!("device: {}, {}", device.id, device.name))
    })
}

fn list_or_none(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
