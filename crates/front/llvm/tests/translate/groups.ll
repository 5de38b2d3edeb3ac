; Group operations whose names are built from parts, ballots, Intel's sub-groups, templates.
target triple = "spir64-unknown-unknown"

define spir_kernel void @groups(ptr addrspace(1) %p, float %f, i32 %i, i8 %c) {
  %1 = call spir_func float @_Z32sub_group_non_uniform_reduce_mulf(float %f)
  %2 = call spir_func i32 @_Z40sub_group_non_uniform_scan_exclusive_maxi(i32 %i)
  %3 = call spir_func i32 @_Z47sub_group_non_uniform_scan_inclusive_logical_ori(i32 0)
  %4 = call spir_func signext i8 @_Z30sub_group_clustered_reduce_addcj(i8 %c, i32 4)
  %5 = call spir_func i32 @_Z20sub_group_reduce_xori(i32 %i)
  %6 = call spir_func float @_Z21work_group_reduce_addf(float %f)
  %7 = call spir_func i32 @_Z31sub_group_non_uniform_all_equali(i32 %i)
  %8 = call spir_func i32 @_Z16sub_group_rotateii(i32 %i, i32 2)
  %ballot = call spir_func <4 x i32> @_Z16sub_group_balloti(i32 %i)
  %9 = call spir_func i32 @_Z26sub_group_ballot_bit_countDv4_j(<4 x i32> %ballot)
  %10 = call spir_func i32 @_Z28sub_group_ballot_bit_extractDv4_jj(<4 x i32> %ballot, i32 %i)
  %11 = call spir_func <2 x i32> @_Z27intel_sub_group_block_read2PU3AS1Kj(ptr addrspace(1) %p)
  call spir_func void @_Z28intel_sub_group_block_write2PU3AS1jDv2_j(ptr addrspace(1) %p, <2 x i32> %11)
  %12 = call spir_func i32 @_Z28intel_sub_group_shuffle_downiij(i32 %i, i32 %i, i32 1)
  %13 = call spir_func <4 x i8> @_Z16__spirv_IsFiniteIDv4_aDv4_fET_T0_(<4 x float> zeroinitializer)
  %14 = call spir_func i32 @_Z11bit_reversei(i32 %i)
  %15 = call spir_func i32 @_Z15bitfield_insertiijj(i32 %i, i32 %14, i32 4, i32 2)
  %16 = call spir_func zeroext i16 @_Z32intel_convert_bfloat16_as_ushortf(float %f)
  ret void
}

declare spir_func float @_Z32sub_group_non_uniform_reduce_mulf(float)
declare spir_func i32 @_Z40sub_group_non_uniform_scan_exclusive_maxi(i32)
declare spir_func i32 @_Z47sub_group_non_uniform_scan_inclusive_logical_ori(i32)
declare spir_func signext i8 @_Z30sub_group_clustered_reduce_addcj(i8, i32)
declare spir_func i32 @_Z20sub_group_reduce_xori(i32)
declare spir_func float @_Z21work_group_reduce_addf(float)
declare spir_func i32 @_Z31sub_group_non_uniform_all_equali(i32)
declare spir_func i32 @_Z16sub_group_rotateii(i32, i32)
declare spir_func <4 x i32> @_Z16sub_group_balloti(i32)
declare spir_func i32 @_Z26sub_group_ballot_bit_countDv4_j(<4 x i32>)
declare spir_func i32 @_Z28sub_group_ballot_bit_extractDv4_jj(<4 x i32>, i32)
declare spir_func <2 x i32> @_Z27intel_sub_group_block_read2PU3AS1Kj(ptr addrspace(1))
declare spir_func void @_Z28intel_sub_group_block_write2PU3AS1jDv2_j(ptr addrspace(1), <2 x i32>)
declare spir_func i32 @_Z28intel_sub_group_shuffle_downiij(i32, i32, i32)
declare spir_func <4 x i8> @_Z16__spirv_IsFiniteIDv4_aDv4_fET_T0_(<4 x float>)
declare spir_func i32 @_Z11bit_reversei(i32)
declare spir_func i32 @_Z15bitfield_insertiijj(i32, i32, i32, i32)
declare spir_func zeroext i16 @_Z32intel_convert_bfloat16_as_ushortf(float)

define spir_func i32 @more(i32 %a, i32 %b, <4 x i8> %v, float %f) {
  call spir_func void @_Z31intel_work_group_barrier_arrivej(i32 1)
  call spir_func void @_Z29intel_work_group_barrier_waitj12memory_scope(i32 1, i32 1)
  %1 = call spir_func i32 @_Z20dot_4x8packed_us_intjj(i32 %a, i32 %b)
  %2 = call spir_func i32 @_Z29dot_acc_sat_4x8packed_uu_uintjjj(i32 %a, i32 %b, i32 %1)
  %3 = call spir_func i32 @_Z3dotDv4_cS_(<4 x i8> %v, <4 x i8> %v)
  %4 = call spir_func float @_Z35intel_round_as_tensor_float32_floatf(float %f)
  %5 = call spir_func i64 @_Z17clock_read_devicev()
  %6 = add i32 %2, %3
  ret i32 %6
}

declare spir_func void @_Z31intel_work_group_barrier_arrivej(i32)
declare spir_func void @_Z29intel_work_group_barrier_waitj12memory_scope(i32, i32)
declare spir_func i32 @_Z20dot_4x8packed_us_intjj(i32, i32)
declare spir_func i32 @_Z29dot_acc_sat_4x8packed_uu_uintjjj(i32, i32, i32)
declare spir_func i32 @_Z3dotDv4_cS_(<4 x i8>, <4 x i8>)
declare spir_func float @_Z35intel_round_as_tensor_float32_floatf(float)
declare spir_func i64 @_Z17clock_read_devicev()
