//! The text form: what it has beyond the printed one, and texts that are refused.

use spirula_diagnostics::SourceLocation;
use spirula_tensor::{parse_function, print_function, verify_function, write_function};

/// A function that has everything that only the whole text has.
const WHOLE: &str = r#"func @"a b"(%1 "x\n": i32[%0] unsigned, %2 "y": i32[%5]) -> i32[%0] unsigned, i8[20] {
  demand %0 = %5
  demand %0 repeats 4
  %3: bool[] = constant [true]
  assert %3 else "no \"", %3 from "model:3"
  %4: i8[20] = constant [0i8, 1i8, -2i8, 3i8, 4i8, 5i8, 6i8, 7i8, 8i8, 9i8, 10i8, 11i8, 12i8, 13i8, 14i8, 15i8, 16i8, 17i8, 18i8, 127i8]
  return %1, %4
}
"#;

/// Control flow, sorts, scatters, scans and reductions.
const OPERATIONS: &str = r#"func @main(%0 "a": f32[4,8], %1 "b": i32[8]) -> f32[4], i32[8], i32[8], i32[8], f32[] {
  %2: f32[4] = over d0 < 4, fold d1 < 8 {
    n0 = %0[d0, d1]
    r0 = fold fadd.f32 from -0.0f32 of n0
    yield fmul.f32(r0, r0)
  }
  %3: i32[8] = sort stable %1 along 0 by slt.bool
  %4: i32[8] = over d0 < 8 {
    n0 = %1[d0]
    n1 = %3[(d0 + 3) * 2 mod 8]
    scatter n1 into %3[sext.i32.i64(n0)] by add.i32 distinct
  }
  %5: i32[8] = over a point {
    yield 0i32
  }
  %6: i32[8] = over fold d0 < 8 {
    n0 = %1[d0]
    r0, r1 = fold (cond.i32(slt.i32(a0, a2), a0, a2), add.i32(a1, a3)) from 0i32, 1i32 of n0, n0
    yield r1 so far at [d0]
  }
  %7: bool[] = constant [false]
  %8: f32[] = constant [f32.nan]
  %9: f32[] = if %7 {
    give %8
  } else {
    give %8
  }
  %10: f32[] = while from %9
  condition (%11: f32[]) {
    give %7
  }
  body (%12: f32[]) {
    give %12
  }
  %13: i32[8] = radix_sort %1 bits 32
  %14: i32[8] = radix_sort %3 with %13 bits 7
  return %2, %14, %4, %6, %10
}
"#;

/// Foreign calls.
const FOREIGN: &str = r#"func @main(%0 "a": i16[16], %1 "b": i32[8]) -> i32[8] {
  %2: i32[8] = foreign effect "log me" (%0, %1) by "{\"target\":\"log me\",\"attributes\":[[\"by\",{\"Scalar\":[\"i32\",[5,0,0,0]]}],[\"name\",{\"Text\":\"a\\\"b\"}]],\"operands\":[{\"element\":\"bf16\",\"shape\":[2,8],\"layout\":[],\"bytes\":32},{\"element\":\"i32\",\"shape\":[8],\"layout\":[],\"bytes\":32}],\"results\":[{\"element\":\"i32\",\"shape\":[8],\"layout\":[],\"bytes\":32}],\"has_effect\":true,\"aliases\":[[1,0]],\"device\":3,\"convention\":4,\"origin\":\"m.py:3:5\"}"
  foreign effect "ping" () by "{\"target\":\"ping\",\"attributes\":[],\"operands\":[],\"results\":[],\"has_effect\":true,\"aliases\":[],\"device\":0,\"convention\":4,\"origin\":\"\"}"
  return %2
}
"#;

