//! Reductions, products, convolutions, linear algebra, random numbers.

use crate::dialect::custom;
use crate::dialect::operations::{AssemblyFormat, OpDefinition, checked, functional, row, same};
use crate::verify::rules::{contraction, elementwise, linear, window};

/// Attributes that several operations share.
const WINDOW: &str = "window_dimensions:i64s window_strides:i64s? base_dilations:i64s? \
    window_dilations:i64s? padding:elements?";
const BATCH_NORM: &str = "epsilon:float feature_index:i64";
const CONVOLUTION: &str = "window_strides:i64s? padding:elements? lhs_dilation:i64s? \
    rhs_dilation:i64s? window_reversal:bools? dimension_numbers:conv feature_group_count:i64 \
    batch_group_count:i64 precision_config:precisions?";

/// Padding is an operand.
const DYNAMIC_CONVOLUTION: &str = "window_strides:i64s? lhs_dilation:i64s? rhs_dilation:i64s? \
    window_reversal:bools? dimension_numbers:conv feature_group_count:i64 batch_group_count:i64 \
    precision_config:precisions?";

pub(super) const OPERATIONS: &[OpDefinition] = &[
    checked(
        "1 1",
        linear::cholesky,
        row(
            "stablehlo",
            &["cholesky"],
            "lower:bool?",
            same("% {, lower = <lower:any>}"),
        ),
    ),
    checked(
        "2 1",
        linear::triangular_solve,
        row(
            "stablehlo",
            &["triangular_solve"],
            "left_side:bool lower:bool unit_diagonal:bool transpose_a:transpose",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "1 1",
        linear::fft,
        row(
            "stablehlo",
            &["fft"],
            "fft_type:fft_type fft_length:i64s",
            functional("%, type = <fft_type:stablehlo.fft_type>, length = <fft_length:i64s>"),
        ),
    ),
    checked(
        "2 1",
        contraction::dot,
        row(
            "stablehlo",
            &["dot"],
            "precision_config:precisions?",
            functional("%, % {, precision = <precision_config:precisions>}"),
        ),
    ),
    checked(
        "2 1",
        contraction::dot_general,
        row(
            "stablehlo",
            &["dot_general"],
            "dot_dimension_numbers:dot precision_config:precisions? algorithm:any?",
            AssemblyFormat::Custom(custom::dot_general),
        ),
    ),
    checked(
        "2 1",
        contraction::convolution,
        row(
            "stablehlo",
            &["convolution"],
            CONVOLUTION,
            AssemblyFormat::Custom(custom::convolution),
        ),
    ),
    checked(
        "3 1",
        contraction::convolution,
        row(
            "stablehlo",
            &["dynamic_conv"],
            DYNAMIC_CONVOLUTION,
            AssemblyFormat::Custom(custom::convolution),
        ),
    ),
    checked(
        "3 1",
        linear::rng,
        row(
            "stablehlo",
            &["rng"],
            "rng_distribution:rng_distribution",
            functional("%*, distribution = <rng_distribution:stablehlo.rng_distribution>"),
        ),
    ),
    checked(
        "1 2",
        linear::rng_bit_generator,
        row(
            "stablehlo",
            &["rng_bit_generator"],
            "rng_algorithm:rng_algorithm",
            functional("%, algorithm = <rng_algorithm:stablehlo.rng_algorithm>"),
        ),
    ),
    checked(
        "2+ 1+ 1",
        window::reduce,
        row(
            "stablehlo",
            &["reduce"],
            "dimensions:i64s",
            AssemblyFormat::Custom(custom::reduce),
        ),
    ),
    checked(
        "1+ 1 1",
        elementwise::map,
        row(
            "stablehlo",
            &["map"],
            "dimensions:i64s",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "1+ 1+ 1",
        window::sort,
        row(
            "stablehlo",
            &["sort"],
            "dimension:i64? is_stable:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "2+ 1+ 1",
        window::reduce_window,
        row(
            "stablehlo",
            &["reduce_window"],
            WINDOW,
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "3 1 2",
        window::select_and_scatter,
        row(
            "stablehlo",
            &["select_and_scatter"],
            "window_dimensions:i64s? window_strides:i64s? padding:elements?",
            AssemblyFormat::Generic,
        ),
    ),
    row(
        "stablehlo",
        &["einsum", "unary_einsum"],
        "einsum_config:string",
        AssemblyFormat::Generic,
    ),
    checked(
        "5 1",
        linear::batch_norm,
        row(
            "stablehlo",
            &["batch_norm_inference"],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "3 3",
        linear::batch_norm,
        row(
            "stablehlo",
            &["batch_norm_training"],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
    checked(
        "5 3",
        linear::batch_norm,
        row(
            "stablehlo",
            &["batch_norm_grad"],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
];
