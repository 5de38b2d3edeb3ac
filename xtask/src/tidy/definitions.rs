//! Rules of single definitions: aliases of `Result` are named so, and a crate's sources have no test-only files.

use super::source::SourceFile;

/// The name that a test-only module may have.
const TEST_MODULE: &str = "tests";

/// Reports aliases of `Result` under another word, and test-only files among the sources.
pub fn check_definitions(files: &[SourceFile], breaches: &mut Vec<String>) {
    for file in files {
        let mut is_for_tests = false;
        for (number, line) in (1..).zip(file.text.lines()) {
            let place = || format!("{}:{number}", file.name);
            if let Some(alias) = find_result_alias(line).filter(|alias| !alias.ends_with("Result"))
            {
                breaches.push(format!(
                    "{}: the alias {alias} of Result hides that it is one",
                    place()
                ));
            }
            if let Some(module) = find_outer_module(line)
                && is_for_tests
                && file.is_product()
                && module != TEST_MODULE
            {
                breaches.push(format!(
                    "{}: the file of {module} is for tests only",
                    place()
                ));
            }
            // Attributes and comments between stand for the same item.
            is_for_tests = line == "#[cfg(test)]" || is_for_tests && line.starts_with(['#', '/']);
        }
    }
}

/// The alias whose definition as a `Result` is on a line. Associated types, which are indented, are none.
fn find_result_alias(line: &str) -> Option<&str> {
    let definition = strip_visibility(line).strip_prefix("type ")?;
    let (alias, value) = definition.split_once('=')?;
    let path = value.trim_start().split('<').next()?;
    let is_result = path == "Result" || path.ends_with("::Result");
    is_result.then(|| alias.split('<').next().unwrap_or(alias).trim_end())
}

/// The module in a file of its own that is declared on a line.
fn find_outer_module(line: &str) -> Option<&str> {
    strip_visibility(line)
        .strip_prefix("mod ")?
        .strip_suffix(';')
}

fn strip_visibility(line: &str) -> &str {
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or(line, |(_, rest)| rest),
        Some(rest) => rest.trim_start(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_results_are_found() {
        assert_eq!(
            find_result_alias("pub(super) type Lowered = Result<Id, Fault>;"),
            Some("Lowered")
        );
        assert_eq!(
            find_result_alias("type Read<T> = std::io::Result<T>;"),
            Some("Read")
        );
        assert_eq!(find_result_alias("type Rows = Vec<Row>;"), None);
        assert_eq!(
            find_result_alias("    type Item = Result<u32, Fault>;"),
            None
        );
    }

    #[test]
    fn outer_modules_are_found() {
        assert_eq!(find_outer_module("pub(crate) mod faults;"), Some("faults"));
        assert_eq!(find_outer_module("mod tests {"), None);
    }

    #[test]
    fn test_only_files_are_reported() {
        let report = |text: &str| {
            let file = SourceFile {
                name: "crates/a/b/src/lib.rs".to_owned(),
                text: text.to_owned(),
            };
            let mut breaches = Vec::new();
            check_definitions(&[file], &mut breaches);
            breaches.len()
        };
        assert_eq!(report("#[cfg(test)]\n#[allow(unused)]\nmod hooks;\n"), 1);
        assert_eq!(report("#[cfg(test)]\nmod tests;\n"), 0);
        assert_eq!(report("#[cfg(test)]\nuse a::b;\nmod hooks;\n"), 0);
    }
}
