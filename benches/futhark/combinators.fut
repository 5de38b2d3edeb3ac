-- Combinators over large arrays, in forms that are easy to compare: `spirula bench` and `futhark bench` run this file.

-- ==
-- entry: sum_i32 maximum_i32 mss map_i32 scan_i32 scan_lin keep_i32
-- random input { [30000000]i32 }

-- ==
-- entry: sum_f32 scan_f32
-- random input { [30000000]f32 }

-- ==
-- entry: hist_i32
-- random input { 1000i64 [10000000]i32 }
-- random input { 1000000i64 [10000000]i32 }

-- ==
-- entry: hist_f32
-- random input { 1000i64 [10000000]f32 }

-- ==
-- entry: rows scan_rows cols
-- random input { [100][100000]f32 }
-- random input { [10000][1000]f32 }
-- random input { [1000000][10]f32 }

-- ==
-- entry: mm
-- random input { [1024][1024]f32 [1024][1024]f32 }

-- ==
-- entry: mandel
-- input { 4000i64 3000i64 200i32 }

-- ==
-- entry: nbody
-- random input { [20000]f32 [20000]f32 }
entry sum_i32 (xs: []i32) = i32.sum xs
entry maximum_i32 (xs: []i32) = i32.maximum xs
entry sum_f32 (xs: []f32) = f32.sum xs
entry map_i32 (xs: []i32) = map (\x -> x * 3 + 1) xs
entry scan_i32 (xs: []i32) = scan (+) 0 xs
entry scan_f32 (xs: []f32) = scan (+) 0 xs
entry scan_lin (xs: []i32) = scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (x, x + 1)) xs) |> unzip
entry keep_i32 (xs: []i32) = filter (> 100) xs
entry mss (xs: []i32) =
  let max = i32.max
  in (reduce (\(a, b, c, d) (e, f, g, h) -> (max a (max e (c + f)), max b (d + f), max g (c + h), d + h)) (0, 0, 0, 0)
        (map (\x -> (max x 0, max x 0, max x 0, x)) xs)).0
entry hist_i32 (k: i64) (xs: []i32) = hist (+) 0 k (map (\x -> i64.i32 x % k) xs) xs
entry hist_f32 (k: i64) (xs: []f32) = hist (+) 0 k (map (\x -> i64.f32 (x * 1000000) % k) xs) xs
entry rows [m] [n] (xss: [m][n]f32) = map f32.sum xss
entry scan_rows [m] [n] (xss: [m][n]f32) = map (scan (+) 0) xss
entry cols [m] [n] (xss: [m][n]f32) = map f32.sum (transpose xss)
entry mm [m][n][q] (A: [m][q]f32) (B: [q][n]f32) : [m][n]f32 =
  map (\Arow -> map (\Bcol -> reduce (+) 0.0f32 (map2 (*) Arow Bcol)) (transpose B)) A
entry mandel (w: i64) (h: i64) (lim: i32) = 
  tabulate_2d h w (\i j -> let cx = f32.i64 j / f32.i64 w * 3 - 2 let cy = f32.i64 i / f32.i64 h * 2 - 1
     let (_,_,n) = loop (x,y,n) = (0,0,0i32) while n < lim && x*x+y*y < 4 do (x*x-y*y+cx, 2*x*y+cy, n+1) in n)
entry nbody [n] (xs: [n]f32) (ys: [n]f32) = map2 (\x y -> f32.sum (map2 (\a b -> let dx = a-x let dy=b-y in 1/f32.sqrt(dx*dx+dy*dy+0.1)) xs ys)) xs ys
