; ModuleID = 'benches/kernels/kernels.cl'
source_filename = "benches/kernels/kernels.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

@matmul_tiled.as = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@matmul_tiled.bs = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@reduce_tree.scratch = internal unnamed_addr addrspace(3) global [256 x float] undef, align 4
@histogram.own = internal addrspace(3) global [256 x i32] undef, align 4
@transpose.tile = internal unnamed_addr addrspace(3) global [16 x [17 x float]] undef, align 4

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @saxpy(ptr addrspace(1) nocapture noundef readonly align 4 %x, ptr addrspace(1) nocapture noundef align 4 %y, float noundef %a) local_unnamed_addr #0 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 !kernel_arg_name !8 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %x, i64 %call
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !9
  %mul = fmul float %0, %a
  %arrayidx1 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %call
  %1 = load float, ptr addrspace(1) %arrayidx1, align 4, !tbaa !9
  %add = fadd float %mul, %1
  store float %add, ptr addrspace(1) %arrayidx1, align 4, !tbaa !9
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @matmul_tiled(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef readonly align 4 %b, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %n) local_unnamed_addr #2 !kernel_arg_addr_space !13 !kernel_arg_access_qual !14 !kernel_arg_type !15 !kernel_arg_base_type !15 !kernel_arg_type_qual !16 !kernel_arg_name !17 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %call1 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 1) #6
  %conv2 = trunc i64 %call1 to i32
  %call3 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %conv4 = trunc i64 %call3 to i32
  %call5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #6
  %conv6 = trunc i64 %call5 to i32
  %cmp64 = icmp sgt i32 %n, 0
  br i1 %cmp64, label %for.body.lr.ph, label %entry.for.cond.cleanup_crit_edge

