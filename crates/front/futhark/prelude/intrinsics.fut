-- | The functions that the prelude takes from the compiler.
--
-- An attribute `class` says which types may stand for the type parameters of a function: `number` (integers and
-- floats), `integer`, `float`, `bits` (integers and bool), `scalar` (all of these) and `comparable` (types whose values
-- contain no function). Operators of this module are in scope everywhere.

module type intrinsics = {
  -- | Numbers. Integers wrap around. `/` and `%` round towards negative infinity, `//` and `%%` towards zero.
  #[class(number)] val (+) 't : t -> t -> t
  #[class(number)] val (-) 't : t -> t -> t
  #[class(number)] val (*) 't : t -> t -> t
  #[class(number)] val (/) 't : t -> t -> t
  #[class(number)] val (%) 't : t -> t -> t
  #[class(number)] val (**) 't : t -> t -> t
  #[class(integer)] val (//) 't : t -> t -> t
  #[class(integer)] val (%%) 't : t -> t -> t
  #[class(number)] val neg 't : t -> t
  #[class(number)] val abs 't : t -> t
  #[class(number)] val sgn 't : t -> t
  #[class(number)] val min 't : t -> t -> t
  #[class(number)] val max 't : t -> t -> t

  -- | Bits. `>>` is arithmetic for signed types and logical for unsigned ones, `>>>` is always logical.
  #[class(bits)] val (&) 't : t -> t -> t
  #[class(bits)] val (|) 't : t -> t -> t
  #[class(bits)] val (^) 't : t -> t -> t
  #[class(bits)] val not 't : t -> t
  #[class(integer)] val (<<) 't : t -> t -> t
  #[class(integer)] val (>>) 't : t -> t -> t
  #[class(integer)] val (>>>) 't : t -> t -> t
  #[class(integer)] val popc 't : t -> i32
  #[class(integer)] val clz 't : t -> i32
  #[class(integer)] val ctz 't : t -> i32
  #[class(integer)] val mul_hi 't : t -> t -> t

  -- | Comparisons.
  #[class(comparable)] val (==) 't : t -> t -> bool
  #[class(comparable)] val (!=) 't : t -> t -> bool
  #[class(scalar)] val (<) 't : t -> t -> bool
  #[class(scalar)] val (<=) 't : t -> t -> bool
  #[class(scalar)] val (>) 't : t -> t -> bool
  #[class(scalar)] val (>=) 't : t -> t -> bool
  val (&&) : bool -> bool -> bool
  val (||) : bool -> bool -> bool

  -- | Conversion of the value, and of the bits.
  #[class(scalar)] val convert 'a 'b : a -> b
  #[class(number)] val bitcast 'a 'b : a -> b

  -- | Constants of a type.
  #[class(number)] val highest 't : t
  #[class(number)] val lowest 't : t
  #[class(number)] val num_bits 't : t -> i32
  #[class(float)] val epsilon 't : t
  #[class(float)] val inf 't : t
  #[class(float)] val nan 't : t

  -- | Functions of floats.
  #[class(float)] val sqrt 't : t -> t
  #[class(float)] val rsqrt 't : t -> t
  #[class(float)] val cbrt 't : t -> t
  #[class(float)] val exp 't : t -> t
  #[class(float)] val sin 't : t -> t
  #[class(float)] val cos 't : t -> t
  #[class(float)] val tan 't : t -> t
  #[class(float)] val sinpi 't : t -> t
  #[class(float)] val cospi 't : t -> t
  #[class(float)] val tanpi 't : t -> t
  #[class(float)] val asin 't : t -> t
  #[class(float)] val acos 't : t -> t
  #[class(float)] val atan 't : t -> t
  #[class(float)] val asinpi 't : t -> t
  #[class(float)] val acospi 't : t -> t
  #[class(float)] val atanpi 't : t -> t
  #[class(float)] val sinh 't : t -> t
  #[class(float)] val cosh 't : t -> t
  #[class(float)] val tanh 't : t -> t
  #[class(float)] val asinh 't : t -> t
  #[class(float)] val acosh 't : t -> t
  #[class(float)] val atanh 't : t -> t
  #[class(float)] val atan2 't : t -> t -> t
  #[class(float)] val atan2pi 't : t -> t -> t
  #[class(float)] val hypot 't : t -> t -> t
  #[class(float)] val gamma 't : t -> t
  #[class(float)] val lgamma 't : t -> t
  #[class(float)] val erf 't : t -> t
  #[class(float)] val erfc 't : t -> t
  #[class(float)] val log 't : t -> t
  #[class(float)] val log2 't : t -> t
  #[class(float)] val log10 't : t -> t
  #[class(float)] val log1p 't : t -> t
  #[class(float)] val ceil 't : t -> t
  #[class(float)] val floor 't : t -> t
  #[class(float)] val trunc 't : t -> t
  #[class(float)] val round 't : t -> t
  #[class(float)] val fma 't : t -> t -> t -> t
  #[class(float)] val isinf 't : t -> bool
  #[class(float)] val isnan 't : t -> bool
  #[class(float)] val nextafter 't : t -> t -> t
  #[class(float)] val ldexp 't : t -> i32 -> t
  #[class(float)] val copysign 't : t -> t -> t

