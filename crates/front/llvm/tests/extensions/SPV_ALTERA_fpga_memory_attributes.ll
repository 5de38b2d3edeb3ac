; options: extensions=-SPV_INTEL_fpga_memory_attributes
target triple = "spir64-unknown-unknown"

@text = private constant [13 x i8] c"{numbanks:4}\00", section "llvm.metadata"

define spir_func i32 @used() {
  %a = alloca i32, align 4
  call void @llvm.var.annotation.p0.p0(ptr %a, ptr @text, ptr poison, i32 0, ptr null)
  store i32 1, ptr %a, align 4
  %b = load i32, ptr %a, align 4
  ret i32 %b
}

declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)
