; What other modules define is declared here, copies or not.
target triple = "spir64-unknown-unknown"

@there = available_externally addrspace(1) global i32 5

define available_externally spir_func i32 @copied(i32 %a) {
  ret i32 %a
}

define spir_func i32 @here(ptr captures(none) %p) {
  %a = load i32, ptr addrspace(1) @there, align 4
  %b = call spir_func i32 @copied(i32 %a)
  %x = alloca i8, align 1
  call void @llvm.lifetime.start.p0(i64 1, ptr %x)
  call void @llvm.lifetime.end.p0(i64 1, ptr %x)
  %f = sitofp i32 %b to float
  %g = call afn float @llvm.sin.f32(float %f)
  %h = fptosi float %g to i32
  ret i32 %h
}

declare float @llvm.sin.f32(float)
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
