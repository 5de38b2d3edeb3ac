; Everything that is refused is reported, each once.
target triple = "spir64-unknown-unknown"

@chosen = ifunc void (), ptr @several

define spir_func fp128 @wide(fp128 %a) {
  ret fp128 %a
}

define spir_func void @several(i64 %n, ptr %f, i32 %x, ptr addrspace(1) %p) {
  %y = va_arg ptr %f, i32
  %z = call i32 @llvm.unheard.of.i32(i32 %y)
  %v = getelementptr i32, ptr %f, <2 x i64> zeroinitializer
  %w = call spir_func i32 @_Z21__spirv_NothingOfThisi(i32 %x)
  %small = trunc i32 %w to i16
  %old = atomicrmw fmaximum ptr addrspace(1) %p, float 1.0 monotonic, align 4
  ret void
}

declare i32 @llvm.unheard.of.i32(i32)
declare spir_func i32 @_Z21__spirv_NothingOfThisi(i32)

; What follows from a refusal is not told of.
define spir_func i32 @invoked(i32 %x) personality ptr @personality {
  %r = invoke spir_func i32 @thrower(i32 %x) to label %good unwind label %bad
good:
  ret i32 %r
bad:
  %caught = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %caught
}

declare spir_func i32 @thrower(i32)
declare i32 @personality(...)
