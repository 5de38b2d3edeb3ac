//! Consumption and aliases: programs that must be accepted or rejected, and time on large ones.

use super::{check_all, check_text};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Programs that must be rejected, each with a part of the message.
const REJECTED: &[(&str, &str)] = &[
    (
        "def main (x: []i32) = loop (x: *[]i32) for i < 10 do x",
        "`x` is consumed, but it is not consumable",
    ),
    (
        "def main (a: *[]i32) = let b = a with [0] = 1 in a",
        "`a` is used after it was consumed",
    ),
    (
        "def main (a: *[]i32) = let b = a let c = a with [0] = 1 in b",
        "`b` is used after `a` was consumed",
    ),
    (
        "def main (a: *[][]i32) = let b = a[0] let c = a with [0, 0] = 1 in b",
        "`b` is used after `a` was consumed",
    ),
    (
        "def main (a: []i32) = a with [0] = 1",
        "`a` is consumed, but it is not consumable: it is a parameter whose type is not unique",
    ),
    (
        "def main (a: *[]i32) = a with [0] = (let b = a with [1] = 2 in b[0])",
        "`a` is used after it was consumed",
    ),
    (
        "def main (c: bool) (a: *[]i32) = let b = if c then a with [0] = 1 else [2] in (a, b)",
        "`a` is used after it was consumed",
    ),
    (
        "def main (a: *[]i32) = match 1i32 case 0 -> (a with [0] = 1, a) case _ -> ([1], [2])",
        "`a` is used after it was consumed",
    ),
    (
        "def main (a: *[]i32) = map (\\i -> (a with [i] = 1)[0]) (iota 2)",
        "it is bound outside of the function or loop",
    ),
    (
        "def main (a: *[]i32) = let f x = x + a[0] let b = a with [0] = 1 in f 1",
        "`f` is used after `a` was consumed",
    ),
    (
        "def f (x: *[]i32) (y: i32) = x with [0] = y\ndef main (a: *[]i32) = let g = f a in g 1",
        "this definition of a function consumes a value",
    ),
    (
        "def f (x: *[]i32) (y: i32) = x with [0] = y\ndef main (a: *[]i32) = map (f a) [1, 2]",
        "this argument is a function and consumes a value",
    ),
    (
        "def f (x: *[]i32) = x with [0] = 1i32\ndef main (a: *[][]i32) = map f a",
        "incompatible regarding consuming",
    ),
    (
        "def f (x: *[]i32) (y: []i32) = x with [0] = y[0]\ndef main (a: *[]i32) = f a a",
        "the argument is consumed, but another argument shares memory with it",
    ),
    (
        "def f (x: (*[]i32, *[]i32)) = x.0\ndef main (a: *[]i32) = f (a, a)",
        "its parts share memory",
    ),
    (
        "def main (a: *[]i32) : (*[]i32, *[]i32) = (a, a)",
        "aliased to some other component",
    ),
    (
        "def main (a: []i32) : *[]i32 = a",
        "aliased to `a`, which is not consumable",
    ),
    (
        "def c : []i32 = [1]\ndef main (b: bool) = if b then c else [2]",
        "aliases the free variable `c`",
    ),
    (
        "def c : *[]i32 = [1]",
        "a constant cannot have a unique type",
    ),
    (
        "def c = [1i32]\ndef main (i: i64) = c with [i] = 0",
        "it is a constant, which all functions share",
    ),
    (
        "def f (n: i64) : ([]i64, []i64) = let a = iota n in (a, a)\n\
         def main (n: i64) = let (a, b) = f n let a = a with [0] = 1 in (a, b)",
        "the result of the call at line 2",
    ),
    (
        "def main (a: *[]i32) = let b = [1] let c = loop a for i < 10 do let a[i] = 0 in b in c",
        "the next value of `a` aliases `b`",
    ),
    (
        "def main (a: *[]i32) = let b = loop b = a for i < 10 do b with [i] = a[i] in b",
        "the loop uses `a`, but its first value consumes it",
    ),
    (
        "def main (a: *[]i32) = loop (x: []i32) = a for i < 10 do x with [i] = 0",
        "`x` is consumed, but it is not consumable",
    ),
    (
        "def main (a: *[]i32) (b: *[]i32) = loop (a, b) = (a, b) for i < 10 do (a with [0] = b[0], a)",
        "`a` is used after it was consumed",
    ),
    (
        "def main (a: *[]i32) (b: *[]i32) =\n\
         let (x, y) = loop (x, y) = (a, b) for _i < 3 do (y, x)\n\
         let x[0] = 1 in (x, b)",
        "`b` is used after",
    ),
    (
        "type~ s = #a ([]i32) | #b\ndef main (x: *[]i32) = let v : s = #a x let x[0] = 1 in v",
        "`v` is used after `x` was consumed",
    ),
    (
        "module type m = {type~ t val f : *t -> i32}\n\
         module n : m = {type~ t = []i32 def f (x: *[]i32) = (x with [0] = 1)[0]}\n\
         def g (x: *n.t) = (n.f x, n.f x)",
        "`x` is used after it was consumed",
    ),
    (
        "module m : {val f [n] : [n]i32 -> *[n]i32} = {def f [n] (x: [n]i32) : [n]i32 = x}",
        "value `f` consumes more, or its result may share more memory",
    ),
    (
        "module m : {val f [n] : [n]i32 -> i32} = {def f [n] (x: *[n]i32) = (x with [0] = 1)[0]}",
        "value `f` consumes more",
    ),
    (
        "module f (P: {type t val use : *t -> i32}) = {def twice (x: *P.t) = P.use x + P.use x}",
        "`x` is used after it was consumed",
    ),
    (
        "def f 't (x: t) = id x\ndef main (a: []i32) = f a with [0] = 1",
        "`a` is consumed, but it is not consumable",
    ),
];

