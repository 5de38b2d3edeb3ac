; What stops at the ends of its type, and what rounds or gives two results.
target triple = "spir64-unknown-unknown"

define spir_func i12 @narrow(i12 %a, i12 %b, float %f) {
  %sum = call i12 @llvm.sadd.sat.i12(i12 %a, i12 %b)
  %difference = call i12 @llvm.usub.sat.i12(i12 %sum, i12 %b)
  %whole = call i12 @llvm.fptosi.sat.i12.f32(float %f)
  %all = xor i12 %difference, %whole
  ret i12 %all
}

define spir_func i32 @shifts(i32 %a, i32 %b) {
  %u = call i32 @llvm.ushl.sat.i32(i32 %a, i32 %b)
  %s = call i32 @llvm.sshl.sat.i32(i32 %u, i32 %b)
  ret i32 %s
}

define spir_func i64 @floats(double %x, float %y) {
  %parts = call { double, double } @llvm.modf.f64(double %x)
  %fraction = extractvalue { double, double } %parts, 0
  %both = call { double, double } @llvm.sincos.f64(double %fraction)
  %cosine = extractvalue { double, double } %both, 1
  %scaled = call { float, i32 } @llvm.frexp.f32.i32(float %y)
  %exponent = extractvalue { float, i32 } %scaled, 1
  %near = call i64 @llvm.llround.i64.f64(double %cosine)
  %even = call i64 @llvm.lrint.i64.f64(double %cosine)
  %wide = sext i32 %exponent to i64
  %a = add i64 %near, %even
  %b = add i64 %a, %wide
  ret i64 %b
}

declare i12 @llvm.sadd.sat.i12(i12, i12)
declare i12 @llvm.usub.sat.i12(i12, i12)
declare i12 @llvm.fptosi.sat.i12.f32(float)
declare i32 @llvm.ushl.sat.i32(i32, i32)
declare i32 @llvm.sshl.sat.i32(i32, i32)
declare { double, double } @llvm.modf.f64(double)
declare { double, double } @llvm.sincos.f64(double)
declare { float, i32 } @llvm.frexp.f32.i32(float)
declare i64 @llvm.llround.i64.f64(double)
declare i64 @llvm.lrint.i64.f64(double)
