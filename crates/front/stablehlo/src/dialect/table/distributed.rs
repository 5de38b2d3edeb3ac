//! Table of operations between devices, and of tokens.

use crate::dialect::MlirOpcode;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, same_type_format, with_rule, with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::CollectivePermuteAttributes;
use crate::dialect::values::{ChannelHandle, StringValue, UnitAttribute};
use crate::mlir::MlirAttr;
use crate::verify::rules::{control, window};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "* 1",
        define_operation(&[MlirOpcode::AfterAll], &[], same_type_format("%*")),
    ),
    with_signature(
        "0 1",
        define_operation(
            &[
                MlirOpcode::CreateToken,
                MlirOpcode::PartitionId,
                MlirOpcode::ReplicaId,
            ],
            &[],
            same_type_format(""),
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            &[MlirOpcode::AllGather],
            define_attributes!(
                all_gather_dim: i64,
                replica_groups: MlirAttr,
                channel_handle: Option<ChannelHandle>,
                use_global_device_ids: Option<UnitAttribute>,
            ),
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        window::reduce_devices,
        define_operation(
            &[MlirOpcode::AllReduce],
            define_attributes!(
                replica_groups: MlirAttr,
                channel_handle: Option<ChannelHandle>,
                use_global_device_ids: Option<UnitAttribute>,
            ),
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1 1 1",
        window::reduce_devices,
        define_operation(
            &[MlirOpcode::ReduceScatter],
            define_attributes!(
                scatter_dimension: i64,
                replica_groups: MlirAttr,
                channel_handle: Option<ChannelHandle>,
                use_global_device_ids: Option<UnitAttribute>,
            ),
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1+ 1+",
        define_operation(
            &[MlirOpcode::AllToAll],
            define_attributes!(
                split_dimension: i64,
                concat_dimension: i64,
                split_count: i64,
                replica_groups: MlirAttr,
                channel_handle: Option<ChannelHandle>,
            ),
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "1 1",
        define_operation(
            &[MlirOpcode::CollectivePermute],
            CollectivePermuteAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        &[MlirOpcode::CollectiveBroadcast, MlirOpcode::CrossReplicaSum],
        define_attributes!(
            replica_groups: MlirAttr,
            channel_handle: Option<ChannelHandle>,
            has_dynamic_root: Option<bool>,
        ),
        AssemblyFormat::Generic,
    ),
    with_rule(
        "1+ 1 1",
        control::async_start,
        define_operation(&[MlirOpcode::AsyncStart], &[], AssemblyFormat::Generic),
    ),
    with_rule(
        "1 1",
        control::async_done,
        define_operation(&[MlirOpcode::AsyncDone], &[], AssemblyFormat::Generic),
    ),
    define_operation(
        &[MlirOpcode::Infeed],
        define_attributes!(
            infeed_config: Option<StringValue<'_>>,
            layout: Option<MlirAttr>,
        ),
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::Outfeed],
        define_attributes!(
            outfeed_config: Option<StringValue<'_>>,
        ),
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::Send, MlirOpcode::Recv],
        define_attributes!(
            channel_handle: ChannelHandle,
            is_host_transfer: Option<bool>,
            source_target_pairs: Option<MlirAttr>,
        ),
        AssemblyFormat::Generic,
    ),
];
