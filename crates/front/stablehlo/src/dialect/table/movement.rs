//! Table of constants, and of operations that move elements.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    same_type_format, with_rule, with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::{
    BroadcastAttributes, BroadcastInDimAttributes, ConcatenateAttributes, ConstantAttributes,
    DimensionSizeAttributes, DynamicBroadcastInDimAttributes, DynamicGatherAttributes,
    DynamicSliceAttributes, GatherAttributes, GetTupleElementAttributes, IotaAttributes,
    PadAttributes, ReverseAttributes, ScatterAttributes, SliceAttributes, TransposeAttributes,
};
use crate::verify::rules::{elementwise, indexing, movement};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_rule(
        "1 1",
        elementwise::bitcast_convert,
        define_operation(&[MlirOpcode::BitcastConvert], &[], functional_format("%")),
    ),
    with_rule(
        "5 1",
        movement::dynamic_lists,
        define_operation(&[MlirOpcode::DynamicPad], &[], functional_format("%*")),
    ),
    with_rule(
        "4 1",
        movement::dynamic_lists,
        define_operation(
            &[MlirOpcode::RealDynamicSlice],
            &[],
            functional_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_reshape,
        define_operation(
            &[MlirOpcode::DynamicReshape],
            &[],
            functional_format("%, %"),
        ),
    ),
    with_rule(
        "2+ 1",
        movement::dynamic_update_slice,
        define_operation(
            &[MlirOpcode::DynamicUpdateSlice],
            &[],
            functional_format("%*"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reshape,
        define_operation(&[MlirOpcode::Reshape], &[], functional_format("%")),
    ),
    with_rule(
        "* 1",
        movement::verify_tuple,
        define_operation(
            &[MlirOpcode::Tuple],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Tuple),
        ),
    ),
    with_rule(
        "* *",
        elementwise::verify_optimization_barrier,
        define_operation(
            &[MlirOpcode::OptimizationBarrier],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Pairwise),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            &[MlirOpcode::Constant],
            ConstantAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    with_rule(
        "0 1",
        movement::verify_iota,
        define_operation(
            &[MlirOpcode::Iota],
            IotaAttributes::DEFINITIONS,
            same_type_format("dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::dynamic_iota,
        define_operation(
            &[MlirOpcode::DynamicIota],
            IotaAttributes::DEFINITIONS,
            functional_format("%, dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_broadcast,
        define_operation(
            &[MlirOpcode::Broadcast],
            BroadcastAttributes::DEFINITIONS,
            functional_format("%, sizes = <broadcast_sizes:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::broadcast_in_dim,
        define_operation(
            &[MlirOpcode::BroadcastInDim],
            BroadcastInDimAttributes::DEFINITIONS,
            functional_format("%, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_broadcast_in_dim,
        define_operation(
            &[MlirOpcode::DynamicBroadcastInDim],
            DynamicBroadcastInDimAttributes::DEFINITIONS,
            functional_format("%, %, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_transpose,
        define_operation(
            &[MlirOpcode::Transpose],
            TransposeAttributes::DEFINITIONS,
            functional_format("%, dims = <permutation:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reverse,
        define_operation(
            &[MlirOpcode::Reverse],
            ReverseAttributes::DEFINITIONS,
            same_type_format("%, dims = <dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::verify_concatenate,
        define_operation(
            &[MlirOpcode::Concatenate],
            ConcatenateAttributes::DEFINITIONS,
            functional_format("%*, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_slice,
        define_operation(
            &[MlirOpcode::Slice],
            SliceAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_slice),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::dynamic_slice,
        define_operation(
            &[MlirOpcode::DynamicSlice],
            DynamicSliceAttributes::DEFINITIONS,
            functional_format("%*, sizes = <slice_sizes:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::verify_pad,
        define_operation(
            &[MlirOpcode::Pad],
            PadAttributes::DEFINITIONS,
            functional_format(
                "%, %, low = <edge_padding_low:i64s>, high = <edge_padding_high:i64s>, \
             interior = <interior_padding:i64s>",
            ),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_dimension_size,
        define_operation(
            &[MlirOpcode::GetDimensionSize],
            DimensionSizeAttributes::DEFINITIONS,
            functional_format("%, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::set_dimension_size,
        define_operation(
            &[MlirOpcode::SetDimensionSize],
            DimensionSizeAttributes::DEFINITIONS,
            functional_format("%, %, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_tuple_element,
        define_operation(
            &[MlirOpcode::GetTupleElement],
            GetTupleElementAttributes::DEFINITIONS,
            functional_format("% [<index:i32>]"),
        ),
    ),
    with_rule(
        "2 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::Gather],
            GatherAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::DynamicGather],
            DynamicGatherAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3+ 1+ 1",
        indexing::verify_scatter,
        define_operation(
            &[MlirOpcode::Scatter],
            ScatterAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "2 1",
        define_operation(
            &[MlirOpcode::TorchIndexSelect],
            define_attributes!(
                dim: i64,
                batch_dims: i64,
            ),
            AssemblyFormat::Generic,
        ),
    ),
];
