; options: extensions=none
; Without the extension the function is exported.
target triple = "spir64-unknown-unknown"

define linkonce_odr spir_func i32 @merged(i32 %a) #0 {
  ret i32 %a
}

define spir_func i32 @reads(ptr addrspace(1) %p) #1 {
  %a = load i32, ptr addrspace(1) %p, align 4
  ret i32 %a
}

; A function whose calls may not be moved is neither.
define spir_func i32 @together(i32 %a) #2 {
  ret i32 %a
}

define spir_kernel void @kernel(ptr addrspace(1) %p) {
  %a = call spir_func i32 @reads(ptr addrspace(1) %p)
  %b = call spir_func i32 @merged(i32 %a)
  %c = call spir_func i32 @together(i32 %b)
  store i32 %c, ptr addrspace(1) %p, align 4
  ret void
}

attributes #0 = { memory(none) }
attributes #1 = { memory(argmem: read) }
attributes #2 = { convergent memory(none) }
