//! The text of typed source: it is read back as the program that it was printed from.

use crate::{check_text, run_source};
use spirula_futhark::compile::{CheckedSource, with_large_stack};
use spirula_futhark::internalise::internalise_entry;
use spirula_futhark::typed_text::{TYPED_HEADER, print_typed};
use spirula_program::ProgramValue;
use std::collections::HashMap;

/// Programs of the corpus that are not read back, each with the reason.
pub(crate) const LOST: &[(&str, &str)] = &[
    (
        "benchmarks/babelstream/babelstream.fut",
        "a module type makes a polymorphic definition an entry point's",
    ),
    (
        "benchmarks/misc/poseidon/poseidon-bench.fut",
        "a module type hides that a result may share the memory of a constant",
    ),
    (
        "benchmarks/pbbs/removeDuplicates/lib/github.com/diku-dk/containers/array/array_test.fut",
        "a module type hides that a result may share the memory of a constant",
    ),
    (
        "benchmarks/pbbs/removeDuplicates/lib/github.com/diku-dk/containers/map/map_test.fut",
        "a module type says that sizes are equal that are inferred to differ",
    ),
    (
        "tests/shapes/entry-lifted.fut",
        "a module type hides a size that nothing determines",
    ),
];

/// The soac form of an entry point, with numbers for its variables in their order, and without the messages of checks,
/// which have places.
fn print_soac(checked: &CheckedSource, index: usize) -> String {
    let entry = checked.program.entries[index];
    match internalise_entry(&checked.files, &checked.program, entry) {
        Ok((function, _)) => {
            let text = function.to_string();
            let lines = text.lines().map(drop_message);
            number_variables(&lines.collect::<Vec<_>>().join("\n"))
        }
        Err(fault) => fault.message,
    }
}

/// A line of the soac form without the message of its check, and without the name of the function that it begins.
fn drop_message(line: &str) -> &str {
    if line.starts_with("with ") {
        return &line[line.find(" (").unwrap_or(0)..];
    }
    let check = line.find(" check(");
    let end = check.and_then(|start| Some(start + line[start..].find(',')?));
    &line[..end.unwrap_or(line.len())]
}

/// The text with new numbers for its variables, which end with an underscore and a number.
fn number_variables(text: &str) -> String {
    let mut numbers = HashMap::new();
    let words =
        text.split_inclusive(|character: char| !character.is_alphanumeric() && character != '_');
    let words = words.map(|word| {
        let end = word
            .trim_end_matches(|character: char| !character.is_alphanumeric() && character != '_');
        let is_variable = end
            .rsplit_once('_')
            .is_some_and(|(_, number)| number.parse::<u64>().is_ok());
        if !is_variable {
            return word.to_owned();
        }
        let next = numbers.len();
        let number = *numbers.entry(end).or_insert(next);
        format!("v{number}{}", &word[end.len()..])
    });
    words.collect()
}

/// Why a program differs from what its text is read back as. The text is printed again, and the soac forms are compared.
pub(crate) fn find_difference(checked: &CheckedSource) -> Result<String, String> {
    let text = print_typed(&checked.program);
    let again = check_text(&text).map_err(|message| format!("{message}\n{text}"))?;
    let printed = print_typed(&again.program);
    if printed != text {
        return Err(format!("{text}\nis printed again as\n{printed}"));
    }
    let difference = with_large_stack(|| {
        (0..checked.program.entries.len()).find_map(|index| {
            let (first, second) = (print_soac(checked, index), print_soac(&again, index));
            (first != second).then(|| format!("{first}\nbecomes\n{second}\nfrom\n{text}"))
        })
    });
    difference.map_or(Ok(text), Err)
}

/// The results of `main` by the evaluator of typed source, after its text is read back. An error is a message.
pub(crate) fn run_text(checked: &CheckedSource, input: &[ProgramValue]) -> Result<String, String> {
    let again = check_text(&print_typed(&checked.program))?;
    run_source(&again, input)
}

/// The text of a program without its first line. It is read back as the same program.
fn print_checked(source: &str) -> String {
    let checked = check_text(source).unwrap_or_else(|fault| panic!("{fault}\n{source}"));
    let text = find_difference(&checked).unwrap_or_else(|difference| panic!("{difference}"));
    let body = text.strip_prefix(TYPED_HEADER).expect("the first line");
    body.trim().to_owned()
}

