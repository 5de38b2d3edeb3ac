-- | Numbers: module types, and a module for each type.

-- | Conversions from the scalar types.
module type from_prim = {
  type t

  val i8 : i8 -> t
  val i16 : i16 -> t
  val i32 : i32 -> t
  val i64 : i64 -> t
  val u8 : u8 -> t
  val u16 : u16 -> t
  val u32 : u32 -> t
  val u64 : u64 -> t
  val f16 : f16 -> t
  val f32 : f32 -> t
  val f64 : f64 -> t
  val bool : bool -> t
}

-- | Numbers of any kind.
module type numeric = {
  include from_prim

  val (+) : t -> t -> t
  val (-) : t -> t -> t
  val (*) : t -> t -> t
  val (/) : t -> t -> t
  val (%) : t -> t -> t
  val (**) : t -> t -> t
  val (==) : t -> t -> bool
  val (!=) : t -> t -> bool
  val (<) : t -> t -> bool
  val (>) : t -> t -> bool
  val (<=) : t -> t -> bool
  val (>=) : t -> t -> bool
  val to_i64 : t -> i64
  val neg : t -> t
  val max : t -> t -> t
  val min : t -> t -> t
  val abs : t -> t
  -- | -1, 0 or 1, as the number is below, at or above zero.
  val sgn : t -> t
  -- | The largest number that is not infinite.
  val highest : t
  -- | The smallest number that is not infinite.
  val lowest : t
  val sum [n] : [n]t -> t
  val product [n] : [n]t -> t
  val maximum [n] : [n]t -> t
  val minimum [n] : [n]t -> t
}

-- | Integers.
module type integral = {
  include numeric

  val (//) : t -> t -> t
  val (%%) : t -> t -> t
  val (&) : t -> t -> t
  val (|) : t -> t -> t
  val (^) : t -> t -> t
  val not : t -> t
  val (<<) : t -> t -> t
  val (>>) : t -> t -> t
  val (>>>) : t -> t -> t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  -- | The number of bits that are set.
  val popc : t -> i32
  -- | The upper half of a product.
  val mul_hi : (x: t) -> (y: t) -> t
  -- | The upper half of a product, plus a number.
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t
  -- | The number of zeros in front of the first bit that is set.
  val clz : t -> i32
  -- | The number of zeros behind the last bit that is set.
  val ctz : t -> i32
}

-- | Numbers with fractions.
module type real = {
  include numeric

  val recip : t -> t
  val from_fraction : i64 -> i64 -> t
  val to_i64 : t -> i64
  val to_f64 : t -> f64
  val sqrt : t -> t
  val rsqrt : t -> t
  val cbrt : t -> t
  val exp : t -> t
  val sin : t -> t
  val cos : t -> t
  val tan : t -> t
  val sinpi : t -> t
  val cospi : t -> t
  val tanpi : t -> t
  val asin : t -> t
  val acos : t -> t
  val atan : t -> t
  val asinpi : t -> t
  val acospi : t -> t
  val atanpi : t -> t
  val sinh : t -> t
  val cosh : t -> t
  val tanh : t -> t
  val asinh : t -> t
  val acosh : t -> t
  val atanh : t -> t
  val atan2 : t -> t -> t
  val atan2pi : t -> t -> t
  val hypot : t -> t -> t
  val gamma : t -> t
  val lgamma : t -> t
  val erf : t -> t
  val erfc : t -> t
  val lerp : t -> t -> t -> t
  val log : t -> t
  val log2 : t -> t
  val log10 : t -> t
  val log1p : t -> t
  val ceil : t -> t
  val floor : t -> t
  val trunc : t -> t
  -- | The nearest integer, and the even one of two that are as near.
  val round : t -> t
  val mad : (a: t) -> (b: t) -> (c: t) -> t
  val fma : (a: t) -> (b: t) -> (c: t) -> t
  val isinf : t -> bool
  val isnan : t -> bool
  val inf : t
  val nan : t
  val pi : t
  val e : t
}

-- | Floating-point numbers.
module type float = {
  include real

  -- | The unsigned integers of the same width.
  type int_t

  val from_bits : int_t -> t
  val to_bits : t -> int_t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  -- | The distance of 1 from the next larger number.
  val epsilon : t
  val nextafter : (x: t) -> (y: t) -> t
  val ldexp : t -> i32 -> t
  val copysign : (x: t) -> (y: t) -> t
}

local
module type scalar_type = {
  #[class(scalar)]
  type t
}

local
module type number_type = {
  #[class(number)]
  type t
}

local
module type integer_type = {
  #[class(integer)]
  type t
}

local
module type float_type = {
  #[class(float)]
  type t
  #[class(integer)]
  type int_t
}

local
module conversions (T: scalar_type) : (from_prim with t = T.t) = {
  type t = T.t

