//! Tuning parameters on the command line.

use std::str::FromStr;

/// A tuning parameter of the form `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningParameter {
    /// Name of the parameter, or of a class of parameters.
    pub name: String,
    /// Value.
    pub value: u64,
}

impl FromStr for TuningParameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Names of thresholds contain `=` themselves.
        let (name, value) = text
            .rsplit_once('=')
            .ok_or_else(|| format!("{text:?} is not a NAME=VALUE"))?;
        let value = value.trim().parse();
        Ok(TuningParameter {
            name: name.trim().to_owned(),
            value: value.map_err(|_| format!("the value in {text:?} is not a number"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values() {
        let parse = |text: &str| text.parse::<TuningParameter>();
        let tile = parse("main.tile_size_3 = 8").unwrap();
        assert_eq!((tile.name.as_str(), tile.value), ("main.tile_size_3", 8));
        for text in ["", "x", "x=", "x=-1", "x=1.5", "x=99999999999999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
