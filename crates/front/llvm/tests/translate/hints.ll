; What helps others: assumptions, expectations, lifetimes, fences; bits; carries; addresses compared.
target triple = "spir64-unknown-unknown"

define spir_func i32 @hints(i32 %a, i32 %b, float %x, ptr addrspace(1) %p) {
  %variable = alloca i32, align 4
  call void @llvm.lifetime.start.p0(i64 4, ptr %variable)
  %positive = icmp sgt i32 %a, 0
  call void @llvm.assume(i1 %positive)
  call void @llvm.assume(i1 true) [ "align"(ptr addrspace(1) %p, i64 8) ]
  %likely = call i32 @llvm.expect.i32(i32 %a, i32 7)
  %fenced = call float @llvm.arithmetic.fence.f32(float %x)
  store i32 %likely, ptr %variable, align 4
  call void @llvm.lifetime.end.p0(i64 4, ptr %variable)
  %reversed = call i32 @llvm.bitreverse.i32(i32 %b)
  %small = trunc i32 %b to i12
  %narrow = call i12 @llvm.bitreverse.i12(i12 %small)
  %wide = zext i12 %narrow to i32
  %count = call i32 @llvm.ctpop.i32(i32 %reversed)
  %carry = call { i32, i1 } @llvm.usub.with.overflow.i32(i32 %count, i32 %wide)
  %difference = extractvalue { i32, i1 } %carry, 0
  %null = icmp eq ptr addrspace(1) %p, null
  %less = fcmp fast olt float %fenced, %x
  %both = and i1 %null, %less
  %result = select i1 %both, i32 %difference, i32 %likely
  ret i32 %result
}

declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
declare void @llvm.assume(i1)
declare i32 @llvm.expect.i32(i32, i32)
declare float @llvm.arithmetic.fence.f32(float)
declare i32 @llvm.bitreverse.i32(i32)
declare i12 @llvm.bitreverse.i12(i12)
declare i32 @llvm.ctpop.i32(i32)
declare { i32, i1 } @llvm.usub.with.overflow.i32(i32, i32)
