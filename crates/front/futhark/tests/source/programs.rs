//! Small programs, each with an input and the results or the error that it must have.

use super::typed_text::run_text;
use super::{check_text, run_segments, run_soac, run_source};
use spirula_program::ProgramValue;

/// A program, its input, and its results as text. Results that begin with `error: ` are part of a message.
pub(crate) type ProgramCase = (&'static str, &'static str, &'static str);

const PROGRAMS: &[ProgramCase] = &[
    ("def main (x: i32) = x + 1", "41i32", "42i32"),
    (
        "def main (x: i32) = ((1 * 2 +) x, (1 - x -) x, (-x *) 2, (x - 1 `i32.max`) 3, (1 + 2 ==) x)",
        "3i32",
        "5i32 -5i32 -6i32 3i32 true",
    ),
    // Literals are cut to the types of their suffixes, and those of patterns to the type of the value.
    (
        "def main (x: u8) = (300u8, 200i8, -129i8, 1e39f32, match x case 300 -> 1i32 case -1 -> 2 case _ -> 3)",
        "44u8",
        "44u8 -56i8 127i8 f32.inf 1i32",
    ),
    (
        "def main (x: u8) = match x case 300 -> 1i32 case -1 -> 2 case _ -> 3",
        "255u8",
        "2i32",
    ),
    (
        "def main (x: i64) (y: i64) = (x / y, x % y, x // y, x %% y)",
        "-7i64 2i64",
        "-4i64 1i64 -3i64 -1i64",
    ),
    // A type of a module type may have a value of the module as a size.
    (
        "module type sized = { val k: i64 type row = [k]i64 val row: row } module two: sized = { def k = 2i64 type row = [k]i64 def row = [7i64, 8] } def main (n: i64) = (iota n :> two.row, copy two.row)",
        "2i64",
        "[0i64, 1i64] [7i64, 8i64]",
    ),
    (
        "module type sized = { val k: i64 type row = [k]i64 } module two: sized = { def k = 2i64 type row = [k]i64 } def main (n: i64) = iota n :> two.row",
        "1i64",
        "error: cannot match shape of type",
    ),
    (
        "module twice (P: { val k: i64 type row = [k]i64 }) = { def double (xs: P.row) : [2 * P.k]i64 = map (\\i -> xs[i % P.k]) (iota (2 * P.k)) } module rows = { def k = 3i64 type row = [k]i64 } module three = twice rows def main (n: i64) = three.double (iota n :> rows.row)",
        "3i64",
        "[0i64, 1i64, 2i64, 0i64, 1i64, 2i64]",
    ),
    // The sizes of a hidden type are checked by a coercion.
    (
        "module hide (P: { type row [n] val make: (n: i64) -> row [n] }) = { def cut (n: i64) (x: i64) = (P.make x :> P.row [n], 1i32) :> (P.row [n], i32) } module rows = hide { type row [n] = [n]i32 def make (n: i64) = replicate n 7i32 } def main (n: i64) (x: i64) = rows.cut n x",
        "2i64 2i64",
        "[7i32, 7i32] 1i32",
    ),
    (
        "module hide (P: { type row [n] val make: (n: i64) -> row [n] }) = { def cut (n: i64) (x: i64) = P.make x :> P.row [n] } module rows = hide { type row [n] = [n]i32 def make (n: i64) = replicate n 7i32 } def main (n: i64) (x: i64) = rows.cut n x",
        "1i64 2i64",
        "error: cannot match shape of type",
    ),
    (
        "module hide (P: { type t [n] 'a val make: (n: i64) -> t [n] i32 }) = { def cut (n: i64) (x: i64) = replicate 2 (P.make x) :> [2](P.t [n] i32) } module rows = hide { type t [n] 'a = ([n]a, a) def make (n: i64) = (replicate n 7i32, 8i32) } def main (n: i64) (x: i64) = rows.cut n x",
        "1i64 2i64",
        "error: cannot match shape of type",
    ),
    (
        "def main [n] (xs: [n]i32) = (n, reduce (+) 0 xs, scan (*) 1 xs)",
        "[1, 2, 3]",
        "3i64 6i32 [1i32, 2i32, 6i32]",
    ),
    (
        "def main (xs: []i32) = filter (> 2) xs",
        "[3, 1, 4, 1, 5]",
        "[3i32, 4i32, 5i32]",
    ),
    (
        "def main (xs: []i32) = let (a, b) = partition (\\x -> x % 2 == 0) xs in (a, b)",
        "[3, 2, 4, 1]",
        "[2i32, 4i32] [3i32, 1i32]",
    ),
    (
        "def main (n: i64) = map (\\i -> map (\\j -> i * 10 + j) (iota 2)) (iota n)",
        "2i64",
        "[[0i64, 1i64], [10i64, 11i64]]",
    ),
    (
        "def main [n][m] (xs: [n][m]i32) = (transpose xs, flatten xs)",
        "[[1, 2], [3, 4]]",
        "[[1i32, 3i32], [2i32, 4i32]] [1i32, 2i32, 3i32, 4i32]",
    ),
    (
        "def main (xs: []i32) = (xs[1:3], xs[::-1], xs[0], xs[3:0:-2])",
        "[1, 2, 3, 4]",
        "[2i32, 3i32] [4i32, 3i32, 2i32, 1i32] 1i32 [4i32, 2i32]",
    ),
    (
        "def main (xs: *[]i32) = loop xs for i < length xs do xs with [i] = xs[i] * 2",
        "[1, 2]",
        "[2i32, 4i32]",
    ),
    (
        "def main (n: i32) = loop (a, b) = (0i32, 1i32) for _i < n do (b, a + b)",
        "10i32",
        "55i32 89i32",
    ),
    (
        "def main (n: i32) = (loop (x, k) = (n, 0i32) while x != 1 do (if x % 2 == 0 then x / 2 else 3 * x + 1, k + 1)).1",
        "6i32",
        "8i32",
    ),
    (
        "def main (n: i64) = loop xs = [1i32] for _i < n do xs ++ map (+ 1) xs",
        "2i64",
        "[1i32, 2i32, 2i32, 3i32]",
    ),
    (
        "type shape = #circle f32 | #square f32 | #none\n\
         def area (s: shape) = match s case #circle r -> r * r * 3 case #square a -> a * a case #none -> 0\n\
         def main (k: i32) (x: f32) = area (if k == 0 then #circle x else if k == 1 then #square x else #none)",
        "1i32 3f32",
        "9.0f32",
    ),
    (
        "def main (x: i32) = let r = {a = x, b = {c = x * 2}} let r.b.c = 7 in (r.a, r.b.c, (r with a = 1).a)",
        "5i32",
        "5i32 7i32 1i32",
    ),
    (
        "def main (xs: []i32) = map (.0) (zip xs (map (+ 1) xs)) |> map (** 2)",
        "[2, 3]",
        "[4i32, 9i32]",
    ),
    (
        "module type monoid = {type t val op : t -> t -> t val unit : t}\n\
         module folded (M: monoid) = {def fold [n] (xs: [n]M.t) : M.t = reduce M.op M.unit xs}\n\
         module sums = folded {type t = i32 def op = (i32.+) def unit = 0i32}\n\
         module products = folded {type t = i64 def op = (i64.*) def unit = 1i64}\n\
         def main (xs: []i32) = (sums.fold xs, products.fold (map i64.i32 xs))",
        "[2, 3, 4]",
        "9i32 24i64",
    ),
    (
        "module counter : {type t val zero : t val next : t -> t val get : t -> i32} = {\n\
           type t = {count: i32} def zero : t = {count = 0} def next (c: t) : t = {count = c.count + 1} def get (c: t) = c.count }\n\
         def main (n: i32) = counter.get (loop c = counter.zero for _i < n do counter.next c)",
        "3i32",
        "3i32",
    ),
    (
        "def twice 'a (f: a -> a) (x: a) = f (f x)\ndef main (x: i32) = (twice (+ 3) x, twice (twice (* 2)) x)",
        "1i32",
        "7i32 16i32",
    ),
    (
        "def (+^) (x: i32) (y: i32) = x * 10 + y\ndef main (x: i32) = x +^ 2 +^ 3",
        "1i32",
        "123i32",
    ),
    (
        "def main (is: []i64) = (scatter (replicate 3 0i32) is [7, 8, 9], hist (+) 0i32 3 is [1, 2, 3])",
        "[0i64, 5i64, 0i64]",
        "[9i32, 0i32, 0i32] [4i32, 0i32, 0i32]",
    ),
    (
        "def main (x: f64) = (f64.sqrt x, i32.f64 x, u8.i32 300, f32.i64 3, f64.lowest < 0, i16.highest)",
        "2.25",
        "1.5f64 2i32 44u8 3.0f32 true 32767i16",
    ),
    (
        "def main (x: u32) = (x >> 1, x ^ 5, u32.popc x, u32.clz x, i32.get_bit 1 6)",
        "12u32",
        "6u32 9u32 2i32 28i32 1i32",
    ),
    (
        "def main (xs: [][]i32) (ys: [][]i32) = (xs == ys, xs != ys)",
        "[[1, 2]] [[1, 3]]",
        "false true",
    ),
    (
        "def main = (length \"h\\xE9\", 'a')",
        "",
        "error: stands for no character",
    ),
    ("def main = \"hi\"", "", "[104u8, 105u8]"),
    (
        "def main (n: i64) = (1..3...7, 5..4..>n, 0..<n)",
        "2i64",
        "[1i32, 3i32, 5i32, 7i32] [5i64, 4i64, 3i64] [0i64, 1i64]",
    ),
    (
        "def main (xs: []i32) (i: i64) = xs[i]",
        "[1, 2] 2i64",
        "error: Index [2] out of bounds for array of shape [2].",
    ),
    (
        "def main (x: i32) (y: i32) = x / y",
        "1i32 0i32",
        "error: division by zero",
    ),
    (
        "def main (x: i32) = assert (x > 0) x",
        "0i32",
        "error: Assertion is false",
    ),
    (
        "def main (n: i64) (xs: []i32) = xs :> [n]i32",
        "3i64 [1]",
        "error: cannot match shape of type",
    ),
    (
        "def f 'a [n] (xs: [n]a) = n\ndef main (xs: [][]bool) = let g [m] (ys: [m]bool) = m in (f xs, map g xs)",
        "[[true], [false]]",
        "2i64 [1i64, 1i64]",
    ),
    (
        "def main (x: i32) = let (a, _) = (\\(p, q) -> (q, p)) (x, true) in a && true",
        "1i32",
        "true",
    ),
    (
        "def main (b: bool) (xs: []i32) = if b then xs else xs ++ xs",
        "false [1]",
        "[1i32, 1i32]",
    ),
    (
        "def main (xs: *[][]i32) = let xs[0][1] = 7 in xs",
        "[[1, 2], [3, 4]]",
        "[[1i32, 7i32], [3i32, 4i32]]",
    ),
    (
        "def main (xs: *[2]i32) = let r = [{a = xs, b = 1i32}] let r[0].a[1] = 9 in (r[0].a, r[0].b)",
        "[1, 2]",
        "[1i32, 9i32] 1i32",
    ),
    ("entry main = 1i32 / 0i32", "", "error: division by zero"),
    (
        "entry main = let x = assert false 3i32 in (2i32, x)",
        "",
        "error: Assertion is false",
    ),
    (
        "def main (x: i32) (y: i32) = if y < 0 then x ** y else 0",
        "2i32 -1i32",
        "error: negative exponent",
    ),
    (
        "def main (x: i32) : i32 = if x > 0 then x else ??? x",
        "0i32",
        "error: hole",
    ),
    (
        "type^ step = #add (i32 -> i32) | #measure (f32 -> i32)\n\
         def apply (s: step) = match s case #add f -> f 2 case #measure f -> f 2\n\
         def main (x: i32) = (apply (#add (+ x)), apply (#measure i32.f32))",
        "1i32",
        "3i32 2i32",
    ),
    (
        "def main (ks: []i64) (xs: []i32) = flatmap (\\(k, x) -> (map (\\i -> x + i32.i64 i) (iota k), x)) (zip ks xs)",
        "[2i64, 0i64, 1i64] [10, 20, 30]",
        "[2i64, 0i64, 1i64] [true, false, true] [0i64, 2i64, 2i64] [10i32, 11i32, 30i32] [10i32, 20i32, 30i32]",
    ),
    (
        "def main (xs: *[]i32) = intrinsics.scatter_stream xs (\\acc i -> intrinsics.acc_write acc (i * 2) 7) [0, 1, 9]",
        "[1, 2, 3, 4]",
        "[7i32, 2i32, 7i32, 4i32]",
    ),
    (
        "def main (xs: *[]i32) = intrinsics.hist_stream xs (+) 0 (\\acc i ->\n\
           let acc = intrinsics.acc_write acc i 1 in intrinsics.acc_write acc 0 10) [0, 2, 2, 9]",
        "[1, 2, 3]",
        "[42i32, 2i32, 5i32]",
    ),
    (
        "def main (xs: []i64) = intrinsics.flat_index_2d xs 1 2 4 3 1",
        "[0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64]",
        "[[1i64, 2i64, 3i64], [5i64, 6i64, 7i64]]",
    ),
    (
        "def main (xs: []i64) = intrinsics.flat_index_2d xs 1 2 4 3 1",
        "[0i64, 1i64, 2i64]",
        "error: out of bounds for array of shape [3]",
    ),
    (
        "def main (xs: *[]i64) (ys: [][]i64) = intrinsics.flat_update_2d xs 1 2 1 ys",
        "[0i64, 0i64, 0i64, 0i64, 0i64] [[1i64], [2i64]]",
        "[0i64, 1i64, 0i64, 2i64, 0i64]",
    ),
    (
        "module type space = {type real type vector val scale : real -> vector -> vector}\n\
         module type plane = {type real include space with real = real with vector = {x: real, y: real}}\n\
         module make (r: {type t val * : t -> t -> t}) : plane with real = r.t = {\n\
           type real = r.t type vector = {x: real, y: real}\n\
           def scale (s: real) (v: vector) = {x = s r.* v.x, y = s r.* v.y}}\n\
         module p = make {type t = f32 def (*) = (f32.*)}\n\
         def main (x: f32) = (p.scale x {x = 1, y = 2}).y",
        "3f32",
        "6.0f32",
    ),
    (
        "local def hidden = 3i32\nentry main (x: i32) = #[unsafe] x * hidden",
        "2i32",
        "6i32",
    ),
];

#[test]
fn programs_have_their_results() {
    check_cases(PROGRAMS);
}

/// Checks that programs have their results by all evaluators.
pub(crate) fn check_cases(cases: &[ProgramCase]) {
    let mut faults = Vec::new();
    for (text, input, expected) in cases {
        let input = ProgramValue::read_all(input.as_bytes()).expect("values");
        let checked = check_text(text);
        for (name, run) in [
            ("source", run_source as fn(&_, &_) -> _),
            ("text", run_text),
            ("soac", run_soac),
            ("segments", run_segments),
        ] {
            let found = match &checked {
                Ok(checked) => run(checked, &input),
                Err(message) => Err(message.clone()),
            };
            let is_right = match (expected.strip_prefix("error: "), &found) {
                (Some(part), Err(message)) => message.contains(part),
                (None, Ok(values)) => values == expected,
                _ => false,
            };
            if !is_right {
                faults.push(format!(
                    "{name}: {text}\n  expected {expected}\n  found    {found:?}"
                ));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}
