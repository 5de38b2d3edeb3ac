//! Table of OpenCL's built-in functions except atomics: one row per name.
//!
//! Functions that are an extended instruction of the same name for all types need no row.

use super::{enqueue, image, memory, minifloats, numeric, subgroup, synchronisation};
use crate::translate::call_rules::{CallTranslateFn, GroupKind, OpenClBuiltinRule};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Scope};
use spirula_spirv::grammar::opencl_std as std_;

use BuiltIn as B;
use OpenClBuiltinRule::{By, Group, Instruction, Kinds, NonUniform, Relational, Signed, WorkItem};

const WORKGROUP: Option<Scope> = Some(Scope::Workgroup);
const SUBGROUP: Option<Scope> = Some(Scope::Subgroup);

/// The built-in functions that need a row.
pub(super) const ROWS: &[(&str, OpenClBuiltinRule)] = &[
    // Work items.
    ("get_work_dim", WorkItem(B::WorkDim, 1)),
    ("get_global_size", WorkItem(B::GlobalSize, 1)),
    ("get_global_id", WorkItem(B::GlobalInvocationId, 0)),
    ("get_local_size", WorkItem(B::WorkgroupSize, 1)),
    (
        "get_enqueued_local_size",
        WorkItem(B::EnqueuedWorkgroupSize, 1),
    ),
    ("get_local_id", WorkItem(B::LocalInvocationId, 0)),
    ("get_num_groups", WorkItem(B::NumWorkgroups, 1)),
    ("get_group_id", WorkItem(B::WorkgroupId, 0)),
    ("get_global_offset", WorkItem(B::GlobalOffset, 0)),
    ("get_global_linear_id", WorkItem(B::GlobalLinearId, 0)),
    ("get_local_linear_id", WorkItem(B::LocalInvocationIndex, 0)),
    ("get_sub_group_size", WorkItem(B::SubgroupSize, 0)),
    ("get_max_sub_group_size", WorkItem(B::SubgroupMaxSize, 0)),
    ("get_num_sub_groups", WorkItem(B::NumSubgroups, 0)),
    (
        "get_enqueued_num_sub_groups",
        WorkItem(B::NumEnqueuedSubgroups, 0),
    ),
    ("get_sub_group_id", WorkItem(B::SubgroupId, 0)),
    (
        "get_sub_group_local_id",
        WorkItem(B::SubgroupLocalInvocationId, 0),
    ),
    ("get_sub_group_eq_mask", WorkItem(B::SubgroupEqMask, 0)),
    ("get_sub_group_ge_mask", WorkItem(B::SubgroupGeMask, 0)),
    ("get_sub_group_gt_mask", WorkItem(B::SubgroupGtMask, 0)),
    ("get_sub_group_le_mask", WorkItem(B::SubgroupLeMask, 0)),
    ("get_sub_group_lt_mask", WorkItem(B::SubgroupLtMask, 0)),
    // Synchronisation and asynchronous copies.
    ("barrier", By(synchronisation::lower_work_group_barrier)),
    (
        "work_group_barrier",
        By(synchronisation::lower_work_group_barrier),
    ),
    (
        "intel_work_group_barrier_arrive",
        By(synchronisation::lower_barrier_arrive),
    ),
    (
        "intel_work_group_barrier_wait",
        By(synchronisation::lower_barrier_wait),
    ),
    (
        "sub_group_barrier",
        By(synchronisation::lower_sub_group_barrier),
    ),
    ("mem_fence", By(synchronisation::lower_mem_fence)),
    ("read_mem_fence", By(synchronisation::read_mem_fence)),
    ("write_mem_fence", By(synchronisation::write_mem_fence)),
    (
        "atomic_work_item_fence",
        By(synchronisation::lower_work_item_fence),
    ),
    (
        "async_work_group_copy",
        By(synchronisation::lower_async_copy),
    ),
    (
        "async_work_group_strided_copy",
        By(synchronisation::lower_async_strided_copy),
    ),
    (
        "wait_group_events",
        By(synchronisation::lower_wait_group_events),
    ),
    // Integers, common functions and geometry.
    ("abs", Signed(std_::S_ABS, std_::U_ABS)),
    ("abs_diff", Signed(std_::S_ABS_DIFF, std_::U_ABS_DIFF)),
    ("add_sat", Signed(std_::S_ADD_SAT, std_::U_ADD_SAT)),
    ("hadd", Signed(std_::S_HADD, std_::U_HADD)),
    ("rhadd", Signed(std_::S_RHADD, std_::U_RHADD)),
    ("mad_hi", Signed(std_::S_MAD_HI, std_::U_MAD_HI)),
    ("mad_sat", Signed(std_::S_MAD_SAT, std_::U_MAD_SAT)),
    ("mul_hi", Signed(std_::S_MUL_HI, std_::U_MUL_HI)),
    ("sub_sat", Signed(std_::S_SUB_SAT, std_::U_SUB_SAT)),
    ("mul24", Signed(std_::S_MUL24, std_::U_MUL24)),
    ("mad24", Signed(std_::S_MAD24, std_::U_MAD24)),
    ("upsample", Signed(std_::S_UPSAMPLE, std_::U_UPSAMPLE)),
    ("max", Kinds([std_::FMAX_COMMON, std_::S_MAX, std_::U_MAX])),
    ("min", Kinds([std_::FMIN_COMMON, std_::S_MIN, std_::U_MIN])),
    ("clamp", Kinds([std_::FCLAMP, std_::S_CLAMP, std_::U_CLAMP])),
    ("dot", By(numeric::lower_dot)),
    ("dot_acc_sat", By(numeric::lower_integer_dot)),
    (
        "clock_read_device",
        Instruction(Op::ReadClockKHR, Some(Scope::Device)),
    ),
    (
        "clock_read_work_group",
        Instruction(Op::ReadClockKHR, WORKGROUP),
    ),
    (
        "clock_read_sub_group",
        Instruction(Op::ReadClockKHR, SUBGROUP),
    ),
    (
        "clock_read_hilo_device",
        Instruction(Op::ReadClockKHR, Some(Scope::Device)),
    ),
    (
        "clock_read_hilo_work_group",
        Instruction(Op::ReadClockKHR, WORKGROUP),
    ),
    (
        "clock_read_hilo_sub_group",
        Instruction(Op::ReadClockKHR, SUBGROUP),
    ),
    ("bit_reverse", By(numeric::lower_bit_reverse)),
    ("bitfield_insert", By(numeric::lower_bit_insert)),
    (
        "bitfield_extract_signed",
        By(numeric::lower_signed_bit_extract),
    ),
    (
        "bitfield_extract_unsigned",
        By(numeric::lower_unsigned_bit_extract),
    ),
    // Relations.
    ("isequal", Relational(Op::FOrdEqual)),
    ("isnotequal", Relational(Op::FUnordNotEqual)),
    ("isgreater", Relational(Op::FOrdGreaterThan)),
    ("isgreaterequal", Relational(Op::FOrdGreaterThanEqual)),
    ("isless", Relational(Op::FOrdLessThan)),
    ("islessequal", Relational(Op::FOrdLessThanEqual)),
    ("islessgreater", Relational(Op::FOrdNotEqual)),
    ("isordered", Relational(Op::Ordered)),
    ("isunordered", Relational(Op::Unordered)),
    ("isnan", Relational(Op::IsNan)),
    ("isinf", Relational(Op::IsInf)),
    ("isfinite", Relational(Op::IsFinite)),
    ("isnormal", Relational(Op::IsNormal)),
    ("signbit", Relational(Op::SignBitSet)),
    ("any", By(numeric::lower_any)),
    ("all", By(numeric::lower_all)),
    // Groups.
    (
        "work_group_all",
        Group(GroupKind::Vote(Op::GroupAll), Scope::Workgroup),
    ),
    (
        "work_group_any",
        Group(GroupKind::Vote(Op::GroupAny), Scope::Workgroup),
    ),
    (
        "work_group_broadcast",
        Group(GroupKind::Broadcast, Scope::Workgroup),
    ),
    (
        "sub_group_all",
        Group(GroupKind::Vote(Op::GroupAll), Scope::Subgroup),
    ),
    (
        "sub_group_any",
        Group(GroupKind::Vote(Op::GroupAny), Scope::Subgroup),
    ),
    (
        "sub_group_broadcast",
        Group(GroupKind::Broadcast, Scope::Subgroup),
    ),
    ("sub_group_elect", NonUniform(Op::GroupNonUniformElect)),
    (
        "sub_group_non_uniform_all",
        NonUniform(Op::GroupNonUniformAll),
    ),
    (
        "sub_group_non_uniform_any",
        NonUniform(Op::GroupNonUniformAny),
    ),
    (
        "sub_group_non_uniform_broadcast",
        NonUniform(Op::GroupNonUniformBroadcast),
    ),
    (
        "sub_group_broadcast_first",
        NonUniform(Op::GroupNonUniformBroadcastFirst),
    ),
    (
        "sub_group_non_uniform_all_equal",
        By(subgroup::lower_all_equal),
    ),
    ("sub_group_rotate", NonUniform(Op::GroupNonUniformRotateKHR)),
    (
        "sub_group_clustered_rotate",
        NonUniform(Op::GroupNonUniformRotateKHR),
    ),
    (
        "intel_sub_group_shuffle",
        Instruction(Op::SubgroupShuffleINTEL, None),
    ),
    (
        "intel_sub_group_shuffle_down",
        Instruction(Op::SubgroupShuffleDownINTEL, None),
    ),
    (
        "intel_sub_group_shuffle_up",
        Instruction(Op::SubgroupShuffleUpINTEL, None),
    ),
    (
        "intel_sub_group_shuffle_xor",
        Instruction(Op::SubgroupShuffleXorINTEL, None),
    ),
    ("sub_group_ballot", NonUniform(Op::GroupNonUniformBallot)),
    (
        "sub_group_inverse_ballot",
        NonUniform(Op::GroupNonUniformInverseBallot),
    ),
    ("sub_group_shuffle", NonUniform(Op::GroupNonUniformShuffle)),
    (
        "sub_group_shuffle_xor",
        NonUniform(Op::GroupNonUniformShuffleXor),
    ),
    (
        "sub_group_shuffle_up",
        NonUniform(Op::GroupNonUniformShuffleUp),
    ),
    (
        "sub_group_shuffle_down",
        NonUniform(Op::GroupNonUniformShuffleDown),
    ),
    // Memory.
    ("printf", By(memory::lower_printf)),
    ("__to_global", By(memory::to_space)),
    ("__to_local", By(memory::to_space)),
    ("__to_private", By(memory::to_space)),
    ("to_global", By(memory::to_space)),
    ("to_local", By(memory::to_space)),
    ("to_private", By(memory::to_space)),
    ("get_fence", By(memory::fence_of)),
    // Images and samplers.
    ("read_imagef", By(image::lower_read_image)),
    ("read_imagei", By(image::lower_read_image)),
    ("read_imageui", By(image::lower_read_image)),
    ("read_imageh", By(image::lower_read_image)),
    ("write_imagef", By(image::lower_write_image)),
    ("write_imagei", By(image::lower_write_image)),
    ("write_imageui", By(image::lower_write_image)),
    ("write_imageh", By(image::lower_write_image)),
    ("get_image_width", By(image::lower_image_width)),
    ("get_image_height", By(image::lower_image_height)),
    ("get_image_depth", By(image::lower_image_depth)),
    ("get_image_dim", By(image::lower_image_dimensions)),
    ("get_image_array_size", By(image::lower_array_size)),
    ("get_image_channel_data_type", By(image::lower_channel_type)),
    ("get_image_channel_order", By(image::lower_channel_order)),
    (
        "get_image_num_mip_levels",
        By(image::lower_image_mip_levels),
    ),
    ("get_image_num_samples", By(image::lower_image_samples)),
    (
        "__translate_sampler_initializer",
        By(image::literal_sampler),
    ),
    // Pipes.
    ("__read_pipe_2", Instruction(Op::ReadPipe, None)),
    ("__read_pipe_4", Instruction(Op::ReservedReadPipe, None)),
    ("__write_pipe_2", Instruction(Op::WritePipe, None)),
    ("__write_pipe_4", Instruction(Op::ReservedWritePipe, None)),
    (
        "__reserve_read_pipe",
        Instruction(Op::ReserveReadPipePackets, None),
    ),
    (
        "__reserve_write_pipe",
        Instruction(Op::ReserveWritePipePackets, None),
    ),
    ("__commit_read_pipe", Instruction(Op::CommitReadPipe, None)),
    (
        "__commit_write_pipe",
        Instruction(Op::CommitWritePipe, None),
    ),
    (
        "__work_group_reserve_read_pipe",
        Instruction(Op::GroupReserveReadPipePackets, WORKGROUP),
    ),
    (
        "__work_group_reserve_write_pipe",
        Instruction(Op::GroupReserveWritePipePackets, WORKGROUP),
    ),
    (
        "__work_group_commit_read_pipe",
        Instruction(Op::GroupCommitReadPipe, WORKGROUP),
    ),
    (
        "__work_group_commit_write_pipe",
        Instruction(Op::GroupCommitWritePipe, WORKGROUP),
    ),
    (
        "__sub_group_reserve_read_pipe",
        Instruction(Op::GroupReserveReadPipePackets, SUBGROUP),
    ),
    (
        "__sub_group_reserve_write_pipe",
        Instruction(Op::GroupReserveWritePipePackets, SUBGROUP),
    ),
    (
        "__sub_group_commit_read_pipe",
        Instruction(Op::GroupCommitReadPipe, SUBGROUP),
    ),
    (
        "__sub_group_commit_write_pipe",
        Instruction(Op::GroupCommitWritePipe, SUBGROUP),
    ),
    (
        "__get_pipe_num_packets_ro",
        Instruction(Op::GetNumPipePackets, None),
    ),
    (
        "__get_pipe_num_packets_wo",
        Instruction(Op::GetNumPipePackets, None),
    ),
    (
        "__get_pipe_max_packets_ro",
        Instruction(Op::GetMaxPipePackets, None),
    ),
    (
        "__get_pipe_max_packets_wo",
        Instruction(Op::GetMaxPipePackets, None),
    ),
    (
        "is_valid_reserve_id",
        Instruction(Op::IsValidReserveId, None),
    ),
    // Device-side queues.
    ("__enqueue_kernel_basic", By(enqueue::lower_enqueue_basic)),
    ("__enqueue_kernel_basic_events", By(enqueue::with_events)),
    ("__enqueue_kernel_varargs", By(enqueue::with_sizes)),
    ("__enqueue_kernel_events_varargs", By(enqueue::with_both)),
    (
        "__get_kernel_work_group_size_impl",
        By(enqueue::query_work_group_size),
    ),
    (
        "__get_kernel_preferred_work_group_size_multiple_impl",
        By(enqueue::lower_enqueue_multiple),
    ),
    (
        "__get_kernel_sub_group_count_for_ndrange_impl",
        By(enqueue::query_sub_group_count),
    ),
    (
        "__get_kernel_max_sub_group_size_for_ndrange_impl",
        By(enqueue::query_sub_group_size),
    ),
    ("enqueue_marker", Instruction(Op::EnqueueMarker, None)),
    ("get_default_queue", Instruction(Op::GetDefaultQueue, None)),
    ("ndrange_1D", By(enqueue::lower_ndrange)),
    ("ndrange_2D", By(enqueue::lower_ndrange)),
    ("ndrange_3D", By(enqueue::lower_ndrange)),
    ("create_user_event", Instruction(Op::CreateUserEvent, None)),
    ("retain_event", Instruction(Op::RetainEvent, None)),
    ("release_event", Instruction(Op::ReleaseEvent, None)),
    (
        "set_user_event_status",
        Instruction(Op::SetUserEventStatus, None),
    ),
    ("is_valid_event", Instruction(Op::IsValidEvent, None)),
    (
        "capture_event_profiling_info",
        Instruction(Op::CaptureEventProfilingInfo, None),
    ),
];

