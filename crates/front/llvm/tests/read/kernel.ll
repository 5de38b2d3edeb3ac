; A small kernel as Clang 19 writes one, with most kinds of instructions.
source_filename = "kernel.ll"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

%pair = type { i32, float }
%list = type { ptr, [2 x %pair] }
%list.node = type <{ i8, i64 }>

@table = internal addrspace(2) constant [4 x i32] [i32 1, i32 -2, i32 3, i32 4], align 4
@text = private unnamed_addr addrspace(2) constant [6 x i8] c"a\22b\5C\0A\00", align 1
@zeros = addrspace(1) global [16 x %pair] zeroinitializer, align 4
@inside = addrspace(1) global ptr addrspace(2) getelementptr inbounds ([4 x i32], ptr addrspace(2) @table, i64 0, i64 2), align 8
@outside = external addrspace(1) global i128

define spir_kernel void @main(ptr addrspace(1) noundef align 4 captures(none) %out, i32 noundef %n, ptr byval(%pair) align 4 %by) #0 !kernel_arg_addr_space !1 {
entry:
  %slot = alloca [4 x i32], align 4
  %id = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #1
  %small = trunc nuw i64 %id to i32
  %inside = icmp samesign ult i32 %small, %n
  br i1 %inside, label %loop, label %done

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi fast float [ 0.000000e+00, %entry ], [ %more, %loop ]
  %wide = zext nneg i32 %i to i64
  %at = getelementptr inbounds nuw [4 x i32], ptr %slot, i64 0, i64 %wide
  store volatile i32 %i, ptr %at, align 4, !tbaa !2
  %float = uitofp i32 %i to float
  %more = fadd fast float %sum, %float
  %next = add nuw nsw i32 %i, 1
  %again = icmp ne i32 %next, 4
  br i1 %again, label %loop, label %vectors, !llvm.loop !5

vectors:                                          ; preds = %loop
  %v0 = insertelement <4 x float> poison, float %more, i64 0
  %v1 = shufflevector <4 x float> %v0, <4 x float> poison, <4 x i32> zeroinitializer
  %v2 = fmul contract <4 x float> %v1, splat (float 2.500000e+00)
  %v3 = shufflevector <4 x float> %v2, <4 x float> <float 1.0, float 0x7FF0000000000000, float -0.0, float 2.5e-1>, <2 x i32> <i32 5, i32 poison>
  %lane = extractelement <2 x float> %v3, i32 0
  %agg = insertvalue { i32, float } { i32 7, float undef }, float %lane, 1
  %part = extractvalue { i32, float } %agg, 1
  %pick = select i1 %inside, float %part, float 0x3FB99999A0000000
  %old = atomicrmw add ptr addrspace(1) %out, i32 1 syncscope("workgroup") monotonic, align 4
  %xchg = cmpxchg weak ptr addrspace(1) %out, i32 0, i32 1 acq_rel acquire, align 4
  fence syncscope("device") seq_cst
  %loaded = load atomic i32, ptr addrspace(1) %out syncscope("workgroup") acquire, align 4
  %frozen = freeze i32 %loaded
  %disjoint = or disjoint i32 %frozen, 8
  %division = udiv exact i32 %disjoint, 8
  %generic = addrspacecast ptr addrspace(1) %out to ptr addrspace(4)
  %bits = bitcast float %pick to i32
  %negative = fneg nnan float %pick
  switch i32 %division, label %done [
    i32 0, label %zero
    i32 -1, label %zero
  ]

zero:                                             ; preds = %vectors, %vectors
  call void @llvm.memcpy.p1.p2.i64(ptr addrspace(1) align 4 %out, ptr addrspace(2) align 4 @table, i64 16, i1 false)
  call void (ptr addrspace(2), ...) @printf(ptr addrspace(2) @text, i32 %bits) [ "deopt"(i32 %bits, float %negative) ]
  br label %done

done:                                             ; preds = %zero, %vectors, %entry
  ret void
}

declare spir_func i64 @_Z13get_global_idj(i32 noundef) #1

declare void @printf(ptr addrspace(2), ...)

declare void @llvm.memcpy.p1.p2.i64(ptr addrspace(1) noalias nocapture writeonly, ptr addrspace(2) noalias nocapture readonly, i64, i1 immarg)

attributes #0 = { convergent nounwind memory(read, argmem: readwrite) "uniform-work-group-size"="true" "empty" }
attributes #1 = { convergent nounwind willreturn memory(none) }

!opencl.ocl.version = !{!0}

!0 = !{i32 2, i32 0}
!1 = !{i32 1, i32 0, !"name"}
!2 = !{!3, !3, i64 0}
!3 = !{!"int", !4, i64 0}
!4 = !{!"omnipotent char", !7}
!5 = distinct !{!5, !6}
!6 = !{!"llvm.loop.unroll.disable"}
!7 = !{!"root"}