entry.for.cond.cleanup_crit_edge:                 ; preds = %entry
  %.pre = mul nsw i32 %conv6, %n
  br label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %entry
  %conv = trunc i64 %call to i32
  %mul = mul nsw i32 %conv6, %n
  %add = add i32 %mul, %conv
  %idxprom9 = sext i32 %conv2 to i64
  %idxprom11 = sext i32 %conv to i64
  %arrayidx12 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 %idxprom11
  %arrayidx21 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 %idxprom9, i64 %idxprom11
  %arrayidx30 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 0
  %arrayidx34 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 0, i64 %idxprom11
  %arrayidx30.1 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 1
  %arrayidx34.1 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 1, i64 %idxprom11
  %arrayidx30.2 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 2
  %arrayidx34.2 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 2, i64 %idxprom11
  %arrayidx30.3 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 3
  %arrayidx34.3 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 3, i64 %idxprom11
  %arrayidx30.4 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 4
  %arrayidx34.4 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 4, i64 %idxprom11
  %arrayidx34.5 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 5, i64 %idxprom11
  %arrayidx30.6 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 6
  %arrayidx34.6 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 6, i64 %idxprom11
  %arrayidx34.7 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 7, i64 %idxprom11
  %arrayidx30.8 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 8
  %arrayidx34.8 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 8, i64 %idxprom11
  %arrayidx34.9 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 9, i64 %idxprom11
  %arrayidx30.10 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 10
  %arrayidx34.10 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 10, i64 %idxprom11
  %arrayidx34.11 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 11, i64 %idxprom11
  %arrayidx30.12 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 12
  %arrayidx34.12 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 12, i64 %idxprom11
  %arrayidx34.13 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 13, i64 %idxprom11
  %arrayidx30.14 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.as, i64 0, i64 %idxprom9, i64 14
  %arrayidx34.14 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 14, i64 %idxprom11
  %arrayidx34.15 = getelementptr inbounds [16 x [16 x float]], ptr addrspace(3) @matmul_tiled.bs, i64 0, i64 15, i64 %idxprom11
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %entry.for.cond.cleanup_crit_edge
  %mul40.pre-phi = phi i32 [ %.pre, %entry.for.cond.cleanup_crit_edge ], [ %mul, %for.body ]
  %sum.0.lcssa = phi float [ 0.000000e+00, %entry.for.cond.cleanup_crit_edge ], [ %add36.15, %for.body ]
  %add41 = add nsw i32 %mul40.pre-phi, %conv4
  %idxprom42 = sext i32 %add41 to i64
  %arrayidx43 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom42
  store float %sum.0.lcssa, ptr addrspace(1) %arrayidx43, align 4, !tbaa !9
  ret void

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %t.066 = phi i32 [ 0, %for.body.lr.ph ], [ %add38, %for.body ]
  %sum.065 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %add36.15, %for.body ]
  %add8 = add i32 %add, %t.066
  %idxprom = sext i32 %add8 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !9
  store float %0, ptr addrspace(3) %arrayidx12, align 4, !tbaa !9
  %add13 = add nsw i32 %t.066, %conv2
  %mul14 = mul nsw i32 %add13, %n
  %add15 = add nsw i32 %mul14, %conv4
  %idxprom16 = sext i32 %add15 to i64
  %arrayidx17 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom16
  %1 = load float, ptr addrspace(1) %arrayidx17, align 4, !tbaa !9
  store float %1, ptr addrspace(3) %arrayidx21, align 4, !tbaa !9
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %2 = load float, ptr addrspace(3) %arrayidx30, align 4, !tbaa !9
  %3 = load float, ptr addrspace(3) %arrayidx34, align 4, !tbaa !9
  %mul35 = fmul float %2, %3
  %add36 = fadd float %sum.065, %mul35
  %4 = load float, ptr addrspace(3) %arrayidx30.1, align 4, !tbaa !9
  %5 = load float, ptr addrspace(3) %arrayidx34.1, align 4, !tbaa !9
  %mul35.1 = fmul float %4, %5
  %add36.1 = fadd float %add36, %mul35.1
  %6 = load float, ptr addrspace(3) %arrayidx30.2, align 4, !tbaa !9
  %7 = load float, ptr addrspace(3) %arrayidx34.2, align 4, !tbaa !9
  %mul35.2 = fmul float %6, %7
  %add36.2 = fadd float %add36.1, %mul35.2
  %8 = load float, ptr addrspace(3) %arrayidx30.3, align 4, !tbaa !9
  %9 = load float, ptr addrspace(3) %arrayidx34.3, align 4, !tbaa !9
  %mul35.3 = fmul float %8, %9
  %add36.3 = fadd float %add36.2, %mul35.3
  %10 = load float, ptr addrspace(3) %arrayidx34.4, align 4, !tbaa !9
  %11 = load float, ptr addrspace(3) %arrayidx34.5, align 4, !tbaa !9
  %12 = load <2 x float>, ptr addrspace(3) %arrayidx30.4, align 4, !tbaa !9
  %13 = insertelement <2 x float> poison, float %10, i64 0
  %14 = insertelement <2 x float> %13, float %11, i64 1
  %15 = fmul <2 x float> %12, %14
  %16 = extractelement <2 x float> %15, i64 0
  %add36.4 = fadd float %add36.3, %16
  %17 = extractelement <2 x float> %15, i64 1
  %add36.5 = fadd float %add36.4, %17
  %18 = load float, ptr addrspace(3) %arrayidx34.6, align 4, !tbaa !9
  %19 = load float, ptr addrspace(3) %arrayidx34.7, align 4, !tbaa !9
  %20 = load <2 x float>, ptr addrspace(3) %arrayidx30.6, align 4, !tbaa !9
  %21 = insertelement <2 x float> poison, float %18, i64 0
  %22 = insertelement <2 x float> %21, float %19, i64 1
  %23 = fmul <2 x float> %20, %22
  %24 = extractelement <2 x float> %23, i64 0
  %add36.6 = fadd float %add36.5, %24
  %25 = extractelement <2 x float> %23, i64 1
  %add36.7 = fadd float %add36.6, %25
  %26 = load float, ptr addrspace(3) %arrayidx34.8, align 4, !tbaa !9
  %27 = load float, ptr addrspace(3) %arrayidx34.9, align 4, !tbaa !9
  %28 = load <2 x float>, ptr addrspace(3) %arrayidx30.8, align 4, !tbaa !9
  %29 = insertelement <2 x float> poison, float %26, i64 0
  %30 = insertelement <2 x float> %29, float %27, i64 1
  %31 = fmul <2 x float> %28, %30
  %32 = extractelement <2 x float> %31, i64 0
  %add36.8 = fadd float %add36.7, %32
  %33 = extractelement <2 x float> %31, i64 1
  %add36.9 = fadd float %add36.8, %33
  %34 = load float, ptr addrspace(3) %arrayidx34.10, align 4, !tbaa !9
  %35 = load float, ptr addrspace(3) %arrayidx34.11, align 4, !tbaa !9
  %36 = load <2 x float>, ptr addrspace(3) %arrayidx30.10, align 4, !tbaa !9
  %37 = insertelement <2 x float> poison, float %34, i64 0
  %38 = insertelement <2 x float> %37, float %35, i64 1
  %39 = fmul <2 x float> %36, %38
  %40 = extractelement <2 x float> %39, i64 0
  %add36.10 = fadd float %add36.9, %40
  %41 = extractelement <2 x float> %39, i64 1
  %add36.11 = fadd float %add36.10, %41
  %42 = load float, ptr addrspace(3) %arrayidx34.12, align 4, !tbaa !9
  %43 = load float, ptr addrspace(3) %arrayidx34.13, align 4, !tbaa !9
  %44 = load <2 x float>, ptr addrspace(3) %arrayidx30.12, align 4, !tbaa !9
  %45 = insertelement <2 x float> poison, float %42, i64 0
  %46 = insertelement <2 x float> %45, float %43, i64 1
  %47 = fmul <2 x float> %44, %46
  %48 = extractelement <2 x float> %47, i64 0
  %add36.12 = fadd float %add36.11, %48
  %49 = extractelement <2 x float> %47, i64 1
  %add36.13 = fadd float %add36.12, %49
  %50 = load float, ptr addrspace(3) %arrayidx34.14, align 4, !tbaa !9
  %51 = load float, ptr addrspace(3) %arrayidx34.15, align 4, !tbaa !9
  %52 = load <2 x float>, ptr addrspace(3) %arrayidx30.14, align 4, !tbaa !9
  %53 = insertelement <2 x float> poison, float %50, i64 0
  %54 = insertelement <2 x float> %53, float %51, i64 1
  %55 = fmul <2 x float> %52, %54
  %56 = extractelement <2 x float> %55, i64 0
  %add36.14 = fadd float %add36.13, %56
  %57 = extractelement <2 x float> %55, i64 1
  %add36.15 = fadd float %add36.14, %57
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %add38 = add nuw nsw i32 %t.066, 16
  %cmp = icmp slt i32 %add38, %n
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #3

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @reduce_tree(ptr addrspace(1) nocapture noundef readonly align 4 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %partial) local_unnamed_addr #2 !kernel_arg_addr_space !18 !kernel_arg_access_qual !19 !kernel_arg_type !20 !kernel_arg_base_type !20 !kernel_arg_type_qual !21 !kernel_arg_name !22 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %in, i64 %call1
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !9
  %idxprom = sext i32 %conv to i64
  %arrayidx2 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom
  store float %0, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4 = icmp slt i32 %conv, 128
  br i1 %cmp4, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %add = add nsw i32 %conv, 128
  %idxprom6 = sext i32 %add to i64
  %arrayidx7 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6
  %1 = load float, ptr addrspace(3) %arrayidx7, align 4, !tbaa !9
  %2 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10 = fadd float %1, %2
  store float %add10, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.1 = icmp slt i32 %conv, 64
  br i1 %cmp4.1, label %if.then.1, label %if.end.1

