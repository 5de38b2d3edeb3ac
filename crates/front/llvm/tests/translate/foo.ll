target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

define spir_kernel void @foo(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %out) {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 0)
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %call
  %0 = load float, ptr addrspace(1) %arrayidx, align 4
  %arrayidx1 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %call
  %1 = load float, ptr addrspace(1) %arrayidx1, align 4
  %add = fadd float %0, %1
  %add2 = fadd float %add, 2.000000e+00
  %arrayidx2 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %call
  store float %add2, ptr addrspace(1) %arrayidx2, align 4
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32)
