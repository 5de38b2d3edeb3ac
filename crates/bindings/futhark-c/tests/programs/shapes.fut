-- Values of all kinds of types, for the test of the C interface.

type point = {x: f64, y: f64}
type~ shape = #circle point f64 | #polygon ([]point) | #nothing
type mark = #even i64 | #odd
type pair 'a = (a, a)

module hidden : {type t val hide: i64 -> t val show: t -> i64} = {
  type t = i64
  def hide (x: i64) = x + 1
  def show (x: i64) = x - 1
}

-- | The sum of the products.
entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = f32.sum (map2 (*) xs ys)

entry scale (factor: f64) (points: []point) : []point =
  map (\p -> {x = factor * p.x, y = factor * p.y}) points

entry area (s: shape) : f64 =
  match s
  case #circle _ r -> 3 * r * r
  case #polygon ps -> f64.sum (map2 (\p q -> p.x * q.y - q.x * p.y) ps (rotate 1 ps)) / 2
  case #nothing -> 0

entry square (side: f64) : shape =
  #polygon [{x = 0, y = 0}, {x = side, y = 0}, {x = side, y = side}, {x = 0, y = side}]

entry marks (n: i64) : [n]mark = map (\i -> if i % 2 == 0 then #even i else #odd) (iota n)

entry count [n] (marks: [n]mark) : i64 =
  i64.sum (map (\m -> match m case #even i -> i case #odd -> 100) marks)

entry fill (xs: *[]i32) (value: i32) : *[]i32 = xs with [0] = value

entry same (xs: []i32) : []i32 = xs

entry table : []i32 = [1, 2, 3]

entry swap (p: pair i16) : pair i16 = (p.1, p.0)

entry hide (x: i64) : hidden.t = hidden.hide x
entry show (x: hidden.t) : i64 = hidden.show x

entry unit (_: ()) : () = ()

entry get (xs: []i32) (i: i64) : i32 = xs[i]

entry fields (a': u8) (b: bool) (c: f16) : {a': u8, b: bool, c: f16} = {a', b, c}
