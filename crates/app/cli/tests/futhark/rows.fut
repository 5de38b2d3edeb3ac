-- Reductions of segments whose elements are arrays.
-- ==
-- input { [[1f64, 2f64], [3f64, 4f64], [5f64, 6f64], [7f64, 8f64]] } output { [[0f64, 0f64], [0f64, 0f64]] }
entry main [n] (xs: [n][2]f64) : [2][2]f64 =
  #[flattening(only_inner)]
  map (\i ->
         let rows = map2 (\_ row -> [row[1], 1]) [0, 0] (xs[i:i + 2] :> [2][2]f64)
         in reduce (\_ _ -> [0, 0]) [0, 0] rows)
      [0, 2]
