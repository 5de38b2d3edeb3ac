//! Restrictions and warnings: matches, literals, liftedness, recursion, names, entry points.

use super::{check_text, check_warnings};

/// Programs that must be rejected, each with a part of the message.
const REJECTED: &[(&str, &str)] = &[
    (
        "def main (x: #a | #b | #c) = match x case #a -> 1i32 case #b -> 2",
        "no case matches `#c`",
    ),
    (
        "def main (x: (bool, #a i32 | #b)) = match x case (true, _) -> 1i32 case (_, #a 1) -> 2 case (_, #b) -> 3",
        "no case matches `(false, #a _)`",
    ),
    (
        "def main (x: {f: bool, g: bool}) = match x case {f = true, g = _} -> 1i32 case {f = _, g = true} -> 2",
        "no case matches `{f = false, g = false}`",
    ),
    (
        "def main (x: i32) = match x case 1 -> 2i32",
        "no case matches `_`",
    ),
    (
        "def main (x: #a i32 | #b) = let #a y = x in y",
        "refutable pattern: it does not match `#b`",
    ),
    ("def f 1 = 2i32", "refutable pattern"),
    (
        "def main = 300 : u8",
        "literal 300 is out of bounds for its type `u8`",
    ),
    ("def main : u32 = -4", "literal -4 is out of bounds"),
    ("def main : f16 = 70000", "literal 70000 is out of bounds"),
    ("def main : f32 = 1e39", "literal 1e39 is out of bounds"),
    ("def main = 1e309", "literal 1e309 is out of bounds"),
    (
        "def main = 340282366920938463463374607431768211455",
        "is out of bounds",
    ),
    (
        "def f (x: i32) = x\ndef g = [f]",
        "an array element may not be of function type",
    ),
    (
        "def main (b: bool) = (if b then (+ 1i32) else (+ 2)) 3",
        "the result of `if` may not be of function type",
    ),
    (
        "def main (n: i32) = (loop f = (+ 1i32) for _i < n do \\x -> f x) 1",
        "a loop parameter may not be of function type",
    ),
    (
        "def f 'a (x: a) = x\ndef main = f (+ 1i32) 2",
        "the type parameter `a` of the function may not be of function type",
    ),
    (
        "def f x = [x]\ndef g = f (+ 1i32)",
        "may not be of function type",
    ),
    (
        "def f '^a (b: bool) (x: a) (y: a) = if b then x else y",
        "as `a` is lifted",
    ),
    (
        "def f 't (x: t) = x == x",
        "values of type `t` have no equality",
    ),
    (
        "type~ t = []i32\ntype u = [2]t",
        "cannot be of the lifted type `t`",
    ),
    (
        "type t = i32 -> i32",
        "the abbreviation `t` may not contain functions",
    ),
    (
        "type t 'a = (a, a)\ntype u = t (i32 -> i32)",
        "the abbreviation `u` may not contain functions",
    ),
    (
        "def f (n: i32) : i32 -> i32 = \\x -> if n == 0 then x else f (n - 1) x",
        "which is not first-order",
    ),
    (
        "def f (n: i32) (g: i32 -> i32) : i32 = if n == 0 then g 1 else f (n - 1) (\\x -> g x)",
        "must be passed unchanged",
    ),
    (
        "def f (x: i32) = x\ndef f (x: i64) = x",
        "Duplicate definition of value or module `f`",
    ),
    (
        "type t = i32\ntype t = i64",
        "Duplicate definition of type `t`",
    ),
    (
        "module type s = {val x : i32 val x : i32}",
        "Duplicate definition of value or module `x`",
    ),
    (
        "def f [n] (n: [n]i32) = n",
        "`n` is bound twice: it is also bound at line 1, column 8",
    ),
    ("def f (_x: i32) = _x", "begins with an underscore"),
    (
        "def (&&) (x: bool) (y: bool) = x",
        "the operator `&&` may not be redefined",
    ),
    (
        "module m = {entry f (x: i32) = x}",
        "Entry points may not be declared inside modules",
    ),
    (
        "entry f x = x",
        "Entry point functions may not be polymorphic",
    ),
    (
        "entry f (g: i32 -> i32) = g 1",
        "Entry point functions may not be higher-order",
    ),
    (
        "local entry main (g: i32 -> i32) = g 1",
        "Entry point functions may not be higher-order",
    ),
    (
        "def main = match (#a 1i32) case #a x -> x case #b x -> x",
        "Type is ambiguous",
    ),
];

