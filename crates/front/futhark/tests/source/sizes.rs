//! Sizes: programs that are rejected for their sizes, and values whose sizes no argument has.

use super::{check_text, internalise_last, optimise, run_soac, run_source};
use spirula_program::ProgramValue;
use spirula_soac::fuse::FusionScope;
use spirula_soac::ir::SoacOperation;

/// Programs that must be rejected, each with a part of the message or of its notes.
const REJECTED: &[(&str, &str)] = &[
    // Sizes of one name are told apart.
    (
        "def main (xs: []i32) = zip (filter (> 0) xs) (filter (< 3) xs)",
        "the sizes `m₁` and `m` differ",
    ),
    (
        "def main [n] (xs: [n]i32) = let [n] (ys: [n]i32) = filter (> 0) xs in zip xs ys",
        "the argument of `zip` is of type `[n]i32`, but `[n₁]i32` is expected",
    ),
    // A type that a module's argument defines is printed as what it is.
    (
        "module mk (T: {type t val x: t}) = {def f (_: i64) : T.t = T.x}
module m = mk {type t = i32 def x = 1i32}
def main [n] (xs: [n]i32) = zip xs [m.f 1, m.f 2]",
        "the argument of `zip` is of type `[2]i32`, but `[n]i32` is expected",
    ),
    (
        "def main (n: i64) (m: i64) : [m]i32 = replicate n 0",
        "the sizes `m` and `n` differ",
    ),
    (
        "def main [n] [m] (xs: [n]i32) (ys: [m]i32) = zip xs ys",
        "the argument of `zip` is of type `[m]i32`, but `[n]i32` is expected",
    ),
    (
        "def main (n: i64) : [n + 2]i64 = iota (n + 1)",
        "the sizes `2` and `1` differ",
    ),
    (
        "def main (xs: []i64) = map iota xs",
        "cannot be a size of the type of all results",
    ),
    (
        "def main [n] (xs: [n]i32) : [n]i32 = filter (> 0) xs",
        "is a size that is produced by `filter`",
    ),
    (
        "def main (b: bool) (n: i64) (m: i64) : [n]i32 = if b then replicate n 0 else replicate m 0",
        "by a choice between `[n]` and `[m]`",
    ),
    (
        "def main (n: i64) : [n]i32 = loop xs = replicate n 0 for _i < 3i32 do xs ++ xs",
        "is a size that is produced by a loop",
    ),
    (
        "def main [n] (x: i32) : [n]i32 = replicate n x",
        "the size `n` of an entry point does not follow from its arguments",
    ),
    (
        "def f [n] (x: i32) = x\ndef main = f 1",
        "the size parameter `n` is no size of the definition's type",
    ),
    (
        "def f [n] [m] (_: [n]i32) (_: [m]i32) : [n * m]i32 = replicate (m * n) 0\ndef main (xs: []i32) = f xs xs",
        "the sizes `n` and `m` differ",
    ),
    (
        "type square [n] = [n][n]i32\ndef main (n: i64) : square [n] = replicate n (replicate (n + 1) 0)",
        "the sizes `n` and `n + 1` differ",
    ),
    // A call gives a function whose parameter has sizes that no value shows.
    (
        "def f (n: i64) (m: i64) (xs: [n][m]i32) = xs[0, 0]\ndef g = uncurry f\ndef main (xs: [2][2]i32) = g (2, 2) xs",
        "the size `d` that `g` chooses would be a size of a parameter of its result",
    ),
    (
        "def main (xs: []i32) = (\\f -> f (filter (> 0) xs)) (\\ys -> length ys)",
        "but the size `m` is produced only later",
    ),
    // The sizes of a lambda's parameters are needed where it stands.
    (
        "def main (xs: []i32) = (\\f -> f (filter (> 0) xs)) (\\_ -> 0i32)",
        "but the size `m` is produced only later",
    ),
    (
        "def main (xs: []i32) = (\\f -> f (0i32, filter (> 0) xs)) (\\(x, _) -> x)",
        "but the size `m` is produced only later",
    ),
    // The parts of a pattern share its sizes.
    (
        "def main = let [n] (xs: [n]i64, ys: [n]i64) = (iota 1, iota 2) in length xs",
        "the sizes `1` and `2` differ",
    ),
    (
        "def main = let [n] {a = xs: [n]i64, b = (ys: [n]i64, _)} = {a = iota 1, b = (iota 2, true)} in n",
        "the sizes `1` and `2` differ",
    ),
    // The size of a parameter is not what it binds itself, nor what later parameters bind.
    (
        "def f xs n = zip xs (iota n)",
        "`n` is not in scope where the size is needed",
    ),
    (
        "def f (n, xs) = zip xs (iota n)",
        "`n` is not in scope where the size is needed",
    ),
    (
        "def f = \\xs n -> zip xs (iota n)",
        "`n` is not in scope where the size is needed",
    ),
    (
        "def f xs = \\n -> zip xs (iota n)",
        "`n` is not in scope where the size is needed",
    ),
    (
        "def f (x: i64) = let g xs n = zip xs (iota n) in g [1i32] x",
        "`n` is not in scope where the size is needed",
    ),
    // A function that a definition gives has no parameters whose sizes only the body knows.
    (
        "def f (x: bool) = let (n, _) = if x then (10, x) else (20, x) in \\(_: [n]bool) -> true",
        "the parameter of a function that `f` gives has the unknown size `d`",
    ),
    (
        "def f (x: bool) = let (n, _) = if x then (10, x) else (20, x) in (iota n, \\(_: [n]bool) -> true)",
        "the parameter of a function that `f` gives has the unknown size `d`",
    ),
    (
        "def f (x: bool) (k: bool -> ?[n].([n]i64, [n]bool -> bool)) = (k x).1",
        "the parameter of a function that `f` gives has the unknown size `n`",
    ),
    (
        "def f (x: bool) = let g = (let (n, _) = if x then (10, x) else (20, x) in \\(_: [n]bool) -> true) in g [x, x]",
        "the sizes `d` and `2` differ",
    ),
    // An existential size is a size of an array.
    (
        "def f : i64 -> ?[n].(b: bool) -> [n]bool = \\n b -> replicate n b",
        "the existential size `n` is no size of an array of the type",
    ),
    (
        "def f : i64 -> ?[n].[n + 1]bool = \\n -> replicate (n + 1) true",
        "the existential size `n` is no size of an array of the type",
    ),
    (
        "type~ t = ?[n].(bool -> [n]bool)",
        "the existential size `n` is no size of an array of the type",
    ),
    // A value of a module has the sizes of its module type.
    (
        "module m : {val f: (n: i64) -> [n]i64} = {def f (n: i64) = iota (n + 1)}",
        "the sizes `n` and `n + 1` differ",
    ),
    (
        "module m : {val f [n] [m]: [n]i64 -> [m]i64 -> i64} = {def f [n] (x: [n]i64) (y: [n]i64) = x[0] + y[0]}",
        "the sizes `m` and `n` differ",
    ),
    (
        "module m : {val xs: [10]i64} = {def xs = iota 9}",
        "the sizes `10` and `9` differ",
    ),
    (
        "module m : {type t [n] val f [n]: t [n] -> t [n]} = {type t [n] = [n]i64 def f [n] (_: t [n]) = iota (n + 1)}",
        "the sizes `n` and `n + 1` differ",
    ),
    (
        "module m : {val f: (n: i64) -> [n]i64} = {def f (n: i64) = filter (> 0) (iota n)}",
        "the sizes `n` and `m` differ",
    ),
    (
        "module type s = {val f 'a [n]: [n]a -> [n]a} module g (X: s) = {} module m = g {def f 'a [n] (x: [n]a) = x ++ x}",
        "the sizes `n` and `n + n` differ",
    ),
    // An abbreviation uses its size parameters.
    (
        "type t [n] [m] = [n]i32",
        "the size parameter `m` is no size of the definition",
    ),
    (
        "type^ t [n] = [10]i32 -> i32",
        "the size parameter `n` is no size of the definition",
    ),
    (
        "module type s = {type t [n] = i32}",
        "the size parameter `n` is no size of the definition",
    ),
    // A type that is hidden keeps its sizes.
    (
        "module m : {type t [n] [m]} = {type t [n] [m] = [n + m]bool}",
        "its size parameter `n` is no size of an array of its definition",
    ),
    (
        "module m : {type^ t [n]} = {type^ t [n] = [n]i32 -> i32}",
        "its size parameter `n` is no size of an array of its definition",
    ),
    (
        "module m : {type~ t val e: (t, i32)} = {type~ t = []bool def e : (t, i32) = ([], 1)}",
        "the type of value `e` has a size that its module type does not name",
    ),
    (
        "module type s = {type~ t val e: t} module f (X: s) = {def x = X.e} module m = f {type~ t = ?[n].[n]bool def e : t = []}",
        "the type of value `e` has a size that its module type does not name",
    ),
];

