; gives 1 1 1 77
; Atomic accesses to pointers: exchange, comparison, load, store, in global and private memory.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)
@l = internal addrspace(3) global i64 undef
@slot = internal addrspace(1) global ptr addrspace(1) null, align 8
define spir_kernel void @k(ptr addrspace(1) %a) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %only = icmp eq i64 %i, 0
  br i1 %only, label %first, label %end
first:
  %old = atomicrmw xchg ptr addrspace(1) @slot, ptr addrspace(1) %a seq_cst, align 8
  %n = icmp eq ptr addrspace(1) %old, null
  %z = zext i1 %n to i64
  store i64 %z, ptr addrspace(1) %a
  %e = getelementptr i64, ptr addrspace(1) %a, i64 1
  %c = cmpxchg ptr addrspace(1) @slot, ptr addrspace(1) %a, ptr addrspace(1) %e acq_rel monotonic, align 8
  %ok = extractvalue { ptr addrspace(1), i1 } %c, 1
  %was = extractvalue { ptr addrspace(1), i1 } %c, 0
  %zok = zext i1 %ok to i64
  %same = icmp eq ptr addrspace(1) %was, %a
  %zs = zext i1 %same to i64
  %now = load atomic ptr addrspace(1), ptr addrspace(1) @slot acquire, align 8
  store i64 %zok, ptr addrspace(1) %now
  %e2 = getelementptr i64, ptr addrspace(1) %a, i64 2
  store atomic ptr addrspace(1) %e2, ptr addrspace(1) @slot release, align 8
  %now2 = load atomic ptr addrspace(1), ptr addrspace(1) @slot monotonic, align 8
  store i64 %zs, ptr addrspace(1) %now2
  %pv = alloca ptr addrspace(3)
  store ptr addrspace(3) @l, ptr %pv
  %lo = atomicrmw xchg ptr %pv, ptr addrspace(3) null monotonic
  store i64 77, ptr addrspace(3) %lo
  %v = load i64, ptr addrspace(3) @l
  %e3 = getelementptr i64, ptr addrspace(1) %a, i64 3
  store i64 %v, ptr addrspace(1) %e3
  br label %end
end:
  ret void
}
