; Vectors of truth values in memory are the integers of their bits.
target triple = "spir64-unknown-unknown"

@mask = addrspace(1) global <4 x i1> <i1 true, i1 false, i1 false, i1 true>
@none = addrspace(1) global <8 x i1> zeroinitializer

define spir_func <4 x i1> @kept(<4 x i32> %a, <4 x i32> %b, ptr addrspace(1) %p) {
  %less = icmp slt <4 x i32> %a, %b
  store <4 x i1> %less, ptr addrspace(1) %p, align 1
  %again = load <4 x i1>, ptr addrspace(1) @mask, align 1
  %both = and <4 x i1> %less, %again
  ret <4 x i1> %both
}

define spir_func <2 x i32> @flags(<2 x i32> %a, <2 x i32> %b, i24 %c) {
  %pair = call { <2 x i32>, <2 x i1> } @llvm.umul.with.overflow.v2i32(<2 x i32> %a, <2 x i32> %b)
  %product = extractvalue { <2 x i32>, <2 x i1> } %pair, 0
  %over = extractvalue { <2 x i32>, <2 x i1> } %pair, 1
  %narrow = call { i24, i1 } @llvm.sadd.with.overflow.i24(i24 %c, i24 %c)
  %wraps = extractvalue { i24, i1 } %narrow, 1
  %one = insertelement <2 x i1> %over, i1 %wraps, i32 0
  %result = select <2 x i1> %one, <2 x i32> splat (i32 -1), <2 x i32> %product
  ret <2 x i32> %result
}

declare { <2 x i32>, <2 x i1> } @llvm.umul.with.overflow.v2i32(<2 x i32>, <2 x i32>)
declare { i24, i1 } @llvm.sadd.with.overflow.i24(i24, i24)
