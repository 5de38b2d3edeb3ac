//! String literals as Rust's `{:?}` writes them.

/// The first literal of a text: its contents, and its length in bytes. `None` where the text begins with no literal that
/// ends, or with an escape that `{:?}` does not write.
pub(crate) fn lex_string(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, at + 1)),
            '\\' => text.push(read_escape(&mut chars.by_ref().map(|(_, c)| c))?),
            c => text.push(c),
        }
    }
    None
}

/// The character of an escape, after the backslash.
fn read_escape(chars: &mut dyn Iterator<Item = char>) -> Option<char> {
    match chars.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        'u' => {
            chars.next().filter(|c| *c == '{')?;
            let mut code = 0u32;
            loop {
                match chars.next()? {
                    '}' => return char::from_u32(code),
                    digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                }
            }
        }
        escape @ ('"' | '\\' | '\'') => Some(escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::lex_string;

    #[test]
    fn literals_read_back() {
        for text in ["", "a\"b\\c'", "\n\t\r\0\u{1b}", "Grüße \u{200b}\u{10ffff}"] {
            let literal = format!("{text:?}");
            assert_eq!(
                lex_string(&format!("{literal} rest")),
                Some((text.to_owned(), literal.len()))
            );
        }
    }

    #[test]
    fn malformed_literals_are_none() {
        for text in [
            "\"abc",
            "\"a\\",
            "\"\\q\"",
            "\"\\u41\"",
            "\"\\u{110000}\"",
            "\"\\u{41",
        ] {
            assert_eq!(lex_string(text), None, "{text}");
        }
    }
}
