; Everything that is refused is reported, each once.
target triple = "spir64-unknown-unknown"

@generic = addrspace(4) global i32 0

define spir_func i128 @wide(i128 %a) {
  ret i128 %a
}

define spir_func void @several(i64 %n, ptr %f, i32 %x, ptr addrspace(1) %image) {
  %p = alloca i32, i64 %n, align 4
  store i32 %x, ptr %p, align 4
  call spir_func void %f()
  %y = va_arg ptr %f, i32
  %z = call i32 @llvm.unheard.of.i32(i32 %y)
  %w = call spir_func i32 @_Z15get_image_width14ocl_image2d_ro(ptr addrspace(1) %image)
  %v = getelementptr i32, ptr %f, <2 x i64> zeroinitializer
  %small = trunc i32 %w to i16
  %old = atomicrmw add ptr addrspace(1) %image, i16 %small monotonic, align 2
  ret void
}

declare i32 @llvm.unheard.of.i32(i32)
declare spir_func i32 @_Z15get_image_width14ocl_image2d_ro(ptr addrspace(1))
