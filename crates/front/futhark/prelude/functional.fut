-- | Functions of functions.

-- | Apply a function to the value on its left.
def (|>) '^a '^b (x: a) (f: a -> b) : b = f x

-- | Apply a function to the value on its right.
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x

-- | The function that applies the left function first.
def (>->) '^a '^b '^c (first: a -> b) (second: b -> c) (x: a) : c = second (first x)

-- | The function that applies the right function first.
def (<-<) '^a '^b '^c (second: b -> c) (first: a -> b) (x: a) : c = second (first x)

-- | Exchange the parameters of a function.
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y

-- | The function of two parameters that calls a function of a pair.
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)

-- | The function of a pair that calls a function of two parameters.
def uncurry '^a '^b '^c (f: a -> b -> c) ((x, y): (a, b)) : c = f x y

-- | The first argument, whatever the second is.
def const '^a '^b (x: a) (_: b) : a = x

-- | The argument.
def id '^a (x: a) : a = x

-- | Apply a function n times.
def iterate 'a (n: i32) (f: a -> a) (x: a) : a =
  loop x for _i < n do f x

-- | Apply a function until a predicate holds.
def iterate_until 'a (is_done: a -> bool) (f: a -> a) (x: a) : a =
  loop x while !(is_done x) do f x

-- | Apply a function while a predicate holds.
def iterate_while 'a (goes_on: a -> bool) (f: a -> a) (x: a) : a =
  loop x while goes_on x do f x
