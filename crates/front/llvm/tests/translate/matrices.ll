; Matrices of Clang's extension.
target triple = "spir64-unknown-unknown"

define spir_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %stride) {
  %a = call <6 x float> @llvm.matrix.column.major.load.v6f32.i64(ptr addrspace(1) align 4 %in, i64 %stride, i1 false, i32 2, i32 3)
  %b = call <6 x float> @llvm.matrix.transpose.v6f32(<6 x float> %a, i32 2, i32 3)
  %c = call <4 x float> @llvm.matrix.multiply.v4f32.v6f32.v6f32(<6 x float> %a, <6 x float> %b, i32 2, i32 3, i32 2)
  call void @llvm.matrix.column.major.store.v4f32.i64(<4 x float> %c, ptr addrspace(1) align 4 %out, i64 2, i1 false, i32 2, i32 2)
  ret void
}

declare <6 x float> @llvm.matrix.column.major.load.v6f32.i64(ptr addrspace(1), i64, i1, i32, i32)
declare <6 x float> @llvm.matrix.transpose.v6f32(<6 x float>, i32, i32)
declare <4 x float> @llvm.matrix.multiply.v4f32.v6f32.v6f32(<6 x float>, <6 x float>, i32, i32, i32)
declare void @llvm.matrix.column.major.store.v4f32.i64(<4 x float>, ptr addrspace(1), i64, i1, i32, i32)
