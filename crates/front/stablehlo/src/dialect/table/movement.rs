//! Constants, and operations that move elements.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, checked, counted, functional, row, same,
};
use crate::verify::rules::{elementwise, indexing, movement};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    checked(
        "1 1",
        elementwise::bitcast_convert,
        row("stablehlo", &["bitcast_convert"], "", functional("%")),
    ),
    checked(
        "5 1",
        movement::dynamic_lists,
        row("stablehlo", &["dynamic_pad"], "", functional("%*")),
    ),
    checked(
        "4 1",
        movement::dynamic_lists,
        row("stablehlo", &["real_dynamic_slice"], "", functional("%*")),
    ),
    checked(
        "2 1",
        movement::dynamic_reshape,
        row("stablehlo", &["dynamic_reshape"], "", functional("%, %")),
    ),
    checked(
        "2+ 1",
        movement::dynamic_update_slice,
        row("stablehlo", &["dynamic_update_slice"], "", functional("%*")),
    ),
    checked(
        "1 1",
        movement::reshape,
        row("stablehlo", &["reshape"], "", functional("%")),
    ),
    checked(
        "* 1",
        movement::tuple,
        row(
            "stablehlo",
            &["tuple"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Tuple),
        ),
    ),
    checked(
        "* *",
        elementwise::barrier,
        row(
            "stablehlo",
            &["optimization_barrier"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Pairwise),
        ),
    ),
    checked(
        "0 1",
        elementwise::constant,
        row(
            "stablehlo",
            &["constant"],
            "value:elements",
            AssemblyFormat::Custom(custom::constant),
        ),
    ),
    checked(
        "0 1",
        movement::iota,
        row(
            "stablehlo",
            &["iota"],
            "iota_dimension:i64",
            same("dim = <iota_dimension:i64>"),
        ),
    ),
    checked(
        "1 1",
        movement::dynamic_iota,
        row(
            "stablehlo",
            &["dynamic_iota"],
            "iota_dimension:i64",
            functional("%, dim = <iota_dimension:i64>"),
        ),
    ),
    checked(
        "1 1",
        movement::broadcast,
        row(
            "stablehlo",
            &["broadcast"],
            "broadcast_sizes:i64s",
            functional("%, sizes = <broadcast_sizes:i64s>"),
        ),
    ),
    checked(
        "1 1",
        movement::broadcast_in_dim,
        row(
            "stablehlo",
            &["broadcast_in_dim"],
            "broadcast_dimensions:i64s",
            functional("%, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    checked(
        "2 1",
        movement::dynamic_broadcast_in_dim,
        row(
            "stablehlo",
            &["dynamic_broadcast_in_dim"],
            "broadcast_dimensions:i64s known_expanding_dimensions:i64s? \
         known_nonexpanding_dimensions:i64s?",
            functional("%, %, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    checked(
        "1 1",
        movement::transpose,
        row(
            "stablehlo",
            &["transpose"],
            "permutation:i64s",
            functional("%, dims = <permutation:i64s>"),
        ),
    ),
    checked(
        "1 1",
        movement::reverse,
        row(
            "stablehlo",
            &["reverse"],
            "dimensions:i64s",
            same("%, dims = <dimensions:i64s>"),
        ),
    ),
    checked(
        "1+ 1",
        movement::concatenate,
        row(
            "stablehlo",
            &["concatenate"],
            "dimension:i64",
            functional("%*, dim = <dimension:i64>"),
        ),
    ),
    checked(
        "1 1",
        movement::slice,
        row(
            "stablehlo",
            &["slice"],
            "start_indices:i64s limit_indices:i64s strides:i64s",
            AssemblyFormat::Custom(custom::slice),
        ),
    ),
    checked(
        "1+ 1",
        movement::dynamic_slice,
        row(
            "stablehlo",
            &["dynamic_slice"],
            "slice_sizes:i64s",
            functional("%*, sizes = <slice_sizes:i64s>"),
        ),
    ),
    checked(
        "2 1",
        movement::pad,
        row(
            "stablehlo",
            &["pad"],
            "edge_padding_low:i64s edge_padding_high:i64s interior_padding:i64s",
            functional(
                "%, %, low = <edge_padding_low:i64s>, high = <edge_padding_high:i64s>, \
             interior = <interior_padding:i64s>",
            ),
        ),
    ),
    checked(
        "1 1",
        movement::get_dimension_size,
        row(
            "stablehlo",
            &["get_dimension_size"],
            "dimension:i64",
            functional("%, dim = <dimension:i64>"),
        ),
    ),
    checked(
        "2 1",
        movement::set_dimension_size,
        row(
            "stablehlo",
            &["set_dimension_size"],
            "dimension:i64",
            functional("%, %, dim = <dimension:i64>"),
        ),
    ),
    checked(
        "1 1",
        movement::get_tuple_element,
        row(
            "stablehlo",
            &["get_tuple_element"],
            "index:i32",
            functional("% [<index:i32>]"),
        ),
    ),
    checked(
        "2 1",
        indexing::gather,
        row(
            "stablehlo",
            &["gather"],
            "dimension_numbers:gather slice_sizes:i64s indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "3 1",
        indexing::gather,
        row(
            "stablehlo",
            &["dynamic_gather"],
            "dimension_numbers:gather indices_are_sorted:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "3+ 1+ 1",
        indexing::scatter,
        row(
            "stablehlo",
            &["scatter"],
            "scatter_dimension_numbers:scatter indices_are_sorted:bool? unique_indices:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    counted(
        "2 1",
        row(
            "stablehlo",
            &["torch_index_select"],
            "dim:i64 batch_dims:i64",
            AssemblyFormat::Generic,
        ),
    ),
];
