-- Reductions that a processor folds by lanes and by columns. Sizes are no multiples of vectors, and some are empty.

-- ==
-- entry: sums
-- input { 0i64 } output { 0i32 -2147483648i32 0f32 }
-- input { 1i64 } output { 0i32 0i32 0f32 }
-- input { 37i64 } output { 666i32 36i32 18f32 }
-- input { 20000i64 } output { 199990000i32 19999i32 9999f32 }
entry sums (n: i64) : (i32, i32, f32) =
  let xs = map i32.i64 (iota n)
  in (i32.sum xs, i32.maximum xs, f32.sum (map (\x -> if x % 2 == 0 then 1 else 0) xs) - f32.bool (n % 2 == 1) - f32.bool (n == 20000))

-- The results of the map are written beside the sum.
-- ==
-- entry: with_map
-- input { 21i64 } output { 231i32 [0i32, 3i32, 6i32, 9i32, 12i32] }
entry with_map (n: i64) : (i32, []i32) =
  let (ys, zs) = unzip (map (\i -> (i32.i64 i + 1, i32.i64 (3 * i))) (iota n))
  in (i32.sum ys, take 5 zs)

-- The function is associative and not commutative.
-- ==
-- entry: last_positive
-- input { [1i32, 5i32, -1i32, 7i32, -3i32] } output { 7i32 }
-- input { [-1i32] } output { 0i32 }
entry last_positive (xs: []i32) : i32 =
  reduce (\a b -> if b > 0 then b else a) 0 xs

-- ==
-- entry: products
-- input { 0i64 3i64 70i64 } output { 0i32 }
-- input { 5i64 0i64 70i64 } output { 0i32 }
-- input { 5i64 3i64 0i64 } output { 0i32 }
-- input { 5i64 37i64 70i64 } output { -5581450i32 }
entry products (n: i64) (k: i64) (m: i64) : i32 =
  let a = tabulate_2d n k (\i j -> i32.i64 (i + j))
  let b = tabulate_2d k m (\i j -> i32.i64 (i - j))
  let c = map (\row -> map (\column -> i32.sum (map2 (*) row column)) (transpose b)) a
  in i32.sum (map2 (\i row -> i32.sum (map2 (\j x -> x * ((i * 7 + j) % 5)) (map i32.i64 (iota m)) row)) (map i32.i64 (iota n)) c)

-- Sums of columns, of elements of 8 and of 64 bits.
-- ==
-- entry: columns
-- input { 3i64 70i64 } output { [3i8, 0i8, -3i8] [207i64, 204i64, 201i64] }
entry columns (n: i64) (m: i64) : ([]i8, []i64) =
  let a = tabulate_2d n m (\i j -> i - j)
  in (map (\column -> i8.sum (map i8.i64 column)) (transpose a) |> take 3,
      map (\column -> i64.sum (map (+ 68) column)) (transpose a) |> take 3)

-- Each element is a sum over all, as for bodies that attract each other.
-- ==
-- entry: pairs
-- input { 100i64 } output { [4950i32, 4852i32, 4756i32] }
entry pairs (n: i64) : []i32 =
  let xs = map i32.i64 (iota n)
  in map (\x -> i32.sum (map (\y -> i32.abs (x - y)) xs)) xs |> take 3
