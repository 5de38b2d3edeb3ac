//! Recursive functions: by the evaluator of source, by calls of the soac form, and by what kernels are made of.

use super::programs::{ProgramCase, check_cases};
use super::{check_text, internalise_last, run_soac, run_source};
use spirula_program::ProgramValue;
use spirula_segment::lower::compile_entries;
use spirula_segment::profile::SegmentProfile;

const PROGRAMS: &[ProgramCase] = &[
    // A name with an earlier meaning, where the function has a fault as a recursive one.
    (
        "module m = { def scale (x: i32) (y: i32) = x * y }
open m
def scale {by: i32, xs: []i32} = map (scale by) xs
def map (xs: []i32) = map (+ 1) xs
def main (xs: []i32) = (scale {by = 3, xs}, map xs)",
        "[1, 2]",
        "[3i32, 6i32] [2i32, 3i32]",
    ),
    // The same where each call would call the function again: in a parametric module, and beside a call that returns.
    (
        "module mk (it: integral) = { def indices xs = (indices xs) |> map it.i64 }
module m = mk i32
def pair [n] 't (xs: [n]t) : [n](t, i32) = xs |> flip zip (m.indices xs)
def main [n] (xs: [n]i32) = unzip (pair xs)",
        "[7, 8]",
        "[7i32, 8i32] [0i32, 1i32]",
    ),
    (
        "def length [n] 't (xs: [n]t) : i64 = let k = 2 * length xs in if k > 4 then k else 0
def main (xs: []i32) (ys: []i32) = (length xs, length ys)",
        "[1, 2, 3] [1]",
        "6i64 0i64",
    ),
    (
        "def abs (x: i32) : i32 = if x < 0 then abs (-x) else x\ndef main (x: i32) = abs x",
        "-4",
        "4i32",
    ),
    (
        "def fact (n: i64) = if n == 0 then 1 else n * fact (n - 1)\ndef main (n: i64) = fact n",
        "10i64",
        "3628800i64",
    ),
    (
        "def rev 'a [n] (xs: [n]a) : [n]a = sized n (if n <= 1 then xs else rev (drop 1 xs) ++ take 1 xs)
def main [n] (xs: [n]i32) (ys: [n]bool) = let (a, b) = unzip (rev (zip ys xs)) in (rev xs, rev ys, a, b)",
        "[1, 2, 3] [true, true, false]",
        "[3i32, 2i32, 1i32] [false, true, true] [false, true, true] [3i32, 2i32, 1i32]",
    ),
    (
        "def fill (xs: *[]i32) (i: i64) : *[]i32 =
  if i == length xs then xs else fill (xs with [i] = i32.i64 i) (i + 1)
def main (n: i64) = fill (replicate n 0) 0",
        "5i64",
        "[0i32, 1i32, 2i32, 3i32, 4i32]",
    ),
    (
        "def sort [n] (xs: *[n]i32) (lo: i64) (hi: i64) : *[n]i32 =
  if hi - lo <= 1 then xs else
  let p = xs[hi - 1]
  let (xs, m) = loop (xs, m) = (xs, lo) for i in lo..<hi - 1 do
    if xs[i] >= p then (xs, m) else
    let (a, b) = (xs[i], xs[m])
    let xs = xs with [m] = a
    in (xs with [i] = b, m + 1)
  let (a, b) = (xs[m], xs[hi - 1])
  let xs = xs with [m] = b
  let xs = xs with [hi - 1] = a
  in sort (sort xs lo m) (m + 1) hi
def main [n] (xs: [n]i32) = (sort (copy xs) 0 n, xs)",
        "[5, 3, 9, 1, 1, 7]",
        "[1i32, 1i32, 3i32, 5i32, 7i32, 9i32] [5i32, 3i32, 9i32, 1i32, 1i32, 7i32]",
    ),
    (
        "def step [k] (n: i64) (xs: *[k]i32) (ys: [k]i32) : ([k]i32, [k]i32) =
  if n == 0 then (xs, ys) else step (n - 1) (xs with [0] = ys[0] + 1) (map (+ 1) ys)
def main (n: i64) = let a = [1, 2] in let (p, q) = step n [7, 8] a in (p, q, a)",
        "3i64",
        "[4i32, 8i32] [4i32, 5i32] [1i32, 2i32]",
    ),
    (
        "def twice [k] (n: i64) (xs: [k]i32, b: bool) : ([]i32, []i32, bool) =
  if n == 0 then (xs, xs, b) else twice (n - 1) (xs ++ [i32.i64 n], !b)
def main (n: i64) = twice n ([0], true)",
        "3i64",
        "[0i32, 3i32, 2i32, 1i32] [0i32, 3i32, 2i32, 1i32] false",
    ),
    (
        "def repeat (n: i64) (f: i64 -> i64) (x: i64) : i64 = if n == 0 then x else repeat (n - 1) f (f x)
def main (n: i64) (x: i64) =
  let k = x + 7 let z = k * 2
  in (repeat n (\\y -> y + k) x, repeat n (\\y -> y * z) x, repeat n (repeat 2 (+ k)) x)",
        "3i64 2i64",
        "29i64 11664i64 56i64",
    ),
    (
        "def iterate [n] (m: i64) (f: i64 -> i64) (xs: [n]i64) : [n]i64 =
  if m == 0 then xs else iterate (m - 1) f (map f xs)
def main [n] (ys: [n]i64) (m: i64) = iterate m (\\x -> x + ys[0]) ys",
        "[1i64, 2i64] 3i64",
        "[4i64, 5i64]",
    ),
    (
        "def both (n: i64) (f: i64 -> i64) (g: i64 -> i64) : i64 = if n == 0 then g 1 else f n + both (n - 1) f g
def main (n: i64) = let h = \\x -> x * n let k = \\x -> h x + 1 in both n k h + both n h k",
        "3i64",
        "46i64",
    ),
    (
        "def f (g: i64 -> i64) (n: i64) : i64 = let h (x: i64) = g x + f g (n - 1) in if n == 0 then 0 else h n
def main (n: i64) = f (\\x -> x + 1) n",
        "10i64",
        "65i64",
    ),
    (
        "def f (n: i64) : i64 = if n == 0 then 0 else 1 + i64.maximum (map f (iota n))
def main (n: i64) = f n",
        "4i64",
        "4i64",
    ),
    (
        "def fib (n: i64) : i64 = if n < 2 then n else fib (n - 1) + fib (n - 2)
def main (n: i64) =
  (map fib (iota n), i64.sum (map fib (iota n)), scan (\\a b -> a + b + fib 0) 0 (iota n),
   reduce (\\a b -> fib (a % 5) + fib (b % 5)) 0 (iota 3), hist (\\a b -> a + b + fib 0) 0 2 (map (% 2) (iota n)) (iota n),
   scatter (replicate n 7) (map fib (iota n)) (map fib (iota n)), map (\\i -> map (+ fib i) (iota 2)) (iota 2))",
        "6i64",
        "[0i64, 1i64, 1i64, 2i64, 3i64, 5i64] 12i64 [0i64, 1i64, 3i64, 6i64, 10i64, 15i64] 2i64 [6i64, 9i64] \
         [0i64, 1i64, 2i64, 3i64, 7i64, 5i64] [[0i64, 1i64], [1i64, 2i64]]",
    ),
    (
        "type t = #leaf i32 | #pair i32 i32
def f (n: i64) (x: t) : t =
  if n == 0 then x else f (n - 1) (match x case #leaf a -> #pair a 1 case #pair a b -> #leaf (a + b))
def main (n: i64) = match f n (#leaf 3) case #leaf a -> a case #pair a b -> a * 100 + b",
        "5i64",
        "501i32",
    ),
    (
        "type t [k] = {a: i32, b: [k]i32}
def f [k] (n: i64) (x: t [k]) : ?[m].t [m] = if n == 0 then x else f (n - 1) {a = x.a + 1, b = x.b ++ [x.a]}
def main (n: i64) = let r = f n {a = 1, b = []} in (r.a, r.b)",
        "3i64",
        "4i32 [1i32, 2i32, 3i32]",
    ),
    (
        "module m (P: {type t val one: t val add: t -> t -> t}) = {
  def f (n: i64) (x: P.t) : P.t = if n == 0 then x else f (n - 1) (P.add x P.one)
}
module a = m {type t = i32 def one = 1i32 def add (x: i32) y = x + y}
module b = m {type t = f32 def one = 1f32 def add (x: f32) y = x + y}
def main (n: i64) = (a.f n 0, b.f n 0)",
        "3i64",
        "3i32 3.0f32",
    ),
    (
        "def even (n: i64) : bool = if n == 0 then true else !(even (n - 1))
def count (n: i64) : i64 = if n <= 1 then 0 else 1 + count (if even n then n / 2 else 3 * n + 1)
def main (n: i64) = map count (1...n)",
        "7i64",
        "[0i64, 1i64, 7i64, 2i64, 5i64, 8i64, 16i64]",
    ),
    (
        "def f (n: i64) (m: i64) : [m][n]i64 =
  if n == 0 then replicate m [] :> [m][n]i64 else map (\\r -> r ++ [n] :> [n]i64) (f (n - 1) m)
def main (n: i64) = (f n 2, map (\\i -> length (f i i)) (iota 3), length (f n 0))",
        "3i64",
        "[[1i64, 2i64, 3i64], [1i64, 2i64, 3i64]] [0i64, 1i64, 2i64] 0i64",
    ),
    (
        "def f [k] (n: i64) (xs: [k]i64) : []i64 = if n == 0 then xs else f (n - 1) (xs ++ [n])
def main (n: i64) = loop xs = [] for i < n do f i xs",
        "3i64",
        "[1i64, 2i64, 1i64]",
    ),
    (
        "def par 'a 'b 'c 'd (f: a -> ?[n].[n]c) (g: b -> ?[m].[m]d) (a: a, b: b) : ?[n][m].([n]c, [m]d) = (f a, g b)
def sort [n] (xs: [n]i32) : [n]i32 =
  sized n (if n <= 1 then xs else
    let (a, b) = partition (<= xs[0]) (drop 1 xs)
    let (a, b) = par sort sort (a, b) in a ++ [xs[0]] ++ b)
def main [n] (xs: [n]i32) = sort xs",
        "[5, 4, 3, 2, 1, 3]",
        "[1i32, 2i32, 3i32, 3i32, 4i32, 5i32]",
    ),
    (
        "def add (n: i64) (x: i64) : i64 = if n == 0 then x else add (n - 1) (x + 1)
def main (n: i64) (x: i64) = let f = add n in map f [x, x + 1]",
        "3i64 1i64",
        "[4i64, 5i64]",
    ),
    (
        "def f (n: i64) : i64 = if n == 0 then 0 else assert (n != 2) (f (n - 1) + 1)
def main (n: i64) = f n",
        "3i64",
        "error: Assertion is false",
    ),
    (
        "def f (n: i64) : i64 = if n == 0 then 3 else f (n - 1) + 1
def main (n: i64) (x: f64) = vjp (\\x -> x * f64.i64 (f n)) x 1 + jvp (\\x -> x * f64.i64 (f n)) x 1",
        "2i64 2f64",
        "10.0f64",
    ),
    (
        "def f (n: i64) (x: f64) : f64 = if n == 0 then x else vjp (\\y -> y * y) (f (n - 1) x) 1
def main (n: i64) (x: f64) = f n x",
        "2i64 3f64",
        "12.0f64",
    ),
    (
        "def f (n: i64) : i64 = 1 + f (n + 1)\ndef main (n: i64) = f n",
        "1i64",
        "error: nested too deeply",
    ),
    (
        "def f (xs: []i64) : []i64 = map (\\x -> i64.sum (f (map (+ x) xs))) xs\ndef main (n: i64) = f [n]",
        "1i64",
        "error: nested too deeply",
    ),
];

#[test]
fn recursive_functions_have_their_results() {
    check_cases(PROGRAMS);
}

/// Functions whose last calls are loops, with a depth that calls cannot have. The results are those of the soac form alone: the
/// evaluator of the source calls.
const DEEP: &[ProgramCase] = &[
    (
        "def sum (n: i64) (x: i64) : i64 = if n == 0 then x else sum (n - 1) (x + n)
def main (n: i64) = sum n 0",
        "100000i64",
        "5000050000i64",
    ),
    (
        "def steps (n: i64) (k: i64) : (i64, bool) =
  match (n, n % 2) case (1, _) -> (k, true) case (_, 0) -> steps (n / 2) (k + 1)
  case _ -> let m = 3 * n + 1 in if m < 0 then (k, false) else steps m (k + 1)
def main (n: i64) = steps n 0",
        "27i64",
        "111i64 true",
    ),
    (
        "def fill [n] (xs: *[n]i32) (i: i64) : *[n]i32 =
  if i == n then xs else let xs[i] = i32.i64 (i % 7) in fill xs (i + 1)
def main (n: i64) = let xs = fill (replicate n 0) 0 in (xs[20000], xs[n - 1])",
        "20002i64",
        "1i32 2i32",
    ),
    (
        "def grow [k] (n: i64) (xs: [k]i64, b: bool) : ([]i64, bool) =
  if n == 0 then (xs, b) else if n % 10000 == 0 then grow (n - 1) (xs ++ [n], !b) else grow (n - 1) (xs, b)
def main (n: i64) = let a = [7i64] in let (b, c) = grow n (a, true) in (a, b, c)",
        "30000i64",
        "[7i64] [7i64, 30000i64, 20000i64, 10000i64] false",
    ),
    (
        "def f (n: i64) (x: i64) : i64 = if n == 0 then x else f (n - 1) (assert (x < 20000) (x + 1))
def main (n: i64) = f n 0",
        "30000i64",
        "error: Assertion is false",
    ),
    (
        "def f (n: i64) (x: i64) : i64 =
  if n <= 0 then x else f (n - 1) (if n % 20000 == 0 then x + f (n / 2) 1 else x + 1)
def main (n: i64) = f n 0",
        "40000i64",
        "80000i64",
    ),
];

#[test]
fn last_calls_are_loops() {
    for (text, input, wanted) in DEEP {
        let checked = check_text(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let input = ProgramValue::read_all(input.as_bytes()).expect("values");
        let found = run_soac(&checked, &input);
        match wanted.strip_prefix("error: ") {
            None => assert_eq!(found.as_deref(), Ok(*wanted), "{text}"),
            Some(part) => {
                let message = found.expect_err("an error");
                assert!(message.contains(part), "{text}: {message}");
            }
        }
    }
}

#[test]
fn recursive_functions_become_functions_of_the_host() {
    for (text, _, _) in PROGRAMS.iter().chain(DEEP) {
        let checked = check_text(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        for profile in [SegmentProfile::PROCESSOR, SegmentProfile::GRAPHICS] {
            let internalised = internalise_last(&checked);
            let internalised = internalised.unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            let program = compile_entries(vec![internalised], profile, &mut |_, _| {});
            let program = program.unwrap_or_else(|bug| panic!("{text}: {bug}"));
            let verified = spirula_kernel::verify_program(&program);
            verified.unwrap_or_else(|fault| panic!("{text}: {fault}"));
        }
    }
}

#[test]
fn derivatives_of_recursive_functions_are_refused() {
    for derivative in [
        "vjp (f n) x 1",
        "jvp (f n) x 1",
        "vjp (\\x -> map (f n) [x, 1]) x [1, 1]",
    ] {
        let text = format!(
            "def f (n: i64) (x: f64) : f64 = if n == 0 then x else x * f (n - 1) x
def main (n: i64) (x: f64) = {derivative}"
        );
        let checked = check_text(&text).expect("it is right");
        let input = ProgramValue::read_all(b"2i64 3f64").expect("values");
        run_source(&checked, &input).expect("the evaluator derives it");
        let message = run_soac(&checked, &input).expect_err("there are no rules for calls");
        assert!(message.contains("`f` has no derivative"), "{message}");
    }
}