if.then.1:                                        ; preds = %if.end
  %add.1 = add nsw i32 %conv, 64
  %idxprom6.1 = sext i32 %add.1 to i64
  %arrayidx7.1 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.1
  %3 = load float, ptr addrspace(3) %arrayidx7.1, align 4, !tbaa !9
  %4 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.1 = fadd float %3, %4
  store float %add10.1, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.1

if.end.1:                                         ; preds = %if.then.1, %if.end
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.2 = icmp slt i32 %conv, 32
  br i1 %cmp4.2, label %if.then.2, label %if.end.2

if.then.2:                                        ; preds = %if.end.1
  %add.2 = add nsw i32 %conv, 32
  %idxprom6.2 = sext i32 %add.2 to i64
  %arrayidx7.2 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.2
  %5 = load float, ptr addrspace(3) %arrayidx7.2, align 4, !tbaa !9
  %6 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.2 = fadd float %5, %6
  store float %add10.2, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.2

if.end.2:                                         ; preds = %if.then.2, %if.end.1
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.3 = icmp slt i32 %conv, 16
  br i1 %cmp4.3, label %if.then.3, label %if.end.3

if.then.3:                                        ; preds = %if.end.2
  %add.3 = add nsw i32 %conv, 16
  %idxprom6.3 = sext i32 %add.3 to i64
  %arrayidx7.3 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.3
  %7 = load float, ptr addrspace(3) %arrayidx7.3, align 4, !tbaa !9
  %8 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.3 = fadd float %7, %8
  store float %add10.3, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.3

