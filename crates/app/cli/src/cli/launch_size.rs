//! Launch sizes: sizes of up to three dimensions on the command line.

use std::str::FromStr;

/// A size of the form `X`, `X,Y` or `X,Y,Z`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSizeArg(Vec<u64>);

impl LaunchSizeArg {
    /// Number of sizes that are given.
    pub fn dimensions(&self) -> u32 {
        self.0.len() as u32
    }

    /// All three sizes. A missing size is `default`.
    pub fn padded_to_three(&self, default: u64) -> [u64; 3] {
        let mut out = [default; 3];
        out[..self.0.len()].copy_from_slice(&self.0);
        out
    }
}

impl FromStr for LaunchSizeArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split([',', 'x']).map(|part| {
            let size = part.trim().parse::<u64>();
            size.map_err(|_| format!("{part:?} is not a size"))
        });
        let sizes: Vec<_> = parts.collect::<Result<_, _>>()?;
        match sizes.len() {
            1..=3 => Ok(LaunchSizeArg(sizes)),
            n => Err(format!("{n} sizes are given, there are 3 dimensions")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_three() {
        let three = |text: &str| text.parse::<LaunchSizeArg>().map(|s| s.padded_to_three(1));
        assert_eq!(three("8"), Ok([8, 1, 1]));
        assert_eq!(three("8, 4"), Ok([8, 4, 1]));
        assert_eq!(three("8x4x2"), Ok([8, 4, 2]));
        for text in ["", "1,2,3,4", "-1", "1,", "a"] {
            assert!(three(text).is_err(), "{text}");
        }
    }
}
