//! Test blocks in Futhark's sources: comments from `-- ==` on with entry points, inputs and what is
//! expected of them.
//!
//! ```text
//! BLOCK  = { "tags" "{" .. "}" | "entry:" NAMES | CASE | anything else, which is passed over }
//! CASE   = ["\"" NAME "\""] TAG* ["random" | "script"] "input" SOURCE [EXPECT]
//! EXPECT = "output" SOURCE | "auto" "output" | "error:" REGEX
//! SOURCE = "{" TEXT "}" | "@" FILE
//! ```

/// A case of one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Entry point.
    pub entry: String,
    /// What it is called, where it has a name.
    pub name: Option<String>,
    /// Words before the input that say for whom the case is.
    pub tags: Vec<String>,
    /// What it is called with.
    pub input: Input,
    /// What comes out.
    pub expect: Expect,
}

/// Where values stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Here, as text.
    Text(String),
    /// In a file, named from the folder of the program.
    File(String),
}

/// What a case is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// These values.
    Values(Source),
    /// Random values of these types.
    Random(String),
    /// What a script gives.
    Script(Source),
}

/// What comes out of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything but an error.
    Anything,
    /// These values.
    Values(Source),
    /// What a run that is trusted gives.
    Trusted,
    /// An error that matches a regular expression.
    Error(String),
}

/// All cases of a program, block by block, entry point by entry point within a case.
pub fn cases(source: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut lines = source.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        if !is_start(line) {
            continue;
        }
        let mut block = String::new();
        while let Some(line) = lines.next_if(|l| l.starts_with("--") && !is_start(l)) {
            block += &line[2..];
            block.push('\n');
        }
        Block::new(&block).read(&mut cases);
    }
    cases
}

fn is_start(line: &str) -> bool {
    line.strip_prefix("--").is_some_and(|l| l.trim() == "==")
}

/// The text of a block, as far as it is not read yet.
struct Block<'a> {
    rest: &'a str,
    entries: Vec<&'a str>,
    name: Option<String>,
    tags: Vec<String>,
}

impl<'a> Block<'a> {
    fn new(text: &'a str) -> Self {
        Block {
            rest: text,
            entries: vec!["main"],
            name: None,
            tags: Vec::new(),
        }
    }

    fn read(mut self, cases: &mut Vec<Case>) {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(quoted) = self.rest.strip_prefix('"') {
                let (name, rest) = quoted.split_once('"').unwrap_or((quoted, ""));
                self.name = Some(name.to_owned());
                self.rest = rest;
                continue;
            }
            match self.word() {
                "" if self.rest.is_empty() => return,
                // Something that no case has.
                "" => self.rest = self.rest.get(1..).unwrap_or(""),
                "entry:" => self.entries = self.line().split_whitespace().collect(),
                "input" => {
                    if let Some(case) = self.case() {
                        cases.extend(self.entries.iter().map(|entry| Case {
                            entry: (*entry).to_owned(),
                            ..case.clone()
                        }));
                    }
                    self.tags.clear();
                    self.name = None;
                }
                word if word.ends_with(':') => {
                    self.line();
                    self.tags.clear();
                }
                word => self.tags.push(word.to_owned()),
            }
        }
    }

    /// The case whose `input` was just read.
    fn case(&mut self) -> Option<Case> {
        let source = self.source()?;
        let kind = self.tags.last().map(String::as_str);
        let input = match (kind, source) {
            (Some("random"), Source::Text(types)) => Input::Random(types),
            (Some("script"), script) => Input::Script(script),
            (_, source) => Input::Values(source),
        };
        let mut tags = std::mem::take(&mut self.tags);
        if !matches!(input, Input::Values(_)) {
            tags.pop();
        }
        Some(Case {
            entry: String::new(),
            name: self.name.take(),
            tags,
            input,
            expect: self.expect(),
        })
    }

    fn expect(&mut self) -> Expect {
        let before = self.rest;
        let found = match self.next_word() {
            "output" => self.source().map(Expect::Values),
            "auto" if self.next_word() == "output" => Some(Expect::Trusted),
            "error:" => Some(Expect::Error(self.line().trim().to_owned())),
            _ => None,
        };
        found.unwrap_or_else(|| {
            self.rest = before;
            Expect::Anything
        })
    }

    /// `{ TEXT }` or `@ FILE`.
    fn source(&mut self) -> Option<Source> {
        let text = self.rest.trim_start();
        if let Some(file) = text.strip_prefix('@') {
            self.rest = file.trim_start();
            return Some(Source::File(self.word().to_owned()));
        }
        let text = text.strip_prefix('{')?;
        let end = closing(text)?;
        self.rest = &text[end + 1..];
        Some(Source::Text(text[..end].to_owned()))
    }

    fn next_word(&mut self) -> &'a str {
        self.rest = self.rest.trim_start();
        self.word()
    }

    /// Characters up to a blank or a brace.
    fn word(&mut self) -> &'a str {
        let is_end = |c: char| c.is_whitespace() || "{}".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// The rest of the line.
    fn line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line
    }
}

/// Where the brace closes that was opened before the text; braces in strings and pairs of them do
/// not count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut is_string) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_string = !is_string,
            '{' if !is_string => depth += 1,
            '}' if !is_string && depth == 0 => return Some(at),
            '}' if !is_string => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Source {
        Source::Text(text.to_owned())
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
        let found = cases(source);
        let entries: Vec<_> = found.iter().map(|c| c.entry.as_str()).collect();
        assert_eq!(
            entries,
            ["f", "g", "f", "g", "f", "g", "main", "main", "main"]
        );
        assert_eq!(found[0].input, Input::Values(text(" 1 ")));
        assert_eq!(found[1].expect, Expect::Values(text(" \"}\" ")));
        assert_eq!(found[2].input, Input::Random(" [10]i32 ".to_owned()));
        assert_eq!(found[2].expect, Expect::Trusted);
        assert_eq!(found[2].tags, ["compiled"]);
        assert_eq!(found[2].name.as_deref(), Some("named case"));
        assert_eq!((&found[0].name, &found[4].name), (&None, &None));
        assert_eq!(found[4].tags, ["only_c", "no_x"]);
        let file = |name: &str| Source::File(name.to_owned());
        assert_eq!(found[4].input, Input::Values(file("data/x.in.gz")));
        assert_eq!(found[5].expect, Expect::Values(file("data/x.out")));
        assert_eq!(
            (&found[6].input, &found[6].expect),
            (&Input::Script(text(" (1, {x = 2}) ")), &Expect::Anything)
        );
        assert_eq!(found[7].expect, Expect::Error("out of {bounds}".to_owned()));
        assert_eq!(found[8].input, Input::Values(text(" 5\n 6 ")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(-- ==\n|-- |input|\\{|\\}|@|\"|output|auto|error:|é|\n| ){0,30}") {
            cases(&text);
        }
    }
}
