//! Names of Rust items for names of the grammar.

use std::collections::HashSet;

/// The constant of an enumerant: its name, with the name of the kind before it where it begins with a digit.
pub fn enumerant_constant(kind: &str, name: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{kind}{name}")
    } else {
        name.to_owned()
    }
}

/// The constant of an opcode, without the `Op` of its name.
pub fn opcode_constant(opname: &str) -> &str {
    opname.strip_prefix("Op").unwrap_or(opname)
}

/// The constant of an extended instruction.
pub fn extended_constant(name: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
        before = c;
    }
    out
}

/// Keeps the names that were not seen before.
pub fn retain_fresh_aliases<'a>(
    seen: &mut HashSet<String>,
    names: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    names
        .filter(|name| seen.insert((*name).to_owned()))
        .collect()
}
