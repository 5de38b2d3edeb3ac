//! The software bill of materials, in the JSON form of CycloneDX 1.6.
//!
//! Sources: ECMA-424, "CycloneDX Bill of Materials Specification"; the package URLs of crates (`pkg:cargo/NAME@VERSION`).

use super::dependencies::{CargoPackage, PackageGraph};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes the bill of a release for a target.
///
/// # Errors
/// When the lock file cannot be read.
pub fn write_bill(
    root: &Path,
    graph: &PackageGraph,
    version: &str,
    triple: &str,
) -> Result<String> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock"))?;
    let checksums = read_checksums(&lock);
    let components: Vec<_> = graph
        .packages
        .iter()
        .map(|package| describe_package(package, &checksums))
        .collect();
    let product = format!("spirula-{version}-{triple}");
    let own = graph.packages.iter().filter(|p| p.source.is_none());
    let mut dependencies = vec![json!({
        "ref": product,
        "dependsOn": own.map(name_reference).collect::<Vec<_>>(),
    })];
    for (package, used) in graph.packages.iter().zip(&graph.dependencies) {
        let used: Vec<_> = used
            .iter()
            .map(|&i| name_reference(&graph.packages[i]))
            .collect();
        dependencies.push(json!({ "ref": name_reference(package), "dependsOn": used }));
    }
    let bill = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": product,
                "name": "spirula",
                "version": version,
                "description": "Compiles compute programs to SPIR-V and runs them",
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
            "properties": [{ "name": "spirula:target", "value": triple }],
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

/// The package URL, by which the bill refers to a package.
fn name_reference(package: &CargoPackage) -> String {
    // A version may have metadata after a plus sign, which URLs of packages encode.
    let version = package.version.replace('+', "%2B");
    format!("pkg:cargo/{}@{version}", package.name)
}

fn describe_package(package: &CargoPackage, checksums: &BTreeMap<LockedName, &str>) -> Value {
    let reference = name_reference(package);
    let mut component = json!({
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "purl": reference,
        "scope": "required",
    });
    if let Some(text) = &package.description {
        let words: Vec<_> = text.split_whitespace().collect();
        component["description"] = words.join(" ").into();
    }
    if let Some(expression) = package.license_expression() {
        component["licenses"] = json!([{ "expression": expression }]);
    }
    let locked = LockedName {
        name: &package.name,
        version: &package.version,
    };
    if let Some(sum) = checksums.get(&locked) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if let Some(url) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    component
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LockedName<'a> {
    name: &'a str,
    version: &'a str,
}

/// The checksums of packages in a lock file, which Cargo writes with a line for each value.
fn read_checksums(lock: &str) -> BTreeMap<LockedName<'_>, &str> {
    let mut checksums = BTreeMap::new();
    for block in lock.split("[[package]]").skip(1) {
        let find = |key: &str| {
            let mut lines = block.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_suffix('"'))
        };
        if let (Some(name), Some(version), Some(sum)) = (
            find("name = \""),
            find("version = \""),
            find("checksum = \""),
        ) {
            checksums.insert(LockedName { name, version }, sum);
        }
    }
    checksums
}

#[cfg(test)]
mod tests {
    use super::super::compile::select_packages;
    use super::super::dependencies::read_dependencies;
    use super::super::licences::write_licences;
    use super::super::targets::TARGETS;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_bill_has_all_packages_and_no_others() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let target = &TARGETS[0];
        let selection = select_packages(target);
        let graph = read_dependencies(&root, target.triple, &selection).expect("cargo runs");
        let bill = write_bill(&root, &graph, "0.1.0", target.triple).expect("is written");
        let bill: Value = serde_json::from_str(&bill).expect("is JSON");
        let list = |key: &str| bill[key].as_array().expect("is a list").clone();
        let components = list("components");
        let references: BTreeSet<String> = components
            .iter()
            .map(|component| component["bom-ref"].to_string())
            .collect();
        assert_eq!(references.len(), components.len());
        for name in ["naga", "cranelift-codegen", "ash", "spirula-c", "clap"] {
            assert!(components.iter().any(|c| c["name"] == name), "no {name}");
        }
        // Packages of tests and tasks are no parts of programs.
        for name in ["proptest", "xtask", "tar", "spirula-testing"] {
            assert!(components.iter().all(|c| c["name"] != name), "{name}");
        }
        for component in &components {
            let is_own = component["name"]
                .as_str()
                .is_some_and(|n| n.starts_with("spirula"));
            assert_eq!(component["hashes"].is_null(), is_own, "{component}");
            assert!(
                component["licenses"][0]["expression"].is_string(),
                "{component}"
            );
        }
        for dependency in list("dependencies") {
            for used in dependency["dependsOn"].as_array().expect("is a list") {
                assert!(references.contains(&used.to_string()), "{used}");
            }
        }
        let licences = write_licences(&graph).expect("is written");
        for package in graph.packages.iter().filter(|p| p.source.is_some()) {
            let name = format!("{} {}", package.name, package.version);
            assert!(licences.contains(&name), "{name}");
        }
        assert!(licences.contains("Permission is hereby granted"));
    }
}
