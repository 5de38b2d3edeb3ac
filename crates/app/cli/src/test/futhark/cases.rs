//! Test blocks in Futhark's sources: comments that begin with `-- ==` and have entry points, inputs and expected
//! results. A malformed block is a test that fails.
//!
//! ```text
//! BLOCK  = { "tags" "{" TAG* "}" | "entry:" NAME* | CASE | "error:" REGEX | "property:" NAME*
//!          | "structure" [PIPELINE] "{" {NODE NUMBER} "}" | "warning:" REGEX }
//! CASE   = [STRING] TAG* ["random" | "script"] "input" SOURCE [EXPECT]
//! EXPECT = "output" SOURCE | "auto" "output" | "error:" REGEX
//! SOURCE = "{" TEXT "}" | "@" FILE
//! ```
//!
//! Blocks of `structure` count nodes of Futhark's own representation. They are passed over, and counted.

use super::compare::compile_pattern;
use super::random::check_random_types;
use spirula_program::{ProgramValue, read_string};
use std::collections::HashSet;

/// The test blocks of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FutharkTestBlocks {
    /// The cases of all blocks, by entry point within a case.
    pub cases: Vec<FutharkCase>,
    /// Tags of the program.
    pub tags: Vec<String>,
    /// Number of blocks.
    pub count: usize,
    /// Number of `structure` specifications.
    pub structures: usize,
}

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
    pub input: FutharkCaseInput,
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
pub enum FutharkCaseInput {
    /// These values.
    Values(TestDataSource),
    /// Random values of these types.
    Random(String),
    /// The result of a script.
    Script(TestDataSource),
    /// Nothing is called.
    Nothing,
    /// Candidates for a counterexample of a property.
    Candidates,
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
    /// An error of the checker; the regular expression is a hint at its message.
    Refusal(String),
    /// A warning of the checker that matches a regular expression.
    Warning(String),
    /// That the program compiles.
    Compilation,
    /// No counterexample.
    Property,
    /// Nothing: the test fails, as a block is malformed for this reason.
    Malformed(String),
}

/// The line that a test block begins with.
const START: &str = "-- ==";

/// The entry point of cases that name none.
const MAIN: &str = "main";

/// Names of tests that call no entry point, in place of its name.
const REFUSAL: &str = "error";
const WARNING: &str = "warning";
const COMPILATION: &str = "compile";
const MALFORMED: &str = "block";

/// Parses the test blocks of a program. A program with blocks but without cases has to compile.
///
/// # Errors
/// When a block is malformed; the message names the line.
pub fn parse_test_blocks(source: &str) -> Result<FutharkTestBlocks, String> {
    let mut blocks = FutharkTestBlocks::default();
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
        blocks.count += 1;
        TestBlockParser::new(&block, number + 1).parse_block(&mut blocks)?;
    }
    if blocks.count > 0 && blocks.cases.is_empty() {
        blocks.cases.push(make_uncalled_case(
            COMPILATION,
            FutharkExpectation::Compilation,
        ));
    }
    Ok(blocks)
}

/// The case in place of all cases of a program whose blocks are malformed.
pub fn make_malformed_case(reason: String) -> FutharkCase {
    make_uncalled_case(MALFORMED, FutharkExpectation::Malformed(reason))
}

/// A case that calls no entry point.
fn make_uncalled_case(name: &str, expect: FutharkExpectation) -> FutharkCase {
    FutharkCase {
        entry: name.to_owned(),
        name: None,
        number: 0,
        tags: Vec::new(),
        input: FutharkCaseInput::Nothing,
        expect,
    }
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
    /// Names of data sets.
    names: HashSet<String>,
}

