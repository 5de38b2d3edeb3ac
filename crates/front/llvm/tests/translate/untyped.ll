; options: pointers=untyped
; Pointers without types: variables and address computations say what they are of, casts are gone.
target triple = "spir64-unknown-unknown"

%pair = type { i32, [4 x float] }

@table = addrspace(2) constant [2 x ptr addrspace(1)] [ptr addrspace(1) @word, ptr addrspace(1) null]
@word = addrspace(1) global i32 7

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))
declare spir_func i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1), i32)

define spir_func float @member(ptr %p, i64 %i) {
  %a = getelementptr inbounds %pair, ptr %p, i64 0, i32 1, i64 %i
  %b = load float, ptr %a, align 4
  ret float %b
}

define spir_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, ptr addrspace(3) %local) {
  %pair = alloca %pair, align 4
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  store i32 1, ptr %pair, align 4
  %a = getelementptr inbounds i32, ptr addrspace(1) %in, i64 %i
  %b = load float, ptr addrspace(1) %a, align 4
  %m = getelementptr inbounds %pair, ptr %pair, i32 0, i32 1, i32 2
  store float %b, ptr %m, align 4
  %c = call spir_func float @member(ptr %pair, i64 2)
  %v = call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 %i, ptr addrspace(1) %in)
  %e = extractelement <4 x float> %v, i32 1
  %s = fadd float %c, %e
  store float %s, ptr addrspace(3) %local, align 4
  %g = addrspacecast ptr addrspace(3) %local to ptr addrspace(4)
  %l = load float, ptr addrspace(4) %g, align 4
  %to = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i
  store float %l, ptr addrspace(1) %to, align 4
  %old = call spir_func i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1) @word, i32 1)
  ret void
}
