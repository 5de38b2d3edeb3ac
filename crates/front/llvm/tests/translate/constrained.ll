; Constrained floating point, and functions of a stated error.
target triple = "spir64-unknown-unknown"

define spir_func float @constrained(float %a, float %b, i32 %n, double %d) {
  %sum = call float @llvm.experimental.constrained.fadd.f32(float %a, float %b, metadata !"round.towardzero", metadata !"fpexcept.strict")
  %root = call float @llvm.experimental.constrained.sqrt.f32(float %sum, metadata !"round.dynamic", metadata !"fpexcept.ignore")
  %less = call i1 @llvm.experimental.constrained.fcmps.f32(float %root, float %a, metadata !"ult", metadata !"fpexcept.strict")
  %f = call float @llvm.experimental.constrained.sitofp.f32.i32(i32 %n, metadata !"round.upward", metadata !"fpexcept.ignore")
  %t = call float @llvm.experimental.constrained.fptrunc.f32.f64(double %d, metadata !"round.downward", metadata !"fpexcept.ignore")
  %w = call i32 @llvm.experimental.constrained.fptosi.i32.f32(float %t, metadata !"fpexcept.strict")
  %g = sitofp i32 %w to float
  %x = select i1 %less, float %f, float %g
  ret float %x
}

define spir_func float @stated(float %a, float %b) {
  %quotient = call float @llvm.fpbuiltin.fdiv.f32(float %a, float %b) #0
  %power = call float @llvm.fpbuiltin.pow.f32(float %quotient, float %b) #1
  ret float %power
}

declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
declare float @llvm.experimental.constrained.sqrt.f32(float, metadata, metadata)
declare i1 @llvm.experimental.constrained.fcmps.f32(float, float, metadata, metadata)
declare float @llvm.experimental.constrained.sitofp.f32.i32(i32, metadata, metadata)
declare float @llvm.experimental.constrained.fptrunc.f32.f64(double, metadata, metadata)
declare i32 @llvm.experimental.constrained.fptosi.i32.f32(float, metadata)
declare float @llvm.fpbuiltin.fdiv.f32(float, float)
declare float @llvm.fpbuiltin.pow.f32(float, float)

attributes #0 = { "fpbuiltin-max-error"="2.5" }
attributes #1 = { "fpbuiltin-max-error"="16.0" }
