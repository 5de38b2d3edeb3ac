-- Sizes that the program's initialisation computes, in results and in arguments.
-- ==
-- entry: all
-- input { } output { [3i64, 6i64, 9i64] }

-- ==
-- entry: count
-- input { } output { 3i64 }

-- ==
-- entry: more
-- input { 1i64 } output { [4i64, 7i64, 10i64] }

-- ==
-- entry: both
-- input { [1i64, 2i64, 3i64] } output { [2i64, 4i64, 6i64] }
-- input { [1i64, 2i64] } error: invalid size
-- input { [1i64, 2i64, 3i64] } output { [2i64, 4i64, 6i64] }
def size : i64 = #[opaque] 3

def found : []i64 = filter (\x -> x % 3 == 0) (1...10i64)

entry all = found
entry count = length found
entry more (k: i64) = map (+ k) found
entry both (xs: [size]i64) = map (* 2) xs
