//! Files of several modules, and the functions in them that are tests.

use spirula_stablehlo::mlir::{self, MlirModule, MlirOp};

/// The modules of a file. Those with comments only are left out.
pub fn list_sections(bytes: &[u8]) -> Vec<&[u8]> {
    let ranges = mlir::split_sections(bytes).into_iter();
    let mut sections: Vec<&[u8]> = ranges.map(|range| &bytes[range]).collect();
    sections.retain(|section| !is_blank(section));
    sections
}

/// A module of a file.
pub fn select_section(bytes: &[u8], number: usize) -> &[u8] {
    list_sections(bytes).get(number).copied().unwrap_or(&[])
}

/// Whether a text has only comments and blanks.
fn is_blank(section: &[u8]) -> bool {
    section.split(|b| *b == b'\n').all(|line| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"//")
    })
}

/// The public functions without parameters of the outermost modules, with the numbers of their sections. There are none
/// when a section cannot be read.
pub fn list_test_functions(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, section) in list_sections(bytes).into_iter().enumerate() {
        let Ok(module) = mlir::parse_text(section) else {
            return Vec::new();
        };
        let tests = module
            .functions()
            .iter()
            .filter(|op| is_test(&module, **op));
        let names = tests.filter_map(|op| module.find_text(*op, "sym_name"));
        found.extend(names.map(|name| (number, name.to_owned())));
    }
    found
}

fn is_test(module: &MlirModule, function: MlirOp) -> bool {
    let is_private = module.find_text(function, "sym_visibility") == Some("private");
    let body = module.regions(function).next();
    let entry = body.and_then(|region| module.blocks(region).first());
    !is_private && entry.is_some_and(|block| module.arguments(*block).len() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_functions() {
        let text = "// RUN: x\n\n// -----\n\nfunc.func @a() {\n  return\n}\n\
                    func.func private @b() {\n  return\n}\n// -----\n\
                    module {\n  func.func public @c() {\n    return\n  }\n\
                    module @inner {\n  func.func @e() {\n    return\n  }\n}\n\
                    func.func @d(%x: i1) {\n  return\n}\n}\n";
        let found = list_test_functions(text.as_bytes());
        assert_eq!(found, [(0, "a".to_owned()), (1, "c".to_owned())], "{text}");
        assert!(select_section(text.as_bytes(), 1).starts_with(b"module"));
        assert!(select_section(text.as_bytes(), 2).is_empty());
        assert!(list_test_functions(format!("{text}// -----\nfunc.func").as_bytes()).is_empty());
        assert_eq!(list_sections(b"\xff\xfe// -----\n").len(), 1);
    }
}
