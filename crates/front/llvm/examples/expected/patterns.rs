//! Expectation patterns: the lines of a test that state the expected text, in the syntax of LLVM's
//! FileCheck.

use super::runs::ListingForm;
use regex_lite::Regex;
use spirula_spirv::grammar::{Kind as OperandKind, Op, all_instructions};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The relation of an expectation to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectationKind {
    /// Anywhere after the last match.
    Plain,
    /// On the line after the last match.
    Next,
    /// On the line of the last match.
    Same,
    /// In any order with its neighbours of this kind.
    Dag,
    /// The next line is empty.
    Empty,
    /// Nowhere between its neighbours.
    Not,
    /// Divides the text into sections.
    Label,
    /// This number of times.
    Count(usize),
}

/// A piece of a pattern.
#[derive(Clone, Debug)]
enum PatternPiece {
    Literal(String),
    Regex(String),
    /// Binds a name to the text that the expression matches.
    Define(String, String),
    /// The text that a name is bound to.
    Use(String),
}

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub kind: ExpectationKind,
    /// Its line in the test.
    pub line: usize,
    pub text: String,
    pieces: Vec<PatternPiece>,
}

/// The texts that names are bound to.
pub type PatternBindings = HashMap<String, String>;

/// The expectations of a test that begin with one of the prefixes.
pub fn parse_expectations(test: &str, prefixes: &[String]) -> Vec<Expectation> {
    let lines = test.lines().enumerate();
    lines
        .filter_map(|(number, line)| {
            let (kind, text) = prefixes.iter().find_map(|p| parse_directive(line, p))?;
            let text = update_former_names(&collapse_blanks(text.trim()));
            let pieces = split_pieces(&text);
            Some(Expectation {
                kind,
                line: number + 1,
                text,
                pieces,
            })
        })
        .collect()
}

/// A text in which all runs of blanks are reduced to one.
pub fn collapse_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '\t' if out.ends_with(' ') => {}
            ' ' | '\t' => out.push(' '),
            '\r' => {}
            _ => out.push(c),
        }
    }
    out
}

/// A text with current names in place of former ones. Modules have numbers, which are printed with
/// current names.
fn update_former_names(text: &str) -> String {
    static NAMES: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(map_former_names);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(word) {
        let end = rest[start..].find(|c| !word(c));
        let end = end.map_or(rest.len(), |end| start + end);
        let found = &rest[start..end];
        out.push_str(&rest[..start]);
        out.push_str(names.get(found).unwrap_or(&found));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Operand kinds with renamed enumerants.
const RENAMED: [OperandKind; 6] = [
    OperandKind::Capability,
    OperandKind::Decoration,
    OperandKind::ExecutionMode,
    OperandKind::LoopControl,
    OperandKind::StorageClass,
    OperandKind::BuiltIn,
];

/// Former names with the current ones. Names of instructions also occur without `Op`.
fn map_former_names() -> HashMap<&'static str, &'static str> {
    let mut names = HashMap::new();
    for row in all_instructions() {
        for alias in row.aliases {
            names.insert(*alias, row.name);
            names.insert(&alias[2..], &row.name[2..]);
        }
    }
    for kind in RENAMED {
        for row in kind.info().enumerants {
            for alias in row.aliases {
                names.insert(*alias, row.name);
            }
        }
    }
    // Names that are still in use are unchanged.
    for kind in RENAMED {
        for row in kind.info().enumerants {
            names.remove(row.name);
        }
    }
    names
}

/// The kind and pattern of a line with `PREFIX:` or `PREFIX-KIND:`.
fn parse_directive<'t>(line: &'t str, prefix: &str) -> Option<(ExpectationKind, &'t str)> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for (at, _) in line.match_indices(prefix) {
        if line[..at].ends_with(word) {
            continue;
        }
        let rest = &line[at + prefix.len()..];
        let Some((suffix, text)) = rest.split_once(':') else {
            continue;
        };
        let kind = match suffix {
            "" => ExpectationKind::Plain,
            "-NEXT" => ExpectationKind::Next,
            "-SAME" => ExpectationKind::Same,
            "-EMPTY" => ExpectationKind::Empty,
            "-DAG" => ExpectationKind::Dag,
            "-NOT" => ExpectationKind::Not,
            "-LABEL" => ExpectationKind::Label,
            _ => match suffix.strip_prefix("-COUNT-").and_then(|n| n.parse().ok()) {
                Some(count) => ExpectationKind::Count(count),
                None => continue,
            },
        };
        return Some((kind, text));
    }
    None
}