if.end.3:                                         ; preds = %if.then.3, %if.end.2
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.4 = icmp slt i32 %conv, 8
  br i1 %cmp4.4, label %if.then.4, label %if.end.4

if.then.4:                                        ; preds = %if.end.3
  %add.4 = add nsw i32 %conv, 8
  %idxprom6.4 = sext i32 %add.4 to i64
  %arrayidx7.4 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.4
  %9 = load float, ptr addrspace(3) %arrayidx7.4, align 4, !tbaa !9
  %10 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.4 = fadd float %9, %10
  store float %add10.4, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.4

if.end.4:                                         ; preds = %if.then.4, %if.end.3
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.5 = icmp slt i32 %conv, 4
  br i1 %cmp4.5, label %if.then.5, label %if.end.5

if.then.5:                                        ; preds = %if.end.4
  %add.5 = add nsw i32 %conv, 4
  %idxprom6.5 = sext i32 %add.5 to i64
  %arrayidx7.5 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.5
  %11 = load float, ptr addrspace(3) %arrayidx7.5, align 4, !tbaa !9
  %12 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.5 = fadd float %11, %12
  store float %add10.5, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.5

if.end.5:                                         ; preds = %if.then.5, %if.end.4
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.6 = icmp slt i32 %conv, 2
  br i1 %cmp4.6, label %if.then.6, label %if.end.6

if.then.6:                                        ; preds = %if.end.5
  %add.6 = add nsw i32 %conv, 2
  %idxprom6.6 = sext i32 %add.6 to i64
  %arrayidx7.6 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.6
  %13 = load float, ptr addrspace(3) %arrayidx7.6, align 4, !tbaa !9
  %14 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.6 = fadd float %13, %14
  store float %add10.6, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.6

if.end.6:                                         ; preds = %if.then.6, %if.end.5
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp4.7 = icmp slt i32 %conv, 1
  br i1 %cmp4.7, label %if.then.7, label %if.end.7

if.then.7:                                        ; preds = %if.end.6
  %add.7 = add nsw i32 %conv, 1
  %idxprom6.7 = sext i32 %add.7 to i64
  %arrayidx7.7 = getelementptr inbounds [256 x float], ptr addrspace(3) @reduce_tree.scratch, i64 0, i64 %idxprom6.7
  %15 = load float, ptr addrspace(3) %arrayidx7.7, align 4, !tbaa !9
  %16 = load float, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  %add10.7 = fadd float %15, %16
  store float %add10.7, ptr addrspace(3) %arrayidx2, align 4, !tbaa !9
  br label %if.end.7

if.end.7:                                         ; preds = %if.then.7, %if.end.6
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %cmp11 = icmp eq i32 %conv, 0
  br i1 %cmp11, label %if.then13, label %if.end16

