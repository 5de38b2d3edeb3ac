//! Operations between devices, and tokens.

use crate::dialect::operations::{Form, Operation, checked, counted, row, same};
use crate::verify::rules::window;

pub(super) const OPERATIONS: &[Operation] = &[
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
            Form::Generic,
        ),
    ),
    checked(
        "1+ 1+ 1",
        window::reduce_devices,
        row(
            "stablehlo",
            &["all_reduce"],
            "replica_groups:any channel_handle:channel_handle? use_global_device_ids:unit?",
            Form::Generic,
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
            Form::Generic,
        ),
    ),
    counted(
        "1+ 1+",
        row(
            "stablehlo",
            &["all_to_all"],
            "split_dimension:i64 concat_dimension:i64 split_count:i64 replica_groups:any \
         channel_handle:channel_handle?",
            Form::Generic,
        ),
    ),
    counted(
        "1 1",
        row(
            "stablehlo",
            &["collective_permute"],
            "source_target_pairs:elements channel_handle:channel_handle?",
            Form::Generic,
        ),
    ),
    row(
        "stablehlo",
        &["collective_broadcast", "cross-replica-sum"],
        "replica_groups:any channel_handle:channel_handle? has_dynamic_root:bool?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["infeed"],
        "infeed_config:string? layout:any?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["outfeed"],
        "outfeed_config:string?",
        Form::Generic,
    ),
    row(
        "stablehlo",
        &["send", "recv"],
        "channel_handle:channel_handle is_host_transfer:bool? source_target_pairs:any?",
        Form::Generic,
    ),
];
