-- Scans of rows whose results one reduction reads.

-- ==
-- entry: sums
-- input { [[1,2,3],[4,5,6],[-1,7,2]] } output { [10, 28, 13] }
entry sums (xss: [][]i32) = map (scan (+) 0 >-> i32.sum) xss

-- ==
-- entry: pairs
-- input { [[1,2,3],[4,5,6],[-1,7,2]] } output { [25, 151, 59] }
entry pairs (xss: [][]i32) = map (\xs -> i32.sum (map2 (*) (scan (+) 0 xs) xs)) xss

-- ==
-- entry: chain
-- input { [[1,2,3],[4,5,6],[-1,7,2]] } output { [[19, 6], [49, 15], [21, 8]] }
entry chain (xss: [][]i32) =
  map (\xs -> let ys = scan (+) 0 (map (+ 1) xs) in [i32.sum (scan (+) 0 ys) - 6, i32.sum xs]) xss

-- ==
-- entry: both
-- input { [[1,2,3],[4,5,6],[-1,7,2]] } output { [[10, 6], [28, 15], [13, 8]] }
entry both (xss: [][]i32) = map (\xs -> let ys = scan (+) 0 xs in [i32.sum ys, i32.maximum ys]) xss

-- ==
-- entry: tuple
-- input { [[1,2,3],[4,5,6],[-1,7,2]] } output { [31, 226, 24] }
entry tuple (xss: [][]i32) =
  map (\xs ->
         let (as, bs) = unzip (scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (zip xs (map (* 2) xs)))
         in i32.sum (map2 (-) bs as))
      xss
