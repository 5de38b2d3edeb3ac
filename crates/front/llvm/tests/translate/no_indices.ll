; Address computations without indices lead nowhere.
target triple = "spir64-unknown-unknown"

@table = addrspace(1) global [4 x i32] zeroinitializer
@first = addrspace(1) global ptr addrspace(1) getelementptr inbounds ([4 x i32], ptr addrspace(1) @table)

define spir_kernel void @walk(ptr addrspace(1) %out) {
  %same = getelementptr inbounds i32, ptr addrspace(1) %out
  store i32 1, ptr addrspace(1) %same, align 4
  %row = getelementptr [4 x i32], ptr addrspace(1) @table
  %last = getelementptr [4 x i32], ptr addrspace(1) %row, i64 0, i64 3
  store i32 2, ptr addrspace(1) %last, align 4
  ret void
}
