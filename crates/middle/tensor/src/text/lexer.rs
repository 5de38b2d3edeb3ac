//! Lexer of the text form.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TensorToken {
    /// Keywords, names of nodes, operators and literals.
    Word(String),
    /// `%5`.
    Value(usize),
    /// `@name` or `@"name"`.
    Function(String),
    /// `"text"`.
    Text(String),
    /// A sign.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(super) struct PlacedToken {
    pub token: TensorToken,
    pub place: SourceLocation,
}

const MARKS: [&str; 12] = ["->", "(", ")", "{", "}", "[", "]", ",", "=", ":", "<", "+"];

/// Whether a function's name may contain a character without quotes.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#' | '$' | '-')
}

/// All tokens, `End` last.
pub(super) fn lex_tokens(text: &str) -> Result<Vec<PlacedToken>, SourceDiagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            let place = SourceLocation::from_text_range(at, at);
            let token = TensorToken::End;
            tokens.push(PlacedToken { token, place });
            return Ok(tokens);
        };
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = lex_token(rest, first).ok_or_else(|| {
            let place = SourceLocation::from_text_range(at, at + first.len_utf8());
            let message = match first {
                '…' => "elements of a constant are left out here",
                _ => "unknown token",
            };
            SourceDiagnostic::error(place, message)
        })?;
        let place = SourceLocation::from_text_range(at, at + length);
        tokens.push(PlacedToken { token, place });
        at += length;
    }
}

/// The first token of a text and its length in bytes.
fn lex_token(rest: &str, first: char) -> Option<(TensorToken, usize)> {
    if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
        return Some((TensorToken::Mark(mark), mark.len()));
    }
    match first {
        '*' => Some((TensorToken::Mark("*"), 1)),
        '"' => lex_string(rest).map(|(text, length)| (TensorToken::Text(text), length)),
        '%' => {
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            let number = rest[1..=digits].parse().ok()?;
            Some((TensorToken::Value(number), 1 + digits))
        }
        '@' => {
            let name = &rest[1..];
            let (name, length) = if name.starts_with('"') {
                lex_string(name)?
            } else {
                let end = name.find(|c| !is_plain(c)).unwrap_or(name.len());
                (name[..end].to_owned(), end)
            };
            Some((TensorToken::Function(name), length + 1))
        }
        _ => {
            let mut end = 0;
            for (at, c) in rest.char_indices() {
                let is_sign = c == '-' && (at == 0 || rest[..at].ends_with('e'));
                if !c.is_ascii_alphanumeric() && c != '_' && c != '.' && !is_sign {
                    break;
                }
                end = at + 1;
            }
            (end > 0).then(|| (TensorToken::Word(rest[..end].to_owned()), end))
        }
    }
}

/// A string as `{:?}` writes it, and the length of the literal in bytes.
fn lex_string(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, at + 1)),
            '\\' => {
                let (_, escape) = chars.next()?;
                text.push(match escape {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    '0' => '\0',
                    '"' | '\\' | '\'' => escape,
                    'u' => {
                        chars.next().filter(|(_, c)| *c == '{')?;
                        let digits = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}');
                        let digits: String = digits.collect();
                        char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                    }
                    _ => return None,
                });
            }
            c => text.push(c),
        }
    }
    None
}
