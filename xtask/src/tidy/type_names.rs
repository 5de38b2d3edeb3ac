//! The rule of type names: each stands for one thing in the workspace.

use anyhow::Result;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Types that are defined twice because each is for another platform, under one name.
const TWINS: &[&str] = &["CallWatchdog", "GuardedReservation"];

/// Words that begin the definition of a type.
const KEYWORDS: &[&str] = &["struct", "enum", "trait", "union", "type"];

/// Reports each name of a type that several files of the crates define. Tests, benchmarks and examples are left out.
pub fn check_type_names(root: &Path, files: &[PathBuf], breaches: &mut Vec<String>) -> Result<()> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(file).display();
        let name = name.to_string();
        let is_product = name.starts_with("crates/") && name.contains("/src/");
        if !is_product {
            continue;
        }
        for (line, text) in (1..).zip(fs::read_to_string(file)?.lines()) {
            if let Some(defined) = find_type_name(text) {
                let place = format!("{name}:{line}");
                places.entry(defined.to_owned()).or_default().push(place);
            }
        }
    }
    for (name, places) in places {
        if places.len() > 1 && !TWINS.contains(&&*name) {
            let places = places.join(", ");
            breaches.push(format!("{name} is the name of several types: {places}"));
        }
    }
    Ok(())
}

/// The name of the type whose definition begins on a line. Associated types, which are indented aliases, are none.
fn find_type_name(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let mut words = line.split_whitespace().peekable();
    if words.peek()?.starts_with("pub") {
        words.next();
    }
    words.next_if_eq(&"unsafe");
    let keyword = words.next()?;
    if !KEYWORDS.contains(&keyword) || keyword == "type" && is_indented {
        return None;
    }
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &name[..end.unwrap_or(name.len())];
    name.starts_with(|c: char| c.is_ascii_uppercase())
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::find_type_name;

    #[test]
    fn definitions_are_found() {
        assert_eq!(
            find_type_name("pub struct LoopNest<'a> {"),
            Some("LoopNest")
        );
        assert_eq!(find_type_name("pub(crate) enum Op {"), Some("Op"));
        assert_eq!(find_type_name("    struct Inner;"), Some("Inner"));
        assert_eq!(find_type_name("type Short<T> = Vec<T>;"), Some("Short"));
        assert_eq!(find_type_name("    type Item = u32;"), None);
        assert_eq!(find_type_name("// struct Comment"), None);
        assert_eq!(find_type_name("pub fn run() {"), None);
    }
}
