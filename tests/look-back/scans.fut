-- Scans, each kind of them in rounds over other data; every entry point gives the number of wrong elements of
-- all rounds. Element i of round r is 2i + 1 + r, so that what comes before it and it add up to (i + 1)(i + 1 + r).
-- `stress.py` calls them.

def value (r: i64) (i: i64) : i64 = 2 * i + 1 + r

def upto (r: i64) (i: i64) : i64 = (i + 1) * (i + 1 + r)

def wrong 't (eq: t -> t -> bool) (found: []t) (wanted: i64 -> t) : i64 =
  i64.sum (map2 (\i x -> i64.bool (!(eq x (wanted i)))) (indices found) found)

def rounds (count: i64) (round: i64 -> i64) : i64 =
  loop sum = 0 for r < count do sum + round r

entry bytes (count: i64) (n: i64) : i64 =
  rounds count (\r ->
    let sums = scan (+) 0 (tabulate n (\i -> u8.i64 (value r i)))
    in wrong (==) sums (\i -> u8.i64 (upto r i)))

entry words (count: i64) (n: i64) : i64 =
  rounds count (\r ->
    let sums = scan (+) 0 (tabulate n (\i -> i32.i64 (value r i)))
    in wrong (==) sums (\i -> i32.i64 (upto r i)))

entry longs (count: i64) (n: i64) : i64 =
  rounds count (\r ->
    let sums = scan (+) 0 (tabulate n (value r))
    in wrong (==) sums (upto r))

-- Affine maps, which do not commute: after i + 1 of x -> 3x + r there is 3^(i + 1) before x.
entry maps (count: i64) (n: i64) : i64 =
  rounds count (\r ->
    let both (a: u32, b: u32) (c: u32, d: u32) = (a * c, b * c + d)
    let found = scan both (1, 0) (tabulate n (\i -> (3, u32.i64 (value r i))))
    let power (k: i64) : u32 =
      (loop (p, b, k) = (1, 3, k) while k > 0 do
         (if k % 2 == 1 then p * b else p, b * b, k / 2)).0
    let before = \i -> if i == 0 then (1, 0) else found[i - 1]
    in i64.sum (map2 (\i (a, b) ->
         let (_, d) = before i
         in i64.bool (a != power (i + 1) || b != d * 3 + u32.i64 (value r i)))
         (iota n) found))

-- Of rows: workgroups begin and end in the middle of them.
entry rows (count: i64) (n: i64) (m: i64) : i64 =
  rounds count (\r ->
    let sums = map (scan (+) 0) (tabulate_2d n m (\j i -> i32.i64 (value (r + j) i)))
    in i64.sum (map2 (\j row -> wrong (==) row (\i -> i32.i64 (upto (r + j) i))) (iota n) sums))

def add [m] (xs: [m]i32) (ys: [m]i32) : [m]i32 =
  loop sums = #[scratch] replicate m 0 for j < m do
    sums with [j] = xs[j] + ys[j]

-- Of arrays, which lie in the device's memory.
entry arrays (count: i64) (n: i64) (m: i64) : i64 =
  rounds count (\r ->
    let sums = scan add (replicate m 0) (tabulate_2d n m (\i j -> i32.i64 (value (r + j) i)))
    in i64.sum (map2 (\i row -> wrong (==) row (\j -> i32.i64 (upto (r + j) i))) (iota n) sums))

-- What is kept moves to where the scan says.
entry kept (count: i64) (n: i64) : i64 =
  rounds count (\r ->
    let found = filter (\x -> x % 3 == r % 3) (iota n)
    in wrong (==) found (\i -> 3 * i + r % 3) + i64.abs (length found - (n - r % 3 + 2) / 3))

-- One element is not there: the others must not wait for the sums up to it.
entry missing [n] (xs: [n]i64) (at: i64) : [n]i64 =
  scan (+) 0 (map (\i -> xs[if i == at then -1 else i]) (iota n))

-- Likewise in an operator that histograms apply one invocation after the other.
entry missing_in_histogram [n] (xs: [n]i64) (at: i64) : ([]i64, []i64) =
  let both (a: i64, b: i64) (c: i64, d: i64) =
    (i64.max a c, xs[if a == at || c == at then -1 else (b + d) % n])
  in unzip (reduce_by_index (replicate 10 (-1, 0)) both (-1, 0) (map (% 10) (iota n)) (zip (iota n) xs))

entry roots [n] (xs: [n]f16) : ([n]bool, [n]u16) =
  unzip (map (\x -> let root = f16.sqrt x in (f16.isnan root, f16.to_bits root & 0x7fff)) xs)
