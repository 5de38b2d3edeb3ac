//! Deep nests: the code that they become grows with the depth, not with a power of two.

use super::{check_text, internalise_last};

/// Loops and maps within each other.
const DEPTH: usize = 12;

/// Number of statements that `main` becomes.
fn count_statements(text: &str) -> usize {
    let checked = check_text(text).expect("the program is accepted");
    let (function, _) = internalise_last(&checked).expect("it compiles");
    let mut count = 0;
    function.body.for_each_statement(&mut |_| count += 1);
    count
}

#[test]
fn loops_whose_sizes_change_stay_small() {
    let mut body = "concat a [1i64]".to_owned();
    for _ in 0..DEPTH {
        body = format!("loop (a: []i64) = a for i < 2i32 do {body}");
    }
    let count = count_statements(&format!("def main (a: []i64) : []i64 = {body}"));
    assert!(count < 40 * DEPTH, "{count} statements");
}

#[test]
fn maps_whose_results_have_sizes_of_their_own_stay_small() {
    let mut body = "iota (n + 1)".to_owned();
    for depth in 0..DEPTH {
        body = format!("map (\\i{depth} -> {body}) (iota (n + 1))");
    }
    let count = count_statements(&format!("def main (n: i64) = {body}"));
    assert!(count < 40 * DEPTH * DEPTH, "{count} statements");
}

#[test]
fn definitions_that_double_their_calls_are_refused() {
    let mut text = "def f0 (x: i32) : i32 = x + 1\n".to_owned();
    for depth in 1..40 {
        let inner = depth - 1;
        text.push_str(&format!(
            "def f{depth} (x: i32) : i32 = f{inner} (f{inner} x)\n"
        ));
    }
    text.push_str("def main (x: i32) = f39 x");
    let checked = check_text(&text).expect("the program is accepted");
    let message = internalise_last(&checked).expect_err("it has 2^39 calls");
    assert!(message.contains("calls would be replaced"), "{message}");
}
