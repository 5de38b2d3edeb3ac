//! The rule of unsafe code: it stands exactly in the modules that ARCHITECTURE.md lists.
//!
//! The table of the section "Unsafe code" has a file or folder in each row. Unsafe code elsewhere is a breach, and so is a
//! row without unsafe code.

use super::source::SourceFile;
use anyhow::Result;
use std::fs;
use std::path::Path;

const DOCUMENT: &str = "ARCHITECTURE.md";
const SECTION: &str = "## Unsafe code";

/// The words that unsafe code begins with, one of which follows `unsafe`.
const UNSAFE_WORDS: &[&str] = &["{", "fn", "impl", "trait", "extern"];

/// Compares the files that have unsafe code with the table.
pub fn check_unsafe_code(
    root: &Path,
    files: &[SourceFile],
    breaches: &mut Vec<String>,
) -> Result<()> {
    let document = fs::read_to_string(root.join(DOCUMENT))?;
    let listed = list_modules(&document);
    let crate_files = files.iter().filter(|f| f.name.starts_with("crates/"));
    let unsafe_files: Vec<&str> = crate_files
        .filter(|f| has_unsafe_code(&f.text))
        .map(|f| f.name.as_str())
        .collect();
    for name in &unsafe_files {
        if !listed.iter().any(|module| is_within(name, module)) {
            breaches.push(format!(
                "{name}: unsafe code, and {DOCUMENT} does not list it"
            ));
        }
    }
    for module in listed {
        if !unsafe_files.iter().any(|name| is_within(name, module)) {
            breaches.push(format!(
                "{DOCUMENT} lists {module} with unsafe code, and it has none"
            ));
        }
    }
    Ok(())
}

/// The paths of the table: the words between backticks in the first column of each row.
fn list_modules(document: &str) -> Vec<&str> {
    let section = document.split_once(SECTION).map_or("", |(_, rest)| rest);
    let section = section.split("\n## ").next().unwrap_or("");
    let rows = section.lines().filter_map(|line| line.strip_prefix('|'));
    let columns = rows.filter_map(|row| row.split('|').next());
    columns
        .flat_map(|column| column.split('`').skip(1).step_by(2))
        .collect()
}

/// Whether a file is a module, or lies in its folder.
fn is_within(name: &str, module: &str) -> bool {
    name.strip_prefix(module)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn has_unsafe_code(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .any(|line| {
            line.match_indices("unsafe ").any(|(at, word)| {
                let is_whole =
                    !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_\"".contains(c));
                let rest = &line[at + word.len()..];
                is_whole && UNSAFE_WORDS.iter().any(|word| rest.starts_with(word))
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_paths() {
        let document = "# A\n## Unsafe code\nIn `x`:\n\n| Module | why |\n| --- | --- |\n| `a/b.rs`, `c` | `d` |\n\n## Z\n| `e` |\n";
        assert_eq!(list_modules(document), ["a/b.rs", "c"]);
        assert!(
            is_within("c/d.rs", "c") && is_within("a/b.rs", "a/b.rs") && !is_within("cd.rs", "c")
        );
    }

    #[test]
    fn unsafe_code_is_found() {
        assert!(has_unsafe_code("let x = unsafe { f() };"));
        assert!(has_unsafe_code("pub unsafe extern \"C\" fn f() {}"));
        assert!(!has_unsafe_code("// unsafe { }"));
        assert!(!has_unsafe_code("#![allow(unsafe_code)]"));
        assert!(!has_unsafe_code("is_unsafe { }"));
    }
}