  def i8 (x: i8) : t = intrinsics.convert x
  def i16 (x: i16) : t = intrinsics.convert x
  def i32 (x: i32) : t = intrinsics.convert x
  def i64 (x: i64) : t = intrinsics.convert x
  def u8 (x: u8) : t = intrinsics.convert x
  def u16 (x: u16) : t = intrinsics.convert x
  def u32 (x: u32) : t = intrinsics.convert x
  def u64 (x: u64) : t = intrinsics.convert x
  def f16 (x: f16) : t = intrinsics.convert x
  def f32 (x: f32) : t = intrinsics.convert x
  def f64 (x: f64) : t = intrinsics.convert x
  def bool (x: bool) : t = intrinsics.convert x
}

local
module numbers (T: number_type) : (numeric with t = T.t) = {
  open conversions T

  def (x: t) + (y: t) : t = x intrinsics.+ y
  def (x: t) - (y: t) : t = x intrinsics.- y
  def (x: t) * (y: t) : t = x intrinsics.* y
  def (x: t) / (y: t) : t = x intrinsics./ y
  def (x: t) % (y: t) : t = x intrinsics.% y
  def (x: t) ** (y: t) : t = x intrinsics.** y
  def (x: t) == (y: t) : bool = x intrinsics.== y
  def (x: t) != (y: t) : bool = x intrinsics.!= y
  def (x: t) < (y: t) : bool = x intrinsics.< y
  def (x: t) > (y: t) : bool = x intrinsics.> y
  def (x: t) <= (y: t) : bool = x intrinsics.<= y
  def (x: t) >= (y: t) : bool = x intrinsics.>= y
  def to_i64 (x: t) : i64 = intrinsics.convert x
  def neg (x: t) : t = intrinsics.neg x
  def max (x: t) (y: t) : t = intrinsics.max x y
  def min (x: t) (y: t) : t = intrinsics.min x y
  def abs (x: t) : t = intrinsics.abs x
  def sgn (x: t) : t = intrinsics.sgn x
  def highest : t = intrinsics.highest
  def lowest : t = intrinsics.lowest
  def sum [n] (xs: [n]t) : t = intrinsics.reduce_comm (+) 0 xs
  def product [n] (xs: [n]t) : t = intrinsics.reduce_comm (*) 1 xs
  def maximum [n] (xs: [n]t) : t = intrinsics.reduce_comm max lowest xs
  def minimum [n] (xs: [n]t) : t = intrinsics.reduce_comm min highest xs
}

local
module integers (T: integer_type) : (integral with t = T.t) = {
  open numbers T

  def (x: t) // (y: t) : t = x intrinsics.// y
  def (x: t) %% (y: t) : t = x intrinsics.%% y
  def (x: t) & (y: t) : t = x intrinsics.& y
  def (x: t) | (y: t) : t = x intrinsics.| y
  def (x: t) ^ (y: t) : t = x intrinsics.^ y
  def not (x: t) : t = intrinsics.not x
  def (x: t) << (y: t) : t = x intrinsics.<< y
  def (x: t) >> (y: t) : t = x intrinsics.>> y
  def (x: t) >>> (y: t) : t = x intrinsics.>>> y
  def num_bits : i32 = intrinsics.num_bits (0: t)
  def get_bit (bit: i32) (x: t) : i32 = intrinsics.convert ((x >> i32 bit) & 1)

  def set_bit (bit: i32) (x: t) (b: i32) : t =
    (x & not (1 << i32 bit)) | (i32 (b intrinsics.& 1) << i32 bit)

  def popc (x: t) : i32 = intrinsics.popc x
  def mul_hi (x: t) (y: t) : t = intrinsics.mul_hi x y
  def mad_hi (a: t) (b: t) (c: t) : t = mul_hi a b + c
  def clz (x: t) : i32 = intrinsics.clz x
  def ctz (x: t) : i32 = intrinsics.ctz x
}

local
module floats (T: float_type) : (float with t = T.t with int_t = T.int_t) = {
  open numbers {type t = T.t}
  type int_t = T.int_t
  module bits = integers {type t = T.int_t}

