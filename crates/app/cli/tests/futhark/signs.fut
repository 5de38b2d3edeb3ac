-- Signs of what has none, and what is no number.
-- ==
-- entry: half
-- input { [2f16, f16.nan, -3f16, 0f16, f16.inf, -f16.inf] } output { [1f16, f16.nan, -1f16, 0f16, 1f16, -1f16] }

-- ==
-- entry: single
-- input { [2f32, f32.nan, -3f32, 0f32, f32.inf, -f32.inf] } output { [1f32, f32.nan, -1f32, 0f32, 1f32, -1f32] }

-- ==
-- entry: double
-- input { [2f64, f64.nan, -3f64, 0f64, f64.inf, -f64.inf] } output { [1f64, f64.nan, -1f64, 0f64, 1f64, -1f64] }

-- ==
-- entry: roots
-- input { [1f16, -1f16, f16.inf, f16.nan, 4f16, 6e-8f16] }
-- output { [false, true, false, true, false, false] [false, false, true, false, false, false] [1f16, f16.nan, f16.inf, f16.nan, 2f16, 2.44e-4f16] }
entry half (xs: []f16) = map f16.sgn xs
entry single (xs: []f32) = map f32.sgn xs
entry double (xs: []f64) = map f64.sgn xs
entry roots (xs: []f16) = unzip3 (map (\x -> let r = f16.sqrt x in (f16.isnan r, f16.isinf r, r)) xs)
