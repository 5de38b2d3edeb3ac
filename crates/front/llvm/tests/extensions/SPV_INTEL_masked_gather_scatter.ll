; options: extensions=SPV_INTEL_masked_gather_scatter
target triple = "spir64-unknown-unknown"

define spir_func void @used(<4 x ptr addrspace(1)> %p, <4 x i1> %m, <4 x i32> %v) {
  %a = call <4 x i32> @llvm.masked.gather.v4i32.v4p1(<4 x ptr addrspace(1)> %p, i32 4, <4 x i1> %m, <4 x i32> %v)
  call void @llvm.masked.scatter.v4i32.v4p1(<4 x i32> %a, <4 x ptr addrspace(1)> %p, i32 4, <4 x i1> %m)
  ret void
}

declare <4 x i32> @llvm.masked.gather.v4i32.v4p1(<4 x ptr addrspace(1)>, i32, <4 x i1>, <4 x i32>)
declare void @llvm.masked.scatter.v4i32.v4p1(<4 x i32>, <4 x ptr addrspace(1)>, i32, <4 x i1>)
