//! Constants, and operations that move elements.

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
        define_operation(
            "stablehlo",
            &["bitcast_convert"],
            "",
            functional_format("%"),
        ),
    ),
    with_rule(
        "5 1",
        movement::dynamic_lists,
        define_operation("stablehlo", &["dynamic_pad"], "", functional_format("%*")),
    ),
    with_rule(
        "4 1",
        movement::dynamic_lists,
        define_operation(
            "stablehlo",
            &["real_dynamic_slice"],
            "",
            functional_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_reshape,
        define_operation(
            "stablehlo",
            &["dynamic_reshape"],
            "",
            functional_format("%, %"),
        ),
    ),
    with_rule(
        "2+ 1",
        movement::dynamic_update_slice,
        define_operation(
            "stablehlo",
            &["dynamic_update_slice"],
            "",
            functional_format("%*"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reshape,
        define_operation("stablehlo", &["reshape"], "", functional_format("%")),
    ),
    with_rule(
        "* 1",
        movement::verify_tuple,
        define_operation(
            "stablehlo",
            &["tuple"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Tuple),
        ),
    ),
    with_rule(
        "* *",
        elementwise::verify_optimization_barrier,
        define_operation(
            "stablehlo",
            &["optimization_barrier"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Pairwise),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            "stablehlo",
            &["constant"],
            "value:elements",
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    with_rule(
        "0 1",
        movement::verify_iota,
        define_operation(
            "stablehlo",
            &["iota"],
            "iota_dimension:i64",
            same_type_format("dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::dynamic_iota,
        define_operation(
            "stablehlo",
            &["dynamic_iota"],
            "iota_dimension:i64",
            functional_format("%, dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_broadcast,
        define_operation(
            "stablehlo",
            &["broadcast"],
            "broadcast_sizes:i64s",
            functional_format("%, sizes = <broadcast_sizes:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::broadcast_in_dim,
        define_operation(
            "stablehlo",
            &["broadcast_in_dim"],
            "broadcast_dimensions:i64s",
            functional_format("%, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_broadcast_in_dim,
        define_operation(
            "stablehlo",
            &["dynamic_broadcast_in_dim"],
            "broadcast_dimensions:i64s known_expanding_dimensions:i64s? \
         known_nonexpanding_dimensions:i64s?",
            functional_format("%, %, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_transpose,
        define_operation(
            "stablehlo",
            &["transpose"],
            "permutation:i64s",
            functional_format("%, dims = <permutation:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reverse,
        define_operation(
            "stablehlo",
            &["reverse"],
            "dimensions:i64s",
            same_type_format("%, dims = <dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::verify_concatenate,
        define_operation(
            "stablehlo",
            &["concatenate"],
            "dimension:i64",
            functional_format("%*, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_slice,
        define_operation(
            "stablehlo",
            &["slice"],
            "start_indices:i64s limit_indices:i64s strides:i64s",
            AssemblyFormat::Custom(custom::parse_slice),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::dynamic_slice,
        define_operation(
            "stablehlo",
            &["dynamic_slice"],
            "slice_sizes:i64s",
            functional_format("%*, sizes = <slice_sizes:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::verify_pad,
        define_operation(
            "stablehlo",
            &["pad"],
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
            "stablehlo",
            &["get_dimension_size"],
            "dimension:i64",
            functional_format("%, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::set_dimension_size,
        define_operation(
            "stablehlo",
            &["set_dimension_size"],
            "dimension:i64",
            functional_format("%, %, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_tuple_element,
        define_operation(
            "stablehlo",
            &["get_tuple_element"],
            "index:i32",
            functional_format("% [<index:i32>]"),
        ),
    ),
    with_rule(
        "2 1",
        indexing::verify_gather,
        define_operation(
            "stablehlo",
            &["gather"],
            "dimension_numbers:gather slice_sizes:i64s indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 1",
        indexing::verify_gather,
        define_operation(
            "stablehlo",
            &["dynamic_gather"],
            "dimension_numbers:gather indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3+ 1+ 1",
        indexing::verify_scatter,
        define_operation(
            "stablehlo",
            &["scatter"],
            "scatter_dimension_numbers:scatter indices_are_sorted:bool? unique_indices:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "2 1",
        define_operation(
            "stablehlo",
            &["torch_index_select"],
            "dim:i64 batch_dims:i64",
            AssemblyFormat::Generic,
        ),
    ),
];
