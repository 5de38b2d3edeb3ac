-- Values of test blocks.
-- ==
-- entry: bytes
-- input { "a\nb" } output { [97u8, 10u8, 98u8] }
-- input { "say \"}\"" } output { [115u8, 97u8, 121u8, 32u8, 34u8, 125u8, 34u8] }
-- input { "\65\x42\o103\\" } output { "ABC\\" }
-- input { "æ" } output { [195u8, 166u8] }
-- input { "" } output { empty([0]u8) }

-- ==
-- entry: rows
-- input { [empty([0]i32), empty([0]i32)] } output { 2i64 }
-- input { empty([3][0]i32) } output { 3i64 }

-- ==
-- entry: sums
-- input { [1, 2] [1] } error: invalid size
-- input { [1, 2] [1, 3] } output { [2, 5] }
-- notest input { [1, 2] [1, 3] } output { [0, 0] }
entry bytes (text: []u8) = copy text
entry rows [n] (xs: [n][]i32) = n
entry sums [n] (xs: [n]i32) (ys: [n]i32) = map2 (+) xs ys
