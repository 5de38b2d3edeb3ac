-- Functions that are not inlined see a number, an array and an array of rows of the top level.
-- ==
-- entry: shifted
-- input { [1, 2, 3] } output { [8, 15, 22] }

-- ==
-- entry: nested
-- input { [1, 2, 3] } output { [23, 37, 51] }

-- ==
-- entry: looked
-- input { [1, 2, 3] } output { [27, 37, 47] }

-- ==
-- entry: summed
-- input { [1, 2] } output { 55 }

-- ==
-- entry: on_host
-- input { 5 } output { 36 }

-- ==
-- entry: scanned
-- input { [1, 2, 3] } output { [1, 10, 20] }
def scale : i32 = #[opaque] 7i32

def table : [4]i32 = #[opaque] [10, 20, 30, 40]

#[noinline]
def shift (x: i32) = x * scale + 1

#[noinline]
def twice (x: i32) = shift x + shift (x + 1)

#[noinline]
def look (x: i32) = table[x % 4] + scale

#[noinline]
def total (x: i32) = loop sum = scale for i < x do sum + twice i

#[noinline]
def plus (x: i32) (y: i32) = x + y + scale

entry shifted (xs: []i32) = map shift xs
entry nested (xs: []i32) = map twice xs
entry looked (xs: []i32) = map look xs
entry summed (xs: []i32) = i32.sum (map total xs)
entry on_host (x: i32) = shift x
entry scanned (xs: []i32) = scan plus (-7) xs
