//! Minimal version selection (Cox, "Minimal Version Selection", 2018).
//!
//! Of each package, the newest of all required versions is chosen. No version is newer than one that some manifest
//! requires, so an equal manifest gives equal versions at any time.

use crate::{PackageError, PackagePath, PackageRequirement, PackageVersion};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Source of the requirements of packages.
pub trait RequirementSource {
    /// The packages that a version of a package requires.
    ///
    /// # Errors
    /// The version is unknown, is another commit than the requirement states, or has a malformed manifest.
    fn find_requirements(
        &mut self,
        required: &PackageRequirement,
    ) -> Result<Vec<PackageRequirement>, PackageError>;
}

/// A version that was considered, with the packages that it requires.
struct VersionCandidate {
    version: PackageVersion,
    requires: Vec<PackagePath>,
}

/// Chooses the version of each package that is required, directly or by another package.
///
/// # Errors
/// Those of `source`.
pub fn select_versions(
    roots: &[PackageRequirement],
    source: &mut dyn RequirementSource,
) -> Result<BTreeMap<PackagePath, PackageVersion>, PackageError> {
    let mut candidates: BTreeMap<PackagePath, VersionCandidate> = BTreeMap::new();
    let mut pending: Vec<PackageRequirement> = order_for_stack(roots);
    while let Some(required) = pending.pop() {
        let is_met = candidates.get(&required.path).is_some_and(|candidate| {
            required.version.compare_precedence(&candidate.version) != Ordering::Greater
        });
        if is_met {
            continue;
        }
        let requires = source.find_requirements(&required)?;
        pending.extend(order_for_stack(&requires));
        let candidate = VersionCandidate {
            version: required.version,
            requires: requires.into_iter().map(|r| r.path).collect(),
        };
        candidates.insert(required.path, candidate);
    }
    let roots = roots.iter().map(|root| root.path.clone());
    Ok(keep_reachable(roots.collect(), candidates))
}

/// Requirements by package, where the last one of a package counts. The first is last, to be popped first.
fn order_for_stack(requirements: &[PackageRequirement]) -> Vec<PackageRequirement> {
    let by_path: BTreeMap<&PackagePath, &PackageRequirement> =
        requirements.iter().map(|r| (&r.path, r)).collect();
    by_path.into_values().rev().cloned().collect()
}

/// Drops packages that only superseded versions required.
fn keep_reachable(
    mut pending: Vec<PackagePath>,
    mut candidates: BTreeMap<PackagePath, VersionCandidate>,
) -> BTreeMap<PackagePath, PackageVersion> {
    let mut selected = BTreeMap::new();
    while let Some(path) = pending.pop() {
        if let Some(candidate) = candidates.remove(&path) {
            pending.extend(candidate.requires);
            selected.insert(path, candidate.version);
        }
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirements by package and version, as text.
    struct StatedSource(&'static [(&'static str, &'static [&'static str])]);

    fn requirement(text: &str) -> PackageRequirement {
        let (path, version) = text.split_once(' ').expect("a package and a version");
        PackageRequirement {
            path: path.parse().expect("a path"),
            version: version.parse().expect("a version"),
            hash: None,
        }
    }

    impl RequirementSource for StatedSource {
        fn find_requirements(
            &mut self,
            required: &PackageRequirement,
        ) -> Result<Vec<PackageRequirement>, PackageError> {
            let found = self
                .0
                .iter()
                .find(|(name, _)| *name == required.to_string());
            let (_, requires) = found.ok_or_else(|| PackageError::UnknownVersion {
                required: Box::new(required.clone()),
                known: Vec::new(),
            })?;
            Ok(requires.iter().map(|text| requirement(text)).collect())
        }
    }

    fn select(
        stated: &'static [(&'static str, &'static [&'static str])],
        roots: &[&str],
    ) -> Result<Vec<String>, String> {
        let roots: Vec<_> = roots.iter().map(|text| requirement(text)).collect();
        match select_versions(&roots, &mut StatedSource(stated)) {
            Ok(selected) => Ok(selected.iter().map(|(p, v)| format!("{p} {v}")).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn chosen(lines: &[&str]) -> Result<Vec<String>, String> {
        Ok(lines.iter().map(|&line| line.to_owned()).collect())
    }

    #[test]
    fn the_newest_required_version_is_chosen() {
        const STATED: &[(&str, &[&str])] = &[
            ("a 1.0.0", &["c 0.1.0"]),
            ("b 1.0.0", &["c 0.2.0"]),
            ("c 0.1.0", &[]),
            ("c 0.2.0", &[]),
            ("c 0.3.0", &[]),
        ];
        assert_eq!(
            select(STATED, &["a 1.0.0", "b 1.0.0"]),
            chosen(&["a 1.0.0", "b 1.0.0", "c 0.2.0"])
        );
    }

    #[test]
    fn requirements_of_older_versions_do_not_count() {
        const STATED: &[(&str, &[&str])] = &[
            ("a 1.0.0", &["gone 0.1.0"]),
            ("a 1.1.0", &[]),
            ("b 1.0.0", &["a 1.1.0"]),
            ("gone 0.1.0", &[]),
        ];
        assert_eq!(
            select(STATED, &["a 1.0.0", "b 1.0.0"]),
            chosen(&["a 1.1.0", "b 1.0.0"])
        );
    }

    #[test]
    fn packages_may_require_each_other() {
        const STATED: &[(&str, &[&str])] = &[("a 1.0.0", &["b 1.0.0"]), ("b 1.0.0", &["a 1.0.0"])];
        assert_eq!(
            select(STATED, &["a 1.0.0"]),
            chosen(&["a 1.0.0", "b 1.0.0"])
        );
    }

    #[test]
    fn an_unknown_version_is_an_error() {
        let error = select(&[], &["a 1.0.0"]);
        assert_eq!(
            error,
            Err("package a does not have a version 1.0.0".to_owned())
        );
    }
}
