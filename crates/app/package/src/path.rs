//! Package paths.

use crate::{PackageError, PackageVersion};
use std::fmt;
use std::str::FromStr;

/// Path of a package: the address of its repository without a protocol, such as `github.com/owner/name`.
///
/// A major version above 1 stands at the end: `github.com/owner/name@2`. The path is also a folder under `lib`, so no
/// part of it is empty, `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackagePath(String);

impl PackagePath {
    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the repository, without the major version.
    #[must_use]
    pub fn repository(&self) -> &str {
        self.split_major()
            .map_or(&self.0, |(repository, _)| repository)
    }

    /// Whether a version belongs to this path: the major version in the path, or else 0 and 1.
    #[must_use]
    pub fn covers_version(&self, version: &PackageVersion) -> bool {
        match self.split_major() {
            Some((_, major)) => version.major == major,
            None => version.major <= 1,
        }
    }

    fn split_major(&self) -> Option<(&str, u64)> {
        let (repository, major) = self.0.split_once('@')?;
        Some((repository, major.parse().ok()?))
    }

    /// Whether a character may stand in a package path.
    pub(crate) fn accepts(c: char) -> bool {
        c.is_alphanumeric() || "@-/.:_~".contains(c)
    }
}

impl FromStr for PackagePath {
    type Err = PackageError;

    fn from_str(text: &str) -> Result<Self, PackageError> {
        let is_folder = |part: &str| !matches!(part, "" | "." | "..");
        if text.chars().all(Self::accepts) && text.split('/').all(is_folder) {
            Ok(PackagePath(text.to_owned()))
        } else {
            Err(PackageError::InvalidPath(text.to_owned()))
        }
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn major_versions_are_part_of_the_path() {
        let path = |text: &str| text.parse::<PackagePath>().expect("a path");
        let version = |text: &str| text.parse::<PackageVersion>().expect("a version");
        assert_eq!(path("a.org/b/c@12").repository(), "a.org/b/c");
        assert!(path("a.org/b/c@12").covers_version(&version("12.0.3")));
        assert!(!path("a.org/b/c@12").covers_version(&version("1.0.3")));
        assert!(path("a.org/b/c").covers_version(&version("0.1.0")));
        assert!(!path("a.org/b/c").covers_version(&version("2.0.0")));
        assert_eq!(path("git@a.org:b").repository(), "git@a.org:b");
    }

    #[test]
    fn paths_stay_inside_lib() {
        for text in [
            "", "..", "a/../b", "/etc", "a//b", "a/", "./a", "a b", "a\\b",
        ] {
            assert!(text.parse::<PackagePath>().is_err(), "{text:?}");
        }
    }
}