if.then13:                                        ; preds = %if.end.7
  %17 = load float, ptr addrspace(3) @reduce_tree.scratch, align 4, !tbaa !9
  %call14 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #6
  %arrayidx15 = getelementptr inbounds float, ptr addrspace(1) %partial, i64 %call14
  store float %17, ptr addrspace(1) %arrayidx15, align 4, !tbaa !9
  br label %if.end16

if.end16:                                         ; preds = %if.then13, %if.end.7
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @nbody(ptr addrspace(1) nocapture noundef readonly align 16 %bodies, ptr addrspace(1) nocapture noundef writeonly align 16 %acceleration, i32 noundef %n) local_unnamed_addr #4 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !23 !kernel_arg_base_type !24 !kernel_arg_type_qual !7 !kernel_arg_name !25 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %0 = shl i64 %call, 32
  %idxprom = ashr exact i64 %0, 32
  %cmp47 = icmp sgt i32 %n, 0
  br i1 %cmp47, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %entry
  %arrayidx = getelementptr inbounds <4 x float>, ptr addrspace(1) %bodies, i64 %idxprom
  %1 = load float, ptr addrspace(1) %arrayidx, align 16
  %2 = getelementptr inbounds i8, ptr addrspace(1) %arrayidx, i64 4
  %3 = load float, ptr addrspace(1) %2, align 4
  %4 = getelementptr inbounds i8, ptr addrspace(1) %arrayidx, i64 8
  %5 = load float, ptr addrspace(1) %4, align 8
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %entry
  %az.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add19, %for.body ]
  %ay.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add17, %for.body ]
  %ax.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add15, %for.body ]
  %6 = insertelement <4 x float> <float poison, float poison, float poison, float 0.000000e+00>, float %ax.0.lcssa, i64 0
  %7 = insertelement <4 x float> %6, float %ay.0.lcssa, i64 1
  %vecinit22 = insertelement <4 x float> %7, float %az.0.lcssa, i64 2
  %arrayidx24 = getelementptr inbounds <4 x float>, ptr addrspace(1) %acceleration, i64 %idxprom
  store <4 x float> %vecinit22, ptr addrspace(1) %arrayidx24, align 16, !tbaa !26
  ret void

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %ax.051 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %add15, %for.body ]
  %ay.050 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %add17, %for.body ]
  %az.049 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %add19, %for.body ]
  %j.048 = phi i32 [ 0, %for.body.lr.ph ], [ %inc, %for.body ]
  %idxprom2 = zext nneg i32 %j.048 to i64
  %arrayidx3 = getelementptr inbounds <4 x float>, ptr addrspace(1) %bodies, i64 %idxprom2
  %8 = load float, ptr addrspace(1) %arrayidx3, align 16
  %sub = fsub float %8, %1
  %9 = getelementptr inbounds i8, ptr addrspace(1) %arrayidx3, i64 4
  %10 = load float, ptr addrspace(1) %9, align 4
  %sub4 = fsub float %10, %3
  %11 = getelementptr inbounds i8, ptr addrspace(1) %arrayidx3, i64 8
  %12 = load float, ptr addrspace(1) %11, align 8
  %sub5 = fsub float %12, %5
  %mul = fmul float %sub, %sub
  %mul6 = fmul float %sub4, %sub4
  %add = fadd float %mul, %mul6
  %mul7 = fmul float %sub5, %sub5
  %add8 = fadd float %mul7, %add
  %add9 = fadd float %add8, 0x3F50624DE0000000
  %call10 = tail call spir_func float @_Z5rsqrtf(float noundef %add9) #6
  %13 = getelementptr inbounds i8, ptr addrspace(1) %arrayidx3, i64 12
  %14 = load float, ptr addrspace(1) %13, align 4
  %mul11 = fmul float %14, %call10
  %mul12 = fmul float %call10, %mul11
  %mul13 = fmul float %call10, %mul12
  %mul14 = fmul float %sub, %mul13
  %add15 = fadd float %ax.051, %mul14
  %mul16 = fmul float %sub4, %mul13
  %add17 = fadd float %ay.050, %mul16
  %mul18 = fmul float %sub5, %mul13
  %add19 = fadd float %az.049, %mul18
  %inc = add nuw nsw i32 %j.048, 1
  %cmp = icmp slt i32 %inc, %n
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func float @_Z5rsqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: write)
define dso_local spir_kernel void @mandelbrot(ptr addrspace(1) nocapture noundef writeonly align 4 %rounds, i32 noundef %width, i32 noundef %height, i32 noundef %most) local_unnamed_addr #5 !kernel_arg_addr_space !27 !kernel_arg_access_qual !14 !kernel_arg_type !28 !kernel_arg_base_type !28 !kernel_arg_type_qual !29 !kernel_arg_name !30 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #6
  %0 = insertelement <2 x i32> poison, i32 %height, i64 0
  %1 = insertelement <2 x i32> %0, i32 %width, i64 1
  %2 = sitofp <2 x i32> %1 to <2 x float>
  %3 = insertelement <2 x i64> poison, i64 %call1, i64 0
  %4 = insertelement <2 x i64> %3, i64 %call, i64 1
  %5 = trunc <2 x i64> %4 to <2 x i32>
  %6 = sitofp <2 x i32> %5 to <2 x float>
  %7 = fmul <2 x float> %6, <float 3.000000e+00, float 3.000000e+00>
  %8 = fdiv <2 x float> %7, %2, !fpmath !31
  %9 = fadd <2 x float> %8, <float -1.500000e+00, float -2.000000e+00>
  %cmp37 = icmp sgt i32 %most, 0
  br i1 %cmp37, label %land.rhs, label %while.end

