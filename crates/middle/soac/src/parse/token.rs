//! Tokens of the text form.

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct SoacToken {
    /// Its kind.
    pub(super) kind: SoacTokenKind,
    /// The position of its first byte.
    pub(super) start: usize,
}

/// A kind of token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SoacTokenKind {
    /// A name, a number, an operator or a keyword.
    Word(String),
    /// A text in quotation marks.
    Text(String),
    /// A mark of one or two characters.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// The marks, longer ones first.
const MARKS: [&str; 16] = [
    ":+", "->", "(", ")", "[", "]", "{", "}", ",", ":", "=", "<", "*", "#", "\\", "-",
];

/// The tokens of a text. The last is its end.
///
/// # Errors
///
/// The position of a character that begins no token, and a message.
pub(super) fn split_tokens(text: &str) -> Result<Vec<SoacToken>, TokenFault> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let comment = rest.strip_prefix("--").or_else(|| rest.strip_prefix("//"));
        if let Some(comment) = comment {
            start += 2 + comment.find('\n').unwrap_or(comment.len());
            continue;
        }
        let (kind, length) = match word_length(rest) {
            0 if first == '"' => read_text(rest).ok_or(TokenFault {
                start,
                message: "the text has no end",
            })?,
            0 => {
                let mark = MARKS.into_iter().find(|mark| rest.starts_with(mark));
                let mark = mark.ok_or(TokenFault {
                    start,
                    message: "no token begins with this character",
                })?;
                (SoacTokenKind::Mark(mark), mark.len())
            }
            length => (SoacTokenKind::Word(rest[..length].to_owned()), length),
        };
        tokens.push(SoacToken { kind, start });
        start += length;
    }
    tokens.push(SoacToken {
        kind: SoacTokenKind::End,
        start,
    });
    Ok(tokens)
}

/// A text that is no sequence of tokens.
pub(super) struct TokenFault {
    /// The position.
    pub(super) start: usize,
    /// The reason.
    pub(super) message: &'static str,
}

/// The length of the word at the beginning of a text. A number may have a sign, and its exponent another.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    let mut before = ' ';
    let is_number = text
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit());
    for (position, c) in text.char_indices() {
        let is_sign = c == '-'
            && (position == 0 && text[1..].starts_with(|next: char| next.is_alphanumeric())
                || is_number && before == 'e');
        if !(c.is_alphanumeric() || matches!(c, '_' | '.' | '\'') || is_sign) {
            break;
        }
        length = position + c.len_utf8();
        before = c;
    }
    length
}

/// The text in quotation marks at the beginning of a text, and its length with them.
fn read_text(text: &str) -> Option<(SoacTokenKind, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((position, c)) = characters.next() {
        match c {
            '"' => return Some((SoacTokenKind::Text(content), position + 1)),
            '\\' => content.push(read_escape(&mut characters)?),
            _ => content.push(c),
        }
    }
    None
}

/// The character that an escape stands for.
fn read_escape(characters: &mut dyn Iterator<Item = (usize, char)>) -> Option<char> {
    match characters.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '0' => Some('\0'),
        'u' => {
            let digits = characters.map(|(_, c)| c).skip_while(|&c| c == '{');
            let digits: String = digits.take_while(|&c| c != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        other => Some(other),
    }
}
