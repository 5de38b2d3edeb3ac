//! Programs have the same results in the forms for different kinds of devices.

use spirula::{CompileOptions, CompileOutput, ScheduleProfile, compile_input};
use spirula_program::{ProgramError, ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};

/// Programs, each with a function of a vector `xs` and a matrix `xss`.
const PROGRAMS: &[&str] = &[
    // Folds whose operands may change places, and others.
    "def main (xs: []i32) (_: [][]i32) = (i32.sum xs, i32.maximum xs, i64.sum (map i64.i32 xs))",
    "def main (xs: []i32) (_: [][]i32) =
       reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x * 2 + 1, x)) xs)",
    "def main (xs: []i32) (_: [][]i32) =
       let ys = map (* 3) xs in (reduce (\\a b -> if b == 0 then a else b) 0 (map (% 4) ys), ys)",
    // Scans.
    "def main (xs: []i32) (_: [][]i32) = (scan (+) 0 xs, scan i32.max 0 xs)",
    "def main (xs: []i32) (_: [][]i32) =
       scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x * 2 + 1, x)) xs) |> unzip",
    "def main (xs: []i32) (_: [][]i32) = (filter (\\x -> x % 3 == 0) xs, scan (&&) true (map (< 90) xs))",
    // Segments.
    "def main (_: []i32) (xss: [][]i32) = (map i32.sum xss, map (scan (+) 0) xss)",
    "def main (_: []i32) (xss: [][]i32) =
       map (\\xs -> reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x, x + 1)) xs)) xss |> unzip",
    "def main (_: []i32) (xss: [][]i32) =
       map (\\ys -> let t = ys[0] + 50 in scan (\\a b -> i32.min t (a + b)) 0 ys) xss",
    // Histograms with few and many elements, and values that fall beside them.
    "def main (xs: []i32) (_: [][]i32) =
       (hist (+) 0 50 (map (\\x -> i64.i32 x - 10) xs) xs, hist i32.max 0 9000 (map (\\x -> i64.i32 x * 90) xs) xs,
        hist (+) 0 30 (map (\\x -> i64.i32 x % 31) xs) (map (\\x -> f32.i32 (x % 8)) xs))",
    // Elements of few bits, floating-point numbers, truth values and pairs, which are changed as words.
    "def main (xs: []i32) (_: [][]i32) =
       let at k x = i64.i32 (x + 20) % k
       in (hist (+) 0i8 40 (map (at 41) xs) (map i8.i32 xs), hist i16.max (-9) 5000 (map (\\x -> at 5001 (x * 71)) xs) (map i16.i32 xs),
           hist (+) 0f16 90 (map (at 90) xs) (map (\\x -> f16.i32 (x % 3)) xs), hist (||) false 70 (map (at 71) xs) (map (> 25) xs),
           hist f32.max (-1000) 130 (map (at 130) xs) (map f32.i32 xs), hist f64.min 9 8000 (map (at 8000) xs) (map f64.i32 xs))",
    "def main [n] (xs: [n]i32) (xss: [][]i32) =
       let better (a, i) (b, j) = if b > a || (b == a && j < i) then (b, j) else (a: i32, i: i32)
       let find k (ys: []i32) = hist better (i32.lowest, i32.highest) k (map (\\y -> i64.i32 (y * 3 + 11)) ys) (zip ys (map i32.i64 (indices ys)))
       in (unzip (find 60 xs), unzip (find 5000 xs), unzip (map (\\xs -> unzip (find 50 xs)) xss))",
    "def main (xs: []i32) (xss: [][]i32) =
       let put k (ys: []i32) = reduce_by_index (replicate k (1i16, false)) (\\(a, p) (b, q) -> (a * b % 127, p != q)) (1, false)
                                               (map (\\y -> i64.i32 y % 60) ys) (map (\\y -> (i16.i32 y % 127, y % 3 == 0)) ys)
       in (unzip (put 55 xs), unzip (map (\\ys -> unzip (put 45 ys)) xss))",
    // Histograms of rows, and in each row.
    "def main [m] [n] (xs: []i32) (xss: [m][n]i32) =
       let ks = map (\\ys -> i64.i32 (ys[0] + 9)) xss
       in (hist (map2 (+)) (replicate n 0) 40 ks xss, hist (map2 i32.max) (replicate n i32.lowest) 3 (map (% 4) ks) xss,
           reduce_by_index (tabulate_2d 30 n (\\i j -> i32.i64 (i - j))) (map2 (\\a b -> (a ^ b) & 65535)) (replicate n 0) ks xss,
           hist (map2 (+)) [0, 0] 9 (map (\\x -> i64.i32 x % 10) xs) (map (\\x -> [x, 1]) xs))",
    "def main (_: []i32) (xss: [][]i32) =
       (map (\\ys -> hist (+) 0 700 (map (\\y -> i64.i32 (y * 7)) ys) ys) xss,
        map (\\ys -> scatter (replicate 300 ys[0]) (map (\\y -> i64.i32 (y % 7) * 9) ys) (map (\\y -> y % 7) ys)) xss,
        map (\\ys -> let t = ys[0] % 40 + 200
                    in reduce_by_index (replicate 60 (t - 60)) (\\a b -> i32.min t (i32.max a b)) i32.lowest (map (\\y -> i64.i32 y) ys) (map (* 3) ys)) xss,
        map (\\ys -> hist (+) 0f64 70 (map i64.i32 ys) (map f64.i32 ys)) xss,
        map (\\ys -> hist (map2 (+)) [0i8, 0] 90 (map i64.i32 ys) (map (\\y -> [i8.i32 y, 1]) ys)) xss)",
    // Functions that are no atomic operations of devices.
    "def main (xs: []i32) (_: [][]i32) =
       (hist (\\a b -> if a + b > 255 then 255 else a + b) 0 40 (map (\\x -> i64.i32 x % 37) xs) (map (const 1) xs),
        reduce_by_index (replicate 5000 1i64) (\\a b -> a * b % 1000003) 1 (map (\\x -> i64.i32 x * 50) xs) (map (\\x -> i64.i32 x + 1) xs))",
    // Loops with parallel bodies within maps.
    "def main (_: []i32) (xss: [][]i32) =
       map (\\ys -> loop zs = ys for i < 3 do let s = i32.sum zs + i in map2 (\\z j -> z + s % 5 + i32.i64 j) zs (indices zs)) xss",
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       map (\\ys -> 
                   loop (zs, t) = (copy ys, 0) for i < 4 do
                     let t = t + zs[0]
                     let ws = map (+ t) zs
                     in (scatter zs (map (\\j -> (j * 11 + i64.i32 i) % n) (iota n)) ws, t)) xss |> unzip",
    // Bodies of several narrow combinators, which workgroups share.
    "def main (_: []i32) (xss: [][]i32) =
       map (\\ys -> let s = i32.sum ys
                   let zs = map (\\y -> y * 3 + s) ys
                   let ws = scan (+) 0 zs
                   let k = reduce (\\a b -> if b == 0 then a else b) 0 (map (% 7) ws)
                   in (map2 (\\w z -> w - z + k) ws (reverse zs), k)) xss |> unzip",
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       map (\\(ys: [n]i32) ->
             let k = i64.min n 40
             let a = tabulate_2d k k (\\i j -> ys[(i * 3 + j) % n])
             let a = loop a = copy a for i < k - 1 do
               let column = map (\\j -> if j > i then a[j, i] - i32.sum (map2 (*) a[j, :i] a[:i, i]) else a[j, i]) (iota k)
               let a[:, i] = column
               let a[i, i + 1] = a[i, i] + 1
               let a[i + 1] = map (\\x -> x % 1000 + a[i, 0]) (copy a[i + 1])
               in a
             let b = scatter (replicate n 7) (map (\\i -> (i * 7) % n) (iota n)) (map (+ 1) ys)
             in (flatten a, b ++ [i32.sum (flatten (transpose a))], n)) xss |> unzip3",
    "def main (_: []i32) (xss: [][]i32) =
       map (\\ys -> let (zs, t, n) =
                     loop (zs, t, n) = (copy ys, 0, 0) while t < 2000 && n < 9 do
                       let us = if n % 2 == 0 then map (+ 3) zs else reverse zs
                       in (us, t + i32.maximum us, n + 1)
                   in (filter (> 50) [t, n] |> length |> i32.i64, zs, scan i32.max 0 zs)) xss |> unzip3",
    // Positions that are computed.
    "def main (xs: []i32) (xss: [][]i32) =
       (tabulate_2d 70 (length xs) (\\i j -> loop t = i32.i64 (i * 3 + j) while t > 50 do t / 2),
        map2 (\\x i -> x * i32.i64 i) xs (indices xs), i64.sum (map2 (*) (indices xs) (rep 3)),
        map (\\ys -> reduce (+) 0 (map2 (\\y i -> y * i32.i64 i) ys (indices ys))) xss)",
    // Products, whose rows and columns share elements.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let k = i64.min 150 n
       let a = map (\\xs -> take k xs) xss
       let b = tabulate_2d k 70 (\\i j -> i32.i64 (i * 7 + j * 3) % 10)
       in map (\\r -> map (\\c -> reduce (+) 0 (map2 (*) r c)) (transpose b)) a",
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let l = i64.min 100 m
       let k = i64.min 40 n
       let a = map (\\xs -> take k xs) (take l xss)
       let dist = map (\\r -> map (\\c -> reduce i32.min i32.highest (map2 (\\x y -> i32.abs (x - y)) r c)) a) a
       let batch = tabulate_3d 3 l l (\\k i j -> i32.sum (map2 (\\x y -> (x + i32.i64 k) * y + i32.i64 (i - j)) a[i] a[j]))
       in (dist, batch)",
    // Sums that only kernels use, in loops and choices, and such that the host uses, too.
    "def main (xs: []i32) (_: [][]i32) =
       loop (ys, k) = (copy xs, 1) for i < 4 do
         let s = i32.sum ys
         let m = i32.maximum ys - i32.minimum ys
         let t = if s % 2 == 0 then s / 3 + m else m * 2 - i
         in (map (\\y -> (y * 3 + t) % 1000) ys, if i == 2 then s % 7 else k + 1)",
    "def main (xs: []i32) (_: [][]i32) =
       let (a, b) = (i32.sum xs, i32.maximum xs)
       let ys = if length xs > 300 then map (+ a) xs else map (\\x -> x * b + a / 7) xs
       let c = i32.sum (map (% (i32.abs a % 50 + 2)) ys)
       in (scan (+) 0 (map (+ c) ys), hist (+) 0 30 (map (\\x -> i64.i32 (x + a % 3)) xs) (map (+ (b - c)) xs),
           i32.sum (map (+ c) ys), replicate (i64.i32 (i32.abs c % 9)) b, map (\\x -> if x == a then c else b) xs)",
    "def main (xs: []i32) (_: [][]i32) =
       let norm (ys: []f32) = f32.sqrt (f32.sum (map (\\y -> y * y) ys))
       in (loop ys = map (\\x -> f32.i32 (x % 8)) xs for _i < 5i32 do let n = norm ys in map (\\y -> f32.round (100 * y / (n + 1))) ys)",
    // A sum that a kernel divides by, which may be zero.
    "def main (xs: []i32) (_: [][]i32) =
       let s = i32.sum (map (% 1) xs) let t = i32.sum xs in map (\\x -> if x == -1000 then x / s else x + 1000 / (t * 0 + 3)) xs",
    "def main [m] [n] (xs: []i32) (xss: [m][n]i32) =
       let k = i64.min 33 n
       let blocks = map (\\x -> tabulate_2d 20 k (\\i j -> x + i32.i64 (i * 5 + j) % 9)) (take (i64.min 6 (length xs)) xs)
       let multiply = map2 (\\a b -> map2 (\\r y -> map (\\c -> y - i32.sum (map2 (*) r c)) (transpose b)) (transpose a) (iota k |> map i32.i64))
       in (multiply blocks blocks, map (\\b -> map (\\r -> map (\\c -> i32.sum (map2 (*) r c)) xss[:, :k]) b) blocks)",
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let a = map (map f64.i32) xss[:, :i64.min 70 n]
       in map (\\r -> map (\\c -> f64.sum (map2 (*) r c)) a) a[:i64.min 120 m]",
    // A small array of the host that a single invocation makes.
    "def main (xs: []i32) (_: [][]i32) = loop ys = [1, 2, 3] for i < xs[0] % 7 do if i % 4 != 0 then ys else [ys[2], xs[0], i]",
    // Arrays of an invocation.
    "def main (xs: []i32) (_: [][]i32) =
       map (\\x -> let ys = loop ys = replicate 6 x for i < 5 do ys with [i + 1] = ys[i] * 2 + ys[5]
                  let zss = unflatten (sized (2 * 3) (ys ++ []))
                  let t = transpose zss
                  in reduce (+) 0 (flatten t) + i32.sum (map (\\(r: [2]i32) -> r[0] * r[1]) t)) xs",
    "def main (xs: []i32) (_: [][]i32) =
       map (\\x -> let yss = replicate 3 [x, x + 1, 7] ++ [[1, 2, x]]
                  let zss = loop yss = copy yss for i < 3 do yss with [i + 1, :2] = map (* 2) yss[i, 1:]
                  in (map i32.sum zss, copy zss[3])) xs |> unzip",
];

