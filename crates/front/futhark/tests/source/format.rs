//! Tests of the formatter.

use spirula_futhark::format::format_source;
use spirula_futhark::syntax::read_tokens;
use spirula_futhark::syntax::token::{PunctuationMark, ReservedWord, TokenKind};
use std::path::Path;

/// A token that the formatter keeps. `let` and `def` are one, as are all places of documentation.
fn kept_tokens(text: &str) -> Vec<(TokenKind, String)> {
    let list = read_tokens(text).unwrap();
    let mut kept: Vec<(TokenKind, String)> = Vec::new();
    for token in list.tokens {
        let spelling = &text[token.range.start as usize..token.range.end as usize];
        let (kind, spelling) = match token.kind {
            TokenKind::Documentation => continue,
            TokenKind::Keyword(ReservedWord::Def | ReservedWord::Let) => {
                if kept.last().is_some_and(|(_, last)| last == "in") {
                    kept.pop();
                }
                (TokenKind::Keyword(ReservedWord::Let), "let")
            }
            TokenKind::Mark(
                PunctuationMark::CloseBracket
                | PunctuationMark::CloseBrace
                | PunctuationMark::CloseParenthesis,
            ) => {
                if kept.last().is_some_and(|(_, last)| last == ",") {
                    kept.pop();
                }
                (token.kind, spelling)
            }
            kind => (kind, spelling),
        };
        kept.push((kind, spelling.to_owned()));
    }
    kept
}

/// The lines of the comments and the documentation.
fn comment_lines(text: &str) -> Vec<String> {
    let list = read_tokens(text).unwrap();
    let lines = list.comments.iter().flat_map(|range| {
        let block = &text[range.start as usize..range.end as usize];
        block.lines().map(|line| line.trim().to_owned())
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// Formats a text, and checks that tokens and comments are kept, and that formatting again changes nothing.
fn check_formatted(name: &str, text: &str) -> Result<String, String> {
    let formatted = match format_source(text) {
        Ok(formatted) => formatted,
        Err(faults) => return Err(format!("{name}: {}", faults[0])),
    };
    if read_tokens(&formatted).is_err() {
        return Err(format!(
            "{name}: the formatted text has no tokens\n{formatted}"
        ));
    }
    let (before, after) = (kept_tokens(text), kept_tokens(&formatted));
    if before != after {
        let mut both = before.iter().zip(&after);
        let first = both.find(|(before, after)| before != after);
        return Err(format!("{name}: tokens differ: {first:?}"));
    }
    if comment_lines(text) != comment_lines(&formatted) {
        return Err(format!("{name}: comments differ"));
    }
    match format_source(&formatted) {
        Ok(again) if again == formatted => Ok(formatted),
        Ok(_) => Err(format!("{name}: formatting twice differs")),
        Err(faults) => Err(format!("{name}: formatted text: {}", faults[0])),
    }
}

#[track_caller]
fn formats(text: &str, wanted: &str) {
    let formatted = check_formatted("text", text).unwrap();
    assert_eq!(formatted, wanted, "\n{formatted}");
}

#[test]
fn lines_stay_lines() {
    formats("let  f x=x+1", "def f x = x + 1\n");
    formats(
        "def f (x:i32) : i32 =\nlet y=x in\nlet z = g  y\nin y+z",
        "def f (x: i32) : i32 =\n  let y = x\n  let z = g y\n  in y + z\n",
    );
    formats(
        "type t = {a:i32,b:[]f32,}\ntype u =\n#a i32\n| #b",
        "type t = {a: i32, b: []f32}\n\ntype u =\n    #a i32\n  | #b\n",
    );
}

#[test]
fn several_lines_are_broken_at_each_part() {
    formats("def f = [1,\n2, 3]", "def f =\n  [ 1\n  , 2\n  , 3\n  ]\n");
    formats(
        "def f x = if x then 1\nelse if y then 2 else 3",
        "def f x =\n  if x\n  then 1\n  else if y then 2 else 3\n",
    );
    formats(
        "def f xs = map (\\x -> let y = x\nin y) xs",
        "def f xs =\n  map (\\x ->\n         let y = x\n         in y)\n      xs\n",
    );
    formats(
        "def f n = loop (a,b) = (1,\n2) for i < n do (b,a)",
        "def f n =\n  loop (a, b) =\n         ( 1\n         , 2\n         )\n  for i < n do\n    (b, a)\n",
    );
}

#[test]
fn comments_stay_where_they_are() {
    formats(
        "-- head\n\n-- | docs\n-- more\ndef f = -- why\n  1 -- one\n\n-- end",
        "-- head\n\n-- | docs\n-- more\ndef f = -- why\n  1 -- one\n\n-- end\n",
    );
    formats(
        "def r = { a=1, -- first\n  -- before b\n  b=2} -- last\ndef s = 1",
        "def r =\n  { a = 1 -- first\n  -- before b\n  , b = 2\n  } -- last\n\ndef s = 1\n",
    );
}

#[test]
fn modules_and_declarations() {
    formats(
        "module type m = {\n type t\n val f [n] 'a : [n]a -> t }\nmodule k (P: m) : m with t = i32 = {type t=i32}\n\
         open k\nlocal import \"a\"\n#[noinline]\nentry main = 1",
        "module type m = {\n  type t\n  val f [n] 'a : [n]a -> t\n}\n\n\
         module k (P: m) : m with t = i32 = {type t = i32}\nopen k\nlocal import \"a\"\n\n\
         #[noinline]\nentry main = 1\n",
    );
    formats(
        "def (a:i32) +! (b:i32) = a\ndef (<|>) a b = a\ndef x `g` y = x",
        "def (a: i32) +! (b: i32) = a\ndef (<|>) a b = a\ndef x `g` y = x\n",
    );
}

#[test]
fn sections_slices_and_updates() {
    formats(
        "def f = (map (+1) (.x.y) , xs[1 : 2,::-1] with [i , 0]= 3, (`g` 2), m.(a+b), 0 ..< n , -x, !y)",
        "def f = (map (+ 1) (.x.y), xs[1:2, ::-1] with [i, 0] = 3, (`g` 2), m.(a + b), 0..<n, -x, !y)\n",
    );
}

/// All programs of the corpus keep their tokens and comments, and formatting twice is formatting once.
#[test]
fn programs_of_the_corpus() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/corpus");
    let corpus = std::env::var_os("SPIRULA_CORPUS").map_or(beside, Into::into);
    let mut folders = vec![corpus.join("futhark")];
    let (mut faults, mut count) = (Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_source = path.extension().is_some_and(|ending| ending == "fut");
            let Some(text) = is_source
                .then(|| std::fs::read_to_string(&path).ok())
                .flatten()
            else {
                continue;
            };
            // Some programs must be refused by the parser.
            if format_source(&text).is_err_and(|faults| !faults[0].message.starts_with("bug")) {
                continue;
            }
            count += 1;
            faults.extend(check_formatted(&path.display().to_string(), &text).err());
        }
    }
    assert!(
        faults.is_empty(),
        "{} of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
}
