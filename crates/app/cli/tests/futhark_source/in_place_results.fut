-- ==
-- entry: hists
-- input { 5i32 [[1,7,3,3],[0,0,9,1],[4,4,4,4]] [[1,2,3,4],[5,6,7,8],[9,10,11,12]] } output { [[0,1,2,7,0],[11,8,0,0,7],[0,0,0,0,42]] }
entry hists [n] [m] (k: i32) (iss: [n][m]i32) (vss: [n][m]i32) : [][]i32 =
  map2 (\is vs -> hist (+) 0 (i64.i32 k) (map (\i -> i64.i32 (i % k)) is) vs) iss vss

-- ==
-- entry: updates
-- input { 4i64 [3,5,8] } output { [[3,3,0,3],[5,5,1,5],[8,8,2,8]] }
entry updates [n] (k: i64) (xs: [n]i32) : [n][k]i32 =
  map2 (\i x -> let a = replicate k x in let a[2] = i in a) (map i32.i64 (iota n)) xs

-- ==
-- entry: loops
-- input { 6i64 [3,5] } output { [[0,3,6,9,12,15],[0,5,10,15,20,25]] [2,2] }
entry loops [n] (k: i64) (xs: [n]i32) : ([n][k]i32, [n]i32) =
  unzip (map (\x -> let r = loop a = replicate k 0 for i < k do a with [i] = i32.i64 i * x in (r, 2)) xs)

-- Both results are the same array.
-- ==
-- entry: twice
-- input { 3i64 [3,5] } output { [[3,3,3],[5,5,5]] [[3,3,3],[5,5,5]] }
entry twice [n] (k: i64) (xs: [n]i32) : ([n][k]i32, [n][k]i32) =
  unzip (map (\x -> let a = replicate k 0 in let a[0] = 1 in let b = scatter a (iota k) (replicate k x) in (b, b)) xs)

-- The array is read before and after it is changed.
-- ==
-- entry: reads
-- input { 4i64 [3,5] } output { [[1,4,4,4],[1,6,6,6]] [16,24] }
entry reads [n] (k: i64) (xs: [n]i32) : ([n][k]i32, [n]i32) =
  unzip (map (\x -> let a = map (+ x) (replicate k 1) in let s = i32.sum a in let a[0] = 1 in (a, s)) xs)

-- Scatters into a copy of a parameter.
-- ==
-- entry: rows
-- input { [[1,2,3],[4,5,6]] [[0i64,0i64],[2i64,7i64]] } output { [[9,2,3],[4,5,9]] }
entry rows [n] [m] [l] (xss: [n][m]i32) (iss: [n][l]i64) : [n][m]i32 =
  map2 (\xs is -> scatter (copy xs) is (replicate l 9)) xss iss
