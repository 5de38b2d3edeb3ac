; Functions of OpenCL.
target triple = "spir64-unknown-unknown"

define spir_kernel void @items(ptr addrspace(1) %out, i32 %d) {
  %g = call spir_func i64 @_Z13get_global_idj(i32 1)
  %l = call spir_func i64 @_Z14get_local_sizej(i32 %d)
  %n = call spir_func i64 @_Z14get_num_groupsj(i32 7)
  %w = call spir_func i32 @_Z12get_work_dimv()
  %a = add i64 %g, %l
  %b = add i64 %a, %n
  store i64 %b, ptr addrspace(1) %out, align 8
  call spir_func void @_Z7barrierj(i32 1)
  call spir_func void @_Z18work_group_barrierj12memory_scope(i32 %d, i32 2)
  call spir_func void @_Z9mem_fencej(i32 3)
  ret void
}

define spir_func <4 x i32> @relations(float %a, float %b, <4 x float> %v, <4 x i32> %m) {
  %s = call spir_func i32 @_Z6islessff(float %a, float %b)
  %v4 = call spir_func <4 x i32> @_Z7isequalDv4_fS_(<4 x float> %v, <4 x float> %v)
  %any = call spir_func i32 @_Z3anyDv4_i(<4 x i32> %m)
  %x = insertelement <4 x i32> %v4, i32 %s, i32 %any
  ret <4 x i32> %x
}

define spir_func <4 x i8> @numbers(<4 x float> %v, float %f, i32 %i, i32 %j) {
  %lit = call spir_func <4 x float> @_Z4fmaxDv4_ff(<4 x float> %v, float %f)
  %dot = call spir_func float @_Z3dotDv4_fS_(<4 x float> %lit, <4 x float> %v)
  %smax = call spir_func i32 @_Z3maxii(i32 %i, i32 %j)
  %umax = call spir_func i32 @_Z3maxjj(i32 %smax, i32 %j)
  %r = call spir_func float @_Z17convert_float_rtzi(i32 %umax)
  %w = insertelement <4 x float> %lit, float %r, i32 2
  %c = call spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float> %w)
  ret <4 x i8> %c
}

define spir_kernel void @lanes(ptr addrspace(1) %p, ptr addrspace(1) %h) {
  %v = call spir_func <3 x float> @_Z6vload3mPU3AS1Kf(i64 2, ptr addrspace(1) %p)
  call spir_func void @_Z7vstore3Dv3_fmPU3AS1f(<3 x float> %v, i64 0, ptr addrspace(1) %p)
  %x = call spir_func float @_Z10vload_halfmPU3AS1KDh(i64 1, ptr addrspace(1) %h)
  call spir_func void @_Z15vstore_half_rtzfmPU3AS1Dh(float %x, i64 1, ptr addrspace(1) %h)
  ret void
}

define spir_kernel void @atomics(ptr addrspace(1) %p, ptr addrspace(3) %l, ptr addrspace(4) %g, ptr addrspace(4) %e, i32 %o) {
  %a = call spir_func i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) %p, i32 2)
  %b = call spir_func i32 @_Z10atomic_incPU3AS3Vj(ptr addrspace(3) %l)
  %c = call spir_func i32 @_Z10atomic_maxPU3AS1Vii(ptr addrspace(1) %p, i32 %b)
  %d = call spir_func zeroext i1 @_Z37atomic_compare_exchange_weak_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_scope(ptr addrspace(4) %g, ptr addrspace(4) %e, i32 %a, i32 4, i32 0, i32 1)
  %f = call spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope(ptr addrspace(4) %g, i32 1, i32 %o, i32 2)
  ret void
}

define spir_func i32 @groups(i32 %x, float %f) {
  %all = call spir_func i32 @_Z14work_group_alli(i32 %x)
  %sum = call spir_func float @_Z29work_group_scan_exclusive_addf(float %f)
  %m = call spir_func i32 @_Z20sub_group_reduce_maxi(i32 %all)
  %b = call spir_func i32 @_Z20work_group_broadcastimm(i32 %m, i64 1, i64 2)
  ret i32 %b
}

; A function of the module is not the builtin that it is named like.
define internal spir_func float @_Z3sinf(float %x) {
  ret float %x
}

define spir_func float @own(float %x) {
  %y = call spir_func float @_Z3sinf(float %x)
  %z = call spir_func float @_Z3cosf(float %y)
  ret float %z
}

declare spir_func i64 @_Z13get_global_idj(i32)
declare spir_func i64 @_Z14get_local_sizej(i32)
declare spir_func i64 @_Z14get_num_groupsj(i32)
declare spir_func i32 @_Z12get_work_dimv()
declare spir_func void @_Z7barrierj(i32)
declare spir_func void @_Z18work_group_barrierj12memory_scope(i32, i32)
declare spir_func void @_Z9mem_fencej(i32)
declare spir_func i32 @_Z6islessff(float, float)
declare spir_func <4 x i32> @_Z7isequalDv4_fS_(<4 x float>, <4 x float>)
declare spir_func i32 @_Z3anyDv4_i(<4 x i32>)
declare spir_func <4 x float> @_Z4fmaxDv4_ff(<4 x float>, float)
declare spir_func float @_Z3dotDv4_fS_(<4 x float>, <4 x float>)
declare spir_func i32 @_Z3maxii(i32, i32)
declare spir_func i32 @_Z3maxjj(i32, i32)
declare spir_func float @_Z17convert_float_rtzi(i32)
declare spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float>)
declare spir_func <3 x float> @_Z6vload3mPU3AS1Kf(i64, ptr addrspace(1))
declare spir_func void @_Z7vstore3Dv3_fmPU3AS1f(<3 x float>, i64, ptr addrspace(1))
declare spir_func float @_Z10vload_halfmPU3AS1KDh(i64, ptr addrspace(1))
declare spir_func void @_Z15vstore_half_rtzfmPU3AS1Dh(float, i64, ptr addrspace(1))
declare spir_func i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1), i32)
declare spir_func i32 @_Z10atomic_incPU3AS3Vj(ptr addrspace(3))
declare spir_func i32 @_Z10atomic_maxPU3AS1Vii(ptr addrspace(1), i32)
declare spir_func zeroext i1 @_Z37atomic_compare_exchange_weak_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_scope(ptr addrspace(4), ptr addrspace(4), i32, i32, i32, i32)
declare spir_func i32 @_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope(ptr addrspace(4), i32, i32, i32)
declare spir_func i32 @_Z14work_group_alli(i32)
declare spir_func float @_Z29work_group_scan_exclusive_addf(float)
declare spir_func i32 @_Z20sub_group_reduce_maxi(i32)
declare spir_func i32 @_Z20work_group_broadcastimm(i32, i64, i64)
declare spir_func float @_Z3cosf(float)
