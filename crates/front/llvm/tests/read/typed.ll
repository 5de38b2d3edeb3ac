; Typed pointers, as LLVM 14 writes them.
source_filename = "typed.ll"
target datalayout = "e-p:32:32-i64:64"
target triple = "spir-unknown-unknown"

%node = type { i32, %node* }
%opencl.image2d_ro_t = type opaque

@head = internal addrspace(1) global %node { i32 1, %node* null }, align 4

define spir_kernel void @walk(i32 addrspace(1)* nocapture %out, %opencl.image2d_ro_t addrspace(1)* %image, void (i32)* %f) #0 {
  %1 = alloca %node, align 4
  %2 = getelementptr inbounds %node, %node* %1, i32 0, i32 1
  store %node* %1, %node** %2, align 4
  %3 = load %node*, %node** %2, align 4
  %4 = bitcast %node* %3 to i8*
  call void @llvm.lifetime.start.p0i8(i64 8, i8* %4)
  call void %f(i32 3)
  %5 = addrspacecast i32 addrspace(1)* %out to i32 addrspace(4)*
  br label %6

6:                                                ; preds = %0
  store i32 1, i32 addrspace(4)* %5, align 4
  ret void
}

declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture)

attributes #0 = { argmemonly nounwind }
