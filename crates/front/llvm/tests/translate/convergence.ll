; Tokens that say which calls are converged are of no use in SPIR-V; newer intrinsics on numbers.
target triple = "spir64-unknown-unknown"

define spir_kernel void @wait(i32 %n) convergent {
entry:
  %all = call token @llvm.experimental.convergence.entry()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %round = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %all) ]
  call spir_func void @_Z7barrierj(i32 1) [ "convergencectrl"(token %round) ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  call spir_func void @once() [ "convergencectrl"(token %all) ]
  ret void
}

define spir_func void @once() convergent {
  %here = call token @llvm.experimental.convergence.anchor()
  ret void
}

define spir_func { <2 x float>, <2 x float> } @both(<2 x float> %x) {
  %r = call { <2 x float>, <2 x float> } @llvm.sincospi.v2f32(<2 x float> %x)
  ret { <2 x float>, <2 x float> } %r
}

define spir_func half @down(float %x) {
  %r = call half @llvm.fptrunc.round.f16.f32(float %x, metadata !"round.downward")
  ret half %r
}

define spir_func i32 @mode() {
  %r = call i32 @llvm.get.rounding()
  ret i32 %r
}

declare spir_func void @_Z7barrierj(i32) convergent
declare token @llvm.experimental.convergence.entry() convergent
declare token @llvm.experimental.convergence.loop() convergent
declare token @llvm.experimental.convergence.anchor() convergent
declare { <2 x float>, <2 x float> } @llvm.sincospi.v2f32(<2 x float>)
declare half @llvm.fptrunc.round.f16.f32(float, metadata)
declare i32 @llvm.get.rounding()
