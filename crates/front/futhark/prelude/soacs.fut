-- | Second-order array combinators: functions of functions and arrays that may run in parallel.

-- | Apply a function to each element.
def map 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = intrinsics.map f as

def map1 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = map f as

-- | Apply a function to the elements of several arrays at the same position.
def map2 'a 'b [n] 'x (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  intrinsics.map (\(a, b) -> f a b) (intrinsics.zip as bs)

def map3 'a 'b 'c [n] 'x (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  map2 (\a (b, c) -> f a b c) as (intrinsics.zip bs cs)

def map4 'a 'b 'c 'd [n] 'x (f: a -> b -> c -> d -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  map3 (\a b (c, d) -> f a b c d) as bs (intrinsics.zip cs ds)

def map5 'a 'b 'c 'd 'e [n] 'x (f: a -> b -> c -> d -> e -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  map4 (\a b c (d, e) -> f a b c d e) as bs cs (intrinsics.zip ds es)

-- | Pairs of the elements of two arrays. They share no memory with these.
def zip [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = map2 (\a b -> (a, b)) as bs

def zip2 [n] 'a 'b (as: [n]a) (bs: [n]b) : *[n](a, b) = zip as bs

def zip3 [n] 'a 'b 'c (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) =
  map3 (\a b c -> (a, b, c)) as bs cs

def zip4 [n] 'a 'b 'c 'd (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) =
  map4 (\a b c d -> (a, b, c, d)) as bs cs ds

def zip5 [n] 'a 'b 'c 'd 'e (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n](a, b, c, d, e) =
  map5 (\a b c d e -> (a, b, c, d, e)) as bs cs ds es

-- | The arrays of which an array of tuples was made.
def unzip [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) = intrinsics.unzip xs

def unzip2 [n] 'a 'b (xs: [n](a, b)) : ([n]a, [n]b) = intrinsics.unzip xs

def unzip3 [n] 'a 'b 'c (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) =
  let (as, rest) = unzip (intrinsics.map (\(a, b, c) -> (a, (b, c))) xs)
  let (bs, cs) = unzip rest
  in (as, bs, cs)

def unzip4 [n] 'a 'b 'c 'd (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  let (as, rest) = unzip (intrinsics.map (\(a, b, c, d) -> (a, (b, c, d))) xs)
  let (bs, cs, ds) = unzip3 rest
  in (as, bs, cs, ds)

def unzip5 [n] 'a 'b 'c 'd 'e (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  let (as, rest) = unzip (intrinsics.map (\(a, b, c, d, e) -> (a, (b, c, d, e))) xs)
  let (bs, cs, ds, es) = unzip4 rest
  in (as, bs, cs, ds, es)

-- | Combine all elements with an associative operator, whose neutral element is given.
def reduce [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a = intrinsics.reduce op ne as

-- | The same for an operator that is commutative, too.
def reduce_comm [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : a = intrinsics.reduce_comm op ne as

-- | Combine, for each position, all elements up to it.
def scan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a = intrinsics.scan op ne as

-- | Combine, for each position, all elements before it.
def exscan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let prefixes = scan op ne as
  in map (\i -> if i == 0 then ne else prefixes[i - 1]) (0..1..<n)

-- | Combine each element with the element of an array whose position is given. Positions outside are ignored.
def reduce_by_index 'a [k] [n] (dest: *[k]a) (op: a -> a -> a) (ne: a) (is: [n]i64) (as: [n]a) : *[k]a =
  intrinsics.hist dest op ne is as

def reduce_by_index_2d 'a [k] [l] [n] (dest: *[k][l]a) (op: a -> a -> a) (ne: a) (is: [n](i64, i64)) (as: [n]a) : *[k][l]a =
  intrinsics.hist_2d dest op ne is as

def reduce_by_index_3d 'a [k] [l] [m] [n] (dest: *[k][l][m]a) (op: a -> a -> a) (ne: a) (is: [n](i64, i64, i64)) (as: [n]a) : *[k][l][m]a =
  intrinsics.hist_3d dest op ne is as

-- | A histogram with k bins.
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a =
  intrinsics.hist (intrinsics.replicate k ne) op ne is as

-- | Whether a predicate holds for all elements.
def all [n] 'a (p: a -> bool) (as: [n]a) : bool = reduce_comm (&&) true (map p as)

-- | Whether a predicate holds for some element.
def any [n] 'a (p: a -> bool) (as: [n]a) : bool = reduce_comm (||) false (map p as)

-- | Replace the elements whose positions are given. Positions outside are ignored.
def scatter 't [k] [n] (dest: *[k]t) (is: [n]i64) (vs: [n]t) : *[k]t = intrinsics.scatter dest is vs

def scatter_2d 't [k] [l] [n] (dest: *[k][l]t) (is: [n](i64, i64)) (vs: [n]t) : *[k][l]t =
  intrinsics.scatter_2d dest is vs

def scatter_3d 't [k] [l] [m] [n] (dest: *[k][l][m]t) (is: [n](i64, i64, i64)) (vs: [n]t) : *[k][l][m]t =
  intrinsics.scatter_3d dest is vs

-- | An array of one value, with the elements replaced whose positions are given.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t =
  intrinsics.scatter (intrinsics.replicate k x) is vs

-- | The elements for which a predicate holds.
def filter [n] 'a (p: a -> bool) (as: [n]a) : *[]a = intrinsics.filter p as

-- | The elements for which a predicate holds, and the others.
def partition [n] 'a (p: a -> bool) (as: [n]a) : ?[k].([k]a, [n - k]a) = intrinsics.partition p as

-- | The elements for which the first predicate holds, those of the others for which the second holds, and the rest.
def partition2 [n] 'a (p1: a -> bool) (p2: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let (first, others) = intrinsics.partition p1 as
  let (second, rest) = intrinsics.partition p2 others
  in (first, second, rest)

-- | Apply a function whose results are arrays of any size, each with a value of a fixed size. Gives the sizes of the
-- results, whether an element begins a result, the position where each result begins, all results one after the other,
-- and the values.
def flatmap [n] 'a 'b 'c (f: a -> ?[k].([k]b, c)) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c) =
  intrinsics.flatmap f as

-- | The same without the values.
def flatmap' [n] 'a 'b (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (sizes, flags, offsets, results, _) = intrinsics.flatmap (\a -> (f a, ())) as
  in (sizes, flags, offsets, results)
