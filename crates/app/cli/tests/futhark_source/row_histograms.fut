-- Histograms of rows, whose columns are lanes on a processor where rows are many and wide.

-- Some positions are outside. Rows are narrower than a vector, as wide, and no multiple of it.
-- ==
-- entry: row_sums
-- input { 0i64 3i64 9i64 } output { 0i32 }
-- input { 1000i64 0i64 9i64 } output { 0i32 }
-- input { 1000i64 3i64 0i64 } output { 0i32 }
-- input { 1000i64 3i64 1i64 } output { 6742500i32 }
-- input { 1000i64 3i64 7i64 } output { 71562750i32 }
-- input { 1000i64 3i64 8i64 } output { 86658000i32 }
-- input { 191i64 3i64 9i64 } output { 4055115i32 }
-- input { 192i64 3i64 9i64 } output { 4109205i32 }
-- input { 1000i64 3i64 9i64 } output { 103072500i32 }
-- input { 777i64 10i64 33i64 } output { 1456979029i32 }
-- input { 1500i64 1i64 100i64 } output { 1375208724i32 }
-- input { 640i64 10i64 17i64 } output { 330969311i32 }
entry row_sums (n: i64) (bins: i64) (l: i64) : i32 =
  let is = map (\i -> (i * 7) % (bins + 1) - i64.bool (i % 5 == 0)) (iota n)
  let vs = tabulate_2d n l (\i c -> i32.i64 (i * 3 + c * c))
  let h = hist (map2 (+)) (replicate l 0) bins is vs
  in i32.sum (flatten (tabulate_2d bins l (\b c -> h[b, c] * i32.i64 (b * 5 + c + 1))))

-- The neutral row is an array.
-- ==
-- entry: row_maxima
-- input { 1000i64 3i64 13i64 50i32 } output { 37258i32 }
-- input { 1000i64 3i64 16i64 -5i32 } output { 36280i32 }
entry row_maxima (n: i64) (bins: i64) (l: i64) (base: i32) : i32 =
  let is = map (\i -> (i * i) % bins) (iota n)
  let vs = tabulate_2d n l (\i c -> i32.i64 ((i * 37 + c * 11) % 101))
  let h = hist (map2 i32.max) (map (\c -> base + i32.i64 c) (iota l)) bins is vs
  in i32.sum (flatten (tabulate_2d bins l (\b c -> h[b, c] * i32.i64 (b * 5 + c + 1))))

-- A histogram for each of several segments.
-- ==
-- entry: segments
-- input { 3i64 400i64 2i64 11i64 } output { [6795800i32, 13369400i32, 19969400i32] }
-- input { 20i64 50i64 2i64 9i64 } output { [86700i32, 157350i32, 230700i32, 300000i32, 374700i32, 442650i32, 518700i32, 585300i32, 662700i32, 727950i32, 806700i32, 870600i32, 950700i32, 1013250i32, 1094700i32, 1155900i32, 1238700i32, 1298550i32, 1382700i32, 1441200i32] }
-- input { 1i64 300i64 2i64 8i64 } output { [2217600i32] }
entry segments (s: i64) (n: i64) (bins: i64) (l: i64) : []i32 =
  let values = tabulate_3d s n l (\q i c -> i32.i64 (i * (q + 1) + c))
  let positions = tabulate_2d s n (\q i -> (i + q) % bins)
  let hs = map2 (hist (map2 (+)) (replicate l 0) bins) positions values
  in map (\h -> i32.sum (flatten (tabulate_2d bins l (\b c -> h[b, c] * i32.i64 (b * 3 + c + 1))))) hs
