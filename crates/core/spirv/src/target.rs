//! Target environments: what a module may assume of the environment that it is for.

use crate::grammar::SpirvVersion;
use spirula_diagnostics::find_nearest;
use std::fmt;
use std::str::FromStr;

/// The client interface that will consume a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetEnvironment {
    /// Any consumer of a version of SPIR-V.
    Universal,
    /// OpenCL of a version.
    OpenCl(u8, u8),
    /// Vulkan of a version.
    Vulkan(u8, u8),
}

/// An environment with the newest version of SPIR-V that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpirvTarget {
    /// Who consumes the module.
    pub environment: TargetEnvironment,
    /// Version of SPIR-V to write.
    pub version: SpirvVersion,
}

/// Every name of a target, as the validator spells them, oldest first.
const NAMED: &[(&str, SpirvTarget)] = &[
    make_target_row("spv1.0", TargetEnvironment::Universal, 0),
    make_target_row("spv1.1", TargetEnvironment::Universal, 1),
    make_target_row("spv1.2", TargetEnvironment::Universal, 2),
    make_target_row("spv1.3", TargetEnvironment::Universal, 3),
    make_target_row("spv1.4", TargetEnvironment::Universal, 4),
    make_target_row("spv1.5", TargetEnvironment::Universal, 5),
    make_target_row("spv1.6", TargetEnvironment::Universal, 6),
    make_target_row("opencl1.2", TargetEnvironment::OpenCl(1, 2), 0),
    make_target_row("opencl2.0", TargetEnvironment::OpenCl(2, 0), 0),
    make_target_row("opencl2.1", TargetEnvironment::OpenCl(2, 1), 0),
    make_target_row("opencl2.2", TargetEnvironment::OpenCl(2, 2), 2),
    make_target_row("opencl3.0", TargetEnvironment::OpenCl(3, 0), 4),
    make_target_row("vulkan1.0", TargetEnvironment::Vulkan(1, 0), 0),
    make_target_row("vulkan1.1", TargetEnvironment::Vulkan(1, 1), 3),
    make_target_row("vulkan1.1spv1.4", TargetEnvironment::Vulkan(1, 1), 4),
    make_target_row("vulkan1.2", TargetEnvironment::Vulkan(1, 2), 5),
    make_target_row("vulkan1.3", TargetEnvironment::Vulkan(1, 3), 6),
    make_target_row("vulkan1.4", TargetEnvironment::Vulkan(1, 4), 6),
];

const fn make_target_row(
    name: &'static str,
    environment: TargetEnvironment,
    minor: u8,
) -> (&'static str, SpirvTarget) {
    (
        name,
        SpirvTarget {
            environment,
            version: SpirvVersion::new(1, minor),
        },
    )
}

impl SpirvTarget {
    /// The names that [`SpirvTarget::from_str`] takes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }
}

/// The name, as [`SpirvTarget::from_str`] takes it.
impl fmt::Display for SpirvTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMED.iter().find(|(_, target)| target == self);
        f.write_str(name.map_or("unnamed", |(name, _)| name))
    }
}

/// No target has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownTarget(name) = self;
        write!(f, "no target environment {name}; ")?;
        if let Some(near) = find_nearest(name, SpirvTarget::names()) {
            return write!(f, "did you mean {near}?");
        }
        let names: Vec<_> = SpirvTarget::names().collect();
        write!(f, "there are: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownTarget {}

impl FromStr for SpirvTarget {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Self, UnknownTarget> {
        let found = NAMED.iter().find(|(n, _)| *n == name);
        found
            .map(|(_, target)| *target)
            .ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

impl Default for SpirvTarget {
    /// SPIR-V 1.4 for OpenCL 3.0 devices.
    fn default() -> Self {
        SpirvTarget {
            environment: TargetEnvironment::Universal,
            version: SpirvVersion::new(1, 4),
        }
    }
}