#[test]
fn the_whole_text_reads_back() {
    let function = parse_function(WHOLE).unwrap();
    assert_eq!(write_function(&function), WHOLE);
    assert_eq!(function.name, "a b");
    assert_eq!(function.entry.parameters, ["x\n", "y"]);
    assert_eq!(function.entry.unsigned_parameters, [true, false]);
    assert_eq!(function.entry.unsigned_results, [true, false]);
    assert_eq!(function.demands.len(), 2);
    assert!(print_function(&function).contains(", … 4 more]"));
    let text = print_function(&function);
    let error = parse_function(&text).unwrap_err();
    assert_eq!(error.message, "elements of a constant are left out here");
}

#[test]
fn all_operations_read_back() {
    // Results of a point are scalars; the others are as they are written.
    let text = OPERATIONS.replace("%5: i32[8]", "%5: i32[]");
    let function = parse_function(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(write_function(&function), text);
    assert_eq!(verify_function(&function), Ok(()));
    let error = parse_function(OPERATIONS).unwrap_err();
    assert_eq!(error.message, "%5 has another shape than i32[8]");
    let at = OPERATIONS.find("%5: i32[8]").unwrap() as u32;
    let place = error.place;
    assert!(matches!(place, SourceLocation::Text { start, .. } if start == at));
}

#[test]
fn foreign_calls_read_back() {
    let function = parse_function(FOREIGN).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(write_function(&function), FOREIGN);
    let text = print_function(&function);
    assert!(
        text.contains("%2: i32[8] = foreign effect \"log me\" (%0, %1)\n"),
        "{text}"
    );
    assert!(text.contains("\n  foreign effect \"ping\" ()\n"), "{text}");
}

/// The message and place of a function with a body that is refused.
fn refuse(body: &str) -> String {
    let text = format!("func @main(%0: i32[4], %1: bool[]) -> {{\n{body}\nreturn\n}}\n");
    let error = parse_function(&text).expect_err(body);
    let SourceLocation::Text { start, end } = error.place else {
        panic!("{body}: no place");
    };
    let at = &text[start as usize..end as usize];
    format!("{at}: {}", error.message)
}

/// Bodies of functions that are refused, and the text at the place with the message.
const BAD_BODIES: &[(&str, &str)] = &[
    ("%2", "return: expected `:`"),
    ("%2: i33[]", "i33: expected a type"),
    ("%2: i32[x]", "x: expected a size"),
    ("%2: i32[] =", "return: expected an operation"),
    ("%2: i32[] = reshape %3", "%3: %3 is not defined here"),
    ("%0: i32[] = reshape %0", "%0: %0 is defined twice"),
    (
        "%9999999: i32[] = reshape %0",
        "%9999999: values are numbered below 1048576",
    ),
    (
        "%2: i32[] = constant [1i64]",
        "1i64: expected an element of type i32",
    ),
    (
        "%2: i32[] = constant []",
        "]: 0 elements are not those of i32[]",
    ),
    ("%2: i32[] = constant [?", "?: unknown token"),
    ("assert %1 else \"x", "\": unknown token"),
    ("%2: i32[4] = over d1 < 4", "d1: expected `d0`"),
    (
        "%2: i32[4] = over d0 < 4 { x }",
        "x: expected `n0`, `r0`, `yield` or `scatter`",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield d1 }",
        "d1: d1 is not known here",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield n0 }",
        "n0: n0 is not known here",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield r0 }",
        "r0: r0 is not known here",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield a0 }",
        "a0: a0 is not known here",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield add.i32(1i32) }",
        "add.i32: add.i32 has 2 operands",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield neg.i32(1) }",
        "neg.i32: operand 0 of neg.i32 is i64 instead of i32",
    ),
    (
        "%2: i32[4] = over d0 < 4 { yield foo.i32(1) }",
        "foo.i32: expected an expression",
    ),
    (
        "%2: i32[] = over fold d0 < 4 { r0 = fold add.i32 from 0i32, 0i32 of 0i32 yield r0 }",
        "r0: a reduction needs as many initial values as values",
    ),
    (
        "%2: i32[] = over a point { yield 0i32 yield 1i32 }",
        "yield: there are more results than values before the `=`",
    ),
    ("give", "give: expected `=`"),
    ("foreign %0", "%0: expected a string"),
    (
        r#"foreign "f" (%1) by "{}""#,
        "\"{}\": missing field `target` at line 1 column 2",
    ),
    (
        r#"foreign effect "f" () by "{\"target\":\"f\",\"attributes\":[],\"operands\":[],\"results\":[],\"has_effect\":false,\"aliases\":[],\"device\":0,\"convention\":4,\"origin\":\"\"}""#,
        "\"{\\\"target\\\":\\\"f\\\",\\\"attributes\\\":[],\\\"operands\\\":[],\\\"results\\\":[],\\\"has_effect\\\":false,\\\"aliases\\\":[],\\\"device\\\":0,\\\"convention\\\":4,\\\"origin\\\":\\\"\\\"}\": the signature is that of another call",
    ),
];

