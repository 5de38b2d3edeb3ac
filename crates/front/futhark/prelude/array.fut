-- | Functions of arrays.

import "soacs"
import "functional"
import "math"

-- | The number of elements.
def length [n] 't (_: [n]t) : i64 = n

-- | Whether there are no elements.
def null [n] 't (_: [n]t) : bool = n == 0

-- | The first element.
def head [n] 't (xs: [n]t) : t = xs[0]

-- | The last element.
def last [n] 't (xs: [n]t) : t = xs[n - 1]

-- | All elements but the first.
def tail [n] 't (xs: [n]t) : [n - 1]t = xs[1:] :> [n - 1]t

-- | All elements but the last.
def init [n] 't (xs: [n]t) : [n - 1]t = xs[0:n - 1]

-- | The first i elements.
def take [n] 't (i: i64) (xs: [n]t) : [i]t = xs[0:i]

-- | All elements but the first i.
def drop [n] 't (i: i64) (xs: [n]t) : [n - i]t = xs[i:] :> [n - i]t

-- | An array whose size is known to be another.
def sized [m] 't (n: i64) (xs: [m]t) : [n]t = xs :> [n]t

-- | Both parts of an array, whose sizes follow from the context.
def split [n] [m] 't (xs: [n + m]t) : ([n]t, [m]t) = (xs[0:n], xs[n:n + m] :> [m]t)

-- | The elements in the opposite order.
def reverse [n] 't (xs: [n]t) : [n]t = xs[::-1] :> [n]t

-- | The elements of one array, then those of another.
def (++) [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

def concat [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = intrinsics.concat xs ys

-- | The numbers from 0 to n - 1.
def iota (n: i64) : *[n]i64 = 0..1..<n

-- | The positions of an array.
def indices [n] 't (_: [n]t) : *[n]i64 = iota n

-- | The elements, each r positions further to the front. Those that leave at one end come back at the other.
def rotate [n] 't (r: i64) (xs: [n]t) : *[n]t = map (\i -> xs[(i + r) % n]) (iota n)

-- | n times the same value.
def replicate 't (n: i64) (x: t) : *[n]t = intrinsics.replicate n x

-- | The same value as often as the context asks for.
def rep 't [n] (x: t) : *[n]t = intrinsics.replicate n x

-- | A copy that nothing else refers to.
def copy 't (x: t) : *t = intrinsics.manifest x

-- | A copy with the elements in their order in memory.
def manifest 't (x: t) : *t = intrinsics.manifest x

-- | The rows of a matrix one after the other.
def flatten [n] [m] 't (xs: [n][m]t) : [n * m]t = intrinsics.flatten xs

def flatten_3d [n] [m] [l] 't (xs: [n][m][l]t) : [n * m * l]t =
  intrinsics.flatten (intrinsics.flatten xs) :> [n * m * l]t

def flatten_4d [n] [m] [l] [k] 't (xs: [n][m][l][k]t) : [n * m * l * k]t =
  intrinsics.flatten (flatten_3d xs) :> [n * m * l * k]t

-- | The matrix whose rows stand one after the other. Its sizes follow from the context.
def unflatten 't [n] [m] (xs: [n * m]t) : [n][m]t = intrinsics.unflatten n m xs

def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t =
  intrinsics.unflatten n m (intrinsics.unflatten (n * m) l xs)

def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t =
  intrinsics.unflatten n m (intrinsics.unflatten (n * m) l (intrinsics.unflatten (n * m * l) k xs))

-- | The matrix with rows and columns exchanged.
def transpose [n] [m] 't (xs: [n][m]t) : [m][n]t = intrinsics.transpose xs

-- | Whether all elements are true.
def and [n] (xs: [n]bool) : bool = all id xs

-- | Whether some element is true.
def or [n] (xs: [n]bool) : bool = any id xs

-- | Combine a value with the elements, one after the other from the first on.
def foldl [n] 'a 'b (f: a -> b -> a) (acc: a) (bs: [n]b) : a =
  loop acc for b in bs do f acc b

-- | Combine a value with the elements, one after the other from the last on.
def foldr [n] 'a 'b (f: b -> a -> a) (acc: a) (bs: [n]b) : a =
  loop acc for b in bs[::-1] do f b acc

-- | The values of a function at 0 to n - 1.
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a = map f (iota n)

def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a =
  map (\i -> map (f i) (iota m)) (iota n)

def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> map (\j -> map (f i j) (iota o)) (iota m)) (iota n)
