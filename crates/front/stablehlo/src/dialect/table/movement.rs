//! Constants, and operations that move elements.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    same_type_format, with_rule, with_signature,
};
use crate::verify::rules::{elementwise, indexing, movement};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_rule(
        "1 1",
        elementwise::bitcast_convert,
        define_operation(&[MlirOpcode::BitcastConvert], "", functional_format("%")),
    ),
    with_rule(
        "5 1",
        movement::dynamic_lists,
        define_operation(&[MlirOpcode::DynamicPad], "", functional_format("%*")),
    ),
    with_rule(
        "4 1",
        movement::dynamic_lists,
        define_operation(&[MlirOpcode::RealDynamicSlice], "", functional_format("%*")),
    ),
    with_rule(
        "2 1",
        movement::dynamic_reshape,
        define_operation(&[MlirOpcode::DynamicReshape], "", functional_format("%, %")),
    ),
    with_rule(
        "2+ 1",
        movement::dynamic_update_slice,
        define_operation(
            &[MlirOpcode::DynamicUpdateSlice],
            "",
            functional_format("%*"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reshape,
        define_operation(&[MlirOpcode::Reshape], "", functional_format("%")),
    ),
    with_rule(
        "* 1",
        movement::verify_tuple,
        define_operation(
            &[MlirOpcode::Tuple],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Tuple),
        ),
    ),
    with_rule(
        "* *",
        elementwise::verify_optimization_barrier,
        define_operation(
            &[MlirOpcode::OptimizationBarrier],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Pairwise),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            &[MlirOpcode::Constant],
            "value:elements",
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    with_rule(
        "0 1",
        movement::verify_iota,
        define_operation(
            &[MlirOpcode::Iota],
            "iota_dimension:i64",
            same_type_format("dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::dynamic_iota,
        define_operation(
            &[MlirOpcode::DynamicIota],
            "iota_dimension:i64",
            functional_format("%, dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_broadcast,
        define_operation(
            &[MlirOpcode::Broadcast],
            "broadcast_sizes:i64s",
            functional_format("%, sizes = <broadcast_sizes:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::broadcast_in_dim,
        define_operation(
            &[MlirOpcode::BroadcastInDim],
            "broadcast_dimensions:i64s",
            functional_format("%, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_broadcast_in_dim,
        define_operation(
            &[MlirOpcode::DynamicBroadcastInDim],
            "broadcast_dimensions:i64s known_expanding_dimensions:i64s? \
         known_nonexpanding_dimensions:i64s?",
            functional_format("%, %, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_transpose,
        define_operation(
            &[MlirOpcode::Transpose],
            "permutation:i64s",
            functional_format("%, dims = <permutation:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reverse,
        define_operation(
            &[MlirOpcode::Reverse],
            "dimensions:i64s",
            same_type_format("%, dims = <dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::verify_concatenate,
        define_operation(
            &[MlirOpcode::Concatenate],
            "dimension:i64",
            functional_format("%*, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_slice,
        define_operation(
            &[MlirOpcode::Slice],
            "start_indices:i64s limit_indices:i64s strides:i64s",
            AssemblyFormat::Custom(custom::parse_slice),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::dynamic_slice,
        define_operation(
            &[MlirOpcode::DynamicSlice],
            "slice_sizes:i64s",
            functional_format("%*, sizes = <slice_sizes:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::verify_pad,
        define_operation(
            &[MlirOpcode::Pad],
            "edge_padding_low:i64s edge_padding_high:i64s interior_padding:i64s",
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
            "dimension:i64",
            functional_format("%, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::set_dimension_size,
        define_operation(
            &[MlirOpcode::SetDimensionSize],
            "dimension:i64",
            functional_format("%, %, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_tuple_element,
        define_operation(
            &[MlirOpcode::GetTupleElement],
            "index:i32",
            functional_format("% [<index:i32>]"),
        ),
    ),
    with_rule(
        "2 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::Gather],
            "dimension_numbers:gather slice_sizes:i64s indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::DynamicGather],
            "dimension_numbers:gather indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3+ 1+ 1",
        indexing::verify_scatter,
        define_operation(
            &[MlirOpcode::Scatter],
            "scatter_dimension_numbers:scatter indices_are_sorted:bool? unique_indices:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "2 1",
        define_operation(
            &[MlirOpcode::TorchIndexSelect],
            "dim:i64 batch_dims:i64",
            AssemblyFormat::Generic,
        ),
    ),
];
