//! Tokens and their lexer.

use crate::string::lex_string;
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextToken {
    /// A keyword, the name of an operator, or a literal.
    Word(String),
    /// `%name` or `%5`: a value or a variable.
    Value(String),
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
pub struct PlacedToken {
    /// The token.
    pub token: TextToken,
    /// Its place in the text.
    pub place: SourceLocation,
}

/// The names of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueNames {
    /// Names, which may be quoted.
    Names,
    /// Numbers below `usize::MAX`.
    Numbers,
}

/// The differences between text forms.
#[derive(Clone, Copy, Debug)]
pub struct TokenSyntax {
    /// The beginning of a comment, which ends with its line.
    pub comment: &'static str,
    /// The names of values.
    pub values: ValueNames,
    /// Characters that names contain without quotes, besides letters, digits, `_`, `.`, `'` and `#`.
    pub name_characters: &'static str,
}

const MARKS: [&str; 13] = [
    "->", "(", ")", "{", "}", "[", "]", ",", "=", ":", "<", "+", "*",
];

impl TokenSyntax {
    /// Whether a name needs no quotes.
    pub fn is_plain_name(&self, name: &str) -> bool {
        !name.is_empty() && name.chars().all(|c| self.has_plain(c))
    }

    /// Whether a name may contain a character without quotes.
    fn has_plain(&self, c: char) -> bool {
        c.is_alphanumeric()
            || matches!(c, '_' | '.' | '\'' | '#')
            || self.name_characters.contains(c)
    }

    /// The first token of a text, which begins with the character `first`, and its length in bytes.
    fn lex_token(&self, rest: &str, first: char) -> Option<(TextToken, usize)> {
        if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
            return Some((TextToken::Mark(mark), mark.len()));
        }
        match first {
            '"' => lex_string(rest).map(|(text, length)| (TextToken::Text(text), length)),
            '%' if self.values == ValueNames::Numbers => {
                let length = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
                let number = &rest[1..=length];
                number.parse::<usize>().ok()?;
                Some((TextToken::Value(number.to_owned()), 1 + length))
            }
            '%' => {
                let (name, length) = self.lex_name(&rest[1..])?;
                Some((TextToken::Value(name), 1 + length))
            }
            '@' => {
                let (name, length) = self.lex_name(&rest[1..])?;
                Some((TextToken::Function(name), 1 + length))
            }
            _ => lex_word(rest).map(|word| (TextToken::Word(word.to_owned()), word.len())),
        }
    }

    /// The name at the beginning of a text, and the length of its form in bytes.
    fn lex_name(&self, rest: &str) -> Option<(String, usize)> {
        if rest.starts_with('"') {
            return lex_string(rest);
        }
        let length = rest.find(|c| !self.has_plain(c)).unwrap_or(rest.len());
        (length > 0).then(|| (rest[..length].to_owned(), length))
    }
}

/// The word at the beginning of a text. A minus sign belongs to it at its beginning and after an `e`.
fn lex_word(rest: &str) -> Option<&str> {
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        let is_sign = c == '-' && (at == 0 || rest[..at].ends_with('e'));
        if !c.is_ascii_alphanumeric() && c != '_' && c != '.' && !is_sign {
            break;
        }
        end = at + 1;
    }
    (end > 0).then(|| &rest[..end])
}

/// All tokens of a text, `End` last.
///
/// # Errors
/// At the first character that begins no token.
pub fn lex_tokens(text: &str, syntax: &TokenSyntax) -> Result<Vec<PlacedToken>, SourceDiagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            let place = SourceLocation::from_text_range(at, at);
            let token = TextToken::End;
            tokens.push(PlacedToken { token, place });
            return Ok(tokens);
        };
        if rest.starts_with(syntax.comment) {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = syntax.lex_token(rest, first).ok_or_else(|| {
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

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: TokenSyntax = TokenSyntax {
        comment: ";",
        values: ValueNames::Names,
        name_characters: "",
    };

    const NUMBERED: TokenSyntax = TokenSyntax {
        comment: "//",
        values: ValueNames::Numbers,
        name_characters: "$-",
    };

    fn print_tokens(text: &str, syntax: &TokenSyntax) -> Result<String, String> {
        let tokens = lex_tokens(text, syntax).map_err(|error| error.to_string())?;
        let tokens = tokens.iter().map(|placed| match &placed.token {
            TextToken::Word(word) => word.clone(),
            TextToken::Value(name) => format!("%{name}"),
            TextToken::Function(name) => format!("@{name}"),
            TextToken::Text(text) => format!("{text:?}"),
            TextToken::Mark(mark) => format!("`{mark}`"),
            TextToken::End => "end".to_owned(),
        });
        Ok(tokens.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn forms_differ_in_comments_values_and_names() {
        let read = |text| print_tokens(text, &NAMED);
        assert_eq!(read("%a->%\"b c\" ; x"), Ok("%a `->` %b c end".to_owned()));
        assert_eq!(read("@f-1"), Ok("@f -1 end".to_owned()));
        let read = |text| print_tokens(text, &NUMBERED);
        assert_eq!(read("%12x // y\n1e-3"), Ok("%12 x 1e-3 end".to_owned()));
        assert_eq!(read("@f-1$"), Ok("@f-1$ end".to_owned()));
    }

    #[test]
    fn unknown_tokens_have_a_place() {
        let read = |text| print_tokens(text, &NAMED);
        assert_eq!(read("a ?"), Err("byte 2: unknown token".to_owned()));
        assert_eq!(read("@"), Err("byte 0: unknown token".to_owned()));
        let left_out = "byte 1: elements of a constant are left out here";
        assert_eq!(read("[…"), Err(left_out.to_owned()));
        let read = |text| print_tokens(text, &NUMBERED);
        assert_eq!(read("%a"), Err("byte 0: unknown token".to_owned()));
        let number = format!("%{}0", usize::MAX);
        assert_eq!(read(&number), Err("byte 0: unknown token".to_owned()));
    }
}
