//! Which extensions of SPIR-V a module may use.

use std::convert::Infallible;
use std::str::FromStr;

/// The extensions that a module may use. What needs another one is refused, or done without it
/// where that is possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Extensions {
    /// Any.
    #[default]
    All,
    /// These alone.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

impl Extensions {
    /// Whether an extension may be used.
    pub fn allows(&self, name: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|n| n == name);
        match self {
            Extensions::All => true,
            Extensions::Only(names) => among(names),
            Extensions::Except(names) => !among(names),
        }
    }
}

impl FromStr for Extensions {
    type Err = Infallible;

    /// `all`, `none`, names separated by commas, or such names each with a minus for all others.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let names = |text: &str| {
            let names = text.split(',').map(|n| n.trim_start_matches(['+', '-']));
            names.filter(|n| !n.is_empty()).map(str::to_owned).collect()
        };
        Ok(match text {
            "all" => Extensions::All,
            "none" => Extensions::Only(Vec::new()),
            _ if text.starts_with('-') => Extensions::Except(names(text)),
            _ => Extensions::Only(names(text)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_allow_and_forbid() {
        let parse = |text: &str| Extensions::from_str(text).unwrap_or_default();
        assert!(parse("all").allows("SPV_A"));
        assert!(!parse("none").allows("SPV_A"));
        assert!(parse("SPV_A,SPV_B").allows("SPV_B"));
        assert!(!parse("SPV_A,SPV_B").allows("SPV_C"));
        assert!(!parse("-SPV_A,-SPV_B").allows("SPV_B"));
        assert!(parse("-SPV_A,-SPV_B").allows("SPV_C"));
    }
}