/// Programs that must be accepted, beside those that are rejected.
const ACCEPTED: &[&str] = &[
    "def f n xs = zip xs (iota n)",
    "def f [n] (xs: [n]i32) (k: i64) = zip xs (iota n) def g k = f [1, k] 3",
    "def f (x: bool) = let (n, _) = if x then (10, x) else (20, x) in \\(h: bool -> [n]bool) -> h x",
    "def f (x: bool) = \\(y: bool) -> let (n, _) = if y then (10, x) else (20, x) in (iota n, \\(_: [n]bool) -> true)",
    "def f = let (n, _) = (opaque 10, true) in (iota n, \\(_: [n]bool) -> true)",
    "def f (x: bool) (k: bool -> ?[n].([n]i64, [n]bool -> bool)) = let (a, b) = k x in b (map (> 1) a)",
    "def main (xs: []i32) = let ys = filter (> 0) xs in (\\f -> f ys) (\\_ -> 0i32)",
    "def main = let [n] (xs: [n]i64, ys: [n]i64) = (iota 2, iota 2) in n + length xs + length ys",
    "type~ t = ?[n].([n]bool, bool)",
    "type t [n] = [n + 1]bool type^ u [n] = bool -> t [n] type v [n] = (u32, #a i32 | #b ([2][n]f32))",
    "module type s = {type t [n] val f [n]: i32 -> i32} module m (X: s) = {type t [n] = X.t [n]}",
    "module m : {type t [n] val f [n]: t [n] -> i32} = {type t [n] = ([n]i32, i32) def f [n] (x: t [n]) = x.1}",
    "module m : {val f: i64 -> []i64 val xs: []i64} = {def f (n: i64) = iota n def xs = iota 3}",
    "module m : {val f [n]: [n]i32 -> ?[k].([k]i32, [n - k]i32)} = {
  def f [n] (x: [n]i32) : ?[k].([k]i32, [n - k]i32) = let k = length (filter (> 0) x) in (x[:k], x[k:]) }",
    "module m : {val n: i64 val xs: [n]i64} = {def n = 10i64 def xs = iota n}",
    "module m : {val f [n]: [n](i32, bool) -> [n](i32, bool)} = {def f 'a (x: a) = x}",
    "module m : {val f [n]: [n]i32 -> [n]i32 -> [n]i32} = {def f [n] [m] (x: [n]i32) (_: [m]i32) = x}",
    "module m : {type~ t val e: i32 -> t} = {type~ t = []bool def e (_: i32) : t = []}",
    // Two parts of a loop's value have one size, which a pipe takes over and the body changes.
    "def main (n: i64) =
  loop (xs, ys) = ([1i32], [i32.i64 n]) while !(null xs) do
    let firsts = zip xs ys |> unzip |> (.0)
    let sums = map2 (\\x y -> x + y) firsts xs
    let (a, b) = zip sums ys |> filter (\\(x, y) -> x > y) |> unzip
    in (a ++ xs, b ++ ys)",
    "def main (n: i64) =
  loop (xs, ys) = ([1i32], [i32.i64 n]) while !(null xs) do
    let firsts = zip xs ys |> unzip |> (.0)
    let sums = map2 (+) firsts xs
    in filter (\\(x, y) -> x > y) (zip sums ys) |> unzip",
    // A choice does not give the value of a loop the size of one branch.
    "def main (n: i32) =
  loop (d, xs) = (n, []) while d > 0 do
    if d > 5 then (d - 1, []) else if d == 3 then (d - 1, [d, 2, n]) else (d - 1, xs)",
];