land.rhs:                                         ; preds = %entry, %while.body
  %i.039 = phi i32 [ %inc, %while.body ], [ 0, %entry ]
  %10 = phi <2 x float> [ %18, %while.body ], [ zeroinitializer, %entry ]
  %11 = fmul <2 x float> %10, %10
  %12 = extractelement <2 x float> %11, i64 0
  %13 = extractelement <2 x float> %11, i64 1
  %add13 = fadd float %12, %13
  %cmp14 = fcmp ugt float %add13, 4.000000e+00
  br i1 %cmp14, label %while.end, label %while.body

while.body:                                       ; preds = %land.rhs
  %sub = fsub float %13, %12
  %14 = extractelement <2 x float> %10, i64 1
  %mul19 = fmul float %14, 2.000000e+00
  %15 = extractelement <2 x float> %10, i64 0
  %mul20 = fmul float %15, %mul19
  %16 = insertelement <2 x float> poison, float %mul20, i64 0
  %17 = insertelement <2 x float> %16, float %sub, i64 1
  %18 = fadd <2 x float> %9, %17
  %inc = add nuw nsw i32 %i.039, 1
  %cmp = icmp slt i32 %inc, %most
  br i1 %cmp, label %land.rhs, label %while.end

while.end:                                        ; preds = %land.rhs, %while.body, %entry
  %i.0.lcssa = phi i32 [ 0, %entry ], [ %most, %while.body ], [ %i.039, %land.rhs ]
  %19 = extractelement <2 x i32> %5, i64 0
  %mul22 = mul nsw i32 %19, %width
  %20 = extractelement <2 x i32> %5, i64 1
  %add23 = add nsw i32 %mul22, %20
  %idxprom = sext i32 %add23 to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %rounds, i64 %idxprom
  store i32 %i.0.lcssa, ptr addrspace(1) %arrayidx, align 4, !tbaa !32
  ret void
}

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @matmul_naive(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef readonly align 4 %b, ptr addrspace(1) nocapture noundef writeonly align 4 %c, i32 noundef %n) local_unnamed_addr #4 !kernel_arg_addr_space !13 !kernel_arg_access_qual !14 !kernel_arg_type !15 !kernel_arg_base_type !15 !kernel_arg_type_qual !16 !kernel_arg_name !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #6
  %conv2 = trunc i64 %call1 to i32
  %cmp23 = icmp sgt i32 %n, 0
  %mul = mul nsw i32 %conv2, %n
  br i1 %cmp23, label %for.body, label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.body, %entry
  %sum.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add9, %for.body ]
  %add11 = add nsw i32 %mul, %conv
  %idxprom12 = sext i32 %add11 to i64
  %arrayidx13 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %idxprom12
  store float %sum.0.lcssa, ptr addrspace(1) %arrayidx13, align 4, !tbaa !9
  ret void

