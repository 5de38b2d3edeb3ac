//! Programs of several tests.

/// Programs, each with a function of a vector `xs` and a matrix `xss`.
pub const PROGRAMS: &[&str] = &[
    // Folds of tuples, whose operands must keep their order.
    "def main (xs: []i32) (_: [][]i32) =\n\
       reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x, x + 1)) xs)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x, x + 1)) xs) |> unzip",
    "def main (xs: []i32) (_: [][]i32) = (reduce_comm i32.max i32.lowest xs, scan (+) 0 xs)",
    // Operators on arrays.
    "def main (_: []i32) (xss: [][]i32) = reduce (map2 (+)) (map (const 0) xss[0]) xss",
    "def main (_: []i32) (xss: [][]i32) = scan (map2 (+)) (map (const 0) xss[0]) xss",
    // Segments.
    "def main (_: []i32) (xss: [][]i32) = (map (reduce (+) 0) xss, map (scan (+) 0) xss)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> map i64.i32 xs |> reduce (\\a b -> a + b * 2) 0) (transpose xss)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> let s = reduce i32.max 0 xs let ys = map (* s) xs in scan (+) 0 ys) xss",
    "def main (xs: []i32) (xss: [][]i32) =\n\
       map (\\ys -> map (\\x -> let t = x % 7 in reduce (+) t (map (* t) ys)) xs) xss",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> hist (+) 0 5 (map (\\x -> i64.i32 x % 6 - 1) xs) xs) xss",
    // Scans whose results one reduction reads.
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> i32.sum (map2 (*) (scan (+) 0 xs) xs)) xss",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> i32.sum (scan i32.max 0 (scan (+) 0 (map (% 7) xs)))) xss",
    "def main (xs: []i32) (xss: [][]i32) =\n\
       map (\\ys -> let zs = scan (+) 0 ys in map (\\x -> i32.maximum (map (* x) zs)) xs) xss",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> let (a, b) = unzip (scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip xs (map (* 2) xs)))\n\
          in i32.sum (map2 (-) b a)) xss",
    // Histograms: atomic, of tuples, of arrays.
    "def main (xs: []i32) (_: [][]i32) =\n\
       (hist (+) 0 7 (map (\\x -> i64.i32 x % 9 - 1) xs) xs,\n\
        hist i64.max 0 3 (map (\\x -> i64.i32 x % 3) xs) (map i64.i32 xs))",
    "def main (xs: []i32) (_: [][]i32) =\n\
       reduce_by_index (replicate 4 (1, 0)) (\\(a, b) (c, d) -> (a * c, b + d)) (1, 0)\n\
         (map (\\x -> i64.i32 x % 5) xs) (map (\\x -> (x, x)) xs) |> unzip",
    "def main (_: []i32) (xss: [][]i32) =\n\
       reduce_by_index (map (map (* 0)) xss[:2]) (map2 (+)) (map (const 0) xss[0])\n\
         (map (\\xs -> i64.i32 xs[0] % 3) xss) xss",
    // Permutations.
    "def main (xs: []i32) (_: [][]i32) =\n\
       let (small, large) = partition (< 20) xs in (filter (\\x -> x % 3 == 0) xs, small, large)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> let n = length xs in scatter (map (* 2) xs) (map (\\i -> n - i) (indices xs)) xs) xss",
    // Scatters of the same positions, on the host and in a nest, one of them into an array that the positions are computed of.
    "def main (xs: []i32) (_: [][]i32) =\n\
       let is = map2 (\\i x -> if x % 3 == 0 then i else -1) (indices xs) xs\n\
       in (scatter (map (* 2) xs) is xs, scatter (replicate 5 0) is (map (+ 1) xs),\n\
           scatter (replicate 9 false) is (map (> 3) xs), scatter (copy xs) is (map (* 7) xs))",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\xs -> let is = map2 (\\i x -> if x % 2 == 0 then i else 99) (indices xs) xs\n\
          let ys = scatter (map (* 2) xs) is (map (+ 1) xs) let zs = scatter (replicate 4 7) is xs\n\
          in i32.sum ys + i32.sum zs) xss",
    "def main (_: []i32) (xss: [][]i32) =\n\
       let is = map (\\xs -> i64.i32 (i32.sum xs) * 0) xss let js = map2 (+) is (indices xss)\n\
       in (scatter (map (map (* 2)) xss) js (map (scan (+) 0) xss), scatter (map (map (+ 1)) xss) js (map (map (* 3)) xss))",
    // Rows that points change in place, after an operation that has them as results.
    "def main [n] [m] (xs: []i32) (_: [n][m]i32) =\n\
       map (\\x -> let ys = map (+ x) (replicate n 1) let s = i32.sum ys let ys[0] = 7 in (ys, s)) xs |> unzip",
    // Loops that change arrays in place, in kernels and on the host.
    "def main (xs: []i32) (xss: [][]i32) =\n\
       (loop ys = copy xs for i < length xs - 1 do\n\
          if ys[i] > 20 then ys with [i + 1] = ys[i] - ys[i + 1] else ys with [i] = 1,\n\
        map (\\ys -> loop zs = copy ys for i < length ys - 1 do\n\
          loop zs = zs for j < 2 do zs with [i + 1] = zs[i] + zs[i + 1] + i32.i64 j) xss)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       loop (a, b) = (xs, map (+ 1) xs) for _i < 3 do (b, map2 (+) a b)",
    // Loops with parallel bodies within maps.
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\ys -> loop zs = ys for i < 3 do let s = i32.sum zs + i in map2 (\\z j -> z + s % 5 + i32.i64 j) zs (indices zs)) xss",
    "def main [m] [n] (_: []i32) (xss: [m][n]i32) =\n\
       map (\\ys ->  loop (zs, t) = (copy ys, 0) for i < 4 do\n\
          let t = t + zs[0] let ws = map (+ t) zs\n\
          in (scatter zs (map (\\j -> (j * 11 + i64.i32 i) % n) (iota n)) ws, t)) xss |> unzip",
    // Sizes that only the elements know.
    "def main (xs: []i32) (_: [][]i32) = map (\\x -> reduce (+) 0 (iota (i64.i32 x))) xs",
    "def main (xs: []i32) (_: [][]i32) =\n\
       scan (\\a b -> a + b + length (filter (> 0) (replicate (b % 3) 1))) 0 (map i64.i32 xs)",
    // Checks, in a nest as well.
    "def main (xs: []i32) (xss: [][]i32) =\n\
       map (\\ys -> let i = i64.i32 ys[0] let z = xs[i] in z + reduce (+) 0 (map (\\j -> xs[j % 50]) (map i64.i32 ys))) xss",
    // Several maps around a reduction.
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\r -> map (\\c -> reduce (+) 0 (map2 (*) r c)) xss) xss",
    // Maps over the results of reductions.
    "def main (xs: []i32) (xss: [][]i32) =\n\
       map (\\r -> map2 (\\c x -> x - i32.sum (map2 (*) r c)) xss (map (\\r -> r[0]) xss)) xss",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map2 (\\r i -> let (a, b) = reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x, x + 1)) r)\n\
              in if i % 2 == 0 then (a - b, a) else (b, a + i32.i64 i)) xss (indices xss) |> unzip",
    "def main (_: []i32) (xss: [][]i32) = let s = map i32.sum xss in (s, map (* 2) s)",
    // Pairs share no memory with their arrays, nor the arrays of pairs with each other.
    "def main (xs: []i32) (_: [][]i32) =\n\
       let ys = map (+ 1) xs let zs = zip xs ys let zs[0] = (1, 2) let (a, b) = unzip zs in (xs, ys, a, b)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       let zs = zip xs xs let zs[0] = (1, 2) let zs[1] = (zs[0].1, 3) let (a, b) = unzip zs in (xs, a, b)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       let zs = zip3 xss xss (map i32.sum xss) let zs[0] = (xss[1], map (+ 1) xss[0], 7)\n\
       let (a, b, c) = unzip3 zs in (xss, a, b, c)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       loop xs = copy xs for i < 3 do let zs = zip xs (map (* 2) xs) let xs[i] = zs[i + 1].1 in xs with [i + 1] = zs[i].0 + zs[i + 1].0",
    // A row that is returned is no other array.
    "def main (xs: []i32) (xss: [][]i32) =\n\
       let ys = map id xs let zs = copy ys with [0] = 7 \n\
       let (sums, rows) = map (\\r -> (reduce (+) 0 r, r)) xss |> unzip in (ys, zs, sums, rows)",
    // Fused maps: results of the map stay arrays, positions and values have a common producer.
    "def main (xs: []i32) (_: [][]i32) =\n\
       let ys = map (\\x -> x * 3 - 7) xs in (reduce (+) 0 ys, i32.maximum ys, ys)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       let ys = map (\\x -> x ^ 5) xs in (scan i32.max i32.lowest (map (+ 1) ys), ys)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       let ys = map (\\x -> (i64.i32 x % 8 - 1, x * x)) xs\n\
       let (is, vs) = unzip ys in (hist (+) 0 6 is vs, reduce_by_index (replicate 6 1) (*) 1 is vs, vs)",
    "def main (xs: []i32) (_: [][]i32) =\n\
       let n = length xs let is = map2 (\\x i -> if x % 2 == 0 then n - 1 - i else -1) xs (indices xs)\n\
       in (scatter (replicate n 0) is (map (* 2) xs), is)",
    // Fused maps with parallelism in their bodies.
    "def main (_: []i32) (xss: [][]i32) =\n\
       let sums = map (\\xs -> reduce (+) 0 (map (\\x -> x * x) xs)) xss in (i32.sum sums, scan (+) 0 sums, sums)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       let k = length xss in scatter (replicate k 0) (map (\\xs -> i64.i32 (i32.sum xs) % k) xss) (map (const 3) xss)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       hist (+) 0 4 (map (\\xs -> i64.i32 (i32.maximum xs) % 5) xss) (map (\\xs -> last (scan (+) 0 xs)) xss)",
    // Fused maps in nests, in loops of kernels, and with irregular bodies.
    "def main (xs: []i32) (xss: [][]i32) =\n\
       map (\\ys -> let zs = map2 (\\y i -> y * xs[i]) ys (indices ys)\n\
                  in (i32.sum zs, scan (+) 0 zs, hist (+) 0 3 (map (\\z -> i64.i32 z % 4) zs) zs)) xss |> unzip3",
    "def main (_: []i32) (xss: [][]i32) =\n\
       map (\\ys -> loop acc = 0 for i < 3 do\n\
         let zs = map (\\y -> y + acc + i) ys\n\
         let ws = scatter (copy zs) (map (\\z -> i64.i32 z % length zs) zs) (map (\\z -> z - 1) zs)\n\
         in (acc + i32.sum (map (% 11) ws) + last (scan i32.max 0 (map (% 7) zs))) % 1000) xss",
    "def main (xs: []i32) (_: [][]i32) =\n\
       i64.sum (map (\\x -> length (filter (> 1) (iota (i64.i32 x % 5)))) xs)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       reduce (map2 (+)) (map (const 0) xss[0]) (map (map (+ 1)) xss)",
    "def main (_: []i32) (xss: [][]i32) =\n\
       scan (map2 (+)) (map (const 0) xss[0]) (map (scan (+) 0) xss)",
    // Checks in a fused map.
    "def main (xs: []i32) (_: [][]i32) =\n\
       i32.sum (map (\\x -> assert (x >= 0) xs[i64.i32 x % length xs]) xs)",
];

/// A reader of a program that consists of one text.
pub fn read_text(text: &str) -> impl FnMut(&str) -> Result<String, String> + Send + '_ {
    move |path: &str| match path {
        "main.fut" => Ok(text.to_owned()),
        other => Err(format!("there is no {other}")),
    }
}
