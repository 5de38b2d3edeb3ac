//! Derivatives against finite differences: every scalar function, and functions made of each combinator, in both modes, for
//! one direction and for several, and nested; by both evaluators.

use super::{check_text, run_soac_each, run_source};
use spirula_futhark::compile::CheckedSource;
use spirula_program::{ProgramValue, ScalarType};

/// Runs a program on several inputs. Returns the printed results for each.
type ProgramRunner =
    fn(&CheckedSource, &[Vec<ProgramValue>]) -> Result<Vec<Result<String, String>>, String>;

const RUNNERS: [(&str, ProgramRunner); 2] = [("source", run_source_each), ("soac", run_soac_each)];

fn run_source_each(
    checked: &CheckedSource,
    inputs: &[Vec<ProgramValue>],
) -> Result<Vec<Result<String, String>>, String> {
    let results = inputs.iter().map(|input| run_source(checked, input));
    Ok(results.collect())
}

/// Functions of one scalar, and an interval in which they have derivatives.
const UNARY: &[(&str, f64, f64)] = &[
    ("neg", -3.0, 3.0),
    ("abs", 0.5, 3.0),
    ("sqrt", 0.5, 4.0),
    ("rsqrt", 0.5, 4.0),
    ("cbrt", 0.5, 4.0),
    ("exp", -2.0, 2.0),
    ("log", 0.5, 4.0),
    ("log2", 0.5, 4.0),
    ("log10", 0.5, 4.0),
    ("log1p", -0.5, 4.0),
    ("sin", -3.0, 3.0),
    ("cos", -3.0, 3.0),
    ("tan", -1.2, 1.2),
    ("sinpi", -1.0, 1.0),
    ("cospi", -1.0, 1.0),
    ("tanpi", -0.4, 0.4),
    ("asin", -0.9, 0.9),
    ("acos", -0.9, 0.9),
    ("atan", -3.0, 3.0),
    ("asinpi", -0.9, 0.9),
    ("acospi", -0.9, 0.9),
    ("atanpi", -3.0, 3.0),
    ("sinh", -2.0, 2.0),
    ("cosh", -2.0, 2.0),
    ("tanh", -2.0, 2.0),
    ("asinh", -3.0, 3.0),
    ("acosh", 1.2, 4.0),
    ("atanh", -0.9, 0.9),
    ("gamma", 0.6, 4.0),
    ("lgamma", 0.6, 4.0),
    ("erf", -2.0, 2.0),
    ("erfc", -2.0, 2.0),
    ("floor", 1.1, 1.9),
    ("ceil", 1.1, 1.9),
    ("round", 1.1, 1.4),
    ("trunc", 1.1, 1.9),
    ("sgn", 0.5, 2.0),
];

/// Functions of two scalars, and an interval for both.
const BINARY: &[(&str, f64, f64)] = &[
    ("(+)", -3.0, 3.0),
    ("(-)", -3.0, 3.0),
    ("(*)", -3.0, 3.0),
    ("(/)", 0.5, 3.0),
    ("(%)", 2.1, 2.9),
    ("(**)", 0.5, 3.0),
    ("max", -3.0, 3.0),
    ("min", -3.0, 3.0),
    ("atan2", 0.5, 3.0),
    ("atan2pi", 0.5, 3.0),
    ("hypot", 0.5, 3.0),
    ("copysign", 0.5, 3.0),
];

/// A random number generator (xorshift).
struct NumberSource(u64);

