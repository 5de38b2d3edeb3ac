//! Test blocks in Futhark's sources: comments that begin with `-- ==` and have entry points, inputs and expected
//! results. A malformed block is an error, as it is for `futhark test`.
//!
//! ```text
//! BLOCK  = { "tags" "{" .. "}" | "entry:" NAME* | CASE | "error:" REGEX | "property:" NAME*
//!          | "structure" [PIPELINE] "{" .. "}" | "warning:" REGEX }
//! CASE   = [STRING] TAG* ["random" | "script"] "input" SOURCE [EXPECT]
//! EXPECT = "output" SOURCE | "auto" "output" | "error:" REGEX
//! SOURCE = "{" TEXT "}" | "@" FILE
//! ```

use spirula_program::read_string;

/// A case of one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FutharkCase {
    /// Entry point.
    pub entry: String,
    /// Name of the case, where it has one.
    pub name: Option<String>,
    /// Number within its block, from 0.
    pub number: usize,
    /// Words before the input, such as `notest` or `no_vulkan`.
    pub tags: Vec<String>,
    /// Its input.
    pub input: FutharkInput,
    /// Its expected result.
    pub expect: FutharkExpectation,
}

/// Source of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestDataSource {
    /// Text in the block.
    Text(String),
    /// File, named from the folder of the program.
    File(String),
}

/// Input of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FutharkInput {
    /// These values.
    Values(TestDataSource),
    /// Random values of these types.
    Random(String),
    /// The result of a script.
    Script(TestDataSource),
}

/// Expected result of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FutharkExpectation {
    /// Anything but an error.
    Anything,
    /// These values.
    Values(TestDataSource),
    /// The result of a trusted run.
    Trusted,
    /// An error that matches a regular expression.
    Error(String),
    /// An error of Futhark's compiler that matches a regular expression. Nothing is called.
    Refusal(String),
}

/// The line that a test block begins with.
const START: &str = "-- ==";

/// The entry point of cases that name none.
const MAIN: &str = "main";

/// Parses all cases of a program, block by block, and by entry point within a case.
///
/// # Errors
/// When a block is malformed; the message names the line.
pub fn parse_futhark_cases(source: &str) -> Result<Vec<FutharkCase>, String> {
    let mut cases = Vec::new();
    let mut lines = source.lines().map(str::trim_end).enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let Some(rest) = strip_block_start(line) else {
            continue;
        };
        let mut block = rest.to_owned();
        while let Some((_, line)) =
            lines.next_if(|(_, l)| l.starts_with("--") && strip_block_start(l).is_none())
        {
            block.push('\n');
            block += &line[2..];
        }
        TestBlockParser::new(&block, number + 1).parse_block(&mut cases)?;
    }
    Ok(cases)
}

/// The rest of a line that begins a block. A line of more equals signs is a decoration.
fn strip_block_start(line: &str) -> Option<&str> {
    line.strip_prefix(START)
        .filter(|rest| !rest.starts_with('='))
}

/// Parser of a block.
struct TestBlockParser<'a> {
    whole: &'a str,
    rest: &'a str,
    /// Line of the source that the block begins with, from 1.
    line: usize,
    entries: Vec<&'a str>,
    /// Number of parsed cases.
    number: usize,
}

type CaseReadResult<T> = Result<T, String>;

impl<'a> TestBlockParser<'a> {
    fn new(text: &'a str, line: usize) -> Self {
        TestBlockParser {
            whole: text,
            rest: text,
            line,
            entries: vec![MAIN],
            number: 0,
        }
    }

    /// An error at the current position.
    fn fail_at_cursor<T>(&self, message: impl AsRef<str>) -> CaseReadResult<T> {
        let read = &self.whole[..self.whole.len() - self.rest.len()];
        let line = self.line + read.matches('\n').count();
        Err(format!("line {line}: {}", message.as_ref()))
    }

    fn parse_block(mut self, cases: &mut Vec<FutharkCase>) -> CaseReadResult<()> {
        loop {
            self.rest = self.rest.trim_start();
            let before = self.rest;
            if before.is_empty() {
                return Ok(());
            }
            match self.parse_word() {
                "tags" => {
                    self.parse_braced_text()?;
                }
                "entry:" => self.entries = self.text_line().split_whitespace().collect(),
                "error:" => {
                    let pattern = self.text_line().trim().to_owned();
                    let input = FutharkInput::Values(TestDataSource::Text(String::new()));
                    self.push_entry_cases(
                        cases,
                        None,
                        Vec::new(),
                        input,
                        FutharkExpectation::Refusal(pattern),
                    );
                }
                "structure" => {
                    self.rest = self.rest.trim_start();
                    self.parse_word();
                    self.parse_braced_text()?;
                }
                "warning:" | "property:" => {
                    self.text_line();
                }
                _ => {
                    self.rest = before;
                    self.parse_case(cases)?;
                }
            }
        }
    }