#[test]
fn bad_texts_are_refused_with_a_place() {
    for (body, message) in BAD_BODIES {
        assert_eq!(refuse(body), *message, "{body}");
    }
    let deep = format!("%2: i64[] = over a point {{ yield {}", "(".repeat(10_000));
    assert_eq!(refuse(&deep), "(: nested deeper than 100 levels");
    for (text, message) in [
        ("", "expected `func`"),
        ("func", "expected the name of a function"),
        (
            "func @f() -> i32[] {\nreturn\n}",
            "these are not the types of the results",
        ),
        (
            "func @f() -> {\nreturn\n}\n}",
            "expected the end of the text",
        ),
        ("func @f() -> {\nreturn", "expected `}`"),
    ] {
        assert_eq!(parse_function(text).unwrap_err().message, message, "{text}");
    }
}

/// Bodies of functions that break a rule of the verifier, by its number, and the message.
const BROKEN_RULES: &[(&str, &str)] = &[
    // 2
    (
        "%2: i32[] = if %1 {\n%3: i32[] = over a point { yield 1i32 }\ngive %3\n} else {\ngive %3\n}",
        "%3 is not defined here",
    ),
    // 3
    (
        "%2: i32[%1] = reshape %0",
        "the size %1 is not of type i64[]",
    ),
    // 5
    (
        "%2: i32[5] = reshape %0",
        "i32[4] cannot have the shape of i32[5]",
    ),
    // 6
    (
        "%2: i32[4] = over fold d0 < 4, d1 < 4 {\nr0 = fold add.i32 from 0i32 of 1i32\nyield r0\n}",
        "a parallel axis follows a reduced one",
    ),
    // 7
    (
        "%2: i32[] = over a point {\nn0 = %0[]\nyield n0\n}",
        "0 indices of a i32[4]",
    ),
    (
        "%2: i32[] = over a point {\nn0 = %0[0i32]\nyield n0\n}",
        "an element of i32[4] has other types",
    ),
    // 8
    (
        "%2: i32[] = over fold d0 < 4 {\nn0 = %0[d0]\nr0 = fold add.i32 from n0 of n0\nyield r0\n}",
        "an initial value depends on a reduced axis",
    ),
    (
        "%2: i32[] = over fold d0 < 4 {\nr0 = fold add.i32 from 0i64 of 0i32\nyield r0\n}",
        "initial values and values of a reduction have several types",
    ),
    // 9
    (
        "%2: i32[] = over fold d0 < 4 {\nr0 = fold (0i64) from 0i32 of 0i32\nyield r0\n}",
        "the results of a combiner have other types",
    ),
    (
        "%2: i32[] = over fold d0 < 4 {\nr0 = fold (%0[0]) from 0i32 of 0i32\nyield r0\n}",
        "a combiner reads something but its arguments",
    ),
    // 10
    (
        "%2: i32[] = over a point {\nyield 0i64\n}",
        "a result of type i64 defines a i32[]",
    ),
    (
        "%2: i32[3] = over d0 < 4 {\nyield 0i32\n}",
        "%2 has another shape than i32[3]",
    ),
    (
        "%2: i32[] = over a point {\n}",
        "an operation with 0 results defines 1",
    ),
    (
        "%2: i32[4] = over d0 < 4 {\nscatter 0i32 into %0[d0, d0]\n}",
        "a result is not written at a position of i32[4]",
    ),
    // 11
    (
        "%2: i32[4] = if %0 {\ngive %0\n} else {\ngive %0\n}",
        "the condition %0 is of type i32[4] instead of bool[]",
    ),
    (
        "%2: i32[4] = if %1 {\ngive %1\n} else {\ngive %0\n}",
        "%1 is of type bool[] instead of i32[4]",
    ),
    // 12
    (
        "%2: i32[4] = while from %0\ncondition (%3: i32[4]) {\ngive %3\n}\nbody (%4: i32[4]) {\ngive %4\n}",
        "the condition %3 is of type i32[4] instead of bool[]",
    ),
    (
        "%2: i32[4] = while from %1\ncondition (%3: i32[4]) {\ngive %1\n}\nbody (%4: i32[4]) {\ngive %4\n}",
        "%1 is of type bool[] instead of i32[4]",
    ),
    // 13
    (
        "%2: i32[4] = sort %0 along 1 by slt.bool",
        "there is no dimension 1",
    ),
    (
        "%2: i32[4] = sort %0 along 0 by add.i32",
        "the results of a combiner have other types",
    ),
    // 14
    (
        "assert %0 else \"x\"",
        "the condition %0 is of type i32[4] instead of bool[]",
    ),
    ("assert %1 else %0", "%0 is not of rank 0"),
    // 15
    (
        r#"foreign "f" (%0) by "{\"target\":\"f\",\"attributes\":[],\"operands\":[],\"results\":[],\"has_effect\":false,\"aliases\":[],\"device\":0,\"convention\":4,\"origin\":\"\"}""#,
        "\"f\" has another number of operands",
    ),
    (
        r#"foreign "f" (%0) by "{\"target\":\"f\",\"attributes\":[],\"operands\":[{\"element\":\"i32\",\"shape\":[3],\"layout\":[],\"bytes\":12}],\"results\":[],\"has_effect\":false,\"aliases\":[],\"device\":0,\"convention\":4,\"origin\":\"\"}""#,
        "%0 of type i32[4] has not the 12 bytes of its foreign type",
    ),
    (
        r#"%2: i32[4] = foreign "f" () by "{\"target\":\"f\",\"attributes\":[],\"operands\":[],\"results\":[{\"element\":\"i32\",\"shape\":[4],\"layout\":[],\"bytes\":16}],\"has_effect\":false,\"aliases\":[[0,0]],\"device\":0,\"convention\":4,\"origin\":\"\"}""#,
        "result 0 of a foreign call cannot begin with operand 0",
    ),
    // 16
    (
        "%2: i32[4] = radix_sort %1 bits 32",
        "%1 is of type bool[] instead of i32[4]",
    ),
    (
        "%2: i64[4] = radix_sort %0 bits 32",
        "a radix sort orders `i32`s along a dimension",
    ),
    (
        "%2: i32[4] = radix_sort %0 with %1 bits 32",
        "%1 is of type bool[] instead of i32[4]",
    ),
    (
        "%2: i32[4] = radix_sort %0 bits 33",
        "a word does not have 33 bits",
    ),
];

#[test]
fn rules_of_functions_are_checked() {
    for (body, message) in BROKEN_RULES {
        let text = format!("func @main(%0: i32[4], %1: bool[]) -> {{\n{body}\nreturn\n}}\n");
        let error = parse_function(&text).expect_err(body);
        assert_eq!(error.message, *message, "{body}");
    }
}
