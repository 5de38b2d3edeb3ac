; Inline assembly, each once.
target triple = "spir64-unknown-unknown"

define spir_kernel void @kernel(ptr addrspace(1) %p, i32 %x) {
  call void asm sideeffect "nop", ""()
  %y = call i32 asm "add $0 $1 $2", "=r,r,r"(i32 %x, i32 4)
  %z = call i32 asm "add $0 $1 $2", "=r,r,r"(i32 %y, i32 %x)
  store i32 %z, ptr addrspace(1) %p, align 4
  ret void
}
