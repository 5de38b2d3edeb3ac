; gives 2 3 0 1 6 2 7 9 3 -1 2 3 1 300 2
; Atomic operations that no instruction has: on bfloat, half and integers of 16 bits, and maxima with NaN.
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"
declare spir_func i64 @_Z13get_global_idj(i32)

@b = internal addrspace(1) global [5 x bfloat] [bfloat 1.0, bfloat 2.0, bfloat 3.0, bfloat 4.0, bfloat 5.0], align 4
@h = internal addrspace(1) global [4 x half] [half 1.0, half 2.0, half 3.0, half 4.0], align 4
@f = internal addrspace(1) global [3 x float] [float 1.0, float 2.0, float 4.0]
@s = internal addrspace(1) global [3 x i16] [i16 1, i16 2, i16 -3], align 4
define internal spir_func void @write(ptr addrspace(1) %out, i64 %at, float %x) {
  %p = getelementptr i64, ptr addrspace(1) %out, i64 %at
  %v = fptosi float %x to i64
  store i64 %v, ptr addrspace(1) %p
  ret void
}
define spir_kernel void @k(ptr addrspace(1) %out) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %only = icmp eq i64 %i, 0
  br i1 %only, label %first, label %end
first:
  %r0 = atomicrmw fadd ptr addrspace(1) @b, bfloat 1.0 seq_cst
  %r1 = atomicrmw fmax ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 1), bfloat 3.0 monotonic
  %r2 = atomicrmw fsub ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 2), bfloat 3.0 monotonic
  %r3 = atomicrmw xchg ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 3), bfloat 3.0 monotonic
  store atomic bfloat %r0, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 3) release, align 2
  %l3 = load atomic bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 3) acquire, align 2
  %r4 = atomicrmw fadd ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 4), bfloat %l3 monotonic
  %h0 = atomicrmw fadd ptr addrspace(1) @h, half 1.0 seq_cst
  %h1 = atomicrmw fmaximum ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 1), half 7.0 seq_cst
  %h2 = atomicrmw xchg ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 2), half 9.0 seq_cst
  store atomic half %h2, ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 3) monotonic, align 2
  %f0 = atomicrmw fminimum ptr addrspace(1) @f, float -1.0 seq_cst
  %f1 = atomicrmw fmaximum ptr addrspace(1) getelementptr (float, ptr addrspace(1) @f, i64 1), float %f0 seq_cst
  %f2 = atomicrmw fsub ptr addrspace(1) getelementptr (float, ptr addrspace(1) @f, i64 2), float 0.5 seq_cst
  %s0 = atomicrmw add ptr addrspace(1) @s, i16 -1 seq_cst
  %s1 = cmpxchg ptr addrspace(1) getelementptr (i16, ptr addrspace(1) @s, i64 1), i16 2, i16 300 seq_cst seq_cst
  %s1o = extractvalue { i16, i1 } %s1, 0
  %s2 = atomicrmw max ptr addrspace(1) getelementptr (i16, ptr addrspace(1) @s, i64 2), i16 %s1o seq_cst
  %b0v = load bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 0)
  %b0f = fpext bfloat %b0v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 0, float %b0f)
  %b1v = load bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 1)
  %b1f = fpext bfloat %b1v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 1, float %b1f)
  %b2v = load bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 2)
  %b2f = fpext bfloat %b2v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 2, float %b2f)
  %b3v = load bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 3)
  %b3f = fpext bfloat %b3v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 3, float %b3f)
  %b4v = load bfloat, ptr addrspace(1) getelementptr (bfloat, ptr addrspace(1) @b, i64 4)
  %b4f = fpext bfloat %b4v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 4, float %b4f)
  %h0v = load half, ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 0)
  %h0f = fpext half %h0v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 5, float %h0f)
  %h1v = load half, ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 1)
  %h1f = fpext half %h1v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 6, float %h1f)
  %h2v = load half, ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 2)
  %h2f = fpext half %h2v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 7, float %h2f)
  %h3v = load half, ptr addrspace(1) getelementptr (half, ptr addrspace(1) @h, i64 3)
  %h3f = fpext half %h3v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 8, float %h3f)
  %f0v = load float, ptr addrspace(1) getelementptr (float, ptr addrspace(1) @f, i64 0)
  call spir_func void @write(ptr addrspace(1) %out, i64 9, float %f0v)
  %f1v = load float, ptr addrspace(1) getelementptr (float, ptr addrspace(1) @f, i64 1)
  call spir_func void @write(ptr addrspace(1) %out, i64 10, float %f1v)
  %f2v = load float, ptr addrspace(1) getelementptr (float, ptr addrspace(1) @f, i64 2)
  call spir_func void @write(ptr addrspace(1) %out, i64 11, float %f2v)
  %s1v = load i16, ptr addrspace(1) getelementptr (i16, ptr addrspace(1) @s, i64 1)
  %s1f = sitofp i16 %s1v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 13, float %s1f)
  %s2v = load i16, ptr addrspace(1) getelementptr (i16, ptr addrspace(1) @s, i64 2)
  %s2f = sitofp i16 %s2v to float
  call spir_func void @write(ptr addrspace(1) %out, i64 14, float %s2f)
  %s0w = sext i16 %s0 to i64
  %s0p = getelementptr i64, ptr addrspace(1) %out, i64 12
  store i64 %s0w, ptr addrspace(1) %s0p
  br label %end
end:
  ret void
}
