//! Tokens of the C header: words and marks, without comments and directives.

use anyhow::{Result, bail};

/// A word (identifier or number) or a mark of one character.
pub type HeaderToken = String;

/// Splits a header into tokens. Directives of the preprocessor are left out.
pub fn split_tokens(text: &str) -> Result<Vec<HeaderToken>> {
    let text = remove_directives(&remove_comments(text)?);
    let mut tokens = Vec::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    Ok(tokens)
}

fn remove_comments(text: &str) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(&rest[..at]);
        let is_block = rest[at..].starts_with("/*");
        let end = if is_block { "*/" } else { "\n" };
        let Some(length) = rest[at..].find(end) else {
            bail!("a comment does not end");
        };
        rest = &rest[at + length + if is_block { 2 } else { 0 }..];
    }
    Ok(out + rest)
}

/// Removes directives, with the lines that continue them.
fn remove_directives(text: &str) -> String {
    let mut is_directive = false;
    let kept = text.lines().filter(|line| {
        is_directive |= line.trim_start().starts_with('#');
        let is_kept = !is_directive;
        is_directive &= line.ends_with('\\');
        is_kept
    });
    kept.collect::<Vec<_>>().join("\n")
}
