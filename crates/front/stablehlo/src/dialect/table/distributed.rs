//! Operations between devices, and tokens.

use crate::dialect::operations::{AssemblyFormat, OpDefinition, checked, counted, row, same};
use crate::verify::rules::window;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    counted("* 1", row("stablehlo", &["after_all"], "", same("%*"))),
    counted(
        "0 1",
        row(
            "stablehlo",
            &["create_token", "partition_id", "replica_id"],
            "",
            same(""),
        ),
    ),
    counted(
        "1+ 1+",
        row(
            "stablehlo",
            &["all_gather"],
            "all_gather_dim:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "1+ 1+ 1",
        window::reduce_devices,
        row(
            "stablehlo",
            &["all_reduce"],
            "replica_groups:any channel_handle:channel_handle? use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "1 1 1",
        window::reduce_devices,
        row(
            "stablehlo",
            &["reduce_scatter"],
            "scatter_dimension:i64 replica_groups:any channel_handle:channel_handle? \
         use_global_device_ids:unit?",
            AssemblyFormat::Generic,
        ),
    ),
    counted(
        "1+ 1+",
        row(
            "stablehlo",
            &["all_to_all"],
            "split_dimension:i64 concat_dimension:i64 split_count:i64 replica_groups:any \
         channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    counted(
        "1 1",
        row(
            "stablehlo",
            &["collective_permute"],
            "source_target_pairs:elements channel_handle:channel_handle?",
            AssemblyFormat::Generic,
        ),
    ),
    row(
        "stablehlo",
        &["collective_broadcast", "cross-replica-sum"],
        "replica_groups:any channel_handle:channel_handle? has_dynamic_root:bool?",
        AssemblyFormat::Generic,
    ),
    row(
        "stablehlo",
        &["infeed"],
        "infeed_config:string? layout:any?",
        AssemblyFormat::Generic,
    ),
    row(
        "stablehlo",
        &["outfeed"],
        "outfeed_config:string?",
        AssemblyFormat::Generic,
    ),
    row(
        "stablehlo",
        &["send", "recv"],
        "channel_handle:channel_handle is_host_transfer:bool? source_target_pairs:any?",
        AssemblyFormat::Generic,
    ),
];
