-- Powers of two are shifts, and others are products.
-- ==
-- entry: of_two
-- input { [0, 1, 6, 7, 8, 30, 31, 32, 62, 63, 64, 200] }
-- output { [1i8, 2i8, 64i8, -128i8, 0i8, 0i8, 0i8, 0i8, 0i8, 0i8, 0i8, 0i8]
--          [1, 2, 64, 128, 256, 1073741824, -2147483648, 0, 0, 0, 0, 0]
--          [1i64, 2i64, 64i64, 128i64, 256i64, 1073741824i64, 2147483648i64, 4294967296i64, 4611686018427387904i64, -9223372036854775808i64, 0i64, 0i64] }
entry of_two [n] (es: [n]i32): ([n]i8, [n]i32, [n]i64) =
  unzip3 (map (\e -> (2i8 ** (if e > 100 then 100 else i8.i32 e), 2 ** e, 2i64 ** i64.i32 e)) es)

-- ==
-- entry: of_others
-- input { [0, 1, 5, 31] } output { [1, 3, 243, 1264544299] [1, -2, -32, -2147483648] }
entry of_others [n] (es: [n]i32): ([n]i32, [n]i32) =
  unzip (map (\e -> (3 ** e, (-2) ** e)) es)