/// A case before it is repeated for each entry point.
struct CaseContents {
    name: Option<String>,
    tags: Vec<String>,
    input: FutharkCaseInput,
    expect: FutharkExpectation,
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
            names: HashSet::new(),
        }
    }

    /// An error at the current position.
    fn fail_at_cursor<T>(&self, message: impl AsRef<str>) -> CaseReadResult<T> {
        self.fail_at(self.position(), message)
    }

    /// An error at a position of the block.
    fn fail_at<T>(&self, position: usize, message: impl AsRef<str>) -> CaseReadResult<T> {
        let line = self.line + self.whole[..position].matches('\n').count();
        Err(format!("line {line}: {}", message.as_ref()))
    }

    /// Number of the bytes that were read.
    fn position(&self) -> usize {
        self.whole.len() - self.rest.len()
    }

    fn parse_block(mut self, blocks: &mut FutharkTestBlocks) -> CaseReadResult<()> {
        loop {
            self.rest = self.rest.trim_start();
            let before = self.rest;
            if before.is_empty() {
                return Ok(());
            }
            match self.parse_word() {
                "tags" => {
                    let tags = self.parse_braced_text()?.split_whitespace();
                    blocks.tags.extend(tags.map(str::to_owned));
                }
                "entry:" => self.entries = self.text_line().split_whitespace().collect(),
                "error:" => {
                    let expect = FutharkExpectation::Refusal(self.parse_pattern()?);
                    blocks.cases.push(make_uncalled_case(REFUSAL, expect));
                }
                "warning:" => {
                    let expect = FutharkExpectation::Warning(self.parse_pattern()?);
                    blocks.cases.push(make_uncalled_case(WARNING, expect));
                }
                "structure" => {
                    self.parse_structure()?;
                    blocks.structures += 1;
                }
                "property:" => self.parse_properties(blocks)?,
                _ => {
                    self.rest = before;
                    self.parse_case(&mut blocks.cases)?;
                }
            }
        }
    }

    /// Adds a case for each of the entry points.
    fn push_entry_cases(&mut self, cases: &mut Vec<FutharkCase>, contents: &CaseContents) {
        cases.extend(self.entries.iter().map(|entry| FutharkCase {
            entry: (*entry).to_owned(),
            name: contents.name.clone(),
            number: self.number,
            tags: contents.tags.clone(),
            input: contents.input.clone(),
            expect: contents.expect.clone(),
        }));
        self.number += 1;
    }

    /// Parses the names of properties, and adds a case for each.
    fn parse_properties(&mut self, blocks: &mut FutharkTestBlocks) -> CaseReadResult<()> {
        let names: Vec<&str> = self.text_line().split_whitespace().collect();
        if names.is_empty() {
            return self.fail_at_cursor("expected the name of a property");
        }
        let cases = names.into_iter().map(|name| FutharkCase {
            input: FutharkCaseInput::Candidates,
            ..make_uncalled_case(name, FutharkExpectation::Property)
        });
        blocks.cases.extend(cases);
        Ok(())
    }

    /// Parses a `structure` specification after its keyword: names of nodes with their numbers.
    fn parse_structure(&mut self) -> CaseReadResult<()> {
        self.rest = self.rest.trim_start();
        self.parse_word();
        let mut words = self.parse_braced_text()?.split_whitespace();
        while let Some(node) = words.next() {
            let is_node = node.chars().all(|c| c.is_alphabetic() || c == '/');
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            if !is_node || number.is_none() {
                return self.fail_at_cursor(format!(
                    "expected nodes with their numbers, found {node:?}, before this"
                ));
            }
        }
        Ok(())
    }

    /// Parses a regular expression, which may stand in the next line.
    fn parse_pattern(&mut self) -> CaseReadResult<String> {
        let is_here = !self.text_line_ahead().trim().is_empty();
        if !is_here {
            self.rest = self.rest.trim_start();
        }
        let position = self.position();
        let pattern = self.text_line().trim().to_owned();
        match compile_pattern(&pattern) {
            Ok(_) => Ok(pattern),
            Err(message) => self.fail_at(position, message),
        }
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
        let is_repeated = name
            .as_ref()
            .is_some_and(|name| !self.names.insert(name.clone()));
        if is_repeated {
            return self.fail_at_cursor("a second data set of this name before this");
        }
        let input = self.parse_input(&mut tags)?;
        let expect = self.parse_expectation()?;
        let contents = CaseContents {
            name,
            tags,
            input,
            expect,
        };
        self.push_entry_cases(cases, &contents);
        Ok(())
    }

    /// Parses the source of an input. The tags before it state its kind, which is removed from them.
    fn parse_input(&mut self, tags: &mut Vec<String>) -> CaseReadResult<FutharkCaseInput> {
        let take_tag = |tags: &mut Vec<String>, tag: &str| {
            let before = tags.len();
            tags.retain(|other| other != tag);
            tags.len() < before
        };
        if take_tag(tags, "script") {
            return Ok(FutharkCaseInput::Script(self.parse_data_source()?));
        }
        if take_tag(tags, "random") {
            let types = self.parse_braced_text()?;
            return match check_random_types(types) {
                Ok(()) => Ok(FutharkCaseInput::Random(types.to_owned())),
                Err(message) => self.fail_at_cursor(message),
            };
        }
        Ok(FutharkCaseInput::Values(self.parse_values()?))
    }

    /// Parses a source of values. Values in the block must be well-formed.
    fn parse_values(&mut self) -> CaseReadResult<TestDataSource> {
        self.rest = self.rest.trim_start();
        let start = self.position() + 1;
        let source = self.parse_data_source()?;
        if let TestDataSource::Text(text) = &source
            && let Err(error) = ProgramValue::read_all_wrapped(text.as_bytes(), &[])
        {
            return self.fail_at(start + error.at.min(text.len()), error.message);
        }
        Ok(source)
    }

    fn parse_expectation(&mut self) -> CaseReadResult<FutharkExpectation> {
        self.rest = self.rest.trim_start();
        let before = self.rest;
        match self.parse_word() {
            "output" => Ok(FutharkExpectation::Values(self.parse_values()?)),
            "error:" => Ok(FutharkExpectation::Error(self.parse_pattern()?)),
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

    /// The rest of the line, which is read.
    fn text_line(&mut self) -> &'a str {
        let line = self.text_line_ahead();
        self.rest = &self.rest[line.len()..];
        line
    }

    /// The rest of the line, which stays ahead.
    fn text_line_ahead(&self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        &self.rest[..end]
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
        let found = parse_test_blocks(source).unwrap().cases;
        let entries: Vec<_> = found.iter().map(|c| c.entry.as_str()).collect();
        assert_eq!(
            entries,
            ["f", "g", "f", "g", "f", "g", "main", "main", "main"]
        );
        assert_eq!(
            found[0].input,
            FutharkCaseInput::Values(make_text_source(" 1 "))
        );
        assert_eq!(
            found[1].expect,
            FutharkExpectation::Values(make_text_source(" \"}\" "))
        );
        assert_eq!(
            found[2].input,
            FutharkCaseInput::Random(" [10]i32 ".to_owned())
        );
        assert_eq!(found[2].expect, FutharkExpectation::Trusted);
        assert_eq!(found[2].tags, ["compiled"]);
        assert_eq!(found[2].name.as_deref(), Some("named case"));
        assert_eq!((&found[0].name, &found[4].name), (&None, &None));
        assert_eq!(found[4].tags, ["only_c", "no_x"]);
        let file = |name: &str| TestDataSource::File(name.to_owned());
        assert_eq!(
            found[4].input,
            FutharkCaseInput::Values(file("data/x.in.gz"))
        );
        assert_eq!(
            found[5].expect,
            FutharkExpectation::Values(file("data/x.out"))
        );
        assert_eq!(
            (&found[6].input, &found[6].expect),
            (
                &FutharkCaseInput::Script(make_text_source(" (1, {x = 2}) ")),
                &FutharkExpectation::Anything
            )
        );
        assert_eq!(
            found[7].expect,
            FutharkExpectation::Error("out of {bounds}".to_owned())
        );
        assert_eq!(
            found[8].input,
            FutharkCaseInput::Values(make_text_source(" 5\n 6 "))
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
            (
                "-- input {\n-- 1\n-- [1, [2]] }\n",
                "line 5: rows have different sizes",
            ),
            (
                "-- input { 1 }\n-- output { 1i7 }\n",
                "line 4: expected a value",
            ),
            (
                "-- random input { [n]i32 }\n",
                "line 3: [n]i32 is not a type",
            ),
            ("-- error: (\n", "line 3: "),
            ("-- structure { SegMap }\n", "line 3: expected nodes"),
            ("-- property:\n", "line 3: expected the name of a property"),
            (
                "-- \"a\" input { 1 }\n-- \"a\" input { 2 }\n",
                "line 4: a second data set",
            ),
        ] {
            let source = format!("-- A description.\n-- ==\n{block}\ndef f = 1\n");
            let error = parse_test_blocks(&source).unwrap_err();
            assert!(
                error.starts_with(told) || error.contains(told),
                "{block}: {error}"
            );
        }
        assert_eq!(
            parse_test_blocks("-- =====\n-- a heading\n"),
            Ok(FutharkTestBlocks::default())
        );
    }

    #[test]
    fn strings_and_errors_of_the_compiler() {
        let source =
            "-- ==\n-- error: ambiguous.*type\n\n-- ==\n-- input { \"a\\\"}\" } output { 3i64 }\n";
        let found = parse_test_blocks(source).unwrap().cases;
        assert_eq!(
            found[0].expect,
            FutharkExpectation::Refusal("ambiguous.*type".to_owned())
        );
        assert_eq!(
            found[1].input,
            FutharkCaseInput::Values(make_text_source(" \"a\\\"}\" "))
        );
        assert_eq!(
            found[1].expect,
            FutharkExpectation::Values(make_text_source(" 3i64 "))
        );
    }

    #[test]
    fn programs_that_nothing_calls() {
        let parse = |text: &str| parse_test_blocks(text).unwrap();
        let compiled =
            parse("-- ==\n-- structure gpu { SegMap 1 Loop/If 2 }\n-- tags { a no_c }\n");
        assert_eq!((compiled.structures, compiled.count), (1, 1));
        assert_eq!(compiled.tags, ["a", "no_c"]);
        assert_eq!(compiled.cases.len(), 1);
        assert_eq!(compiled.cases[0].expect, FutharkExpectation::Compilation);
        let others = parse("-- ==\n-- warning: un.sed\n-- ==\n-- property: p q\n");
        let names: Vec<&str> = others.cases.iter().map(|c| c.entry.as_str()).collect();
        assert_eq!(names, ["warning", "p", "q"]);
        assert_eq!(others.cases[1].expect, FutharkExpectation::Property);
        // A tag may stand before or after the kind of an input.
        let random = parse("-- ==\n-- random nobench input { i32 }\n");
        assert_eq!(random.cases[0].tags, ["nobench"]);
        assert_eq!(
            random.cases[0].input,
            FutharkCaseInput::Random(" i32 ".to_owned())
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(-- ==\n|-- |input|\\{|\\}|@|\"|output|auto|error:|é|\n| ){0,30}") {
            let _ = parse_test_blocks(&text);
        }
    }
}