/// Programs that read and write rows of arrays, each with a function of a matrix `xss` of positive width.
const ROW_PROGRAMS: &[&str] = &[
    // Results that are made in place, and such that share memory with what they replace.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let k = i64.min 5 n
       let turn 'a (xs: [n]a) = (reverse xs)[:k]
       let a = map (\\xs -> loop (ys, zs) = (take k xs, turn xs) for i < 3 do (map2 (+) ys (map (* 2) (copy ys)), reverse zs)) xss
       let b = map (\\xs -> loop ys = unflatten (sized (2 * k) (take k xs ++ turn xs)) for _i < 3 do transpose (transpose ys)) xss
       let c = map (\\xs -> loop ys = replicate 3 [xs[0], 2, 3] for i < 3 do transpose ys with [0, 1] = i) xss
       let d = map (\\xs -> reduce_by_index (replicate 2 (replicate k 0)) (\\a b -> if a[0] == 0 then b else reverse a) (replicate k 0)
                                            [0, 1, 0, 0, 1] (replicate 5 (take k xs))) xss
       let e = map (\\xs -> let (ps, qs) = loop (ps, qs) = (copy xs, reverse xs) for i < 3 do (qs, map (+ i) ps)
                           in (if xs[0] % 2 == 0 then map2 (-) ps qs else replicate n qs[0])) xss
       in (unzip a, b, c, d, e)",
    // A row that is written and read by invocations, and is a result.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let yss = map (\\xs -> loop ys = copy xs for i < n - 1 do ys with [i + 1] = (ys[i] * 3 + ys[i + 1]) % 1000) xss
       let zs = map (\\ys -> loop a = 1 for y in ys do (a * 31 + y) % 10007) yss
       in (zs, yss)",
    // Choices and loops whose results are read by rows.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let step (k: i32) (xs: [n]i32) = loop ys = copy xs for i < n - 1 do ys with [i] = (ys[i] * k + ys[i + 1]) % 1000
       let yss = if m > 1000 then map (step 2) xss else map (map (+ 1)) xss
       let (yss, t) = loop (yss, t) = (yss, 0) for i < 3 do
         let s = map (\\ys -> loop a = i for y in ys do (a * 31 + y) % 10007) yss
         let zss = map (step t) yss
         in (if t % 2 == 0 then zss else map (\\x -> map (+ x) (reverse (replicate n x))) s, t + i32.sum s % 1000)
       in (t, transpose yss, flatten yss)",
    // Cells of two dimensions, other orders of the dimensions, and slices.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let turn (xs: [n]i32) = loop c = replicate 3 (replicate n 1) for i < n do
         let c[i % 3, i] = (xs[i] + c[(i + 1) % 3, (i * 5) % n]) % 1000
         in c
       let cells = map turn xss
       let a = map (\\c -> loop a = 0 for i < n do a + c[0, i] * 2 + c[2, i]) cells
       let b = map (\\c -> loop a = 0 for i < m do (a * 7 + c[i % 2, i]) % 1000) (transpose (map transpose cells)[:, :, 1:] |> map transpose)
       let c = map (\\c -> let d = map (\\r -> loop a = 0 for x in r do a * 3 + x) (transpose c) in d[n / 2]) cells
       in (a, b, c)",
    // Folds of arrays.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let yss = map (\\xs -> loop ys = copy xs for i < n - 1 do ys with [i + 1] = (ys[i] + ys[i + 1]) % 1000) xss
       let weigh (ys: [n]i32) = map (\\i -> (loop a = 0 for y in ys do (a + y) % 97) + i32.i64 i) (iota 4)
       in (reduce (map2 (+)) (replicate 4 0) (map weigh yss),
           scan (map2 i32.max) (replicate n 0) yss,
           reduce (map2 (+)) (replicate n 0) yss)",
    // Nests whose versions have different layouts.
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =
       let yss = map (\\xs -> scan (+) 0 (map (% 7) xs)) xss
       let zss = map (\\ys -> let s = i32.sum ys let t = scan i32.max s (map (+ s) ys) in map2 (-) t ys) yss
       in (map i32.sum zss, map (\\c -> reduce (+) 0 c) (transpose zss))",
];

