; gives 20 28 -3 7 2 7 3 1
; Arithmetic on addresses in constants: differences at all widths in nested structures, sums, casts back.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
@a = internal addrspace(1) constant [8 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7]
@b = internal addrspace(1) global [3 x i64] [i64 1, i64 2, i64 3]
%S = type { i8, i64, [2 x { i16, i32 }] }
@s = internal addrspace(1) global %S zeroinitializer
@d = internal addrspace(1) constant { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 } {
  i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr ([8 x i32], ptr addrspace(1) @a, i64 0, i64 5) to i64), i64 ptrtoint (ptr addrspace(1) @a to i64)),
  { i32, i16 } { i32 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (%S, ptr addrspace(1) @s, i32 0, i32 2, i32 1, i32 1) to i64), i64 ptrtoint (ptr addrspace(1) @s to i64)) to i32),
                 i16 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) @s to i64), i64 ptrtoint (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @s, i64 3) to i64)) to i16) },
  [2 x i8] [i8 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @a, i64 7) to i64), i64 ptrtoint (ptr addrspace(1) @a to i64)) to i8), i8 9],
  i64 add (i64 ptrtoint (ptr addrspace(1) @b to i64), i64 8),
  i48 trunc (i64 sub (i64 ptrtoint (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @a, i64 7) to i64), i64 ptrtoint (ptr addrspace(1) @a to i64)) to i48),
  ptr addrspace(1) inttoptr (i64 add (i64 ptrtoint (ptr addrspace(1) @b to i64), i64 16) to ptr addrspace(1)),
  i64 and (i64 ptrtoint (ptr addrspace(1) @b to i64), i64 -8)
}
define spir_kernel void @k(ptr addrspace(1) %o) {
  %x0 = load i64, ptr addrspace(1) @d
  store i64 %x0, ptr addrspace(1) %o
  %p1 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 1, i32 0
  %x1 = load i32, ptr addrspace(1) %p1
  %z1 = sext i32 %x1 to i64
  %o1 = getelementptr i64, ptr addrspace(1) %o, i64 1
  store i64 %z1, ptr addrspace(1) %o1
  %p2 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 1, i32 1
  %x2 = load i16, ptr addrspace(1) %p2
  %z2 = sext i16 %x2 to i64
  %o2 = getelementptr i64, ptr addrspace(1) %o, i64 2
  store i64 %z2, ptr addrspace(1) %o2
  %p3 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 2, i32 0
  %x3 = load i8, ptr addrspace(1) %p3
  %z3 = sext i8 %x3 to i64
  %o3 = getelementptr i64, ptr addrspace(1) %o, i64 3
  store i64 %z3, ptr addrspace(1) %o3
  %p4 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 3
  %x4 = load i64, ptr addrspace(1) %p4
  %q4 = inttoptr i64 %x4 to ptr addrspace(1)
  %z4 = load i64, ptr addrspace(1) %q4
  %o4 = getelementptr i64, ptr addrspace(1) %o, i64 4
  store i64 %z4, ptr addrspace(1) %o4
  %p5 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 4
  %x5 = load i48, ptr addrspace(1) %p5
  %z5 = zext i48 %x5 to i64
  %o5 = getelementptr i64, ptr addrspace(1) %o, i64 5
  store i64 %z5, ptr addrspace(1) %o5
  %p6 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 5
  %x6 = load ptr addrspace(1), ptr addrspace(1) %p6
  %z6 = load i64, ptr addrspace(1) %x6
  %o6 = getelementptr i64, ptr addrspace(1) %o, i64 6
  store i64 %z6, ptr addrspace(1) %o6
  %p7 = getelementptr { i64, { i32, i16 }, [2 x i8], i64, i48, ptr addrspace(1), i64 }, ptr addrspace(1) @d, i32 0, i32 6
  %x7 = load i64, ptr addrspace(1) %p7
  %q7 = inttoptr i64 %x7 to ptr addrspace(1)
  %z7 = load i64, ptr addrspace(1) %q7
  %o7 = getelementptr i64, ptr addrspace(1) %o, i64 7
  store i64 %z7, ptr addrspace(1) %o7
  ret void
}
