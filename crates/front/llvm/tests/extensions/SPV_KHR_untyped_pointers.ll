; options: pointers=untyped
target triple = "spir64-unknown-unknown"

define spir_func i32 @used(ptr addrspace(1) %p) {
  %a = load i32, ptr addrspace(1) %p, align 4
  ret i32 %a
}
