-- Nested choices, of which some write nothing.
-- ==
-- entry: nested
-- input { [3,-1,7,2,0,5,9,-4] } output { [6, 1, 14, 104, 100, 10, 18, 1] }
entry nested [n] (xs: [n]i32) : [n]i32 =
  let place (x: i32) (i: i64) : (i64, i32) =
    if x < 0 then (-1, 0)
    else let h = i64.i32 x % 6
         in if h % 2 == 0 then (if x > 5 then (-2, 1) else (i, x + 100 + i32.i64 h))
            else (i, x * 2)
  let (is, vs) = unzip (map2 place xs (iota n))
  in scatter (replicate n 1) is vs

-- Two arrays of different lengths at the same position.
-- ==
-- entry: lengths
-- input { [3,-1,7,2,0,5,9,-4] } output { [0,0,2,3,0,5,0,7] [false,false,true,true] }
entry lengths [n] (xs: [n]i32) : ([n]i32, [4]bool) =
  let (is, vs) = unzip (map (\x -> if x > 1 then (i64.i32 x, x) else (-1, -1)) xs)
  in (scatter (replicate n 0) is vs, scatter (replicate 4 false) is (replicate n true))

-- A position that is outside in a way that is no constant.
-- ==
-- entry: outside
-- input { [3,-1,7,2,0,5,9,-4] } output { [1i64,1i64,2i64,4i64,4i64,6i64,6i64,8i64] }
entry outside [n] (xs: [n]i32) : [n]i64 =
  let (is, vs) = unzip (map (\x -> if x == 2 then (-1, 5) else (i64.i32 x, i64.i32 x + 1)) xs)
  in scatter (iota n) is vs

-- The choice by a sum.
type step = #keep | #move i32 | #swap i32 i32

-- ==
-- entry: sums
-- input { [3,-1,7,2,0,5,9,-4] } output { [0,8,6,9,1,8,1,8] }
entry sums [n] (xs: [n]i32) : [n]i32 =
  let choose (x: i32) : step = if x < 0 then #keep else if x < 5 then #move x else #swap x 1
  let place (s: step) : (i64, i32) =
    match s
    case #keep -> (-1, 0)
    case #move x -> (i64.i32 x, x * 3)
    case #swap a b -> (i64.i32 (a - b), b)
  let (is, vs) = unzip (map (\x -> place (choose x)) xs)
  in scatter (replicate n 8) is vs

-- The choice has another result that is an array.
-- ==
-- entry: mapped
-- input { [3,-1,7,2,0,5,9,-4] } output { [7,2,3,7,5,7,7,7] [-3,-1,-7,-2,0,-5,-9,-4] }
entry mapped [n] (xs: [n]i32) : ([n]i32, [n]i32) =
  let (is, vs, os) = unzip3 (map (\x -> if x < 1 then (-1, 0, x) else (i64.i32 x - 1, x, -x)) xs)
  in (scatter (replicate n 7) is vs, os)

-- Rows in a nest, and a check within a way.
-- ==
-- entry: rows
-- input { [[3,-1,7],[2,0,5]] [10,20,30,40,50,60,70,80] } output { [[40,80,4],[10,4,60]] }
entry rows [n] [m] [k] (xss: [n][m]i32) (ts: [k]i32) : [n][m]i32 =
  map (\xs ->
         let (is, vs) = unzip (map (\x -> if x < 0 then (-1, 0) else (i64.i32 x % m, ts[x])) xs)
         in scatter (replicate m 4) is vs) xss

-- ==
-- entry: checks
-- input { [3,-1,9] [10,20,30,40] } error: Index
entry checks [n] [k] (xs: [n]i32) (ts: [k]i32) : [n]i32 =
  let (is, vs) = unzip (map (\x -> if x < 0 then (-1, 0) else (i64.i32 x % n, ts[x])) xs)
  in scatter (replicate n 4) is vs
