//! Files of several modules, and the functions in them that are tests.

use spirula_stablehlo::mlir;

/// The modules of a file, those that have no line but comments left out.
pub fn all(bytes: &[u8]) -> Vec<&[u8]> {
    let ranges = mlir::sections(bytes).into_iter();
    let mut sections: Vec<&[u8]> = ranges.map(|range| &bytes[range]).collect();
    sections.retain(|section| !is_blank(section));
    sections
}

/// One of them.
pub fn section(bytes: &[u8], number: usize) -> &[u8] {
    all(bytes).get(number).copied().unwrap_or(&[])
}

/// Whether there are only comments and blanks.
fn is_blank(section: &[u8]) -> bool {
    section.split(|b| *b == b'\n').all(|line| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"//")
    })
}

/// Functions without parameters that are not private, with the number of their section.
pub fn functions(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, section) in all(text.as_bytes()).into_iter().enumerate() {
        let section = String::from_utf8_lossy(section);
        let names = section.lines().filter_map(function);
        found.extend(names.map(|name| (number, name)));
    }
    found
}

/// The name of the function that a line begins, if it is a test.
fn function(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("func.func ")?.trim_start();
    let rest = rest.strip_prefix("public ").unwrap_or(rest).trim_start();
    let (name, parameters) = rest.strip_prefix('@')?.split_once('(')?;
    let is_test = parameters.trim_start().starts_with(')');
    is_test.then(|| name.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_functions() {
        let text = "// RUN: x\n\n// -----\n\nfunc.func @a() {\n}\nfunc.func private @b() {\n}\n\
                    // -----\n  func.func public @c() -> tensor<i1> {\nfunc.func @d(%x: i1) {\n";
        let found = functions(text);
        assert_eq!(found, [(0, "a".to_owned()), (1, "c".to_owned())]);
        assert!(section(text.as_bytes(), 1).starts_with(b"  func.func public"));
        assert!(section(text.as_bytes(), 2).is_empty());
        assert_eq!(all(b"\xff\xfe// -----\n").len(), 1);
    }
}