for.body:                                         ; preds = %entry, %for.body
  %k.025 = phi i32 [ %inc, %for.body ], [ 0, %entry ]
  %sum.024 = phi float [ %add9, %for.body ], [ 0.000000e+00, %entry ]
  %add = add nsw i32 %k.025, %mul
  %idxprom = sext i32 %add to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !9
  %mul4 = mul nuw nsw i32 %k.025, %n
  %add5 = add nsw i32 %mul4, %conv
  %idxprom6 = sext i32 %add5 to i64
  %arrayidx7 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom6
  %1 = load float, ptr addrspace(1) %arrayidx7, align 4, !tbaa !9
  %mul8 = fmul float %0, %1
  %add9 = fadd float %sum.024, %mul8
  %inc = add nuw nsw i32 %k.025, 1
  %cmp = icmp slt i32 %inc, %n
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @histogram(ptr addrspace(1) nocapture noundef readonly align 4 %values, ptr addrspace(1) noundef align 4 %counts) local_unnamed_addr #2 !kernel_arg_addr_space !18 !kernel_arg_access_qual !19 !kernel_arg_type !34 !kernel_arg_base_type !34 !kernel_arg_type_qual !21 !kernel_arg_name !35 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %0 = shl i64 %call, 32
  %idxprom = ashr exact i64 %0, 32
  %arrayidx = getelementptr inbounds [256 x i32], ptr addrspace(3) @histogram.own, i64 0, i64 %idxprom
  store i32 0, ptr addrspace(3) %arrayidx, align 4, !tbaa !32
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %call1 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #6
  %invariant.gep = getelementptr i32, ptr addrspace(1) %values, i64 %idxprom
  %.idx = shl i64 %call1, 14
  %1 = getelementptr i8, ptr addrspace(1) %invariant.gep, i64 %.idx
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %arrayidx12 = getelementptr inbounds i32, ptr addrspace(1) %counts, i64 %idxprom
  %2 = load i32, ptr addrspace(3) %arrayidx, align 4, !tbaa !32
  %call15 = tail call spir_func i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) noundef %arrayidx12, i32 noundef %2) #7
  ret void

