//! Rust's names of the header's declarations.

/// The prefix of all names of the header.
const PREFIX: &str = "PJRT_";

/// The name of a type: `PJRT_Client_Create_Args` becomes `PjrtClientCreateArgs`.
pub fn name_type(name: &str) -> String {
    let words = name.strip_prefix(PREFIX).unwrap_or(name).split('_');
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    "Pjrt".to_owned() + &words.map(capital).collect::<String>()
}

/// The name of a function of the table: `PJRT_Client_PlatformName` becomes `client_platform_name`.
pub fn name_function(name: &str) -> String {
    name_field(name.strip_prefix(PREFIX).unwrap_or(name))
}

/// The name of a field in small letters.
pub fn name_field(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    match out.as_str() {
        "type" => "ty".to_owned(),
        _ => out,
    }
}

/// The name of a value of an enumeration: `PJRT_Error_Code_OK` of `PJRT_Error_Code` becomes `OK`.
pub fn name_value(name: &str, owner: &str) -> String {
    let mut shared = owner;
    // Some values leave out a word of their enumeration.
    let rest = loop {
        if let Some(rest) = name.strip_prefix(shared) {
            break rest;
        }
        shared = shared.rsplit_once('_').map_or("", |(head, _)| head);
    };
    let rest = rest.trim_start_matches('_');
    let rest = rest.strip_prefix('k').unwrap_or(rest);
    if rest.chars().any(|c| c.is_ascii_lowercase()) {
        name_field(rest).to_ascii_uppercase()
    } else {
        rest.to_owned()
    }
}