    /// Adds a case for each of the entry points.
    fn push_entry_cases(
        &mut self,
        cases: &mut Vec<FutharkCase>,
        name: Option<String>,
        tags: Vec<String>,
        input: FutharkInput,
        expect: FutharkExpectation,
    ) {
        cases.extend(self.entries.iter().map(|entry| FutharkCase {
            entry: (*entry).to_owned(),
            name: name.clone(),
            number: self.number,
            tags: tags.clone(),
            input: input.clone(),
            expect: expect.clone(),
        }));
        self.number += 1;
    }

    fn parse_case(&mut self, cases: &mut Vec<FutharkCase>) -> CaseReadResult<()> {
        let name = if self.rest.starts_with('"') {
            Some(self.parse_string()?)
        } else {
            None
        };
        let mut tags = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            let before = self.rest;
            match self.parse_word() {
                "input" => break,
                tag if is_tag(tag) => tags.push(tag.to_owned()),
                _ => {
                    self.rest = before;
                    let found = before.split_whitespace().next().unwrap_or_default();
                    let text = match tags.last() {
                        Some(tag) => format!("expected \"input\" after {tag:?}, not {found:?}"),
                        None => format!("expected a test case, not {found:?}"),
                    };
                    return self.fail_at_cursor(text);
                }
            }
        }
        let source = self.parse_data_source()?;
        let kind = tags.last().map(String::as_str);
        let input = match (kind, source) {
            (Some("random"), TestDataSource::Text(types)) => FutharkInput::Random(types),
            (Some("script"), script) => FutharkInput::Script(script),
            (_, source) => FutharkInput::Values(source),
        };
        if !matches!(input, FutharkInput::Values(_)) {
            tags.pop();
        }
        let expect = self.parse_expectation()?;
        self.push_entry_cases(cases, name, tags, input, expect);
        Ok(())
    }

    fn parse_expectation(&mut self) -> CaseReadResult<FutharkExpectation> {
        self.rest = self.rest.trim_start();
        let before = self.rest;
        match self.parse_word() {
            "output" => Ok(FutharkExpectation::Values(self.parse_data_source()?)),
            "error:" => {
                // The pattern may stand in the next line.
                self.rest = self.rest.trim_start();
                Ok(FutharkExpectation::Error(
                    self.text_line().trim().to_owned(),
                ))
            }
            "auto" => {
                self.rest = self.rest.trim_start();
                match self.parse_word() {
                    "output" => Ok(FutharkExpectation::Trusted),
                    _ => self.fail_at_cursor("expected \"output\" after \"auto\""),
                }
            }
            _ => {
                self.rest = before;
                Ok(FutharkExpectation::Anything)
            }
        }
    }

    /// Parses `{ TEXT }` or `@ FILE`.
    fn parse_data_source(&mut self) -> CaseReadResult<TestDataSource> {
        self.rest = self.rest.trim_start();
        let Some(file) = self.rest.strip_prefix('@') else {
            return Ok(TestDataSource::Text(self.parse_braced_text()?.to_owned()));
        };
        self.rest = file.trim_start();
        let end = self.rest.find(char::is_whitespace);
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if name.is_empty() {
            return self.fail_at_cursor("expected the name of a file");
        }
        self.rest = rest;
        Ok(TestDataSource::File(name.to_owned()))
    }

    /// Parses a text in braces.
    fn parse_braced_text(&mut self) -> CaseReadResult<&'a str> {
        self.rest = self.rest.trim_start();
        let Some(text) = self.rest.strip_prefix('{') else {
            return self.fail_at_cursor("expected \"{\"");
        };
        let Some(end) = find_closing_brace(text) else {
            return self
                .fail_at_cursor("this brace is not closed; an error where \"}\" is expected");
        };
        self.rest = &text[end + 1..];
        Ok(&text[..end])
    }

    fn parse_string(&mut self) -> CaseReadResult<String> {
        match read_string(self.rest) {
            Ok((text, length)) => {
                self.rest = &self.rest[length..];
                Ok(text)
            }
            Err(message) => self.fail_at_cursor(message),
        }
    }

    /// Parses the characters before a blank or a brace.
    fn parse_word(&mut self) -> &'a str {
        let is_end = |c: char| c.is_whitespace() || "{}".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The rest of the line.
    fn text_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }
}

fn is_tag(word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !word.is_empty() && word.chars().all(is_part) && !["structure", "tags"].contains(&word)
}