impl NumberSource {
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

fn make_value(shape: Vec<u64>, numbers: &[f64]) -> ProgramValue {
    ProgramValue {
        element: ScalarType::F64,
        unsigned: false,
        shape,
        bytes: numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect(),
    }
}

/// The results of a program for each input: the numbers of each result.
fn run_each(
    runner: ProgramRunner,
    checked: &CheckedSource,
    inputs: &[Vec<ProgramValue>],
) -> Result<Vec<Vec<Vec<f64>>>, String> {
    let texts = runner(checked, inputs)?.into_iter();
    texts.map(|text| read_numbers(&text?)).collect()
}

fn read_numbers(text: &str) -> Result<Vec<Vec<f64>>, String> {
    let values = ProgramValue::read_all(text.as_bytes()).map_err(|error| error.to_string())?;
    let numbers = values.iter().map(|value| {
        let bits = value.elements();
        bits.map(f64::from_bits).collect()
    });
    Ok(numbers.collect())
}

fn is_close(found: f64, wanted: f64, tolerance: f64) -> bool {
    (found - wanted).abs() <= tolerance * wanted.abs().max(1.0)
}

/// The source of a function of two scalars of a type, its value and its derivatives in both modes.
fn write_scalar_program(call: &str, float: &str) -> String {
    format!(
        "module t = {float}\n\
         def f (a: t.t, b: t.t) : t.t = {call}\n\
         def main (x: f64) (y: f64) =\n\
         let p = (t.f64 x, t.f64 y)\n\
         let (ga, gb) = vjp f p (t.f64 1)\n\
         let wide = t.to_f64\n\
         in (wide (f p), wide (jvp f p (t.f64 1, t.f64 0)), wide (jvp f p (t.f64 0, t.f64 1)), wide ga, wide gb)\n"
    )
}

/// Checks the derivatives of a function of two scalars.
fn check_scalar(call: &str, low: f64, high: f64, source: &mut NumberSource) -> Result<(), String> {
    let points: Vec<[f64; 2]> = (0..2)
        .map(|_| {
            let [x, y] = [0, 1].map(|_| (source.next(low, high) * 256.0).round() / 256.0);
            [x, if x == y { y + 1.0 / 256.0 } else { y }]
        })
        .collect();
    let at = |x: f64, y: f64| vec![make_value(Vec::new(), &[x]), make_value(Vec::new(), &[y])];
    let inputs: Vec<_> = points.iter().map(|&[x, y]| at(x, y)).collect();
    let step = 1e-5f64;
    let wide = check_text(&write_scalar_program(call, "f64"))?;
    let mut slopes = Vec::new();
    for &[x, y] in &points {
        let around = [
            at(x + step, y),
            at(x - step, y),
            at(x, y + step),
            at(x, y - step),
        ];
        let found = run_each(run_source_each, &wide, &around)?;
        let slope = |above: usize| (found[above][0][0] - found[above + 1][0][0]) / (2.0 * step);
        slopes.push([slope(0), slope(2), slope(0), slope(2)]);
    }
    for (float, tolerance) in [("f64", 1e-4), ("f32", 2e-4), ("f16", 3e-2)] {
        let checked = check_text(&write_scalar_program(call, float))?;
        for (name, runner) in RUNNERS {
            let results = run_each(runner, &checked, &inputs)?;
            for ((found, wanted), point) in results.iter().zip(&slopes).zip(&points) {
                for (index, &wanted) in wanted.iter().enumerate() {
                    let found = found[index + 1][0];
                    if !is_close(found, wanted, tolerance) {
                        return Err(format!(
                            "{call} of {float} at {point:?} by {name}: derivative {index} is {found}, not {wanted}"
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn scalar_functions_have_their_derivatives() {
    let mut source = NumberSource(0x5eed);
    let mut faults = Vec::new();
    for &(name, low, high) in UNARY {
        let call = format!("t.{name} a");
        faults.extend(check_scalar(&call, low, high, &mut source).err());
    }
    for &(name, low, high) in BINARY {
        let call = match name.strip_prefix('(') {
            Some(rest) => format!("a t.{} b", rest.trim_end_matches(')')),
            None => format!("t.{name} a b"),
        };
        faults.extend(check_scalar(&call, low, high, &mut source).err());
    }
    let own = ["t.fma a b a", "t.lerp a b (t.f64 0.25)", "t.mad a b b"];
    for call in own {
        faults.extend(check_scalar(call, 0.5, 2.0, &mut source).err());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Functions of a vector of positive numbers `xs: [n]f64`. The result has the size that is given.
const FUNCTIONS: &[(&str, &str)] = &[
    ("n", "map (\\x -> x * x + f64.sin x) xs"),
    ("n", "let s = xs[0] in map (\\x -> x * s + s) xs"),
    ("n", "map (\\i -> xs[(i * 2) % n] * xs[i]) (iota n)"),
    (
        "n",
        "map (\\i -> f64.sum (map (\\j -> xs[i] * xs[j] * f64.i64 (i + j)) (iota n))) (iota n)",
    ),
    ("n", "map (\\x -> f64.sum (map (\\y -> x * y * y) xs)) xs"),
    (
        "n",
        "map (\\i -> if i % 2 == 0 then xs[i] * xs[0] else xs[n - 1]) (iota n)",
    ),
    (
        "n",
        "map (\\x -> if x < 1 then x * xs[1] else xs[2] * xs[2]) xs",
    ),
    (
        "n",
        "map (\\i -> loop a = 1 for j < i + 1 do a * xs[j]) (iota n)",
    ),
    (
        "n",
        "map (\\x -> (loop (a, k) = (x, 0i64) while a < 20 && k < 50 do (a * 1.5 + x, k + 1)).0) xs",
    ),
    ("1", "[f64.sum xs]"),
    ("1", "[f64.product xs]"),
    ("1", "[f64.maximum xs * f64.minimum xs]"),
    (
        "1",
        "let (a, b) = reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip xs (reverse xs)) in [a + b * b]",
    ),
    (
        "1",
        "let w = xs[0] in [reduce_comm (\\a b -> a + b + w * a * b) 0 xs]",
    ),
    (
        "n",
        "reduce (map2 (*)) (replicate n 1) (map (\\x -> map (+ x) xs) xs)",
    ),
    (
        "n",
        "reduce (map2 (+)) (replicate n 0) (map (\\x -> map (* x) xs) xs)",
    ),
    ("n", "scan (+) 0 (map (** 2) xs)"),
    ("n", "scan (*) 1 xs"),
    ("n", "scan f64.max 0 xs"),
    (
        "n",
        "map (.1) (scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip xs (map f64.exp xs)))",
    ),
    (
        "n",
        "flatten (scan (map2 (*)) (replicate 1 1) (map (\\x -> [x + xs[0]]) xs)) :> [n]f64",
    ),
    ("3", "hist (+) 0 3 (map (% 4) (iota n)) (map (** 2) xs)"),
    ("3", "hist (*) 1 3 (map (% 4) (iota n)) xs"),
    ("3", "hist f64.max 0 3 (map (% 2) (iota n)) xs"),
    (
        "3",
        "reduce_by_index [xs[0], xs[1], 2] f64.min f64.inf (map (% 2) (iota n)) (map (* 2) xs)",
    ),
    (
        "3",
        "map (\\(a, b) -> a + b) (hist (\\(a, b) (c, d) -> (a * c, b + d + a * 0)) (1, 0) 3 (map (% 3) (iota n)) (zip xs (reverse xs)))",
    ),
    (
        "n",
        "scatter (map (* 3) xs) (map (\\i -> i * 2) (iota n)) (map f64.log xs)",
    ),
    ("n", "let ys = copy xs in ys with [1] = xs[0] * xs[2]"),
    (
        "n",
        "let ys = copy xs let ys[1:3] = map (* xs[0]) xs[0:2] in map2 (*) ys xs",
    ),
    (
        "n",
        "let ys = map (+ 1) xs let a = ys[0] * ys[1] let ys = ys with [0] = a * a in map2 (*) ys xs",
    ),
    (
        "n",
        "let a = map (\\x -> x * x) xs let b = map2 (*) a xs let a = a with [0] = b[1] in map2 (+) a b",
    ),
    ("2", "xs[1:n:n - 2] :> [2]f64"),
    ("n", "xs[::-1]"),
    ("n", "rotate 2 (reverse xs)"),
    ("n + n", "xs ++ map (* 2) xs"),
    ("n", "f64.sum xs |> replicate n"),
    (
        "n",
        "flatten (transpose (map (\\x -> [x * x]) xs)) :> [n]f64",
    ),
    (
        "n",
        "map f64.sum (transpose (map (\\x -> map (* x) xs) xs))",
    ),
    (
        "n",
        "loop ys = xs for i < 4i32 do map (\\y -> f64.sin y * xs[0]) ys",
    ),
    (
        "n",
        "loop ys = copy xs for i < n - 1 do ys with [i + 1] = ys[i] * ys[i + 1]",
    ),
    (
        "n",
        "loop ys = copy xs for i < n do let y = if ys[i] < 1 then ys[i] * 2 else ys[0] in ys with [i] = y * y",
    ),
    (
        "1",
        "[(loop (a, b) = (xs[0], xs[1]) for x in xs do (b, a * x + b)).0]",
    ),
    (
        "1",
        "[(loop (a, k) = (xs[0], 0i64) while a < 100 && k < 30 do (a * xs[1] + xs[2], k + 1)).0]",
    ),
    (
        "1",
        "[loop a = 1 for i < n do loop a for j < i do a + xs[i] * xs[j] * a / 10]",
    ),
    (
        "n",
        "map (\\x -> loop a = x for i < 3i64 do f64.sum (map (\\y -> y * a / 10) xs)) xs",
    ),
    ("1", "[f64.sum (filter (> 1) (map (** 2) xs))]"),
    (
        "1",
        "let (a, b) = partition (> 1) xs in [f64.product a * f64.sum b]",
    ),
    (
        "1",
        "match ((if xs[0] < 1 then #low xs[1] else #high (xs[0], xs[2])) : #low f64 | #high (f64, f64)) case #low a -> [a * a] case #high (a, b) -> [a * b]",
    ),
    ("n", "let f x = x * xs[0] in map (f >-> f) xs"),
    ("n", "map (\\x -> (vjp (\\y -> y ** 3 * x) x 1)) xs"),
    (
        "n",
        "vjp (\\ys -> f64.sum (map2 (\\a b -> a * a * b) ys xs)) (map (* 2) xs) 1",
    ),
    ("n", "jvp (\\ys -> scan (*) 1 ys) xs (map f64.sin xs)"),
    (
        "n",
        "map (\\x -> with_vjp (\\a -> a * a * a) (\\r d -> d * 3 * f64.cbrt (r * r)) x) xs",
    ),
    (
        "n",
        "with_vjp (\\ys -> scan (+) 0 ys) (\\_ d -> reverse (scan (+) 0 (reverse d))) (map (** 2) xs)",
    ),
    (
        "n",
        "map (\\i -> reduce (*) 1 (map (\\j -> xs[(i + j) % n]) (iota 3))) (iota n)",
    ),
    ("n", "map (\\i -> let r = scan (*) 1 xs in r[i]) (iota n)"),
    (
        "n",
        "map (\\i -> let h = hist (+) 0 3 (map (% 3) (iota n)) (map (* xs[i]) xs) in h[i % 3]) (iota n)",
    ),
    (
        "n",
        "map (\\i -> let r = loop ys = copy xs for j < 3i64 do ys with [j] = ys[j + 1] * xs[i] in r[i]) (iota n)",
    ),
];

/// The source of a function of a vector with its Jacobian in four ways, and of products of a direction with the Hessian of a
/// weighted sum of the results in three ways.
fn write_vector_program(size: &str, body: &str) -> String {
    format!(
        "def f [n] (xs: [n]f64) : [{size}]f64 = {body}\n\
         def unit n i = tabulate n (\\j -> f64.bool (i == j))\n\
         def main [n] (xs: [n]f64) (v: [n]f64) =\n\
         let g (xs: [n]f64) = f64.sum (map2 (\\i y -> y * (1 + f64.i64 i)) (iota ({size})) (f xs))\n\
         let grad xs = vjp g xs 1\n\
         in (f xs,\n\
         transpose (tabulate n (\\i -> jvp f xs (unit n i))),\n\
         tabulate ({size}) (\\i -> vjp f xs (unit ({size}) i)),\n\
         transpose (jmp f xs (tabulate n (unit n))),\n\
         mjp f xs (tabulate ({size}) (unit ({size}))),\n\
         grad xs, jvp grad xs v, vjp (\\xs -> jvp g xs v) xs 1, vjp grad xs v)\n"
    )
}

/// The distance of points from which differences are taken.
const STEP: f64 = 1e-5;

/// Two inputs of a program for each direction, after and before a point.
fn list_shifted_inputs(point: &[f64], directions: &[Vec<f64>]) -> Vec<Vec<ProgramValue>> {
    let shape = vec![point.len() as u64];
    let shift = |direction: &Vec<f64>, sign: f64| {
        let numbers = point.iter().zip(direction);
        let numbers: Vec<_> = numbers.map(|(x, d)| x + sign * STEP * d).collect();
        vec![
            make_value(shape.clone(), &numbers),
            make_value(shape.clone(), point),
        ]
    };
    let pairs = directions.iter();
    pairs
        .flat_map(|direction| [shift(direction, 1.0), shift(direction, -1.0)])
        .collect()
}

/// Differences of a result along the direction of a pair of inputs.
fn find_difference(pair: &[Vec<Vec<f64>>], result: usize) -> Vec<f64> {
    let values = pair[0][result].iter().zip(&pair[1][result]);
    values
        .map(|(above, below)| (above - below) / (2.0 * STEP))
        .collect()
}

fn check_vector(size: &str, body: &str, source: &mut NumberSource) -> Result<(), String> {
    let length = 5;
    let checked = check_text(&write_vector_program(size, body))?;
    let point: Vec<f64> = (0..length).map(|_| source.next(0.4, 1.9)).collect();
    let direction: Vec<f64> = (0..length).map(|_| source.next(-1.0, 1.0)).collect();
    let units: Vec<Vec<f64>> = (0..length)
        .map(|unit| {
            (0..length)
                .map(|index| f64::from(u8::from(unit == index)))
                .collect()
        })
        .collect();
    let shape = vec![length as u64];
    let mut inputs = vec![vec![
        make_value(shape.clone(), &point),
        make_value(shape, &direction),
    ]];
    inputs.extend(list_shifted_inputs(&point, &units));
    inputs.extend(list_shifted_inputs(&point, &[direction]));
    for (name, runner) in RUNNERS {
        let found = run_each(runner, &checked, &inputs)?;
        let results = &found[0];
        let pairs: Vec<_> = found[1..].chunks(2).collect();
        let columns = pairs[..length].iter();
        let columns: Vec<Vec<f64>> = columns.map(|pair| find_difference(pair, 0)).collect();
        let rows = results[0].len();
        let jacobian: Vec<f64> = (0..rows)
            .flat_map(|row| columns.iter().map(move |column| column[row]))
            .collect();
        let product = find_difference(pairs[length], 5);
        let wanted = [
            &jacobian,
            &jacobian,
            &jacobian,
            &jacobian,
            &results[5],
            &product,
            &product,
            &product,
        ];
        let names = [
            "jvp", "vjp", "jmp", "mjp", "grad", "jvp vjp", "vjp jvp", "vjp vjp",
        ];
        for (index, wanted) in wanted.into_iter().enumerate() {
            let found = &results[index + 1];
            let same = found.len() == wanted.len()
                && found
                    .iter()
                    .zip(wanted)
                    .all(|(&found, &wanted)| is_close(found, wanted, 2e-4));
            if !same {
                return Err(format!(
                    "{body} by {name}, {}: {found:.4?} instead of {wanted:.4?}",
                    names[index]
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn combinators_have_their_derivatives() {
    let mut source = NumberSource(0xc0ffee);
    let mut faults = Vec::new();
    for &(size, body) in FUNCTIONS {
        let fault = check_vector(size, body, &mut source).err();
        faults.extend(fault.map(|fault| match fault.starts_with(body) {
            true => fault,
            false => format!("{body}: {fault}"),
        }));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