fn make_array(shape: &[u64], seed: u64) -> ProgramValue {
    let mut state = seed;
    let mut bytes = Vec::new();
    for _ in 0..shape.iter().product::<u64>() {
        // The generator of D. Knuth's MMIX.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        bytes.extend_from_slice(&((state >> 40) as i32 % 100).to_le_bytes());
    }
    ProgramValue {
        element: spirula_program::ScalarType::I32,
        unsigned: false,
        shape: shape.to_vec(),
        bytes,
    }
}

/// The results on the processor, or the message of the failure, of the form for a kind of device.
fn run_form(text: &str, profile: ScheduleProfile, input: &[ProgramValue]) -> String {
    let options = CompileOptions {
        profile,
        ..CompileOptions::default()
    };
    let compiled = compile_input(text.as_bytes(), &options);
    let compiled = compiled.unwrap_or_else(|error| panic!("{text}: {error}"));
    let CompileOutput::Program(program) = compiled.output else {
        panic!("it is a program");
    };
    let mut device =
        ComputeDevice::open("cpu", &DeviceOptions::default()).expect("there is a processor");
    let machine = DeviceMachine::new(&mut device);
    let mut session = ProgramSession::new(&program, machine).expect("it begins");
    match session.call_entry("main", input) {
        Ok(results) => {
            let results = results.iter().flatten();
            let printed: Vec<_> = results.map(ProgramValue::to_string).collect();
            printed.join("\n")
        }
        Err(ProgramError::Failed(message, ..)) => message,
        Err(other) => panic!("{text}: {other}"),
    }
}

