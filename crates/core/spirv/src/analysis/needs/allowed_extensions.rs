//! Allowed extensions: the SPIR-V extensions that a module may use.

use std::convert::Infallible;
use std::str::FromStr;

/// The extensions that a module may use. Translators lower constructs that need another one without it if
/// possible, and refuse them otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowedExtensions {
    /// Any.
    #[default]
    All,
    /// These alone.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

/// Extensions that few devices have, for constructs that can also be expressed without them.
const RARE_EXTENSIONS: [&str; 3] = [
    "SPV_ALTERA_arbitrary_precision_integers",
    "SPV_INTEL_arbitrary_precision_integers",
    "SPV_EXT_long_vector",
];

impl AllowedExtensions {
    /// The extensions for a module that is to run on a local device. Integers and vectors of sizes
    /// that hardly any device supports are split.
    pub fn of_devices() -> AllowedExtensions {
        AllowedExtensions::Except(RARE_EXTENSIONS.map(str::to_owned).to_vec())
    }

    /// Whether an extension may be used.
    pub fn is_allowed(&self, name: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|n| n == name);
        match self {
            AllowedExtensions::All => true,
            AllowedExtensions::Only(names) => among(names),
            AllowedExtensions::Except(names) => !among(names),
        }
    }

    /// Whether an extension was requested by name. Extensions that every module could use but few
    /// consumers know are used only then.
    pub fn is_named(&self, name: &str) -> bool {
        matches!(self, AllowedExtensions::Only(names) if names.iter().any(|n| n == name))
    }
}

impl FromStr for AllowedExtensions {
    type Err = Infallible;

    /// Parses names that are separated by commas. A plus or no sign allows an extension, a minus
    /// forbids it, and there are `all` and `none`. `+A,+B` allows these two alone; `-A` and
    /// `all,-A` allow all but this one.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let parts = || {
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
        };
        let forbidden: Vec<String> = parts()
            .filter_map(|part| part.strip_prefix('-'))
            .map(str::to_owned)
            .collect();
        let mut allowed: Vec<&str> = parts()
            .filter(|part| !part.starts_with('-'))
            .map(|part| part.trim_start_matches('+'))
            .collect();
        let all = allowed.contains(&"all") || (allowed.is_empty() && !forbidden.is_empty());
        if all {
            return Ok(if forbidden.is_empty() {
                AllowedExtensions::All
            } else {
                AllowedExtensions::Except(forbidden)
            });
        }
        allowed.retain(|name| *name != "none" && !forbidden.iter().any(|f| f == name));
        Ok(AllowedExtensions::Only(
            allowed.into_iter().map(str::to_owned).collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_allow_and_forbid() {
        let parse = |text: &str| AllowedExtensions::from_str(text).unwrap_or_default();
        assert!(parse("all").is_allowed("SPV_A"));
        assert!(!AllowedExtensions::of_devices().is_allowed("SPV_EXT_long_vector"));
        assert!(!parse("all").is_named("SPV_A"));
        assert!(parse("SPV_A").is_named("SPV_A"));
        assert!(!parse("none").is_allowed("SPV_A"));
        assert!(parse("SPV_A,SPV_B").is_allowed("SPV_B"));
        assert!(!parse("SPV_A,SPV_B").is_allowed("SPV_C"));
        assert!(!parse("-SPV_A,-SPV_B").is_allowed("SPV_B"));
        assert!(parse("-SPV_A,-SPV_B").is_allowed("SPV_C"));
        assert!(parse("+SPV_A,-SPV_B").is_allowed("SPV_A"));
        assert!(!parse("+SPV_A,-SPV_B").is_allowed("SPV_C"));
        assert!(!parse("+all,-SPV_B").is_allowed("SPV_B"));
        assert!(parse("+all,-SPV_B").is_allowed("SPV_C"));
    }
}