#[test]
fn definitions_have_one_name_each() {
    let text = print_checked(
        "module type number = { type t val add : t -> t -> t }
         module twice (n: number) = { def add (x: n.t) : n.t = n.add x x }
         module long = { type t = i64 def add (x: t) (y: t) = x + y }
         module short = { type t = i16 def add (x: t) (y: t) = x + y }
         module long_twice = twice long
         module short_twice = twice short
         def add (x: i32) : i32 = x
         def (+.) (x: i32) (y: i32) : i32 = i32.max x y
         entry first (x: i64) (y: i16) = (long_twice.add x, short_twice.add y)
         entry second (add: i32) (y: i32) = add +. y",
    );
    let expected = "\
def i32_max (x: i32) (y: i32) : i32 = intrinsics.max x y

def long_add (x: i64) (y: i64) : i64 = x + y

def short_add (x: i16) (y: i16) : i16 = x + y

def long_twice_add (x: i64) : i64 = long_add x x

def short_twice_add (x: i16) : i16 = short_add x x

def plus_dot (x: i32) (y: i32) : i32 = i32_max x y

entry first (x: i64) (y: i16) : (i64, i16) = (long_twice_add x, short_twice_add y)

entry second (add: i32) (y: i32) : i32 = add `plus_dot` y";
    assert_eq!(text, expected);
}

#[test]
fn abstract_types_are_printed_as_what_they_hide() {
    let text = print_checked(
        "module type stack = {
           type^ stack [n] 'a
           val mk [n] 'a : [n]a -> stack [n] a
           val top [n] 'a : stack [n] a -> a
         }
         module stack : stack = {
           type^ stack [n] 'a = { rows: [n]a, next: a -> a }
           def mk [n] 'a (rows: [n]a) : stack [n] a = { rows, next = \\x -> x }
           def top [n] 'a (s: stack [n] a) : a = s.next s.rows[0]
         }
         def both (n: i64) (s: stack.stack [n + 1] i32) = stack.top s
         entry main [n] (xs: [n]i32) = both n (stack.mk (xs ++ [1]))",
    );
    let expected = "\
def plus_plus [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

def stack_mk [n] 'a (rows: [n]a) : {next: a -> a, rows: [n]a} = {rows = rows, next = \\x -> x}

def stack_top [n] 'a (s: {next: a -> a, rows: [n]a}) : a = s.next s.rows[0i32]

def both (n: i64) (s: {next: i32 -> i32, rows: [n + 1i64]i32}) : i32 = stack_top s

entry main [n] (xs: [n]i32) : i32 = both n (stack_mk (xs `plus_plus` [1i32]))";
    assert_eq!(text, expected);
}

#[test]
fn variables_hide_no_names() {
    let text = print_checked(
        "def xs = 1i32
         def id 'xs (x: xs) : xs = let x = (x, x) let (x, _) = x in x
         entry main (xs: *[]i32) =
           let xs = xs with [0] = 2
           let f 'a (id: a) = let intrinsics = id in intrinsics
           in (f (id xs), map (\\xs -> xs + id 3) xs, xs[0])",
    );
    assert!(text.contains("let x_1 = (x, x)"), "{text}");
    assert!(text.contains("let f 'a (id_1: a) ="), "{text}");
    assert!(!text.contains("def xs"), "{text}");
}

#[test]
fn inferred_types_are_printed_where_they_have_names() {
    let text = print_checked(
        "def dot xs ys = reduce (+) 0f32 (map2 (*) xs ys)
         def first xs i = xs[i]
         entry main [n] (xs: [n]f32) ys i = (dot xs ys, first ys i, map (\\x -> [x, 1]) xs)",
    );
    let (_, own) = text
        .split_once("\n\ndef dot")
        .expect("the first definition");
    let expected = "\
[n0] (xs: [n0]f32) (ys: [n0]f32) : f32 = reduce (+) 0f32 (map2 (*) xs ys)

def first xs (i: i32) = xs[i]

entry main [n] (xs: [n]f32) (ys: [n]f32) (i: i32) = (dot xs ys, first ys i, map (\\(x: f32) -> [x, 1f32]) xs)";
    assert_eq!(own.trim(), expected);
}

