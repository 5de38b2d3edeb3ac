-- Maps over the results of reductions. Where an invocation has the results of a segment, it computes the map's point from them.

def checksum [n] (xs: [n]i32) : i32 = i32.sum (map2 (\x i -> x * (2 * i32.i64 i + 1)) xs (indices xs))

def matrix (n: i64) (m: i64) : [n][m]i32 =
  tabulate_2d n m (\i j -> i32.i64 ((i * 7 + j * 3) % 11) - 5)

-- By squares of results, by invocations and by workgroups.
-- ==
-- entry: scaled_product
-- input { 3i64 2i64 5i64 } output { 2359i32 }
-- input { 70i64 40i64 53i64 } output { -153978i32 }
-- input { 130i64 33i64 64i64 } output { 1692428i32 }
-- input { 2i64 700i64 3i64 } output { -8561i32 }
-- input { 4i64 0i64 6i64 } output { 143i32 }
-- input { 0i64 3i64 6i64 } output { 0i32 }
entry scaled_product (n: i64) (k: i64) (m: i64) : i32 =
  let c = matrix n m
  in map2 (\as cs -> map2 (\bs c -> i32.sum (map2 (*) as bs) * 3 - c) (transpose (matrix k m)) cs) (matrix n k) c
     |> flatten
     |> checksum

-- Several results, of which the map is in another order.
-- ==
-- entry: extremes
-- input { 1000i64 3i64 } output { -998136i32 -329818074i32 }
-- input { 5i64 1000i64 } output { -3i32 32i32 }
-- input { 3i64 100000i64 } output { -8i32 28i32 }
entry extremes (n: i64) (m: i64) : (i32, i32) =
  let (lows, spans) =
    unzip (map2 (\xs i ->
                   let (low, high) =
                     reduce (\(a, b) (c, d) -> (i32.min a c, i32.max b d)) (i32.highest, i32.lowest) (map (\x -> (x + i, x - i)) xs)
                   in if i % 2 == 0 then (low, high - low) else (high, low))
                (matrix n m) (map i32.i64 (iota n)))
  in (checksum lows, checksum spans)

-- A function that is not commutative.
-- ==
-- entry: compositions
-- input { 1000i64 3i64 } output { -615952338i32 }
-- input { 5i64 1000i64 } output { 13355i32 }
entry compositions (n: i64) (m: i64) : i32 =
  map2 (\xs y -> let (a, b) = reduce (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (x, x + y)) xs) in a * y + b)
       (matrix n m) (map i32.i64 (iota n))
  |> checksum

-- The sums are results, too.
-- ==
-- entry: both
-- input { 100i64 3i64 } output { -1194i32 -2388i32 }
-- input { 3i64 1000i64 } output { 25i32 50i32 }
entry both (n: i64) (m: i64) : (i32, i32) =
  let sums = map i32.sum (matrix n m)
  let twice = map (* 2) sums
  in (checksum sums, checksum twice)

-- The map takes the sum of another row, so that it waits for all.
-- ==
-- entry: neighbours
-- input { 100i64 3i64 } output { -22382i32 }
-- input { 3i64 1000i64 } output { -17i32 }
entry neighbours (n: i64) (m: i64) : i32 =
  let sums = map i32.sum (matrix n m)
  in checksum (map (\i -> sums[(i + 1) % n] - 2) (iota n))

-- The sums of each iteration are of what the map wrote before.
-- ==
-- entry: iterations
-- input { 50i64 } output { -210185i32 }
-- input { 300i64 } output { 708504641i32 }
entry iterations (n: i64) : i32 =
  let xss = matrix n n
  in checksum (loop ys = map (\i -> i32.i64 i % 3) (iota n) for i < 4 do
                 map2 (\xs y -> y - i32.sum (map2 (*) xs ys) / (i + 1)) xss ys)
