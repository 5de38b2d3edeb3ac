//! The licences of the packages that a release consists of, as one text.

use super::dependencies::{CargoPackage, PackageGraph};
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

/// Beginnings of the names of files that have a licence, or belong to one.
const NAMES: &[&str] = &[
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "NOTICE",
    "UNLICENSE",
];

/// Writes the licences of all foreign packages. A text that several packages have stands once, after their names.
///
/// # Errors
/// When the files of a package cannot be read.
pub fn write_licences(graph: &PackageGraph) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut bare = Vec::new();
    for package in graph.packages.iter().filter(|p| p.source.is_some()) {
        let found = read_texts(package)?;
        if found.is_empty() {
            bare.push(package);
        }
        for text in found {
            let users = texts.entry(text).or_default();
            let name = format!("{} {}", package.name, package.version);
            if users.last() != Some(&name) {
                users.push(name);
            }
        }
    }
    let mut out = String::from(
        "Spirula's programs contain the packages below. Spirula itself is under LICENSE-MIT or LICENSE-APACHE, at your option.\n\n",
    );
    for package in graph.packages.iter().filter(|p| p.source.is_some()) {
        writeln!(out, "{}", describe_package(package))?;
    }
    writeln!(
        out,
        "\nThe packages below contain no text of their licence:\n"
    )?;
    for package in bare {
        let from = package
            .repository
            .as_deref()
            .unwrap_or("no repository is stated");
        writeln!(out, "{}: {from}", describe_package(package))?;
    }
    let mut ordered: Vec<_> = texts.into_iter().collect();
    ordered.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, users) in ordered {
        writeln!(out, "\n{}\n{}\n\n{text}", "=".repeat(80), users.join(", "))?;
    }
    Ok(out)
}

fn describe_package(package: &CargoPackage) -> String {
    let licence = package.license_expression();
    let licence = licence.unwrap_or_else(|| "no licence is stated".to_owned());
    let mut text = format!("{} {}, {licence}", package.name, package.version);
    if !package.authors.is_empty() {
        text = format!("{text}, by {}", package.authors.join(", "));
    }
    text
}

/// The texts in a package's folder, in the order of their names. Bytes that are not UTF-8 are replaced.
fn read_texts(package: &CargoPackage) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(package.folder())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && entry.file_type()?.is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let read = |path| -> Result<String> {
        let bytes = fs::read(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.trim().lines().map(str::trim_end).collect();
        Ok(lines.join("\n"))
    };
    paths.into_iter().map(read).collect()
}