/// Each construct is read back.
#[test]
fn constructs_are_read_back() {
    for source in [
        "entry main (x: i32) = -x - -3 - (-(x + 1)) - (if x < 0 || !(x == 2) && true then x else 1)",
        "entry main (x: f64) = (f64.sqrt x, 1e3f32, 0x1.8p1f64, 5 : f16, f64.inf, 'x', 0b1010u8)",
        "entry main (n: i64) = (0..<n, 0..2...n, n..n-1..>(-5), (1i8..2i8...7i8))",
        "entry main [n] (xs: [n][n]f32) = (xs[0], xs[1:, ::-1], xs[0, 1], xs[:2] :> [2][n]f32)",
        "entry main = (\"a\\\"b\\n\", \"\\1\", \"\")",
        "entry main (x: i32) = loop (a, b) = (0, x) while a < b do (a + 1, b - 1)",
        "entry main [n] (xs: *[n]i32) = loop xs for i < n do xs with [i] = 1",
        "entry main (xs: []i32) = loop (s, t) = (0, 1) for x in xs do (s + x, t * x)",
        "type t = #a i32 [2]i32 | #b | #c (i32, bool)
         entry main (x: i32) : i32 =
           match (if x > 0 then #a x [x, 2] else if x < -5 then #b else #c (x, true) : t)
           case #a -3 _ -> 3
           case #a y ys -> (match y case 1 -> ys[0] case _ -> ys[1])
           case #b -> 0
           case #c (z, w) -> if w then z else -1",
        "entry main (x: i32) = let f = (+ x) let g = (x -) let h = (.1) in f (g (h (1, 2)))",
        "entry main (r: {a: (i32, [3]i32), b: i32}) = r with a.1 = [1, 2, 3] with b = r.a.0",
        "#[noinline] def f (x: i32) = #[unsafe] assert (x > 1) (x / 2)
         entry main (x: i32) = #[trace(a, 3)] f x",
        "def f [n] 'a (xs: [n]a) : ?[m].[m]a = filter (const true) xs
         entry main (xs: []i32) = f (f xs)",
        "def twice '^a (f: a -> a) (x: a) = f (f x)
         def id x = x
         entry main (x: i32) = twice id (twice (\\y -> y + x) x)",
        "entry main (n: i64) =
           let f [k] 'a (xs: [k]a) (i: i64) : [k](a, i64) = map (\\x -> (x, i)) xs
           let [m] (ys: [m]i64) = filter (> 2) (iota n)
           in (f ys m, unzip (f (replicate n true) 3))",
        "def f 'i64 (x: i64) (n: i32) = (x, n, 2i64)
         entry main (x: bool) = f x 1",
        "def even (n: i32) : bool = if n == 0 then true else !(even (n - 1))
         entry main (n: i32) = even n",
        "entry main [n] (xs: *[n]i32) : *[n]i32 = scatter xs (iota n) (map (+ 1) (copy xs))",
        "def f (n: i64) (g: (m: i64) -> [m + 1]i32) : [n + 1]i32 = g n
         entry main (n: i64) = f n (\\m -> replicate (m + 1) 4)",
        "entry main (x: f32) = vjp (\\y -> f32.sin y * y) x 1",
        "module m = { module n = { def x = (3i32, 4u8) } open n def y = x }
         entry main = ((m.n.x, m.y).1.0, m.(y).1) : (i32, u8)",
    ] {
        print_checked(source);
    }
}

#[test]
fn a_text_has_only_the_functions_of_the_compiler() {
    let typed = |body: &str| check_text(&format!("{TYPED_HEADER}\n{body}"));
    let message = typed("entry main (xs: []i32) = map (\\(x: i32) -> x) xs").unwrap_err();
    assert!(message.contains("map"), "{message}");
    let body = "def map (x: i32) : i32 = x + 1i32\n\nentry main (x: i32) : i32 = map x";
    let checked = typed(body).expect("a text");
    let input = ProgramValue::read_all(b"4i32").expect("a value");
    assert_eq!(run_source(&checked, &input), Ok("5i32".to_owned()));
    assert_eq!(
        print_typed(&checked.program),
        format!("{TYPED_HEADER}\n\n{body}\n")
    );
    // The checker verifies a text as any other source.
    let message = typed("entry main (x: i32) : i64 = x").unwrap_err();
    assert!(message.contains("i64"), "{message}");
}
