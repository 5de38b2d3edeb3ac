//! String literals in the syntax of Haskell (Haskell 2010 Language Report, 2.6), which Futhark uses too.

/// Escapes of one character.
const SHORT: [(char, char); 10] = [
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('a', '\x07'),
    ('b', '\x08'),
    ('f', '\x0c'),
    ('v', '\x0b'),
    ('"', '"'),
    ('\'', '\''),
    ('\\', '\\'),
];

/// Names of the control characters and their numbers. SOH comes before SO, which is a prefix of it.
const NAMES: [(&str, u8); 34] = [
    ("NUL", 0),
    ("SOH", 1),
    ("STX", 2),
    ("ETX", 3),
    ("EOT", 4),
    ("ENQ", 5),
    ("ACK", 6),
    ("BEL", 7),
    ("BS", 8),
    ("HT", 9),
    ("LF", 10),
    ("VT", 11),
    ("FF", 12),
    ("CR", 13),
    ("SO", 14),
    ("SI", 15),
    ("DLE", 16),
    ("DC1", 17),
    ("DC2", 18),
    ("DC3", 19),
    ("DC4", 20),
    ("NAK", 21),
    ("SYN", 22),
    ("ETB", 23),
    ("CAN", 24),
    ("EM", 25),
    ("SUB", 26),
    ("ESC", 27),
    ("FS", 28),
    ("GS", 29),
    ("RS", 30),
    ("US", 31),
    ("SP", 32),
    ("DEL", 127),
];

/// Reads the literal at the beginning of a text. Returns the string and the length of the literal in bytes.
///
/// # Errors
/// When the text does not begin with a quotation mark, the string has no end, or an escape is unknown. The message says
/// which.
pub fn read_string(text: &str) -> Result<(String, usize), String> {
    let quoted = text.strip_prefix('"').ok_or("expected a string")?;
    let (mut string, mut at) = (String::new(), 0);
    loop {
        let rest = &quoted[at..];
        let c = rest.chars().next().ok_or("this string has no end")?;
        at += c.len_utf8();
        match c {
            '"' => return Ok((string, at + 1)),
            '\\' => {
                let (c, length) = read_escape(&quoted[at..])?;
                string.extend(c);
                at += length;
            }
            c => string.push(c),
        }
    }
}

/// Reads an escape after the backslash. Returns its character and its length in bytes; `\&` has no character.
fn read_escape(rest: &str) -> Result<(Option<char>, usize), String> {
    if rest.starts_with('&') {
        return Ok((None, 1));
    }
    let bases = [("", 10), ("x", 16), ("X", 16), ("o", 8), ("O", 8)];
    for (mark, base) in bases {
        let Some(digits) = rest.strip_prefix(mark) else {
            continue;
        };
        let end = digits.find(|c: char| !c.is_digit(base));
        let digits = &digits[..end.unwrap_or(digits.len())];
        if !digits.is_empty() {
            let code = u32::from_str_radix(digits, base).ok();
            let c = code.and_then(char::from_u32);
            let c = c.ok_or("no character of a string has this number")?;
            return Ok((Some(c), mark.len() + digits.len()));
        }
    }
    if let Some((name, code)) = NAMES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Ok((Some(char::from(*code)), name.len()));
    }
    if let Some(c @ '@'..='_') = rest.strip_prefix('^').and_then(|r| r.chars().next()) {
        return Ok((char::from_u32(c as u32 - 64), 2));
    }
    let first = rest.chars().next().ok_or("this string has no end")?;
    let found = SHORT.iter().find(|(name, _)| *name == first);
    let (_, c) = found.ok_or("unknown escape in a string")?;
    Ok((Some(*c), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_as_haskell_does() {
        for (text, wanted) in [
            (r#""a\nb" rest"#, "a\nb"),
            (r#""say \"hi\"""#, "say \"hi\""),
            (r#""\65\x42\o103\SOH\SO\&H\^A\DEL""#, "ABC\x01\x0eH\x01\x7f"),
            (r#""æ\233\128512""#, "æé\u{1f600}"),
        ] {
            let (found, length) = read_string(text).expect(text);
            assert_eq!(found, wanted);
            assert_eq!(text.as_bytes()[length - 1], b'"');
        }
        for text in ["", "a", "\"", "\"a\\", "\"\\q\"", "\"\\1114112\""] {
            assert!(read_string(text).is_err(), "{text}");
        }
    }
}
