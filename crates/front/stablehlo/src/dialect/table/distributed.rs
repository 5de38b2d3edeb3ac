//! Operations between devices, and tokens.

use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, same_type_format, with_rule, with_signature,
};
use crate::verify::rules::window;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "* 1",
        define_operation("stablehlo", &["after_all"], "", same_type_format("%*")),
    ),
    with_signature(
        "0 1",
        define_operation(
            "stablehlo",
            &["create_token", "partition_id", "replica_id"],
            "",
            same_type_format(""),
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            "stablehlo",
            &["all_gather"],
            "all_gather_dim:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        window::reduce_devices,
        define_operation(
            "stablehlo",
            &["all_reduce"],
            "replica_groups:any channel_handle:channel_handle? use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1 1 1",
        window::reduce_devices,
        define_operation(
            "stablehlo",
            &["reduce_scatter"],
            "scatter_dimension:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            "stablehlo",
            &["all_to_all"],
            "split_dimension:i64 concat_dimension:i64 split_count:i64 replica_groups:any \
         channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1 1",
        define_operation(
            "stablehlo",
            &["collective_permute"],
            "source_target_pairs:elements channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        "stablehlo",
        &["collective_broadcast", "cross-replica-sum"],
        "replica_groups:any channel_handle:channel_handle? has_dynamic_root:bool?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        "stablehlo",
        &["infeed"],
        "infeed_config:string? layout:any?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        "stablehlo",
        &["outfeed"],
        "outfeed_config:string?",
        AssemblyFormat::Generic,
    ),
    define_operation(
        "stablehlo",
        &["send", "recv"],
        "channel_handle:channel_handle is_host_transfer:bool? source_target_pairs:any?",
        AssemblyFormat::Generic,
    ),
];