/// Position of the brace that closes one before the text. Braces in strings and pairs of braces do not count.
fn find_closing_brace(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '"' => {
                // A string without an end is reported later.
                at += read_string(&text[at..]).map_or(1, |(_, length)| length);
                continue;
            }
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_text_source(text: &str) -> TestDataSource {
        TestDataSource::Text(text.to_owned())
    }

    #[test]
    fn cases_of_each_sort() {
        let source = "\
-- A description.
-- ==
-- tags { no_webgpu }
-- entry: f g
-- input { 1 } output { \"}\" }
-- \"named case\" compiled random input { [10]i32 }
--   auto output
-- only_c no_x input @ data/x.in.gz
-- output @ data/x.out
-- structure gpu { SegMap 1 }

-- ==
-- nobench script input { (1, {x = 2}) }
-- input {0i64} error: out of {bounds}
-- ==
-- input { 5
-- 6 }
entry f = 1
-- input { 9 }
-- not a block
";
        let found = parse_futhark_cases(source).unwrap();
        let entries: Vec<_> = found.iter().map(|c| c.entry.as_str()).collect();
        assert_eq!(
            entries,
            ["f", "g", "f", "g", "f", "g", "main", "main", "main"]
        );
        assert_eq!(
            found[0].input,
            FutharkInput::Values(make_text_source(" 1 "))
        );
        assert_eq!(
            found[1].expect,
            FutharkExpectation::Values(make_text_source(" \"}\" "))
        );
        assert_eq!(found[2].input, FutharkInput::Random(" [10]i32 ".to_owned()));
        assert_eq!(found[2].expect, FutharkExpectation::Trusted);
        assert_eq!(found[2].tags, ["compiled"]);
        assert_eq!(found[2].name.as_deref(), Some("named case"));
        assert_eq!((&found[0].name, &found[4].name), (&None, &None));
        assert_eq!(found[4].tags, ["only_c", "no_x"]);
        let file = |name: &str| TestDataSource::File(name.to_owned());
        assert_eq!(found[4].input, FutharkInput::Values(file("data/x.in.gz")));
        assert_eq!(
            found[5].expect,
            FutharkExpectation::Values(file("data/x.out"))
        );
        assert_eq!(
            (&found[6].input, &found[6].expect),
            (
                &FutharkInput::Script(make_text_source(" (1, {x = 2}) ")),
                &FutharkExpectation::Anything
            )
        );
        assert_eq!(
            found[7].expect,
            FutharkExpectation::Error("out of {bounds}".to_owned())
        );
        assert_eq!(
            found[8].input,
            FutharkInput::Values(make_text_source(" 5\n 6 "))
        );
    }

    #[test]
    fn what_is_no_block_is_an_error() {
        for (block, told) in [
            (
                "-- inptu { [1] }\n",
                "line 3: expected \"input\" after \"inptu\"",
            ),
            (
                "-- input { [1] } ouput { [2] }\n",
                "line 3: expected \"input\" after \"ouput\"",
            ),
            ("-- input { [1]\n", "line 3: this brace is not closed"),
            ("-- input [1]\n", "line 3: expected \"{\""),
            ("-- input { 1 } auto { 2 }\n", "line 3: expected \"output\""),
            ("-- input {}\n-- input { 1 } output\n", "expected \"{\""),
            ("-- input @\n", "line 3: expected the name of a file"),
            (
                "-- some words\n",
                "line 3: expected \"input\" after \"words\"",
            ),
            (
                "-- input { 1 } output { 1 } }\n",
                "line 3: expected a test case, not \"}\"",
            ),
            ("-- \"name input { 1 }\n", "line 3: "),
        ] {
            let source = format!("-- A description.\n-- ==\n{block}\ndef f = 1\n");
            let error = parse_futhark_cases(&source).unwrap_err();
            assert!(
                error.starts_with(told) || error.contains(told),
                "{block}: {error}"
            );
        }
        assert_eq!(
            parse_futhark_cases("-- =====\n-- a heading\n"),
            Ok(Vec::new())
        );
    }

    #[test]
    fn strings_and_errors_of_the_compiler() {
        let source =
            "-- ==\n-- error: ambiguous.*type\n\n-- ==\n-- input { \"a\\\"}\" } output { 3i64 }\n";
        let found = parse_futhark_cases(source).unwrap();
        assert_eq!(
            found[0].expect,
            FutharkExpectation::Refusal("ambiguous.*type".to_owned())
        );
        assert_eq!(
            found[1].input,
            FutharkInput::Values(make_text_source(" \"a\\\"}\" "))
        );
        assert_eq!(
            found[1].expect,
            FutharkExpectation::Values(make_text_source(" 3i64 "))
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(-- ==\n|-- |input|\\{|\\}|@|\"|output|auto|error:|é|\n| ){0,30}") {
            let _ = parse_futhark_cases(&text);
        }
    }
}
