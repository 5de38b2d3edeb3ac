//! Reductions, products, convolutions, linear algebra, random numbers.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, functional_format, same_type_format, with_rule,
};
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
    with_rule(
        "1 1",
        linear::verify_cholesky,
        define_operation(
            &[MlirOpcode::Cholesky],
            "lower:bool?",
            same_type_format("% {, lower = <lower:any>}"),
        ),
    ),
    with_rule(
        "2 1",
        linear::triangular_solve,
        define_operation(
            &[MlirOpcode::TriangularSolve],
            "left_side:bool lower:bool unit_diagonal:bool transpose_a:transpose",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1 1",
        linear::verify_fft,
        define_operation(
            &[MlirOpcode::Fft],
            "fft_type:fft_type fft_length:i64s",
            functional_format(
                "%, type = <fft_type:stablehlo.fft_type>, length = <fft_length:i64s>",
            ),
        ),
    ),
    with_rule(
        "2 1",
        contraction::verify_dot,
        define_operation(
            &[MlirOpcode::Dot],
            "precision_config:precisions?",
            functional_format("%, % {, precision = <precision_config:precisions>}"),
        ),
    ),
    with_rule(
        "2 1",
        contraction::dot_general,
        define_operation(
            &[MlirOpcode::DotGeneral],
            "dot_dimension_numbers:dot precision_config:precisions? algorithm:any?",
            AssemblyFormat::Custom(custom::dot_general),
        ),
    ),
    with_rule(
        "2 1",
        contraction::verify_convolution,
        define_operation(
            &[MlirOpcode::Convolution],
            CONVOLUTION,
            AssemblyFormat::Custom(custom::parse_convolution),
        ),
    ),
    with_rule(
        "3 1",
        contraction::verify_convolution,
        define_operation(
            &[MlirOpcode::DynamicConv],
            DYNAMIC_CONVOLUTION,
            AssemblyFormat::Custom(custom::parse_convolution),
        ),
    ),
    with_rule(
        "3 1",
        linear::verify_rng,
        define_operation(
            &[MlirOpcode::Rng],
            "rng_distribution:rng_distribution",
            functional_format("%*, distribution = <rng_distribution:stablehlo.rng_distribution>"),
        ),
    ),
    with_rule(
        "1 2",
        linear::rng_bit_generator,
        define_operation(
            &[MlirOpcode::RngBitGenerator],
            "rng_algorithm:rng_algorithm",
            functional_format("%, algorithm = <rng_algorithm:stablehlo.rng_algorithm>"),
        ),
    ),
    with_rule(
        "2+ 1+ 1",
        window::verify_reduce,
        define_operation(
            &[MlirOpcode::Reduce],
            "dimensions:i64s",
            AssemblyFormat::Custom(custom::parse_reduce),
        ),
    ),
    with_rule(
        "1+ 1 1",
        elementwise::verify_map,
        define_operation(
            &[MlirOpcode::Map],
            "dimensions:i64s",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        window::verify_sort,
        define_operation(
            &[MlirOpcode::Sort],
            "dimension:i64? is_stable:bool?",
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "2+ 1+ 1",
        window::reduce_window,
        define_operation(&[MlirOpcode::ReduceWindow], WINDOW, AssemblyFormat::Generic),
    ),
    with_rule(
        "3 1 2",
        window::select_and_scatter,
        define_operation(
            &[MlirOpcode::SelectAndScatter],
            "window_dimensions:i64s? window_strides:i64s? padding:elements?",
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        &[MlirOpcode::Einsum, MlirOpcode::UnaryEinsum],
        "einsum_config:string",
        AssemblyFormat::Generic,
    ),
    with_rule(
        "5 1",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormInference],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 3",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormTraining],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "5 3",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormGrad],
            BATCH_NORM,
            AssemblyFormat::Generic,
        ),
    ),
];