#[test]
fn sizes_that_are_known_are_accepted() {
    for text in ACCEPTED {
        if let Err(message) = check_text(text) {
            panic!("{text}\n  {message}");
        }
    }
}

/// Programs whose results have sizes that no argument has.
const PROGRAMS: &[(&str, &str, &str)] = &[
    // A choice does not give a parameter the size of the other branch.
    (
        "def name (xs: []u8) = let xs = if null xs then \"you\" else xs in \"for \" ++ xs
def either (xs: []i32) (ys: []i32) (b: bool) = if b then xs else ys
def plain xs b = if b && xs[0] == 1i32 then xs else [7, 8]
def part (x: #some ([]i32) | #none) = match x case #some a -> a case #none -> [9i32]
def again (xs: []i32) (n: i64) = loop ys = [1i32] for _i < n do xs
def pair (xs: []i32, ys: []i32) = if null xs then ys else xs
def main (xs: []u8) (ys: []i32) =
  (name xs, either ys [1] false, plain ys (length ys > 1), part (#some ys), again ys 2, pair (ys, [5]))",
        "[66u8, 111u8] [1, 2, 3]",
        "[102u8, 111u8, 114u8, 32u8, 66u8, 111u8] [1i32] [1i32, 2i32, 3i32] [1i32, 2i32, 3i32] [1i32, 2i32, 3i32] [1i32, 2i32, 3i32]",
    ),
    (
        "module mk (P: {val n: i64 val rows: [n][n + 1]i32}) = {
  def add (x: i32) = map2 (\\row x -> row[P.n] + x) P.rows (rep x)
  def more (x: i32) = map (map2 (+) (rep x)) P.rows
}
module m = mk {def n = 2i64 def rows = [[1, 2, 3], [4, 5, 6i32]] :> [n][n + 1]i32}
def main (x: i32) = (m.add x, m.more x)",
        "10i32",
        "[13i32, 16i32] [[11i32, 12i32, 13i32], [14i32, 15i32, 16i32]]",
    ),
    (
        "def part [n] 'a (p: a -> bool) (xs: [n]a) : ?[k].([n - k]a, [k]a) =
  let k = i64.sum (map (\\x -> i64.bool (p x)) xs)
  in (xs[k:], xs[:k])
def main (xs: []i32) = part (> 2) xs",
        "[1, 2, 3]",
        "[2i32, 3i32] [1i32]",
    ),
    (
        "def cap (w: i64) (n: i64) : i64 = (n - 1) / w + 1
module type bits = { type bits [n] val width: i64 val empty: (n: i64) -> *bits [cap width n] val rest [n]: bits [cap width n] -> i64 }
module mk (P: {val width: i64}) : bits = {
  def width = P.width
  type bits [n] = [n]i64
  def empty n = replicate (cap width n) 0i64
  def rest [n] (set: bits [cap width n]) = width * length set - n
}
module b = mk {def width = 64i64}
def main (n: i64) = b.rest (b.empty n)",
        "200i64",
        "56i64",
    ),
    (
        "module type hot = { type^ gen [n] 'a val at [n] 'a: gen [n] a -> i64 -> a val point 'a: a -> a -> gen [1] a
  val row [n] [m] 'a: gen [m] a -> gen [n * m] ([n]a) }
module hot : hot = {
  type^ gen [n] 'a = {size: [0][n](), at: i64 -> a}
  def witness x = [] : [0][x]()
  def at 'a (gen: gen [] a) i = gen.at i
  def point one zero = {size = witness 1, at = \\i -> if i == 0i64 then one else zero}
  def row [n] [m] 'a (gen: gen [m] a) =
    {size = witness (n * m), at = \\i -> tabulate n (\\j -> if i / m == j then at gen (i %% m) else at gen (-1))}
}
def main [n] (xs: [n]i32) = tabulate n (\\i -> map2 (*) xs (hot.at (hot.row (hot.point 1 0)) i))",
        "[2, 3]",
        "[[2i32, 0i32], [0i32, 3i32]]",
    ),
    (
        "module type vec = { type vec 'a val rows [n] 'a: vec ([n]a) -> [n](vec a) val make 'a: a -> vec a val sum: vec i32 -> i32 }
module one : vec = { type vec 'a = a def rows = id def make = id def sum = id }
module pair (X: vec) (Y: vec) : vec = {
  type vec 'a = (X.vec a, Y.vec a)
  def rows (xs, ys) = zip (X.rows xs) (Y.rows ys)
  def make a = (X.make a, Y.make a)
  def sum (x, y) = X.sum x + Y.sum y
}
module four = pair (pair one one) (pair one one)
def main (xs: []i32) = map four.sum (four.rows (four.make xs))",
        "[1, 2, 3]",
        "[4i32, 8i32, 12i32]",
    ),
    (
        "def rep [n] 'a (x: a) : [n]a = replicate n x\ndef main (k: i64) : [k]i32 = rep 7",
        "2i64",
        "[7i32, 7i32]",
    ),
    (
        "def main (n: i64) (k: i64) = map (\\i -> replicate k i) (iota n)",
        "0i64 3i64",
        "empty([0][3]i64)",
    ),
    (
        "def grow (k: i64) (x: i32) = replicate k x\ndef main (k: i64) (xs: []i32) = map (grow k) xs",
        "2i64 empty([0]i32)",
        "empty([0][2]i32)",
    ),
    (
        "def main (k: i64) : [0][k]i32 = []",
        "4i64",
        "empty([0][4]i32)",
    ),
    (
        "def main (xs: []i32) = let ys = filter (> 0) xs in (length ys, map (\\y -> map (+ y) ys) ys)",
        "[1, -1]",
        "1i64 [[2i32]]",
    ),
    (
        "def split_two [n] (xs: [2 * n]i32) : ([n]i32, [n]i32) = (take n xs, drop n xs :> [n]i32)\n\
         def main (k: i64) = split_two (replicate (2 * k) 1i32)",
        "2i64",
        "[1i32, 1i32] [1i32, 1i32]",
    ),
    (
        "def zeros [n] : [n]i64 = iota n\ndef main [n] (xs: [n]i64) = map2 (+) xs zeros",
        "[5i64, 5i64]",
        "[5i64, 6i64]",
    ),
    (
        "module m : {type t [n] val make : (n: i64) -> t [n] val size [n] : t [n] -> i64} = {\n\
           type t [n] = [n]bool def make (n: i64) = replicate n true def size [n] (_: t [n]) = n }\n\
         def main (k: i64) = m.size (m.make (k + 1))",
        "2i64",
        "3i64",
    ),
    (
        "def main (xs: []i32) = let f 'a [n] (ys: [n]a) : [n]i64 = iota n in (f xs, f (filter (> 1) xs))",
        "[1, 2, 3]",
        "[0i64, 1i64, 2i64] [0i64, 1i64]",
    ),
    (
        "def main (n: i64) = loop xs = [0i64] for i < n do xs ++ map (+ i) xs",
        "2i64",
        "[0i64, 0i64, 1i64, 1i64]",
    ),
];

#[test]
fn faults_about_sizes_have_their_messages() {
    let mut faults = Vec::new();
    for (text, part) in REJECTED {
        match check_text(text) {
            Ok(_) => faults.push(format!("accepted: {text}")),
            Err(message) if message.contains(part) => {}
            Err(message) => faults.push(format!("{text}\n  expected {part}\n  found    {message}")),
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn sizes_that_no_argument_has_are_known() {
    let mut faults = Vec::new();
    for (text, input, expected) in PROGRAMS {
        let input = ProgramValue::read_all(input.as_bytes()).expect("values");
        let checked = check_text(text);
        for run in [run_source, run_soac] {
            let found = match &checked {
                Ok(checked) => run(checked, &input),
                Err(message) => Err(message.clone()),
            };
            // The evaluator of typed source does not know the type of elements that an array lacks.
            let found = found.map(|found| found.replace("]bool)", "]i32)"));
            let expected = expected.replace("]i64)", "]i32)");
            let found = found.map(|found| found.replace("]i64)", "]i32)"));
            if found != Ok(expected.clone()) {
                faults.push(format!(
                    "{text}\n  expected {expected}\n  found    {found:?}"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn arrays_of_one_size_have_one_width() {
    let text = "def main [n] (xs: [n]f32) (ys: [n]f32) (zs: {a: [n]f32}) =
      let us = map f32.cos xs
      let vs = map2 (*) us zs.a
      in (f32.sum (map2 (*) us ys), f32.sum (map2 (+) us vs))";
    let checked = check_text(text).unwrap_or_else(|fault| panic!("{fault}"));
    let (function, _) = internalise_last(&checked).expect("it has a soac form");
    let function = optimise(function, FusionScope::All);
    let is_loop = |operation: &SoacOperation| {
        matches!(
            operation,
            SoacOperation::Map(..) | SoacOperation::Reduce(..) | SoacOperation::Fused(..)
        )
    };
    let statements = function.body.statements.iter();
    let loops = statements.filter(|statement| is_loop(&statement.operation));
    assert_eq!(loops.count(), 1, "the loops are not fused: {function:?}");
}
