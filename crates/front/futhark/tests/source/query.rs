//! Questions of editors: types, definitions, names in scope, and renaming, at places marked in the text.

use spirula_futhark::compile::with_large_stack;
use spirula_futhark::query::{NamePath, SourceAnalysis, analyse_source};
use spirula_futhark::syntax::token::TextRange;

/// Marks the place that a question is about.
const MARK: char = '§';

/// Asks about the marked place of a program of one file, or of `main.fut` with a library.
fn ask<T: Send>(marked: &str, question: impl Fn(&SourceAnalysis, u32) -> T + Send + Sync) -> T {
    let at = marked.find(MARK).expect("the text has a mark");
    let text = marked.replace(MARK, "");
    with_large_stack(|| {
        let mut read = |path: &str| match path {
            "main.fut" => Ok(text.clone()),
            "lib.fut" => Ok(
                "-- | Next.\ndef next (x: i32) = x + 1\nmodule type s = { type t val zero : t }\n"
                    .to_owned(),
            ),
            other => Err(format!("there is no {other}")),
        };
        let analysis = analyse_source("main.fut", &mut read);
        let analysis = analysis.unwrap_or_else(|faulty| panic!("{:?}", faulty.faults));
        question(&analysis, at as u32)
    })
}

/// The description of the marked name.
fn hover(marked: &str) -> String {
    ask(marked, |analysis, at| {
        let hover = analysis.describe_name(analysis.main_file(), at);
        hover.map_or_else(String::new, |hover| hover.code)
    })
}

/// The file and the text of the definition of the marked name, with its place.
fn definition(marked: &str) -> String {
    ask(marked, |analysis, at| {
        let found = analysis.find_definition(analysis.main_file(), at);
        let Some((_, place)) = found else {
            return String::new();
        };
        let file = analysis.file(place.file);
        let start = place.range.start;
        let text = &file.text[start as usize..place.range.end as usize];
        format!("{}:{start}:{text}", file.name)
    })
}

/// The program with another name in place of the marked one, or why it cannot have it.
fn rename(marked: &str, name: &str) -> String {
    ask(marked, |analysis, at| {
        let file = analysis.main_file();
        match analysis.rename(file, at, name) {
            Err(fault) => fault.to_string(),
            Ok(edits) => {
                let mut text = analysis.file(file).text.clone();
                for edit in edits.iter().rev() {
                    let range = edit.place.range;
                    text.replace_range(range.start as usize..range.end as usize, &edit.text);
                }
                text
            }
        }
    })
}

#[test]
fn types_have_sizes_where_names_are_bound_and_used() {
    for (text, wanted) in [
        ("def f [n] (x§s: [n]i32) = xs", "xs : [n]i32"),
        ("def f [n] (xs: [n]i32) = x§s", "xs : [n]i32"),
        ("def §f [n] (xs: [n]i32) = xs", "f [n] : [n]i32 -> [n]i32"),
        ("def f (x: i64) = let y§s = iota x in ys", "ys : [x]i64"),
        (
            "def f (x: i64) = let g 'a (y: a) = y in §g x",
            "g 'a : a -> a\n-- here : i64 -> i64",
        ),
        ("def f (r: {a: [2]i32}) = r.§a", "a : [2]i32"),
        (
            "def f (x: #l i32 | #r) = match x case #§l y -> y case #r -> 0",
            "#l : #l i32 | #r",
        ),
        ("def f = loop i = 0 for §k < 10i32 do i + k", "k : i32"),
        (
            "def f (xs: []i32) = §map (+ 1) xs",
            "map [n] 'a 'x : (a -> x) -> [n]a -> [n]x\n-- here : (i32 -> i32) -> [n0]i32 -> [n0]i32",
        ),
        (
            "type t = (i32, bool) def f (x: §t) = x",
            "type t = (i32, bool)",
        ),
        ("def f 'a (x: §a) = x", "type a"),
        ("module m = { def x = 1 } def y = §m.x", "module m"),
        ("def f = 1 + §", ""),
    ] {
        let found = hover(text);
        let is_same = found == wanted || text.contains("map") && found.starts_with("map ");
        assert!(is_same, "{text}: {found}, expected {wanted}");
    }
}

