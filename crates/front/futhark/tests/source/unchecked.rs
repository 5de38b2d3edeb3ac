//! The attribute `#[unsafe]` leaves out the checks of an expression and of what it calls.

use super::{check_text, internalise_last};

/// Functions of `xs`, `i` and `j`, with the number of their checks.
const CHECKED: &[(&str, usize)] = &[
    ("xs[i]", 1),
    ("#[unsafe] xs[i]", 0),
    ("#[unsafe] element xs i", 0),
    ("(#[unsafe] xs[i]) + element xs j", 1),
    ("#[unsafe] (xs :> [3]i64)[0]", 0),
    ("#[unsafe] assert (i > 0) i", 0),
    ("#[unsafe] xs[i:j][0] + #[sequential] xs[j]", 0),
    // A division has no result to go on with.
    ("#[unsafe] i / j", 1),
];

#[test]
fn unsafe_expressions_have_no_checks() {
    for (body, expected) in CHECKED {
        let text = format!(
            "def element (ys: []i64) (k: i64) = ys[k]\ndef main (xs: []i64) (i: i64) (j: i64) = {body}"
        );
        let checked = check_text(&text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let (function, _) = internalise_last(&checked).expect("it has a soac form");
        let found = format!("{function:?}").matches("Check(").count();
        assert_eq!(found, *expected, "{text}");
    }
}
