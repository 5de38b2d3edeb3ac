; ModuleID = 'examples/mandelbrot.cl'
source_filename = "examples/mandelbrot.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(none)
define dso_local spir_func <3 x float> @palette(float noundef %t) local_unnamed_addr #0 {
entry:
  %splat.splatinsert = insertelement <3 x float> poison, float %t, i64 0
  %splat.splat = shufflevector <3 x float> %splat.splatinsert, <3 x float> poison, <3 x i32> zeroinitializer
  %add = fadd <3 x float> %splat.splat, <float 0.000000e+00, float 0x3FB99999A0000000, float 0x3FCC28F5C0000000>
  %mul = fmul <3 x float> %add, <float 0x401921FB60000000, float 0x401921FB60000000, float 0x401921FB60000000>
  %call = tail call spir_func <3 x float> @_Z3cosDv3_f(<3 x float> noundef %mul) #5
  %0 = tail call <3 x float> @llvm.fmuladd.v3f32(<3 x float> %call, <3 x float> <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>, <3 x float> <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>)
  ret <3 x float> %0
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func <3 x float> @_Z3cosDv3_f(<3 x float> noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <3 x float> @llvm.fmuladd.v3f32(<3 x float>, <3 x float>, <3 x float>) #2

; Function Attrs: convergent nofree norecurse nounwind memory(none)
define dso_local spir_func <3 x float> @sample(<2 x float> noundef %c, i32 noundef %rounds) local_unnamed_addr #3 {
entry:
  %cmp.not86 = icmp sgt i32 %rounds, 0
  br i1 %cmp.not86, label %for.body, label %cleanup41

for.body:                                         ; preds = %entry, %for.inc
  %z.089 = phi <2 x float> [ %add40, %for.inc ], [ %c, %entry ]
  %dz.088 = phi <2 x float> [ %17, %for.inc ], [ <float 1.000000e+00, float 0.000000e+00>, %entry ]
  %i.087 = phi i32 [ %inc, %for.inc ], [ 0, %entry ]
  %call = tail call spir_func float @_Z3dotDv2_fS_(<2 x float> noundef %z.089, <2 x float> noundef %z.089) #5
  %cmp1 = fcmp ule float %call, 1.000000e+04
  br i1 %cmp1, label %for.inc, label %cleanup

cleanup:                                          ; preds = %for.body
  %add = add nuw nsw i32 %i.087, 1
  %conv = uitofp nneg i32 %add to float
  %call2 = tail call spir_func float @_Z11native_log2f(float noundef %call) #5
  %mul = fmul float %call2, 5.000000e-01
  %call3 = tail call spir_func float @_Z11native_log2f(float noundef %mul) #5
  %sub = fsub float %conv, %call3
  %0 = extractelement <2 x float> %z.089, i64 0
  %1 = fneg float %0
  %2 = shufflevector <2 x float> %dz.088, <2 x float> poison, <2 x i32> <i32 1, i32 1>
  %3 = shufflevector <2 x float> %z.089, <2 x float> poison, <2 x i32> <i32 1, i32 poison>
  %4 = insertelement <2 x float> %3, float %1, i64 1
  %5 = fmul <2 x float> %2, %4
  %6 = shufflevector <2 x float> %dz.088, <2 x float> poison, <2 x i32> zeroinitializer
  %7 = tail call <2 x float> @llvm.fmuladd.v2f32(<2 x float> %z.089, <2 x float> %6, <2 x float> %5)
  %call10 = tail call spir_func float @_Z3dotDv2_fS_(<2 x float> noundef %7, <2 x float> noundef %7) #5
  %call11 = tail call spir_func float @_Z5rsqrtf(float noundef %call10) #5
  %splat.splatinsert = insertelement <2 x float> poison, float %call11, i64 0
  %splat.splat = shufflevector <2 x float> %splat.splatinsert, <2 x float> poison, <2 x i32> zeroinitializer
  %mul12 = fmul <2 x float> %7, %splat.splat
  %call14 = tail call spir_func float @_Z3dotDv2_fS_(<2 x float> noundef %mul12, <2 x float> noundef <float 0xBFE6A09020000000, float 0x3FE6A09020000000>) #5
  %add15 = fadd float %call14, 0x3FF6666660000000
  %div = fdiv float %add15, 0x4003333340000000, !fpmath !4
  %call16 = tail call spir_func float @_Z5clampfff(float noundef %div, float noundef 0.000000e+00, float noundef 1.000000e+00) #5
  %8 = tail call float @llvm.fmuladd.f32(float %sub, float 0x3FA0624DE0000000, float 0x3FE19999A0000000)
  %splat.splatinsert.i = insertelement <3 x float> poison, float %8, i64 0
  %splat.splat.i = shufflevector <3 x float> %splat.splatinsert.i, <3 x float> poison, <3 x i32> zeroinitializer
  %add.i = fadd <3 x float> %splat.splat.i, <float 0.000000e+00, float 0x3FB99999A0000000, float 0x3FCC28F5C0000000>
  %mul.i = fmul <3 x float> %add.i, <float 0x401921FB60000000, float 0x401921FB60000000, float 0x401921FB60000000>
  %call.i = tail call spir_func <3 x float> @_Z3cosDv3_f(<3 x float> noundef %mul.i) #5
  %9 = tail call <3 x float> @llvm.fmuladd.v3f32(<3 x float> %call.i, <3 x float> <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>, <3 x float> <float 5.000000e-01, float 5.000000e-01, float 5.000000e-01>)
  %splat.splatinsert19 = insertelement <3 x float> poison, float %call16, i64 0
  %splat.splat20 = shufflevector <3 x float> %splat.splatinsert19, <3 x float> poison, <3 x i32> zeroinitializer
  %mul21 = fmul <3 x float> %9, %splat.splat20
  br label %cleanup41

for.inc:                                          ; preds = %for.body
  %10 = extractelement <2 x float> %z.089, i64 0
  %11 = extractelement <2 x float> %dz.088, i64 0
  %12 = extractelement <2 x float> %z.089, i64 1
  %13 = extractelement <2 x float> %dz.088, i64 1
  %14 = fneg float %12
  %neg25 = fmul float %13, %14
  %15 = tail call float @llvm.fmuladd.f32(float %10, float %11, float %neg25)
  %vecinit26 = insertelement <2 x float> poison, float %15, i64 0
  %mul28 = fmul float %11, %12
  %16 = tail call float @llvm.fmuladd.f32(float %10, float %13, float %mul28)
  %vecinit29 = insertelement <2 x float> %vecinit26, float %16, i64 1
  %17 = tail call <2 x float> @llvm.fmuladd.v2f32(<2 x float> %vecinit29, <2 x float> <float 2.000000e+00, float 2.000000e+00>, <2 x float> <float 1.000000e+00, float 0.000000e+00>)
  %neg35 = fmul float %12, %14
  %18 = tail call float @llvm.fmuladd.f32(float %10, float %10, float %neg35)
  %vecinit36 = insertelement <2 x float> poison, float %18, i64 0
  %mul37 = fmul float %10, 2.000000e+00
  %mul38 = fmul float %12, %mul37
  %vecinit39 = insertelement <2 x float> %vecinit36, float %mul38, i64 1
  %add40 = fadd <2 x float> %vecinit39, %c
  %inc = add nuw nsw i32 %i.087, 1
  %cmp.not = icmp slt i32 %inc, %rounds
  br i1 %cmp.not, label %for.body, label %cleanup41

cleanup41:                                        ; preds = %for.inc, %entry, %cleanup
  %spec.select = phi <3 x float> [ %mul21, %cleanup ], [ <float 0x3F947AE140000000, float 0x3F947AE140000000, float 0x3FA99999A0000000>, %entry ], [ <float 0x3F947AE140000000, float 0x3F947AE140000000, float 0x3FA99999A0000000>, %for.inc ]
  ret <3 x float> %spec.select
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z3dotDv2_fS_(<2 x float> noundef, <2 x float> noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z11native_log2f(float noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z5rsqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z5clampfff(float noundef, float noundef, float noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <2 x float> @llvm.fmuladd.v2f32(<2 x float>, <2 x float>, <2 x float>) #2

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: write)
define dso_local spir_kernel void @mandelbrot(ptr addrspace(1) nocapture noundef writeonly align 4 %pixels, float noundef %x, float noundef %y, float noundef %height, i32 noundef %rounds) local_unnamed_addr #4 !kernel_arg_addr_space !5 !kernel_arg_access_qual !6 !kernel_arg_type !7 !kernel_arg_base_type !8 !kernel_arg_type_qual !9 !kernel_arg_name !10 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #5
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #5
  %conv2 = trunc i64 %call1 to i32
  %call3 = tail call spir_func i64 @_Z15get_global_sizej(i32 noundef 0) #5
  %conv4 = trunc i64 %call3 to i32
  %call5 = tail call spir_func i64 @_Z15get_global_sizej(i32 noundef 1) #5
  %conv6 = trunc i64 %call5 to i32
  %conv8 = sitofp i32 %conv to float
  %add = fadd float %conv8, 2.500000e-01
  %conv10 = sitofp i32 %conv2 to float
  %add11 = fadd float %conv10, 2.500000e-01
  %conv15 = sitofp i32 %conv4 to float
  %conv17 = sitofp i32 %conv6 to float
  %div = fdiv float %height, %conv17, !fpmath !4
  %splat.splatinsert = insertelement <2 x float> poison, float %div, i64 0
  %splat.splat = shufflevector <2 x float> %splat.splatinsert, <2 x float> poison, <2 x i32> zeroinitializer
  %vecinit21 = insertelement <2 x float> poison, float %x, i64 0
  %vecinit22 = insertelement <2 x float> %vecinit21, float %y, i64 1
  %0 = tail call float @llvm.fmuladd.f32(float %conv15, float -5.000000e-01, float %add)
  %vecinit16 = insertelement <2 x float> poison, float %0, i64 0
  %neg = fneg float %add11
  %1 = tail call float @llvm.fmuladd.f32(float %conv17, float 5.000000e-01, float %neg)
  %vecinit18 = insertelement <2 x float> %vecinit16, float %1, i64 1
  %mul = fmul <2 x float> %splat.splat, %vecinit18
  %add23 = fadd <2 x float> %vecinit22, %mul
  %call24 = tail call spir_func <3 x float> @sample(<2 x float> noundef %add23, i32 noundef %rounds) #6
  %add25 = fadd <3 x float> %call24, zeroinitializer
  %2 = fadd float %add, 5.000000e-01
  %3 = tail call float @llvm.fmuladd.f32(float %conv15, float -5.000000e-01, float %2)
  %vecinit16.1 = insertelement <2 x float> poison, float %3, i64 0
  %vecinit18.1 = insertelement <2 x float> %vecinit16.1, float %1, i64 1
  %mul.1 = fmul <2 x float> %splat.splat, %vecinit18.1
  %add23.1 = fadd <2 x float> %vecinit22, %mul.1
  %call24.1 = tail call spir_func <3 x float> @sample(<2 x float> noundef %add23.1, i32 noundef %rounds) #6
  %add25.1 = fadd <3 x float> %add25, %call24.1
  %4 = fadd float %add11, 5.000000e-01
  %neg.2 = fneg float %4
  %5 = tail call float @llvm.fmuladd.f32(float %conv17, float 5.000000e-01, float %neg.2)
  %vecinit18.2 = insertelement <2 x float> %vecinit16, float %5, i64 1
  %mul.2 = fmul <2 x float> %splat.splat, %vecinit18.2
  %add23.2 = fadd <2 x float> %vecinit22, %mul.2
  %call24.2 = tail call spir_func <3 x float> @sample(<2 x float> noundef %add23.2, i32 noundef %rounds) #6
  %add25.2 = fadd <3 x float> %add25.1, %call24.2
  %vecinit18.3 = insertelement <2 x float> %vecinit16.1, float %5, i64 1
  %mul.3 = fmul <2 x float> %splat.splat, %vecinit18.3
  %add23.3 = fadd <2 x float> %vecinit22, %mul.3
  %call24.3 = tail call spir_func <3 x float> @sample(<2 x float> noundef %add23.3, i32 noundef %rounds) #6
  %add25.3 = fadd <3 x float> %add25.2, %call24.3
  %mul29 = fmul <3 x float> %add25.3, <float 2.500000e-01, float 2.500000e-01, float 2.500000e-01>
  %call30 = tail call spir_func <3 x float> @_Z4sqrtDv3_f(<3 x float> noundef %mul29) #5, !fpmath !11
  %mul35 = fmul <3 x float> %call30, <float 2.550000e+02, float 2.550000e+02, float 2.550000e+02>
  %call36 = tail call spir_func <3 x i8> @_Z18convert_uchar3_satDv3_f(<3 x float> noundef %mul35) #5
  %vecinit37 = shufflevector <3 x i8> %call36, <3 x i8> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 poison>
  %vecinit38 = insertelement <4 x i8> %vecinit37, i8 -1, i64 3
  %mul39 = mul nsw i32 %conv4, %conv2
  %add40 = add nsw i32 %mul39, %conv
  %idxprom = sext i32 %add40 to i64
  %arrayidx = getelementptr inbounds <4 x i8>, ptr addrspace(1) %pixels, i64 %idxprom
  store <4 x i8> %vecinit38, ptr addrspace(1) %arrayidx, align 4, !tbaa !12
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z15get_global_sizej(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func <3 x float> @_Z4sqrtDv3_f(<3 x float> noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func <3 x i8> @_Z18convert_uchar3_satDv3_f(<3 x float> noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nofree norecurse nounwind memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #4 = { convergent nofree norecurse nounwind memory(argmem: write) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #5 = { convergent nounwind willreturn memory(none) }
attributes #6 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}
!llvm.ident = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 2, i32 0}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!4 = !{float 2.500000e+00}
!5 = !{i32 1, i32 0, i32 0, i32 0, i32 0}
!6 = !{!"none", !"none", !"none", !"none", !"none"}
!7 = !{!"uchar4*", !"float", !"float", !"float", !"int"}
!8 = !{!"uchar __attribute__((ext_vector_type(4)))*", !"float", !"float", !"float", !"int"}
!9 = !{!"", !"", !"", !"", !""}
!10 = !{!"pixels", !"x", !"y", !"height", !"rounds"}
!11 = !{float 3.000000e+00}
!12 = !{!13, !13, i64 0}
!13 = !{!"omnipotent char", !14, i64 0}
!14 = !{!"Simple C/C++ TBAA"}