for.body:                                         ; preds = %entry, %for.body
  %k.021 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %mul3 = shl nuw nsw i32 %k.021, 8
  %conv4 = zext nneg i32 %mul3 to i64
  %gep = getelementptr i32, ptr addrspace(1) %1, i64 %conv4
  %3 = load i32, ptr addrspace(1) %gep, align 4, !tbaa !32
  %and = and i32 %3, 255
  %idxprom8 = zext nneg i32 %and to i64
  %arrayidx9 = getelementptr inbounds [256 x i32], ptr addrspace(3) @histogram.own, i64 0, i64 %idxprom8
  %call10 = tail call spir_func i32 @_Z10atomic_incPU3AS3Vj(ptr addrspace(3) noundef %arrayidx9) #7
  %inc = add nuw nsw i32 %k.021, 1
  %cmp = icmp ult i32 %k.021, 15
  br i1 %cmp, label %for.body, label %for.cond.cleanup
}

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z10atomic_incPU3AS3Vj(ptr addrspace(3) noundef) local_unnamed_addr #3

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z10atomic_addPU3AS1Vjj(ptr addrspace(1) noundef, i32 noundef) local_unnamed_addr #3

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @transpose(ptr addrspace(1) nocapture noundef readonly align 4 %from, ptr addrspace(1) nocapture noundef writeonly align 4 %to, i32 noundef %n) local_unnamed_addr #2 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !36 !kernel_arg_base_type !36 !kernel_arg_type_qual !7 !kernel_arg_name !37 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %conv = trunc i64 %call to i32
  %call1 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 1) #6
  %conv2 = trunc i64 %call1 to i32
  %call3 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #6
  %call3.tr = trunc i64 %call3 to i32
  %conv4 = shl i32 %call3.tr, 4
  %call5 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 1) #6
  %call5.tr = trunc i64 %call5 to i32
  %conv7 = shl i32 %call5.tr, 4
  %add = add nsw i32 %conv7, %conv2
  %mul8 = mul nsw i32 %add, %n
  %add9 = add i32 %conv4, %conv
  %add10 = add i32 %add9, %mul8
  %idxprom = sext i32 %add10 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %from, i64 %idxprom
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !tbaa !9
  %idxprom11 = sext i32 %conv2 to i64
  %idxprom13 = sext i32 %conv to i64
  %arrayidx14 = getelementptr inbounds [16 x [17 x float]], ptr addrspace(3) @transpose.tile, i64 0, i64 %idxprom11, i64 %idxprom13
  store float %0, ptr addrspace(3) %arrayidx14, align 4, !tbaa !9
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %arrayidx18 = getelementptr inbounds [16 x [17 x float]], ptr addrspace(3) @transpose.tile, i64 0, i64 %idxprom13, i64 %idxprom11
  %1 = load float, ptr addrspace(3) %arrayidx18, align 4, !tbaa !9
  %add19 = add nsw i32 %conv4, %conv2
  %mul20 = mul nsw i32 %add19, %n
  %add21 = add i32 %conv7, %conv
  %add22 = add i32 %add21, %mul20
  %idxprom23 = sext i32 %add22 to i64
  %arrayidx24 = getelementptr inbounds float, ptr addrspace(1) %to, i64 %idxprom23
  store float %1, ptr addrspace(1) %arrayidx24, align 4, !tbaa !9
  ret void
}

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #3 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #4 = { convergent nofree norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #5 = { convergent nofree norecurse nounwind memory(argmem: write) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #6 = { convergent nounwind willreturn memory(none) }
attributes #7 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}
!llvm.ident = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 1, i32 2}
!3 = !{!"Debian clang version 19.1.7 (3~deb12u1)"}
!4 = !{i32 1, i32 1, i32 0}
!5 = !{!"none", !"none", !"none"}
!6 = !{!"float*", !"float*", !"float"}
!7 = !{!"const", !"", !""}
!8 = !{!"x", !"y", !"a"}
!9 = !{!10, !10, i64 0}
!10 = !{!"float", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C/C++ TBAA"}
!13 = !{i32 1, i32 1, i32 1, i32 0}
!14 = !{!"none", !"none", !"none", !"none"}
!15 = !{!"float*", !"float*", !"float*", !"int"}
!16 = !{!"const", !"const", !"", !""}
!17 = !{!"a", !"b", !"c", !"n"}
!18 = !{i32 1, i32 1}
!19 = !{!"none", !"none"}
!20 = !{!"float*", !"float*"}
!21 = !{!"const", !""}
!22 = !{!"in", !"partial"}
!23 = !{!"float4*", !"float4*", !"int"}
!24 = !{!"float __attribute__((ext_vector_type(4)))*", !"float __attribute__((ext_vector_type(4)))*", !"int"}
!25 = !{!"bodies", !"acceleration", !"n"}
!26 = !{!11, !11, i64 0}
!27 = !{i32 1, i32 0, i32 0, i32 0}
!28 = !{!"int*", !"int", !"int", !"int"}
!29 = !{!"", !"", !"", !""}
!30 = !{!"rounds", !"width", !"height", !"most"}
!31 = !{float 2.500000e+00}
!32 = !{!33, !33, i64 0}
!33 = !{!"int", !11, i64 0}
!34 = !{!"uint*", !"uint*"}
!35 = !{!"values", !"counts"}
!36 = !{!"float*", !"float*", !"int"}
!37 = !{!"from", !"to", !"n"}