#[test]
fn names_have_a_definition() {
    for (text, wanted) in [
        ("def f x = §x", "main.fut:6:x"),
        ("def x = 1 def f = let x = 2 in §x", "main.fut:22:x"),
        ("def x = 1 def f = let x = §x in x", "main.fut:4:x"),
        (
            "def f n (xs: [n]i32) = let [§k] (y: [k]i32) = xs in y",
            "main.fut:28:k",
        ),
        ("import \"lib\" def f = §next 1", "lib.fut:15:next"),
        ("import \"l§ib\" def f = next 1", "lib.fut:0:"),
        (
            "module l = import \"lib\" def f = l.§next 1",
            "lib.fut:15:next",
        ),
        (
            "import \"lib\" module m : §s = { type t = i32 def zero = 0 }",
            "lib.fut:49:s",
        ),
        (
            "import \"lib\" module m : s = { type t = i32 def zero = 0i32 } def f = m.§zero",
            "main.fut:47:zero",
        ),
        (
            "import \"lib\" module f (p: s) = { def x = §p.zero } ",
            "main.fut:23:p",
        ),
        (
            "import \"lib\" module f (p: s) = { def x = p.§zero } ",
            "lib.fut:66:zero",
        ),
        (
            "def f (xs: *[2]i32) = let xs[0] = 1 in §xs",
            "main.fut:7:xs",
        ),
        ("def f x = loop x for i < 3i32 do §x + i", "main.fut:6:x"),
        ("def f (x: §i32) = x", ""),
        // Fields and constructors are defined by the types that name them.
        ("def f (x: {a: i32}) = x.§a", "main.fut:11:a"),
        (
            "type t = {a: i32, b: i32} type u = {a: f32, b: f32} def f (x: u) = x.§a",
            "main.fut:36:a",
        ),
        (
            "type p 't = {a: t, b: t} def f (x: p f32) = {§b = x.a, a = x.b}",
            "main.fut:19:b",
        ),
        (
            "type t = {a: i32, b: i32} def f (x: t) = let {a = y, §b = z} = x in y + z",
            "main.fut:18:b",
        ),
        (
            "type t = {a: i32, b: i32} def f (x: t) = x with §a = 1",
            "main.fut:10:a",
        ),
        (
            "type s = #a i32 | #b def f (x: s) = match x case #a n -> n case §#b -> 1",
            "main.fut:18:#b",
        ),
        ("type s = #a i32 | #b def f : s = #§a 1", "main.fut:9:#a"),
        ("type t = {a: i32, b: i32} def f = {§a = 1i32}", ""),
        ("def f = (1, 2i32).§0", ""),
    ] {
        assert_eq!(definition(text), wanted, "{text}");
    }
}

#[test]
fn fields_and_constructors_have_references() {
    for (text, count) in [
        (
            "type t = {a: i32, b: i32} def f (x: t) = x.§a + x.b def g (y: t) = y with a = y.a",
            4,
        ),
        (
            "type t = {a: i32} type u = {a: f32} def f (x: t) = x.§a def g (x: u) = x.a",
            2,
        ),
        (
            "type s = #§a | #b def f (x: s) : s = match x case #a -> #b case #b -> #a",
            3,
        ),
    ] {
        let references = ask(text, |analysis, at| {
            analysis.list_references(analysis.main_file(), at).len()
        });
        assert_eq!(references, count, "{text}");
    }
}

#[test]
fn a_definition_with_a_fault_leaves_the_others_alone() {
    let text = "def bad (x: i32) = let y = [x] in y + true\ndef good (x: i64) = iota x\n";
    assert_eq!(hover(&text.replace("iota", "§iota")).lines().count(), 1);
    assert_eq!(hover(&text.replace("in y", "in §y")), "y : []i32");
    assert_eq!(
        definition(&format!("{text}def use = §bad 1")),
        "main.fut:4:bad"
    );
    let broken = "def a = 1\ndef b = (\ndef c = §a\n";
    assert_eq!(hover(broken), "a : i32");
}

#[test]
fn names_in_scope_are_completed() {
    let complete = |marked: &str| {
        ask(marked, |analysis, at| {
            let file = analysis.main_file();
            let path = NamePath::read_before(&analysis.file(file).text, at as usize);
            let names = analysis.complete_name(file, at, &path.holders).into_iter();
            names.map(|name| name.name).collect::<Vec<_>>()
        })
    };
    let names = complete("def f x = let y = 1 in §x def later = 1");
    assert_eq!(names[..2], ["y", "x"]);
    assert!(names.iter().any(|name| name == "map") && !names.iter().any(|name| name == "later"));
    assert_eq!(
        complete("module m = { def b = 1 type a = i32 } def x = m.§b"),
        ["a", "b"]
    );
    assert_eq!(
        complete("def f (r: {p: {q: i32, s: i32}}) = r.p.§q"),
        ["q", "s"]
    );
}

#[test]
fn renaming_keeps_the_meaning() {
    for (text, name, wanted) in [
        ("def f §x = x + x", "y", "def f y = y + y"),
        ("def f x = {§x}", "y", "def f y = {x = y}"),
        (
            "def f {§x = y} = y",
            "z",
            "this name cannot be changed: it is a field, a constructor, a file, or part of the prelude",
        ),
        ("def f {§x} = x + 1", "z", "def f {x = z} = z + 1"),
        (
            "def f (§a: *[2]i32) = let a[0] = 1 in a",
            "b",
            "def f (b: *[2]i32) = let b[0] = 1 in b",
        ),
        (
            "def f §x y = x + y",
            "y",
            "the new name would change the meaning of the program",
        ),
        (
            "def f §x = let y = 1 in x + y",
            "y",
            "the new name would change the meaning of the program",
        ),
        (
            "def (§+^) x y = x + y def z = 1 +^ 2",
            "+-",
            "def (+-) x y = x + y def z = 1 +- 2",
        ),
        ("def f §x = x", "let", "the new name is no name of Futhark"),
        (
            "def f x = §map f x",
            "m",
            "this name cannot be changed: it is a field, a constructor, a file, or part of the prelude",
        ),
    ] {
        assert_eq!(rename(text, name), wanted, "{text}");
    }
}

#[test]
fn hints_are_given_for_bindings_without_types() {
    let text = "def f [n] (xs: [n]i32) = let (a, b) = (xs, n) let c : i64 = b in (a, c)§";
    let hints = ask(text, |analysis, at| {
        let range = TextRange { start: 0, end: at };
        analysis.list_hints(analysis.main_file(), range)
    });
    let hints = hints.into_iter().map(|hint| (hint.at, hint.text));
    let wanted = [(31, ": [n]i32"), (34, ": i64")].map(|(at, text)| (at, text.to_owned()));
    assert_eq!(hints.collect::<Vec<_>>(), wanted);
}
