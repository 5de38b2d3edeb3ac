-- | What is in scope everywhere.

open import "functional"
open import "soacs"
open import "math"
open import "array"
open import "ad"

-- | Conversions that programs used before the modules of the types had them.
def r32 (x: i32) : f32 = f32.i32 x
def t32 (x: f32) : i32 = i32.f32 x
def r64 (x: i32) : f64 = f64.i32 x
def t64 (x: f64) : i32 = i32.f64 x

-- | The opposite truth value.
def not (x: bool) : bool = !x

-- | A value that optimisations know nothing of.
def opaque 't (x: t) : t = #[opaque] x

-- | A value that is printed when it is computed.
def trace 't (x: t) : t = #[trace(trace)] x

-- | A value at which an interpreter pauses.
def break 't (x: t) : t = #[break] x
