//! Operations between devices, and tokens.

use crate::dialect::MlirOpcode;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, same_type_format, with_rule, with_signature,
};
use crate::verify::rules::window;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "* 1",
        define_operation(&[MlirOpcode::AfterAll], "", same_type_format("%*")),
    ),
    with_signature(
        "0 1",
        define_operation(
            &[
                MlirOpcode::CreateToken,
                MlirOpcode::PartitionId,
                MlirOpcode::ReplicaId,
            ],
            "",
            same_type_format(""),
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            &[MlirOpcode::AllGather],
            "all_gather_dim:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        window::reduce_devices,
        define_operation(
            &[MlirOpcode::AllReduce],
            "replica_groups:any channel_handle:channel_handle? use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1 1 1",
        window::reduce_devices,
        define_operation(
            &[MlirOpcode::ReduceScatter],
            "scatter_dimension:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            &[MlirOpcode::AllToAll],
            "split_dimension:i64 concat_dimension:i64 split_count:i64 replica_groups:any \
         channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1 1",
        define_operation(
            &[MlirOpcode::CollectivePermute],
            "source_target_pairs:elements channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        &[MlirOpcode::CollectiveBroadcast, MlirOpcode::CrossReplicaSum],
        "replica_groups:any channel_handle:channel_handle? has_dynamic_root:bool?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::Infeed],
        "infeed_config:string? layout:any?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::Outfeed],
        "outfeed_config:string?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::Send, MlirOpcode::Recv],
        "channel_handle:channel_handle is_host_transfer:bool? source_target_pairs:any?",
        AssemblyFormat::Generic,
    ),
];
