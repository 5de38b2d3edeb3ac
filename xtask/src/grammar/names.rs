//! From names of the grammar to names of Rust.

use std::collections::HashSet;

/// The constant for an enumerant: its own name, after the kind's where it begins with a digit.
pub fn enumerant_constant(kind: &str, name: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("{kind}{name}")
    } else {
        name.to_owned()
    }
}

/// The constant for an opcode: without the `Op` that the type says already.
pub fn opcode_constant(opname: &str) -> &str {
    opname.strip_prefix("Op").unwrap_or(opname)
}

/// The constant for an extended instruction.
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

/// `aliases` without `name` and what was seen before.
pub fn retain_fresh_aliases<'a>(
    seen: &mut HashSet<String>,
    names: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    names
        .filter(|name| seen.insert((*name).to_owned()))
        .collect()
}