  def recip (x: t) : t = 1 / x
  def from_fraction (x: i64) (y: i64) : t = i64 x / i64 y
  def to_f64 (x: t) : f64 = intrinsics.convert x
  def sqrt (x: t) : t = intrinsics.sqrt x
  def rsqrt (x: t) : t = intrinsics.rsqrt x
  def cbrt (x: t) : t = intrinsics.cbrt x
  def exp (x: t) : t = intrinsics.exp x
  def sin (x: t) : t = intrinsics.sin x
  def cos (x: t) : t = intrinsics.cos x
  def tan (x: t) : t = intrinsics.tan x
  def sinpi (x: t) : t = intrinsics.sinpi x
  def cospi (x: t) : t = intrinsics.cospi x
  def tanpi (x: t) : t = intrinsics.tanpi x
  def asin (x: t) : t = intrinsics.asin x
  def acos (x: t) : t = intrinsics.acos x
  def atan (x: t) : t = intrinsics.atan x
  def asinpi (x: t) : t = intrinsics.asinpi x
  def acospi (x: t) : t = intrinsics.acospi x
  def atanpi (x: t) : t = intrinsics.atanpi x
  def sinh (x: t) : t = intrinsics.sinh x
  def cosh (x: t) : t = intrinsics.cosh x
  def tanh (x: t) : t = intrinsics.tanh x
  def asinh (x: t) : t = intrinsics.asinh x
  def acosh (x: t) : t = intrinsics.acosh x
  def atanh (x: t) : t = intrinsics.atanh x
  def atan2 (x: t) (y: t) : t = intrinsics.atan2 x y
  def atan2pi (x: t) (y: t) : t = intrinsics.atan2pi x y
  def hypot (x: t) (y: t) : t = intrinsics.hypot x y
  def gamma (x: t) : t = intrinsics.gamma x
  def lgamma (x: t) : t = intrinsics.lgamma x
  def erf (x: t) : t = intrinsics.erf x
  def erfc (x: t) : t = intrinsics.erfc x
  def lerp (from: t) (to: t) (at: t) : t = from + (to - from) * at
  def log (x: t) : t = intrinsics.log x
  def log2 (x: t) : t = intrinsics.log2 x
  def log10 (x: t) : t = intrinsics.log10 x
  def log1p (x: t) : t = intrinsics.log1p x
  def ceil (x: t) : t = intrinsics.ceil x
  def floor (x: t) : t = intrinsics.floor x
  def trunc (x: t) : t = intrinsics.trunc x
  def round (x: t) : t = intrinsics.round x
  def mad (a: t) (b: t) (c: t) : t = a * b + c
  def fma (a: t) (b: t) (c: t) : t = intrinsics.fma a b c
  def isinf (x: t) : bool = intrinsics.isinf x
  def isnan (x: t) : bool = intrinsics.isnan x
  def inf : t = intrinsics.inf
  def nan : t = intrinsics.nan
  def pi : t = 3.14159265358979323846264338327950288
  def e : t = 2.71828182845904523536028747135266250
  def maximum [n] (xs: [n]t) : t = intrinsics.reduce_comm max (neg inf) xs
  def minimum [n] (xs: [n]t) : t = intrinsics.reduce_comm min inf xs
  def from_bits (x: int_t) : t = intrinsics.bitcast x
  def to_bits (x: t) : int_t = intrinsics.bitcast x
  def num_bits : i32 = intrinsics.num_bits (0: t)
  def get_bit (bit: i32) (x: t) : i32 = bits.get_bit bit (to_bits x)
  def set_bit (bit: i32) (x: t) (b: i32) : t = from_bits (bits.set_bit bit (to_bits x) b)
  def epsilon : t = intrinsics.epsilon
  def nextafter (x: t) (y: t) : t = intrinsics.nextafter x y
  def ldexp (x: t) (exponent: i32) : t = intrinsics.ldexp x exponent
  def copysign (x: t) (y: t) : t = intrinsics.copysign x y
}

module bool : (from_prim with t = bool) = conversions {type t = bool}
module i8 : (integral with t = i8) = integers {type t = i8}
module i16 : (integral with t = i16) = integers {type t = i16}
module i32 : (integral with t = i32) = integers {type t = i32}
module i64 : (integral with t = i64) = integers {type t = i64}
module u8 : (integral with t = u8) = integers {type t = u8}
module u16 : (integral with t = u16) = integers {type t = u16}
module u32 : (integral with t = u32) = integers {type t = u32}
module u64 : (integral with t = u64) = integers {type t = u64}
module f16 : (float with t = f16 with int_t = u16) = floats {type t = f16 type int_t = u16}
module f32 : (float with t = f32 with int_t = u32) = floats {type t = f32 type int_t = u32}
module f64 : (float with t = f64 with int_t = u64) = floats {type t = f64 type int_t = u64}