fn split_pieces(text: &str) -> Vec<PatternPiece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix("{{") {
            let mut end = inner.find("}}").unwrap_or(inner.len());
            // A brace that closes a repetition precedes those that close the expression.
            while inner[end..].starts_with("}}}") {
                end += 1;
            }
            pieces.push(PatternPiece::Regex(inner[..end].to_owned()));
            rest = inner.get(end + 2..).unwrap_or("");
        } else if let Some(inner) = rest.strip_prefix("[[") {
            let end = find_closing_brackets(inner);
            pieces.push(parse_variable(&inner[..end]));
            rest = inner.get(end + 2..).unwrap_or("");
        } else {
            let next = [rest.find("{{"), rest.find("[[")];
            let end = next.into_iter().flatten().min().unwrap_or(rest.len());
            pieces.push(PatternPiece::Literal(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    pieces
}

/// Position of the `]]` that ends a variable. Brackets of its expression may precede it.
fn find_closing_brackets(text: &str) -> usize {
    let mut depth = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => depth += 1,
            b']' if depth == 0 && bytes.get(at + 1) == Some(&b']') => return at,
            b']' if depth > 0 => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// `NAME`, `NAME:expression`, `#`, `#NAME:`, `#NAME`.
fn parse_variable(text: &str) -> PatternPiece {
    const NUMBER: &str = "[0-9]+";
    let Some(number) = text.strip_prefix('#') else {
        return match text.split_once(':') {
            Some((name, regex)) => PatternPiece::Define(name.to_owned(), regex.to_owned()),
            None => PatternPiece::Use(text.to_owned()),
        };
    };
    let number = number.rsplit(',').next().unwrap_or_default().trim();
    match number.split_once(':') {
        Some((name, _)) => PatternPiece::Define(name.trim().to_owned(), NUMBER.to_owned()),
        None if number
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !number.is_empty() =>
        {
            PatternPiece::Use(number.to_owned())
        }
        None => PatternPiece::Regex(NUMBER.to_owned()),
    }
}

impl Expectation {
    /// Whether it names an instruction, or anything else that is worth checking.
    pub fn is_positive(&self) -> bool {
        self.kind != ExpectationKind::Not && !self.text.is_empty()
    }

    /// The names of instructions in it, with `Op`.
    pub fn instruction_names(&self, form: ListingForm) -> impl Iterator<Item = &'static str> {
        let following = self.pieces.iter().skip(1).map(Some).chain([None]);
        let literals = self.pieces.iter().zip(following);
        let literals = literals.filter_map(|(piece, next)| match (piece, next) {
            // A word that continues in an expression is only the beginning of a name.
            (PatternPiece::Literal(text), Some(PatternPiece::Regex(_))) => {
                let word = |c: char| c.is_ascii_alphanumeric();
                Some(text.trim_end_matches(word).split('"').step_by(2))
            }
            (PatternPiece::Literal(text), _) => Some(text.split('"').step_by(2)),
            _ => None,
        });
        let words = literals.flatten().flat_map(|text| {
            text.split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|w| !w.is_empty())
        });
        let mut rest = true;
        words.filter_map(move |word| {
            let op = match form {
                ListingForm::Internal if rest => Op::by_name(&format!("Op{word}")),
                ListingForm::Internal => None,
                ListingForm::Raw | ListingForm::Friendly if word.starts_with("Op") => {
                    Op::by_name(word)
                }
                ListingForm::Raw | ListingForm::Friendly => None,
            };
            rest &= op.is_none();
            op.and_then(Op::info).map(|row| row.name)
        })
    }

    /// Records the texts that the names which it binds may stand for.
    pub fn declare_bound_names(&self, kinds: &mut PatternBindings) {
        for piece in &self.pieces {
            if let PatternPiece::Define(name, regex) = piece {
                kinds.insert(name.clone(), regex.clone());
            }
        }
    }

    /// An expression that matches for any text of the names.
    pub fn build_loose_pattern(&self, kinds: &PatternBindings) -> Option<Regex> {
        let mut source = String::new();
        for piece in &self.pieces {
            match piece {
                PatternPiece::Literal(text) => source += &regex_lite::escape(text),
                PatternPiece::Regex(regex) | PatternPiece::Define(_, regex) => {
                    source += &format!("(?:{regex})")
                }
                PatternPiece::Use(name) => match kinds.get(name) {
                    Some(regex) => source += &format!("(?:{regex})"),
                    None => source += "\\S+",
                },
            }
        }
        Regex::new(&source).ok()
    }

    /// The first match in a text, with the names that it binds. A name that is bound and used must
    /// match the same text.
    pub fn find_match(&self, text: &str, bound: &mut PatternBindings) -> Option<(usize, usize)> {
        let mut source = String::from("(?m)");
        let mut groups: Vec<&str> = Vec::new();
        let mut kinds: HashMap<&str, &str> = HashMap::new();
        for piece in &self.pieces {
            match piece {
                PatternPiece::Literal(text) => source += &regex_lite::escape(text),
                PatternPiece::Regex(regex) => source += &format!("(?:{regex})"),
                PatternPiece::Define(name, regex) => {
                    source += &format!("(?P<g{}>{regex})", groups.len());
                    groups.push(name);
                    kinds.insert(name, regex);
                }
                PatternPiece::Use(name) => match (kinds.get(name.as_str()), bound.get(name)) {
                    (Some(regex), _) => {
                        source += &format!("(?P<g{}>{regex})", groups.len());
                        groups.push(name);
                    }
                    (None, Some(value)) => source += &regex_lite::escape(value),
                    (None, None) => return None,
                },
            }
        }
        let regex = Regex::new(&source).ok()?;
        let mut from = 0;
        loop {
            let captures = regex.captures_at(text, from)?;
            let all = captures.get(0)?;
            let mut new: HashMap<&str, &str> = HashMap::new();
            let agree = groups.iter().enumerate().all(|(number, name)| {
                let value = captures
                    .name(&format!("g{number}"))
                    .map_or("", |m| m.as_str());
                *new.entry(name).or_insert(value) == value
            });
            if agree {
                for (name, value) in new {
                    bound.insert(name.to_owned(), value.to_owned());
                }
                return Some((all.start(), all.end()));
            }
            from = all.start() + 1;
            if !text.is_char_boundary(from) {
                return None;
            }
        }
    }
}
