; Vectors of pointers are arrays; accesses by a mask branch.
target triple = "spir64-unknown-unknown"

define spir_func <4 x float> @gathered(ptr addrspace(1) %base, <4 x i32> %at, <4 x i1> %mask) {
  %p = getelementptr inbounds float, ptr addrspace(1) %base, <4 x i32> %at
  %v = call <4 x float> @llvm.masked.gather.v4f32.v4p1(<4 x ptr addrspace(1)> %p, i32 4, <4 x i1> %mask, <4 x float> zeroinitializer)
  ret <4 x float> %v
}

define spir_func void @scattered(<4 x ptr addrspace(1)> %p, <4 x i32> %v) {
  call void @llvm.masked.scatter.v4i32.v4p1(<4 x i32> %v, <4 x ptr addrspace(1)> %p, i32 4, <4 x i1> <i1 true, i1 false, i1 true, i1 true>)
  ret void
}

define spir_func <2 x i64> @addresses(<2 x ptr addrspace(1)> %p, <2 x ptr addrspace(1)> %q, i1 %c) {
  %same = icmp eq <2 x ptr addrspace(1)> %p, %q
  %r = select <2 x i1> %same, <2 x ptr addrspace(1)> %p, <2 x ptr addrspace(1)> zeroinitializer
  %s = select i1 %c, <2 x ptr addrspace(1)> %r, <2 x ptr addrspace(1)> %q
  %t = ptrtoint <2 x ptr addrspace(1)> %s to <2 x i64>
  ret <2 x i64> %t
}

define spir_func void @stored(ptr addrspace(1) %to, ptr addrspace(1) %a, ptr addrspace(1) %b) {
  %v = insertelement <2 x ptr addrspace(1)> poison, ptr addrspace(1) %a, i32 0
  %w = insertelement <2 x ptr addrspace(1)> %v, ptr addrspace(1) %b, i32 1
  store <2 x ptr addrspace(1)> %w, ptr addrspace(1) %to, align 16
  ret void
}

define spir_func <4 x i32> @some(ptr addrspace(1) %p, <4 x i1> %mask, <4 x i32> %v) {
  %a = call <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1) align 16 %p, <4 x i1> %mask, <4 x i32> %v)
  call void @llvm.masked.store.v4i32.p1(<4 x i32> %v, ptr addrspace(1) align 16 %p, <4 x i1> %mask)
  %b = call <4 x i32> @llvm.masked.expandload.v4i32(ptr addrspace(1) %p, <4 x i1> %mask, <4 x i32> %a)
  call void @llvm.masked.compressstore.v4i32(<4 x i32> %b, ptr addrspace(1) %p, <4 x i1> %mask)
  ret <4 x i32> %b
}

declare <4 x float> @llvm.masked.gather.v4f32.v4p1(<4 x ptr addrspace(1)>, i32, <4 x i1>, <4 x float>)
declare void @llvm.masked.scatter.v4i32.v4p1(<4 x i32>, <4 x ptr addrspace(1)>, i32, <4 x i1>)
declare <4 x i32> @llvm.masked.load.v4i32.p1(ptr addrspace(1), <4 x i1>, <4 x i32>)
declare void @llvm.masked.store.v4i32.p1(<4 x i32>, ptr addrspace(1), <4 x i1>)
declare <4 x i32> @llvm.masked.expandload.v4i32(ptr addrspace(1), <4 x i1>, <4 x i32>)
declare void @llvm.masked.compressstore.v4i32(<4 x i32>, ptr addrspace(1), <4 x i1>)
