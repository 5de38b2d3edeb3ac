; Allocations of a number of elements that is found out when running or when specialising.
target triple = "spir64-unknown-unknown"

define spir_func void @running(i64 %n, ptr addrspace(1) %out) {
  %saved = call ptr @llvm.stacksave.p0()
  %array = alloca i32, i64 %n, align 16
  %last = getelementptr i32, ptr %array, i64 %n
  store i32 1, ptr %last, align 4
  call void @llvm.stackrestore.p0(ptr %saved)
  ret void
}

define spir_kernel void @special() {
  %length = call i32 @_Z20__spirv_SpecConstantii(i32 3, i32 8)
  %array = alloca float, i32 %length, align 4
  store float 1.0, ptr %array, align 4
  ret void
}

define spir_func void @known() {
  %saved = call ptr @llvm.stacksave.p0()
  call void @llvm.stackrestore.p0(ptr %saved)
  ret void
}

declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
declare i32 @_Z20__spirv_SpecConstantii(i32, i32)
