//! The lexer of the text form.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KernelToken {
    /// A keyword, an operator or a literal.
    Word(String),
    /// `%name`.
    Var(String),
    /// `@name`.
    Function(String),
    /// `"text"`.
    Text(String),
    /// Another character by itself, or `->`.
    Mark(&'static str),
    /// The end of the text.
    End,
}

const MARKS: [&str; 13] = [
    "->", "(", ")", "{", "}", "[", "]", ",", "=", ":", "<", "+", "*",
];

/// Whether a name may contain this character without quotes.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '#')
}

/// All tokens with their places, `End` last.
pub(super) fn lex_tokens(
    text: &str,
) -> Result<Vec<(KernelToken, SourceLocation)>, SourceDiagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            tokens.push((KernelToken::End, SourceLocation::from_text_range(at, at)));
            return Ok(tokens);
        };
        if first == ';' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = lex_token(rest, first).ok_or_else(|| {
            SourceDiagnostic::error(SourceLocation::from_text_range(at, at + 1), "unknown token")
        })?;
        tokens.push((token, SourceLocation::from_text_range(at, at + length)));
        at += length;
    }
}

fn lex_token(rest: &str, first: char) -> Option<(KernelToken, usize)> {
    if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
        return Some((KernelToken::Mark(mark), mark.len()));
    }
    match first {
        '"' => lex_string(rest).map(|(text, length)| (KernelToken::Text(text), length)),
        '%' | '@' => {
            let (name, length) = if rest[1..].starts_with('"') {
                lex_string(&rest[1..])?
            } else {
                let end = rest[1..].find(|c| !is_plain(c)).unwrap_or(rest.len() - 1);
                (rest[1..1 + end].to_owned(), end)
            };
            let token = match first {
                '%' => KernelToken::Var(name),
                _ => KernelToken::Function(name),
            };
            (length > 0).then_some((token, length + 1))
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
            (end > 0).then(|| (KernelToken::Word(rest[..end].to_owned()), end))
        }
    }
}

/// Reads a string as `{:?}` writes it: the text, and the length of the literal.
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
                    'u' => {
                        chars.next().filter(|(_, c)| *c == '{')?;
                        let mut code = 0u32;
                        loop {
                            match chars.next()?.1 {
                                '}' => break,
                                digit => {
                                    code =
                                        code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?;
                                }
                            }
                        }
                        char::from_u32(code)?
                    }
                    '"' | '\\' | '\'' => escape,
                    _ => return None,
                });
            }
            c => text.push(c),
        }
    }
    None
}