  -- | Arrays without parallel work.
  val concat [n] [m] 't : [n]t -> [m]t -> *[n + m]t
  val transpose [n] [m] 't : [n][m]t -> [m][n]t
  val flatten [n] [m] 't : [n][m]t -> [n * m]t
  val unflatten 't : (n: i64) -> (m: i64) -> [n * m]t -> [n][m]t
  val replicate 't : (n: i64) -> t -> *[n]t
  val manifest 't : t -> *t
  val opaque 't : t -> t

  -- | Second-order array combinators.
  val map 'a [n] 'x : (a -> x) -> [n]a -> *[n]x
  val reduce [n] 'a : (a -> a -> a) -> a -> [n]a -> a
  val reduce_comm [n] 'a : (a -> a -> a) -> a -> [n]a -> a
  val scan [n] 'a : (a -> a -> a) -> a -> [n]a -> *[n]a
  -- The pairs share the memory of the two arrays.
  val zip [n] 'a 'b : [n]a -> [n]b -> [n](a, b)
  val unzip [n] 'a 'b : [n](a, b) -> ([n]a, [n]b)
  val filter [n] 'a : (a -> bool) -> [n]a -> ?[m].*[m]a
  val partition [n] 'a : (a -> bool) -> [n]a -> ?[m].([m]a, [n - m]a)
  val scatter [k] [n] 't : *[k]t -> [n]i64 -> [n]t -> *[k]t
  val scatter_2d [k] [l] [n] 't : *[k][l]t -> [n](i64, i64) -> [n]t -> *[k][l]t
  val scatter_3d [k] [l] [m] [n] 't : *[k][l][m]t -> [n](i64, i64, i64) -> [n]t -> *[k][l][m]t
  val hist [k] [n] 'a : *[k]a -> (a -> a -> a) -> a -> [n]i64 -> [n]a -> *[k]a
  val hist_2d [k] [l] [n] 'a : *[k][l]a -> (a -> a -> a) -> a -> [n](i64, i64) -> [n]a -> *[k][l]a
  val hist_3d [k] [l] [m] [n] 'a : *[k][l][m]a -> (a -> a -> a) -> a -> [n](i64, i64, i64) -> [n]a -> *[k][l][m]a

  val flatmap [n] 'a 'b 'c : (a -> ?[k].([k]b, c)) -> [n]a -> ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c)

  -- | Accumulators: arrays that are written while they are made.
  type~ acc 't
  val acc_write [k] 'a : *acc ([k]a) -> i64 -> a -> *acc ([k]a)
  val scatter_stream [k] [n] 'a 'b : *[k]a -> (*acc ([k]a) -> b -> acc ([k]a)) -> [n]b -> *[k]a
  val hist_stream [k] [n] 'a 'b : *[k]a -> (a -> a -> a) -> a -> (*acc ([k]a) -> b -> acc ([k]a)) -> [n]b -> *[k]a

  -- | Views of the elements of an array: an offset, and a size and a stride for each dimension.
  val flat_index_2d [n] 'a : [n]a -> i64 -> (k: i64) -> i64 -> (l: i64) -> i64 -> [k][l]a
  val flat_update_2d [n] [k] [l] 'a : *[n]a -> i64 -> i64 -> i64 -> [k][l]a -> *[n]a
  val flat_index_3d [n] 'a : [n]a -> i64 -> (k: i64) -> i64 -> (l: i64) -> i64 -> (p: i64) -> i64 -> [k][l][p]a
  val flat_update_3d [n] [k] [l] [p] 'a : *[n]a -> i64 -> i64 -> i64 -> i64 -> [k][l][p]a -> *[n]a
  val flat_index_4d [n] 'a : [n]a -> i64 -> (k: i64) -> i64 -> (l: i64) -> i64 -> (p: i64) -> i64 -> (q: i64) -> i64 -> [k][l][p][q]a
  val flat_update_4d [n] [k] [l] [p] [q] 'a : *[n]a -> i64 -> i64 -> i64 -> i64 -> i64 -> [k][l][p][q]a -> *[n]a

  -- | Derivatives: of a function at a point along a direction, and of a direction of the result.
  val jvp2 'a 'b : (a -> b) -> a -> a -> (b, b)
  val vjp2 'a 'b : (a -> b) -> a -> b -> (b, a)
  val jmp2 'a 'b [n] : (a -> b) -> a -> [n]a -> (b, [n]b)
  val mjp2 'a 'b [n] : (a -> b) -> a -> [n]b -> (b, [n]a)
  val with_vjp 'a 'b : (a -> b) -> (b -> b -> a) -> a -> b
}
