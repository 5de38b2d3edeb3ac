; What is rare: names in quotes, constants of many kinds, exceptions, inline assembly.
source_filename = "odd.ll"
%"a name" = type { i24, <{ half, bfloat }>, target("spirv.Image", void, 1, 0, 0) }
%0 = type { fp128, x86_fp80, ppc_fp128 }
%unknown = type opaque

$group = comdat any

@"quoted \22name\22" = linkonce_odr hidden unnamed_addr global %"a name" undef, comdat($group), align 8
@0 = private constant i8 -1
@1 = private constant ptr @0
@numbers = constant %0 { fp128 0xL00000000000000007FFF000000000000, x86_fp80 0xK4000C8F5C28F5C28F800, ppc_fp128 0xM400C0000000030000000000010000000 }
@halves = constant [3 x half] [half 0xH3C00, half 1.0, half 0xH7C01]
@wide = constant i128 -170141183460469231731687303715884105728
@unsized = external global %unknown
@difference = constant i64 sub (i64 ptrtoint (ptr @0 to i64), i64 ptrtoint (ptr @1 to i64))
@label = constant ptr blockaddress(@jump, %target)
@also = alias i8, ptr @0

define i32 @jump(ptr %p, i64 range(i64 0, 10) %i) personality ptr @handler {
  indirectbr ptr %p, [label %target, label %other]

target:
  %1 = invoke i32 asm sideeffect "bar $0", "=r,r"(i64 %i) to label %other unwind label %pad

other:
  %2 = phi i32 [ 0, %0 ], [ %1, %target ]
  ret i32 %2

pad:
  %3 = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  resume { ptr, i32 } %3
}

define void @scalable(<vscale x 4 x i32> %v, float nofpclass(nan inf) %f, ptr captures(address, ret: address, provenance) %p, ptr initializes((0, 4), (8, 12)) %q) {
  %s = add <vscale x 4 x i32> %v, splat (i32 3)
  %x = call i32 @llvm.vscale.i32()
  unreachable
}

define linkonce_odr i8 @numbered(i8 %5, i8 %7) alignstack(16) allocsize(0,1) comdat($group) align 16 {
8:
  %9 = sub i8 %7, %5
  ret i8 %9
}

declare i32 @handler(...)