/// Prefixes of families of names that are composed of parts.
pub(super) const FAMILIES: &[(&str, CallTranslateFn)] = &[
    ("convert_", numeric::lower_convert),
    ("vload", memory::lower_vector_load),
    ("vstore", memory::lower_vector_store),
    ("sub_group_non_uniform_reduce_", subgroup::lower_reduction),
    ("sub_group_non_uniform_scan_", subgroup::lower_reduction),
    ("sub_group_clustered_reduce_", subgroup::lower_reduction),
    ("sub_group_reduce_", subgroup::lower_reduction),
    ("sub_group_scan_", subgroup::lower_reduction),
    ("work_group_reduce_", subgroup::lower_reduction),
    ("work_group_scan_", subgroup::lower_reduction),
    ("sub_group_ballot_", subgroup::lower_ballot_operation),
    ("intel_sub_group_block_read", subgroup::lower_block_read),
    ("intel_sub_group_block_write", subgroup::lower_block_write),
    (
        "intel_sub_group_media_block_read",
        subgroup::lower_media_read,
    ),
    (
        "intel_sub_group_media_block_write",
        subgroup::lower_media_write,
    ),
    ("dot_4x8packed_", numeric::lower_packed_dot),
    ("dot_acc_sat_4x8packed_", numeric::lower_packed_dot),
    (
        "intel_round_as_tensor_float32",
        subgroup::lower_tensor_float,
    ),
    ("intel_convert_bfloat16", subgroup::lower_bfloat_bits),
    ("intel_convert_as_bfloat16", subgroup::lower_bfloat_bits),
    (
        "__builtin_spirv_Convert",
        minifloats::lower_minifloat_conversion,
    ),
];