fn assert_forms_agree(text: &str, input: &[ProgramValue]) {
    let expected = run_form(text, ScheduleProfile::CPU, input);
    let found = run_form(text, ScheduleProfile::GPU, input);
    assert!(
        found == expected,
        "{text}\nexpected {:.200}\nfound    {:.200}",
        expected,
        found
    );
}

#[test]
fn forms_for_devices_have_the_same_results() {
    // Chunks, tiles and segments that are full or not, narrow and wide.
    let inputs = [([20_011], [3, 4_100]), ([256], [300, 127]), ([1], [2, 1])];
    for text in PROGRAMS {
        for (vector, matrix) in &inputs {
            let input = [make_array(vector, 1), make_array(matrix, 2)];
            assert_forms_agree(text, &input);
        }
    }
}

#[test]
fn rows_in_other_layouts_have_the_same_results() {
    for text in ROW_PROGRAMS {
        for shape in [[1_500, 67], [17_000, 40], [40, 300], [3, 1]] {
            let input = [make_array(&[1], 1), make_array(&shape, 2)];
            assert_forms_agree(text, &input);
        }
    }
}

/// Functions of `xs` whose arrays are replaced by others that share their memory, with the results for `[1, 2]`.
const REPLACED: &[(&str, &str)] = &[
    (
        "map (\\x -> loop ys = [3, 2, x] for _i < 3i32 do reverse ys) xs",
        "[[1i32, 2i32, 3i32], [2i32, 2i32, 3i32]]",
    ),
    (
        "map (\\x -> flatten (loop ys = [[x, 7], [2, 3]] for _i < 3i32 do (transpose ys :> [2][2]i32))) xs",
        "[[1i32, 2i32, 7i32, 3i32], [2i32, 2i32, 7i32, 3i32]]",
    ),
    (
        "map (\\x -> let (ys, zs) = loop (ys, zs) = ([3, 2, x], [x, 5, 6]) for _i < 3i32 do (reverse zs, ys) in [ys, zs]) xs",
        "[[[1i32, 5i32, 6i32], [1i32, 2i32, 3i32]], [[2i32, 5i32, 6i32], [2i32, 2i32, 3i32]]]",
    ),
    (
        "map (\\x -> reduce_by_index [[x, 5, 6]] (\\a b -> if b[0] == 0 then reverse a else b) [1, 1, 1] [0] [[0, 0, 0]]) xs",
        "[[[6i32, 5i32, 1i32]], [[6i32, 5i32, 2i32]]]",
    ),
];