/// Programs that must be accepted.
const ACCEPTED: &[&str] = &[
    "def main (xs: []i32) = loop (ys: *[]i32) = xs while length ys > 3 do let zs = map (+ 1) ys in zs[1:]",
    "def main (a: *[]i32) = let x = a[0] let a[0] = 1 in (x, a)",
    "def main (a: *[]i32) = let b = copy a let c = a with [0] = 1 in (b, c)",
    "def main (c: bool) (a: *[]i32) = if c then a with [0] = 1 else a with [0] = 2",
    "def main (a: *[]i32) = loop a for i < 10 do a with [i] = a[i] + 1",
    "def main (a: *[]i32) (b: []i32) = loop (a, b) = (a, b) for i < 10 do (a with [i] = b[i], b)",
    "def main (n: i64) = loop (a, b) = (iota n, iota n) for i < 10 do (b with [0] = i, a)",
    "def main (a: *[]i32) = map (\\i -> let b = copy a in (b with [i] = 1)[0]) (iota 2)",
    "def main (t: *(*[]i32, *[]i32)) = let a = t.0 with [0] = 1 let b = t.1 with [0] = 2 in (a, b)",
    "def f (x: *[]i32) (y: i32) = x with [0] = y\ndef main (a: *[]i32) (b: []i32) = f a b[0]",
    "def f x = copy x\ndef main (a: []i32) = f a with [0] = 1",
    "def f (g: i32 -> *[]i32) = g 1 with [0] = 2\ndef main (x: i32) = f (\\y -> [x, y])",
    "def main (a: *[][]i32) = let row = copy a[0] let a[1] = row in a",
    "module m : {type~ t val new : i64 -> *t val put : *t -> *t} = {\n\
     type~ t = ([]i64, []i64) def new n = (iota n, iota n) def put ((a, b): *t) = (a with [0] = 1, b)}\n\
     def main (n: i64) = let x = m.new n in m.put (m.put x)",
    "def main (is: []i64) = scatter (replicate 3 0i32) is (map i32.i64 is)",
];

#[test]
fn consumption_is_checked() {
    for (text, part) in REJECTED {
        let message = check_text(text)
            .err()
            .unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(
            message.contains(part),
            "{text}\n  expected {part}\n  found    {message}"
        );
    }
}

#[test]
fn values_that_are_not_shared_are_consumed() {
    for text in ACCEPTED {
        if let Err(message) = check_text(text) {
            panic!("{text}\n  {message}");
        }
    }
}

#[test]
fn independent_faults_of_consumption_are_reported_at_once() {
    let text = "def f (a: *[]i32) = let b = a with [0] = 1 in (a, b)\n\
                def g (a: []i32) = a with [0] = 1\n\
                def h (a: *[]i32) (b: *[]i32) = (a with [0] = 1, b with [0] = 1, a[0], b[0])";
    let faults = check_all(text).expect_err("faults");
    assert_eq!(faults.len(), 4, "{faults:#?}");
}

/// Aliases of aliases, branches and loops take time that is linear in the program.
#[test]
fn long_chains_of_aliases_take_linear_time() {
    let mut chain = String::from("def id2 't (x: t) = x\ndef main (c: bool) (x0: *[]i32) =\n");
    for index in 0..10_000 {
        let next = index + 1;
        let _ = match index % 4 {
            0 => writeln!(chain, "let x{next} = x{index}"),
            1 => writeln!(chain, "let x{next} = id2 x{index}"),
            2 => writeln!(
                chain,
                "let x{next} = if c then x{index} else x{}",
                index / 2
            ),
            _ => writeln!(chain, "let x{next} = (x{index}, x{index}).0"),
        };
    }
    chain.push_str("in x10000 with [0] = 1\n");
    let mut updates = String::from("def main (x: *[]i32) =\n");
    for index in 0..10_000 {
        let _ = writeln!(
            updates,
            "let y{index} = [{index}]\nlet x[{index}] = y{index}[0]"
        );
    }
    updates.push_str("in x\n");
    for text in [chain, updates] {
        let start = Instant::now();
        if let Err(message) = check_text(&text) {
            panic!("{message}");
        }
        let elapsed = start.elapsed();
        assert!(elapsed < Duration::from_secs(20), "it took {elapsed:?}");
    }
}
