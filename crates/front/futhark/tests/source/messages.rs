//! Messages of checks, and the places that they name.

use super::{check_text, internalise_last};
use spirula_soac::ir::{SoacMessagePart, SoacOperation};

/// Programs, each with the message of a check, whose values are `_`, and its places.
const CHECKS: &[(&str, &str, &str)] = &[
    (
        "def f (xs: []i32) (i: i32) = xs[i]\ndef g (xs: []i32) (i: i32) =\n  f xs i\n\
         def main (xs: []i32) (i: i32) = g xs i",
        "Index [_] out of bounds for array of shape [_].",
        "main.fut:1:30-34 -> main.fut:3:3-8 -> main.fut:4:33-38",
    ),
    (
        "def main (xss: [][]i32) (i: i64) =\n  map (\\xs ->\n    xs[i]) xss",
        "Index [_] out of bounds for array of shape [_].",
        "main.fut:3:5-9 -> main.fut:2:3-3:14",
    ),
    (
        "def main (xss: [][]i32) (i: i64) = xss[0:2, i:4:2]",
        "Index [0:2, _:4:2] out of bounds for array of shape [_][_].",
        "main.fut:1:36-50",
    ),
    (
        "def main (x: i32) = assert (x\n  > 2) x",
        "Assertion is false: x > 2",
        "main.fut:1:21-2:8",
    ),
    (
        "def main (a: i32) (b: i32) = a..3..<b",
        "Range _..3..<_ is invalid.",
        "main.fut:1:30-37",
    ),
    (
        "def main (n: i64) = iota n",
        "Range 0..1..<_ is invalid.",
        "/prelude/array.fut:46:31-38 -> main.fut:1:21-26",
    ),
    (
        "def main (xs: [][]i32) (n: i64) = xs :> [n][4]i32",
        "Value of (dynamic) shape [_][_] cannot match shape of type \"[_][4]i32\".",
        "main.fut:1:35-49",
    ),
    (
        "def main [n] (xs: [n]i32) (ys: [n + 1]i32) = (xs, ys)",
        "Entry point arguments have invalid sizes.",
        "main.fut:1:5-8",
    ),
    (
        "def pair 't (x: t) (y: t) = (x, y)\ndef main (xs: []i32) (ys: []i32) = pair xs ys",
        "Entry point arguments have invalid sizes.",
        "main.fut:2:5-8",
    ),
    (
        "def main (x: i32) : i32 = if x > 0 then x else ???",
        "Reached hole of type: i32",
        "main.fut:1:48-50",
    ),
    (
        "def main (x: i32) (y: i32) = x + x / y",
        "division by zero",
        "main.fut:1:34-38",
    ),
];

/// The messages of all checks of `main` with their places, one a line.
fn list_checks(text: &str) -> String {
    let checked = check_text(text).expect("the program is accepted");
    let (function, _) = internalise_last(&checked).expect("it compiles");
    let mut listed = String::new();
    function.body.for_each_statement(&mut |statement| {
        if let SoacOperation::Check(_, message) = &statement.operation {
            for part in &message.parts {
                listed.push_str(&match part {
                    SoacMessagePart::Text(text) => text.clone(),
                    SoacMessagePart::Value(value) => match value.to_int64() {
                        Some(constant) => constant.to_string(),
                        None => "_".to_owned(),
                    },
                });
            }
            listed.push_str(&format!(" at {}\n", message.places));
        }
    });
    listed
}

#[test]
fn checks_name_the_places_that_led_to_them() {
    let mut faults = Vec::new();
    for (text, message, places) in CHECKS {
        let listed = list_checks(text);
        let wanted = format!("{message} at {places}");
        if !listed.lines().any(|line| line == wanted) {
            faults.push(format!("{text}\n  expected {wanted}\n  found\n{listed}"));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}
