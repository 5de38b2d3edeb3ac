//! The oldest version of Rust that the crates state, against the compiler of the tests.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Checks that the compiler is the one that `rust-version` states, so that the tests are tests of that statement.
///
/// # Errors
/// When the compiler is another, or does not start.
pub fn check_compiler(root: &Path) -> Result<()> {
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    let stated = find_stated_version(&manifest).context("Cargo.toml states no rust-version")?;
    let output = Command::new("rustc").arg("--version").output();
    let output = output.context("rustc does not start")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        is_release_of(&text, stated),
        "`rust-version` is {stated}, and the tests run with {}",
        text.trim()
    );
    Ok(())
}

fn find_stated_version(manifest: &str) -> Option<&str> {
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = \""));
    line?.strip_suffix('"')
}

/// Whether a compiler that prints `rustc 1.95.0 (…)` is of a version such as 1.95.
fn is_release_of(printed: &str, stated: &str) -> bool {
    let version = printed.split_whitespace().nth(1);
    let rest = version.and_then(|version| version.strip_prefix(stated));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_parts() {
        let manifest = "[workspace.package]\nrust-version = \"1.95\"\n";
        assert_eq!(find_stated_version(manifest), Some("1.95"));
        assert!(is_release_of("rustc 1.95.0 (abc 2026-03-21)", "1.95"));
        assert!(!is_release_of("rustc 1.96.0 (abc 2026-05-25)", "1.95"));
        assert!(!is_release_of("rustc 1.9.5", "1.95"));
        assert!(!is_release_of("rustc 1.950.0", "1.95"));
        assert!(!is_release_of("", "1.95"));
    }
}
