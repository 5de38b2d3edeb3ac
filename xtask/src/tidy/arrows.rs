//! The rule of arrows: each crate depends on the crates of its row, and on no others.

use super::manifest::Manifest;

/// A crate, and the crates of the workspace that it depends on. Development dependencies do not count.
pub type CrateArrows = (&'static str, &'static [&'static str]);

/// Compares the dependencies of each crate with its row.
pub fn check_arrows(arrows: &[CrateArrows], manifests: &[Manifest], breaches: &mut Vec<String>) {
    for manifest in manifests.iter().filter(|m| m.is_crate()) {
        let name = manifest.package_name();
        let Some((_, allowed)) = arrows.iter().find(|(of, _)| *of == name) else {
            breaches.push(format!(
                "{}: {name} has no row of dependencies",
                manifest.path
            ));
            continue;
        };
        let used: Vec<&str> = manifest
            .list_dependencies()
            .filter(|d| d.section == "[dependencies]" && d.is_sibling())
            .map(|d| d.name)
            .collect();
        for dependency in &used {
            if !allowed.contains(dependency) {
                breaches.push(format!("{name} must not depend on {dependency}"));
            }
        }
        for dependency in *allowed {
            if !used.contains(dependency) {
                breaches.push(format!(
                    "{name} does not depend on {dependency}, which its row has"
                ));
            }
        }
    }
}
