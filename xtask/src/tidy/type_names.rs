//! The rule of type names: each names one type in the workspace.

use super::source::SourceFile;
use std::collections::BTreeMap;

/// Types that are defined once for each platform, under one name.
const PER_PLATFORM: &[&str] = &["CallWatchdog", "GuardedReservation"];

/// Words that begin the definition of a type.
const KEYWORDS: &[&str] = &["struct", "enum", "trait", "union", "type"];

/// Reports each name of a type that the crates define several times. Tests, benchmarks and examples are left out.
pub fn check_type_names(files: &[SourceFile], breaches: &mut Vec<String>) {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_product()) {
        for (line, text) in (1..).zip(file.text.lines()) {
            if let Some(defined) = find_type_name(text) {
                places
                    .entry(defined)
                    .or_default()
                    .push(format!("{}:{line}", file.name));
            }
        }
    }
    for (name, places) in places {
        if places.len() > 1 && !PER_PLATFORM.contains(&name) {
            let places = places.join(", ");
            breaches.push(format!("{name} is the name of several types: {places}"));
        }
    }
}

/// The name of the type whose definition begins on a line. Associated types, which are indented, are none.
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
