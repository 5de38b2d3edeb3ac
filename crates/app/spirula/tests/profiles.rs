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
