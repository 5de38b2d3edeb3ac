; Pipes, and blocks that are enqueued.
target triple = "spir64-unknown-unknown"

%struct.ndrange_t = type { i32, [3 x i64], [3 x i64], [3 x i64] }

@literal = internal addrspace(1) constant { i32, i32, ptr addrspace(4) } { i32 16, i32 8, ptr addrspace(4) addrspacecast (ptr @invoke to ptr addrspace(4)) }, align 8

define spir_kernel void @pipes(target("spirv.Pipe", 0) %in, target("spirv.Pipe", 1) %out, ptr addrspace(4) %p) {
  %r = call spir_func target("spirv.ReserveId") @__reserve_read_pipe(target("spirv.Pipe", 0) %in, i32 1, i32 4, i32 4)
  %ok = call spir_func i1 @_Z19is_valid_reserve_id13ocl_reserveid(target("spirv.ReserveId") %r)
  %a = call spir_func i32 @__read_pipe_4(target("spirv.Pipe", 0) %in, target("spirv.ReserveId") %r, i32 0, ptr addrspace(4) %p, i32 4, i32 4)
  call spir_func void @__commit_read_pipe(target("spirv.Pipe", 0) %in, target("spirv.ReserveId") %r, i32 4, i32 4)
  %b = call spir_func i32 @__write_pipe_2(target("spirv.Pipe", 1) %out, ptr addrspace(4) %p, i32 4, i32 4)
  %g = call spir_func target("spirv.ReserveId") @__work_group_reserve_write_pipe(target("spirv.Pipe", 1) %out, i32 1, i32 4, i32 4)
  call spir_func void @__work_group_commit_write_pipe(target("spirv.Pipe", 1) %out, target("spirv.ReserveId") %g, i32 4, i32 4)
  %n = call spir_func i32 @__get_pipe_num_packets_ro(target("spirv.Pipe", 0) %in, i32 4, i32 4)
  ret void
}

define spir_kernel void @parent(ptr addrspace(1) %sizes) {
  %range = alloca %struct.ndrange_t, align 8
  %lengths = alloca [1 x i64], align 8
  %wait = alloca target("spirv.DeviceEvent"), align 8
  %queue = call spir_func target("spirv.Queue") @_Z17get_default_queuev()
  call spir_func void @_Z10ndrange_1Dm(ptr sret(%struct.ndrange_t) %range, i64 64)
  %a = call spir_func i32 @__enqueue_kernel_basic(target("spirv.Queue") %queue, i32 0, ptr byval(%struct.ndrange_t) %range, ptr addrspace(4) addrspacecast (ptr @kernel to ptr addrspace(4)), ptr addrspace(4) addrspacecast (ptr addrspace(1) @literal to ptr addrspace(4)))
  %event = addrspacecast ptr %wait to ptr addrspace(4)
  %b = call spir_func i32 @__enqueue_kernel_events_varargs(target("spirv.Queue") %queue, i32 0, ptr %range, i32 1, ptr addrspace(4) %event, ptr addrspace(4) null, ptr addrspace(4) addrspacecast (ptr @kernel to ptr addrspace(4)), ptr addrspace(4) addrspacecast (ptr addrspace(1) @literal to ptr addrspace(4)), i32 1, ptr %lengths)
  %size = call spir_func i32 @__get_kernel_work_group_size_impl(ptr addrspace(4) addrspacecast (ptr @kernel to ptr addrspace(4)), ptr addrspace(4) addrspacecast (ptr addrspace(1) @literal to ptr addrspace(4)))
  ret void
}

define internal spir_func void @invoke(ptr addrspace(4) %block) {
  ret void
}

define spir_kernel void @kernel(ptr addrspace(4) %block) {
  call spir_func void @invoke(ptr addrspace(4) %block)
  ret void
}

declare spir_func target("spirv.Queue") @_Z17get_default_queuev()
declare spir_func void @_Z10ndrange_1Dm(ptr sret(%struct.ndrange_t), i64)
declare spir_func i32 @__enqueue_kernel_basic(target("spirv.Queue"), i32, ptr, ptr addrspace(4), ptr addrspace(4))
declare spir_func i32 @__enqueue_kernel_events_varargs(target("spirv.Queue"), i32, ptr, i32, ptr addrspace(4), ptr addrspace(4), ptr addrspace(4), ptr addrspace(4), i32, ptr)
declare spir_func i32 @__get_kernel_work_group_size_impl(ptr addrspace(4), ptr addrspace(4))
declare spir_func target("spirv.ReserveId") @__reserve_read_pipe(target("spirv.Pipe", 0), i32, i32, i32)
declare spir_func i1 @_Z19is_valid_reserve_id13ocl_reserveid(target("spirv.ReserveId"))
declare spir_func i32 @__read_pipe_4(target("spirv.Pipe", 0), target("spirv.ReserveId"), i32, ptr addrspace(4), i32, i32)
declare spir_func void @__commit_read_pipe(target("spirv.Pipe", 0), target("spirv.ReserveId"), i32, i32)
declare spir_func i32 @__write_pipe_2(target("spirv.Pipe", 1), ptr addrspace(4), i32, i32)
declare spir_func target("spirv.ReserveId") @__work_group_reserve_write_pipe(target("spirv.Pipe", 1), i32, i32, i32)
declare spir_func void @__work_group_commit_write_pipe(target("spirv.Pipe", 1), target("spirv.ReserveId"), i32, i32)
declare spir_func i32 @__get_pipe_num_packets_ro(target("spirv.Pipe", 0), i32, i32)
