//! Versions of packages.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A semantic version, `X.Y.Z`, or a commit.
///
/// A commit is written `0.0.0-TIME+HASH`, where the time consists of digits. All released versions are newer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageVersion {
    /// Major version. Versions that differ in it are of different packages, other than 0 and 1.
    pub major: u64,
    /// Minor version.
    pub minor: u64,
    /// Patch.
    pub patch: u64,
    /// Digits after `-`.
    pub time: Option<String>,
    /// Letters and digits after `+`.
    pub hash: Option<String>,
}

impl PackageVersion {
    /// The version of a commit; `time` is `yyyymmddhhmmss`.
    #[must_use]
    pub fn from_commit(time: &str, hash: &str) -> Self {
        PackageVersion {
            major: 0,
            minor: 0,
            patch: 0,
            time: Some(time.to_owned()),
            hash: Some(hash.to_owned()),
        }
    }

    /// The hash of the commit that the version names. A release names none.
    #[must_use]
    pub fn commit(&self) -> Option<&str> {
        self.time.as_ref().filter(|_| self.is_zero())?;
        self.hash.as_deref()
    }

    /// Whether all three numbers are 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        (self.major, self.minor, self.patch) == (0, 0, 0)
    }

    /// Compares by precedence: by numbers, then by time, where none is the latest. Hashes do not count.
    #[must_use]
    pub fn compare_precedence(&self, other: &PackageVersion) -> Ordering {
        let numbers = |v: &PackageVersion| (v.major, v.minor, v.patch);
        let by_time = match (&self.time, &other.time) {
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        numbers(self).cmp(&numbers(other)).then(by_time)
    }

    /// Splits a text that begins with a version into the version and the rest.
    pub(crate) fn parse_prefix(text: &str) -> Option<(PackageVersion, &str)> {
        let (major, rest) = parse_number(text)?;
        let (minor, rest) = parse_number(rest.strip_prefix('.')?)?;
        let (patch, rest) = parse_number(rest.strip_prefix('.')?)?;
        let (time, rest) = parse_part(rest, '-', |c| c.is_ascii_digit())?;
        let (hash, rest) = parse_part(rest, '+', char::is_alphanumeric)?;
        let version = PackageVersion {
            major,
            minor,
            patch,
            time,
            hash,
        };
        Some((version, rest))
    }
}

/// Parses a number without leading zeros.
fn parse_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let end = if text.starts_with('0') {
        1
    } else {
        end.unwrap_or(text.len())
    };
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Parses an optional part after a mark. A part after its mark is not empty.
fn parse_part(
    text: &str,
    mark: char,
    accepts: impl Fn(char) -> bool,
) -> Option<(Option<String>, &str)> {
    let Some(rest) = text.strip_prefix(mark) else {
        return Some((None, text));
    };
    let end = rest.find(|c| !accepts(c)).unwrap_or(rest.len());
    (end > 0).then(|| (Some(rest[..end].to_owned()), &rest[end..]))
}

impl FromStr for PackageVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match PackageVersion::parse_prefix(text) {
            Some((version, "")) => Ok(version),
            _ => Err(format!("{text} is not a version X.Y.Z")),
        }
    }
}

impl fmt::Display for PackageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if let Some(time) = &self.time {
            write!(f, "-{time}")?;
        }
        if let Some(hash) = &self.hash {
            write!(f, "+{hash}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> PackageVersion {
        text.parse().expect("a version")
    }

    #[test]
    fn versions_have_three_numbers() {
        for text in ["0.1.0", "10.20.30", "0.0.0-20180801102532+b7002000f"] {
            assert_eq!(version(text).to_string(), text);
        }
        for text in [
            "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-a", "v1.0.0",
        ] {
            assert!(text.parse::<PackageVersion>().is_err(), "{text:?}");
        }
        assert!(
            "99999999999999999999.0.0"
                .parse::<PackageVersion>()
                .is_err()
        );
    }

    #[test]
    fn releases_are_newer_than_commits() {
        let order = [
            "0.0.0-20180801+b",
            "0.0.0-20190801+a",
            "0.0.0",
            "0.9.10",
            "0.10.0",
            "1.0.0",
        ];
        for pair in order.windows(2) {
            let (older, newer) = (version(pair[0]), version(pair[1]));
            assert_eq!(older.compare_precedence(&newer), Ordering::Less);
            assert_eq!(newer.compare_precedence(&older), Ordering::Greater);
        }
        let same = version("0.0.0-20180801+a").compare_precedence(&version("0.0.0-20180801+b"));
        assert_eq!(same, Ordering::Equal);
    }

    #[test]
    fn commits_are_named_by_versions() {
        assert_eq!(version("0.0.0-2018+ab1").commit(), Some("ab1"));
        assert_eq!(version("0.0.1-2018+ab1").commit(), None);
        assert_eq!(version("0.0.0+ab1").commit(), None);
    }
}
