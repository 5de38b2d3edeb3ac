//! The manifest of a package or program, `futhark.pkg`.

use crate::{PackageError, PackagePath, PackageVersion, manifest_parser};
use std::fmt;

/// Name of the file of a manifest.
pub const MANIFEST_FILE: &str = "futhark.pkg";

/// The contents of `futhark.pkg`: the path of the package itself, and the packages that it requires.
///
/// Comments are lines, kept without their `--`. Printing gives the exact form that Futhark's package manager writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageManifest {
    /// Comments at the start.
    pub head_comments: Vec<String>,
    /// Path of the package. A program that no one requires has none.
    pub path: Option<PackagePath>,
    /// Comments before `require`.
    pub require_comments: Vec<String>,
    /// The required packages.
    pub entries: Vec<ManifestEntry>,
    /// Comments at the end.
    pub end_comments: Vec<String>,
}

/// A line of the list of required packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestEntry {
    /// A comment without its `--`.
    Comment(String),
    /// A required package.
    Requirement(PackageRequirement),
}

/// A required package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRequirement {
    /// The package.
    pub path: PackagePath,
    /// The oldest version that will do.
    pub version: PackageVersion,
    /// Hash of the commit of this version. Another commit is refused.
    pub hash: Option<String>,
}

impl PackageManifest {
    /// Parses a manifest. `name` is for errors.
    ///
    /// # Errors
    /// [`PackageError::Manifest`] at the first fault.
    pub fn parse(name: &str, text: &str) -> Result<Self, PackageError> {
        manifest_parser::parse_manifest(text).map_err(|diagnostic| PackageError::Manifest {
            name: name.to_owned(),
            text: text.to_owned(),
            diagnostic: Box::new(diagnostic),
        })
    }

    /// The required packages in order.
    pub fn requirements(&self) -> impl Iterator<Item = &PackageRequirement> {
        self.entries.iter().filter_map(|entry| match entry {
            ManifestEntry::Requirement(requirement) => Some(requirement),
            ManifestEntry::Comment(_) => None,
        })
    }

    /// The required packages in order, to change them.
    pub fn requirements_mut(&mut self) -> impl Iterator<Item = &mut PackageRequirement> {
        self.entries.iter_mut().filter_map(|entry| match entry {
            ManifestEntry::Requirement(requirement) => Some(requirement),
            ManifestEntry::Comment(_) => None,
        })
    }

    /// Adds a requirement, or replaces the one of the same package in its place. The result is the replaced one.
    pub fn add_requirement(&mut self, new: PackageRequirement) -> Option<PackageRequirement> {
        let mut replaced = None;
        for old in self.requirements_mut().filter(|old| old.path == new.path) {
            replaced = Some(std::mem::replace(old, new.clone()));
        }
        if replaced.is_none() {
            self.entries.push(ManifestEntry::Requirement(new));
        }
        replaced
    }

    /// Removes the requirement of a package, and returns it.
    pub fn remove_requirement(&mut self, path: &PackagePath) -> Option<PackageRequirement> {
        let removed = self.requirements().find(|r| r.path == *path).cloned();
        self.entries
            .retain(|entry| !matches!(entry, ManifestEntry::Requirement(old) if old.path == *path));
        removed
    }
}

impl fmt::Display for PackageManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_comments(f, &self.head_comments)?;
        if let Some(path) = &self.path {
            write!(f, "package {path}\n\n")?;
        }
        write_comments(f, &self.require_comments)?;
        writeln!(f, "require {{")?;
        for entry in &self.entries {
            writeln!(f, "  {entry}")?;
        }
        writeln!(f, "}}")?;
        write_comments(f, &self.end_comments)
    }
}

fn write_comments(f: &mut fmt::Formatter<'_>, comments: &[String]) -> fmt::Result {
    comments
        .iter()
        .try_for_each(|comment| writeln!(f, "--{comment}"))
}

impl fmt::Display for ManifestEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestEntry::Comment(comment) => write!(f, "--{comment}"),
            ManifestEntry::Requirement(requirement) => requirement.fmt(f),
        }
    }
}

impl fmt::Display for PackageRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.version)?;
        match &self.hash {
            Some(hash) => write!(f, " #{hash}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "-- Ours.\npackage a.org/own/name\n\n--why\nrequire {\n  -- First.\n  \
                        b.org/x/y 0.1.0 #ab12\n  c.org/z@2 2.0.0\n}\n-- End.\n";

    #[test]
    fn the_written_form_is_kept() {
        let manifest = PackageManifest::parse("test", TEXT).expect("a manifest");
        assert_eq!(manifest.to_string(), TEXT);
        assert_eq!(PackageManifest::default().to_string(), "require {\n}\n");
    }

    #[test]
    fn other_forms_are_formatted() {
        let loose = "-- Ours.\r\n\n package\n a.org/own/name --why\nrequire{-- First.\nb.org/x/y 0.1.0 #ab12 \
                     c.org/z@2 \t2.0.0}\n\n\n-- End.";
        let manifest = PackageManifest::parse("test", loose).expect("a manifest");
        assert_eq!(manifest.to_string(), TEXT);
    }

    #[test]
    fn requirements_are_added_replaced_and_removed() {
        let mut manifest = PackageManifest::parse("test", TEXT).expect("a manifest");
        let requirement = |path: &str, version: &str| PackageRequirement {
            path: path.parse().expect("a path"),
            version: version.parse().expect("a version"),
            hash: None,
        };
        let new = requirement("b.org/x/y", "0.2.0");
        let replaced = manifest.add_requirement(new.clone()).expect("it was there");
        assert_eq!(replaced.version.to_string(), "0.1.0");
        assert_eq!(
            manifest.add_requirement(requirement("d.org", "1.0.0")),
            None
        );
        let lines: Vec<String> = manifest.entries.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "-- First.",
                "b.org/x/y 0.2.0",
                "c.org/z@2 2.0.0",
                "d.org 1.0.0"
            ]
        );
        assert_eq!(manifest.remove_requirement(&new.path), Some(new.clone()));
        assert_eq!(manifest.remove_requirement(&new.path), None);
    }

    #[test]
    fn faults_have_places() {
        for (text, message) in [
            ("package\n", "byte 8: a package path is expected"),
            (
                "require {\n  a.org/b 1.0\n}\n",
                "byte 20: a version X.Y.Z is expected",
            ),
            (
                "require {\n  a.org/b\n",
                "byte 19: a version X.Y.Z is expected",
            ),
            (
                "require { a/../b 1.0.0 }",
                "byte 10: a/../b is not a package path",
            ),
            (
                "require { a.org/b 1.0.0 # }",
                "byte 24: a hash is expected after #",
            ),
            ("require {\n  a.org/b 1.0.0\n", "byte 26: } is expected"),
            ("require a", "byte 8: { is expected"),
            ("x", "byte 0: the end of the manifest is expected"),
        ] {
            let fault = PackageManifest::parse("test", text).expect_err(text);
            assert_eq!(fault.to_string(), format!("test: {message}"), "{text:?}");
        }
    }
}
