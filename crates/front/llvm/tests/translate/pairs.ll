; A pair of a value and a flag whose members alone are used is never put together; lifetimes of
; variables that are generic pointers are those of the variables.
target triple = "spir64-unknown-unknown"

%pair = type { i32, i1 }

declare { i32, i1 } @llvm.umul.with.overflow.i32(i32, i32)
declare void @llvm.lifetime.start.p4(ptr addrspace(4))
declare void @llvm.lifetime.end.p4(ptr addrspace(4))
declare spir_func void @use(ptr addrspace(4))

define spir_func i32 @apart(i32 %a, i32 %b, ptr addrspace(1) %p) {
  %product = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %a, i32 %b)
  %value = extractvalue { i32, i1 } %product, 0
  %flag = extractvalue { i32, i1 } %product, 1
  %swapped = cmpxchg ptr addrspace(1) %p, i32 %value, i32 0 acq_rel acquire
  %old = extractvalue { i32, i1 } %swapped, 0
  %done = extractvalue { i32, i1 } %swapped, 1
  %both = and i1 %flag, %done
  %result = select i1 %both, i32 %old, i32 %value
  ret i32 %result
}

define spir_func { i32, i1 } @together(i32 %a, i32 %b) {
  %product = call { i32, i1 } @llvm.umul.with.overflow.i32(i32 %a, i32 %b)
  ret { i32, i1 } %product
}

define spir_func void @lives() {
  %variable = alloca i32, align 4, addrspace(4)
  call void @llvm.lifetime.start.p4(ptr addrspace(4) %variable)
  call spir_func void @use(ptr addrspace(4) %variable)
  call void @llvm.lifetime.end.p4(ptr addrspace(4) %variable)
  ret void
}
