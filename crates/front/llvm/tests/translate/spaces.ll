; Address spaces: all that have a storage class, and casts between them.
target triple = "spir64-unknown-unknown"

@generic = internal addrspace(4) constant i32 7, align 4
@shared = internal addrspace(3) global [4 x i32] undef, align 4

define spir_func void @casts(ptr addrspace(5) %device, ptr addrspace(6) %host, ptr addrspace(1) %global) {
  %a = addrspacecast ptr addrspace(5) %device to ptr addrspace(1)
  %b = addrspacecast ptr addrspace(1) %global to ptr addrspace(6)
  %c = addrspacecast ptr addrspace(1) %global to ptr addrspace(3)
  %x = load i32, ptr addrspace(1) %a, align 4
  store i32 %x, ptr addrspace(6) %b, align 4
  store i32 %x, ptr addrspace(3) %c, align 4
  %y = load i32, ptr addrspace(4) @generic, align 4
  store i32 %y, ptr addrspace(4) addrspacecast (ptr addrspace(3) @shared to ptr addrspace(4)), align 4
  ret void
}

define spir_func void @moved(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 %n) {
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 %n, i1 false)
  ret void
}

define spir_func i32 @fence(ptr addrspace(4) %p) {
  %f = call spir_func i32 @_Z9get_fencePU3AS4v(ptr addrspace(4) %p)
  ret i32 %f
}

declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
declare spir_func i32 @_Z9get_fencePU3AS4v(ptr addrspace(4))
