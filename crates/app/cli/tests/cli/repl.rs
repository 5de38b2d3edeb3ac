//! Interactive sessions: `spirula repl`.

use crate::harness::{ScratchFolder, spirula_with};

/// Answers to inputs, without the prompts.
fn answers(args: &[&str], inputs: &str) -> Vec<String> {
    let arguments: Vec<&str> = ["repl"].iter().chain(args).copied().collect();
    let output = spirula_with(&arguments, inputs.as_bytes()).ok();
    assert!(!output.err.contains("panicked"), "{}", output.err);
    let text = output.text();
    let mut answers = Vec::new();
    let mut rest = text.as_str();
    for count in 0.. {
        let Some((answer, after)) = rest.split_once(&format!("[{count}]> ")) else {
            answers.push(rest.trim_end().to_owned());
            break;
        };
        answers.push(answer.trim_end().to_owned());
        rest = after;
    }
    assert_eq!(
        answers.pop().as_deref(),
        Some("Leaving 'spirula repl'."),
        "{text}"
    );
    answers.remove(0);
    answers
}

#[track_caller]
fn answer(pairs: &[(&str, &str)]) {
    let inputs = pairs.iter().map(|(input, _)| format!("{input}\n"));
    let found = answers(&[], &inputs.collect::<String>());
    let wanted: Vec<&str> = pairs.iter().map(|(_, wanted)| *wanted).collect();
    assert_eq!(found, wanted);
}

#[test]
fn values_of_all_types() {
    answer(&[
        ("1 + 2", "3"),
        ("1.5f32", "1.5"),
        ("1e10", "1.0e10"),
        ("f32.inf", "f32.inf"),
        ("-f64.inf", "-f64.inf"),
        ("f16.nan", "f16.nan"),
        ("255u8", "255"),
        ("true", "true"),
        ("()", "()"),
        ("(1, 2)", "(1,\n 2)"),
        ("{a = 1, b = [1.5f32, 2]}", "{a = 1,\n b = [1.5, 2.0]}"),
        ("[[1, 2], [3, 4]]", "[[1, 2],\n [3, 4]]"),
        ("[(1, 2), (3, 4)]", "[(1, 2), (3, 4)]"),
        ("[] : [0]i32", "[]"),
        ("0f64 / 0", "f64.nan"),
        ("-- only a comment", ""),
        ("#foo 1 2 : #foo i32 i32 | #bar", "#foo 1 2"),
        ("[#foo 1 : #foo i32 | #bar, #bar]", "[#foo 1, #bar]"),
        ("#a (#b 1) : #a (#b i32)", "#a (#b 1)"),
        ("\\x -> x + 1", "#<fun>"),
        ("\"abc\"", "[97, 98, 99]"),
    ]);
}

#[test]
fn declarations_hide_earlier_ones() {
    answer(&[
        ("let x = 2", ""),
        ("def f y = y + x", ""),
        ("let x = 3", ""),
        ("x", "3"),
        ("f 1", "3"),
        ("type t = {left: i32}", ""),
        ("entry get (v: t) = v.left", ""),
        ("get {left = 7}", "7"),
        ("module m = { def a = 5 type u = bool }", ""),
        ("m.a", "5"),
        (":mtype m", "{\n  val a : i32\n  type u\n}"),
        (
            "module s : { type t val one : t } = { type t = (i32, bool) def one = (1, true) }",
            "",
        ),
        ("s.one", "(1,\n true)"),
    ]);
}

#[test]
fn types_and_commands() {
    answer(&[
        (":type 1", "i32"),
        (":t \\(x: i64) -> iota x", "(x: i64) -> [x]i64"),
        (":type length", "[n0]t0 -> i64\n\nPolymorphic in [n0] 't0."),
        (":type", "Usage: :type EXPRESSION"),
        (
            ":nothing",
            "There is no command `:nothing`; `:help` lists all.",
        ),
        (":reload", "No file was loaded: use `:load FILE`."),
        ("", ""),
        (
            "[]",
            "The expression has the type [0]t0\nThe following are ambiguous: 't0",
        ),
    ]);
    let last = answers(&[], "1\n:quit\n2\n");
    assert_eq!(last, ["1"]);
}

#[test]
fn incomplete_inputs_go_on_in_the_next_line() {
    let found = answers(&[], "let f x =\nx + 1\nf (2\n+ 3)\n1 +\n\n4\n");
    assert_eq!(found, ["", "6", "The input ends too early.", "4"]);
}

#[test]
fn errors_have_places_and_the_session_goes_on() {
    let found = answers(
        &[],
        "1 + true\nnothing\n[1, 2, 3][5]\ndef at i = [1, 2][i]\nat 7\n1 )\n5\n",
    );
    assert!(found[0].contains("[0]:1:"), "{}", found[0]);
    assert!(
        found[1].contains("there is no value or module `nothing` here"),
        "{}",
        found[1]
    );
    assert_eq!(
        found[2],
        "Error: Index [5] out of bounds for array of shape [3].\nBacktrace:\n-> #0  [2]:1:1-12"
    );
    assert_eq!(
        found[4],
        "Error: Index [7] out of bounds for array of shape [2].\nBacktrace:\n-> #0  [3]:1:12-20\n-> #1  [4]:1:1-4"
    );
    assert!(found[5].contains("error"), "{}", found[5]);
    assert_eq!(found[6], "5");
}

#[test]
fn deeply_nested_inputs_are_refused() {
    let found = answers(
        &[],
        &format!("{}1{}\n1\n", "(".repeat(5000), ")".repeat(5000)),
    );
    assert!(
        found[0].contains("constructs are nested here"),
        "{}",
        found[0]
    );
    assert_eq!(found[1], "1");
}

#[test]
fn files_are_loaded_with_their_imports() {
    let folder = ScratchFolder::new();
    folder.file("lib.fut", "def two = 2");
    let path = folder.file(
        "main.fut",
        "import \"lib\"\nlocal def secret = 40 + two\nentry fail (x: i32) = assert (x > 0) x",
    );
    folder.file("bad.fut", "def x = 1 + true");
    let bad = folder.text("bad.fut");
    let found = answers(
        &[&path],
        &format!("secret\nfail 0\n:load {bad}\nsecret\n:load {path}\ntwo\n"),
    );
    assert_eq!(found[0], "42");
    assert!(found[1].contains("main.fut:3:"), "{}", found[1]);
    assert!(found[2].contains("bad.fut"), "{}", found[2]);
    assert_eq!(found[3], "42");
    assert_eq!(found[5], "2");
}
