//! Allowed features: the capabilities and extensions that a module may declare.

use spirula_spirv::analysis::{AllowedExtensions, RequirementCeiling};
use spirula_spirv::grammar::enumerants::Capability;
use spirula_spirv::grammar::{Kind, SpirvVersion};
use std::str::FromStr;

/// A capability or an extension by its name.
#[derive(Clone, Debug)]
pub enum AllowedFeature {
    Capability(Capability),
    Extension(String),
}

impl FromStr for AllowedFeature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("SPV_") {
            return Ok(AllowedFeature::Extension(text.to_owned()));
        }
        let row = Kind::Capability.info().by_name(text);
        row.map(|row| AllowedFeature::Capability(Capability(row.value)))
            .ok_or_else(|| format!("no capability is named {text}, and extensions begin with SPV_"))
    }
}

/// The ceiling that a list sets. An empty list sets none.
pub fn build_feature_ceiling(allowed: &[AllowedFeature]) -> RequirementCeiling {
    if allowed.is_empty() {
        return RequirementCeiling::default();
    }
    let (mut capabilities, mut extensions) = (Vec::new(), Vec::new());
    for one in allowed {
        match one {
            AllowedFeature::Capability(capability) => capabilities.push(*capability),
            AllowedFeature::Extension(name) => extensions.push(name.clone()),
        }
    }
    RequirementCeiling {
        capabilities: Some(capabilities),
        extensions: AllowedExtensions::Only(extensions),
    }
}

/// Parses a version of SPIR-V, such as 1.3.
pub fn parse_spirv_version(text: &str) -> Result<SpirvVersion, String> {
    let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok());
    minor
        .map(|minor| SpirvVersion::new(1, minor))
        .filter(|version| *version <= SpirvVersion::NEWEST)
        .ok_or_else(|| format!("versions of SPIR-V are 1.0 to {}", SpirvVersion::NEWEST))
}