#[test]
fn arrays_replaced_by_parts_of_themselves_keep_their_elements() {
    let input = ProgramValue::read_all(b"[1i32, 2i32]").expect("values");
    for (body, expected) in REPLACED {
        let text = format!("def main (xs: []i32) = {body}");
        for profile in [ScheduleProfile::CPU, ScheduleProfile::GPU] {
            assert_eq!(run_form(&text, profile, &input), *expected, "{text}");
        }
    }
}

#[test]
fn large_products_have_the_same_results() {
    // The largest squares, with edges in all directions.
    let text = "def main (xs: []i32) (_: [][]i32) =
      let a = tabulate_2d 2100 21 (\\i j -> xs[(i * 21 + j) % length xs])
      let b = tabulate_2d 21 2050 (\\i j -> i32.i64 (i * 7 + j * 3) % 10)
      let c = map (\\r -> map (\\c -> i32.sum (map2 (*) r c)) (transpose b)) a
      in c[::91]";
    let input = [make_array(&[1000], 1), make_array(&[1, 1], 2)];
    assert_forms_agree(text, &input);
}

#[test]
fn a_failure_in_shared_code_ends_the_program() {
    let texts = [
        "def main (_: []i32) (xss: [][]i32) =
           map (\\ys -> let zs = map (\\y -> 100 / (y - 73)) ys in map (+ i32.sum zs) (scan (+) 0 zs)) xss",
        "def main (_: []i32) (xss: [][]i32) =
           map (\\ys -> let zs = map i32.abs ys let t = i32.sum zs
                       in map (+ 100 / i32.min t 0) (scan (+) 0 zs)) xss",
        "def main (_: []i32) (xss: [][]i32) =
           map (\\ys -> loop zs = copy ys for i < 9 do
                         let us = scan (+) 0 (map i32.abs zs) in map (\\u -> 100 / i32.min u (i - 3)) us) xss",
    ];
    for text in texts {
        let input = [make_array(&[1], 1), make_array(&[3, 200], 2)];
        assert_forms_agree(text, &input);
    }
}

#[test]
fn a_failure_in_a_workgroup_ends_the_program() {
    let text = "def main (xs: []i32) (_: [][]i32) =
      (i32.sum (map (\\x -> 100 / (x - 73)) xs), scan (\\a b -> a + b * 2) 0 (map (\\x -> 100 / (x - 73)) xs))";
    let input = [make_array(&[5_000], 1), make_array(&[1, 1], 2)];
    assert_forms_agree(text, &input);
}