/// Programs that must be accepted, with the parts of their warnings.
const WARNED: &[(&str, &[&str])] = &[
    // A local `main` is no entry point, unless it is declared as one.
    ("local def main (f: i32 -> i32) = f 1", &[]),
    ("local def main 'a (x: a) = x", &[]),
    // Variables of a check that is taken back are not reported as unused.
    (
        "def map f xs = map f (map (\\x -> x) xs)",
        &["an earlier definition of its own name"],
    ),
    ("def map (x: i32) : i32 = map (x + 1)", &[]),
    ("def main (x: i32) = x", &[]),
    ("def main (x: i32) (_y: i32) = x", &[]),
    ("def main = reduce (i32.+) 0", &[]),
    ("def main : (i8, u8, f32) = (-128, 0xFF, 0x1.8p3f32)", &[]),
    ("def main = (0x80i8, 0b11111111i8)", &[]),
    (
        "def main = (200i8, 300u8, -129i8, 0x100u8)",
        &["literal 200", "literal 300", "literal -129", "literal 256"],
    ),
    (
        "def main = (1e39f32, -70000f16)",
        &["literal 1e39", "literal -70000"],
    ),
    (
        "def main (x: u8) = match x case 300 -> 1i32 case -1 -> 2 case 255 -> 3 case _ -> 4",
        &["literal 300", "literal -1"],
    ),
    (
        "def main (x: i32) (y: i32) = let z = 1i32 in x",
        &["`y`", "`z`"],
    ),
    ("def plus x y = x + y", &["ambiguous"]),
    ("def main (x: []i32) (y: []i32) = x == y", &["deprecated"]),
    (
        "def f (n: i64) = iota (let m = n + 2 in m * m)",
        &["with binding"],
    ),
    (
        "def main (xs: []f32) (i: i64) = #[warn(safety_checks)] xs[i]",
        &["Safety check required"],
    ),
    (
        "def main (n: i64) = #[unroll] loop x = 0 for i < n do x + i",
        &["#[unroll]"],
    ),
    (
        "module type s = {type t}\nmodule type u = {type t}\nmodule type v = {include s include u}",
        &["Inclusion shadows type `t`"],
    ),
    ("def main = 1i32..1...5", &["equal"]),
    (
        "def f (x: #a bool | #b) = match x case #a true -> 1i32 case #a false -> 2 case #b -> 3",
        &[],
    ),
    ("def f (x: #only i32) = let #only y = x in y", &[]),
    (
        "def f (n: i32) (g: i32 -> i32) : i32 = if n == 0 then g 1 else f (n - 1) g",
        &[],
    ),
];

#[test]
fn restrictions_are_checked() {
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
fn warnings_are_given() {
    for (text, parts) in WARNED {
        let warnings = check_warnings(text).unwrap_or_else(|message| panic!("{text}\n  {message}"));
        assert_eq!(warnings.len(), parts.len(), "{text}\n  {warnings:#?}");
        for (warning, part) in warnings.iter().zip(*parts) {
            assert!(warning.contains(part), "{text}\n  {warning}");
        }
    }
}

/// Matches of many columns are checked or refused, and never take exponential time.
#[test]
fn large_matches_end() {
    let columns = 24;
    let cases: String = (0..columns)
        .map(|index| {
            let row: Vec<&str> = (0..columns)
                .map(|column| {
                    if column == index {
                        "true"
                    } else if column == (index + 1) % columns {
                        "false"
                    } else {
                        "_"
                    }
                })
                .collect();
            format!(" case ({}) -> {index}i32", row.join(", "))
        })
        .collect();
    let types = vec!["bool"; columns].join(", ");
    let text = format!("def main (x: ({types})) = match x{cases}");
    assert!(check_text(&text).is_err());
    let cases: String = (0..10_000)
        .map(|index| format!(" case {index} -> {index}i32"))
        .collect();
    assert!(check_text(&format!("def main (x: i32) = match x{cases} case _ -> 0")).is_ok());
}
