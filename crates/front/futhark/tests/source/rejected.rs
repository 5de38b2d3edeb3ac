//! Programs that must be rejected, each with a part of the message.

use super::check_text;

const REJECTED: &[(&str, &str)] = &[
    (
        "def main (x: i32) = x + 1.5",
        "the argument is a float, but `i32` is expected",
    ),
    (
        "def main (x: i32) = y",
        "there is no value or module `y` here",
    ),
    ("def main (x: i23) = x", "there is no type `i23` here"),
    (
        "def main (x: i32) : bool = x",
        "the body is of type `i32`, but `bool` is expected",
    ),
    (
        "def main (x: i32) = x x",
        "a value of type `i32` is no function",
    ),
    (
        "def main r = r.a",
        "the type of this record with a field `a` is not known here",
    ),
    ("def main (r: {a: i32}) = r.b", "has no field `b`"),
    (
        "def main (x: #a | #b) = match x case #c -> 1i32",
        "has no constructor `#c`",
    ),
    ("def main (x: i32) (x: i32) = x", "`x` is bound twice"),
    (
        "def main (x: i32) = if x then 1i32 else 2",
        "the condition is of type `i32`",
    ),
    ("def main (x: i32) = let y = x", "expected `in`"),
    (
        "def (a, b) = (1, 2)",
        "a declaration binds a name, not a pattern",
    ),
    (
        "type t 'a = (a, a)\ndef main (x: t) = x",
        "takes 1 arguments, but 0 are given",
    ),
    (
        "module m : {val f : i32 -> i32} = {def f (x: bool) = x}",
        "but `i32 -> i32` in the module type",
    ),
    // Values of a type that is not lifted have one size.
    (
        "type t = []i32",
        "the abbreviation `t` has a size without a name",
    ),
    (
        "type t [n] = ([n]i32, #a i32 | #b [n][]i32)",
        "the abbreviation `t` has a size without a name",
    ),
    (
        "type u [n] = [n]i32 type t = {a: u []}",
        "the abbreviation `t` has a size without a name",
    ),
    ("module m : {type t} = {}", "the module has no type `t`"),
    (
        "module f (X: {type t}) = {}\nmodule m = f {}",
        "the module has no type `t`",
    ),
    ("def main (f: i32 -> i32) = f == f", "cannot be compared"),
    // A list of indices has one at least, and what follows the first comma of a tuple is no end.
    (
        "def main (xs: []i32) = xs[]",
        "expected an index, found `]`",
    ),
    (
        "def main (xs: *[]i32) = xs with [] = xs",
        "expected an index, found `]`",
    ),
    (
        "def main (xs: *[]i32) = let xs[] = 1 in xs",
        "expected an index, found `]`",
    ),
    (
        "def main (xs: []i32) = (.[]) xs",
        "expected an index, found `]`",
    ),
    ("def main = (1i32,)", "expected an expression, found `)`"),
    ("def main (x,) = x : i32", "expected a pattern, found `)`"),
    ("def main (x: (i32,)) = x", "expected a type, found `)`"),
    // The operand of a section ends where the operator begins.
    (
        "def f = (1 + 2 *) 3i32",
        "would belong to the end of its operand",
    ),
    (
        "def f = (1 + 2 * 3 **) 3i32",
        "would belong to the end of its operand",
    ),
    (
        "def f (b: bool) = (if b then 1 else 2 +) 3i32",
        "would belong to the end of its operand",
    ),
    (
        "def f = (let x = 1 in x +) 3i32",
        "would belong to the end of its operand",
    ),
    (
        "def f = (1 : i32 +) 3i32",
        "would belong to the end of its operand",
    ),
    (
        "def f = (loop x = 1i32 for i < 3i32 do x *)",
        "would belong to the end of its operand",
    ),
    (
        "def f = (1 `max` \\x -> x +)",
        "would belong to the end of its operand",
    ),
    // An index has a sign.
    (
        "def main (xs: []i32) (i: u8) = xs[i]",
        "the index is of type `u8`",
    ),
    (
        "def main (xs: *[]i32) = xs with [1u64] = 2",
        "the index is of type `u64`",
    ),
    (
        "def main (xs: []i32) = (.[0u32]) xs",
        "the index is of type `u32`",
    ),
    ("def f x = x x", "the type would contain itself"),
    // Type parameters of local functions stay within them.
    (
        "def f x = let g 'b (y: b) = if true then y else x in g 1i32",
        "the type parameter `b` is not in scope",
    ),
    (
        "def f x = let g 'b (y: b) = if true then y else x.0 let (_, _: i32) = x in g",
        "the type parameter `b` is not in scope",
    ),
    (
        "def f h = let g 'b (y: b) = [h y] in (g 1i32, h)",
        "the type parameter `b` is not in scope",
    ),
    ("import \"nowhere\"", "cannot read `nowhere.fut`"),
    (
        "def main (x: i32) = [x, true]",
        "the element is of type `bool`",
    ),
    ("def main = 0x", "there is no value or module `x` here"),
    (
        "def main (x: i32) = x ++% 2",
        "there is no value or module `++%` here",
    ),
];

#[test]
fn faults_have_their_messages() {
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
fn faults_of_several_declarations_are_reported_at_once() {
    let text = "def f (x: i32) : bool = x\ndef g (x: i32) = f x\ndef h = unknown";
    let mut read = |_: &str| Ok(text.to_owned());
    let faults =
        spirula_futhark::compile::check_source("main.fut", &mut read).expect_err("two faults");
    assert_eq!(faults.len(), 2, "{faults:?}");
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("def main = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(
        check_text(&text)
            .err()
            .is_some_and(|message| message.contains("are nested"))
    );
}

#[test]
fn long_chains_are_accepted() {
    let lets: String = (0..5_000)
        .map(|index| format!("let x = x + {index}\n"))
        .collect();
    assert!(check_text(&format!("def main (x: i32) = {lets}in x")).is_ok());
    let sum = " + x".repeat(5_000);
    assert!(check_text(&format!("def main (x: i32) = x{sum}")).is_ok());
}
