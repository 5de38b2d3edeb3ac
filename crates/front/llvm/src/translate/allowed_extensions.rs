//! Which extensions of SPIR-V a module may use.

use std::convert::Infallible;
use std::str::FromStr;

/// The extensions that a module may use. What needs another one is refused, or done without it
/// where that is possible.
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

/// Extensions for what few devices have, and what can be done without them as well.
const OF_FEW: [&str; 3] = [
    "SPV_ALTERA_arbitrary_precision_integers",
    "SPV_INTEL_arbitrary_precision_integers",
    "SPV_EXT_long_vector",
];

impl AllowedExtensions {
    /// Those of a module that a device at hand shall run: integers and vectors of sizes that hardly
    /// any device has are taken apart.
    pub fn of_devices() -> AllowedExtensions {
        AllowedExtensions::Except(OF_FEW.map(str::to_owned).to_vec())
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

    /// Whether an extension was asked for by its name. What every module could use and few
    /// consumers know is only used then.
    pub fn is_named(&self, name: &str) -> bool {
        matches!(self, AllowedExtensions::Only(names) if names.iter().any(|n| n == name))
    }
}

impl FromStr for AllowedExtensions {
    type Err = Infallible;

    /// Names separated by commas, each with a plus or nothing where it may be used, with a minus
    /// where it may not, and `all` and `none`: `+A,+B` are these alone, `-A` all but this one, as
    /// is `all,-A`.
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
