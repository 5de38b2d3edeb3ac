//! Table of reductions, products, convolutions, linear algebra and random numbers.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::keywords::RngDistribution;
use crate::dialect::numbers::ConvolutionNumbers;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, functional_format, same_type_format, with_rule,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::{
    BatchNormAttributes, CholeskyAttributes, ConvolutionAttributes, DotAttributes,
    DotGeneralAttributes, FftAttributes, MapAttributes, ReduceAttributes, ReduceWindowAttributes,
    RngBitGeneratorAttributes, SelectAndScatterAttributes, SortAttributes,
    TriangularSolveAttributes,
};
use crate::dialect::values::{BooleanList, IntegerList, PrecisionConfig, StringValue};
use crate::verify::rules::{contraction, elementwise, linear, window};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_rule(
        "1 1",
        linear::verify_cholesky,
        define_operation(
            &[MlirOpcode::Cholesky],
            CholeskyAttributes::DEFINITIONS,
            same_type_format("% {, lower = <lower:any>}"),
        ),
    ),
    with_rule(
        "2 1",
        linear::triangular_solve,
        define_operation(
            &[MlirOpcode::TriangularSolve],
            TriangularSolveAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1 1",
        linear::verify_fft,
        define_operation(
            &[MlirOpcode::Fft],
            FftAttributes::DEFINITIONS,
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
            DotAttributes::DEFINITIONS,
            functional_format("%, % {, precision = <precision_config:precisions>}"),
        ),
    ),
    with_rule(
        "2 1",
        contraction::dot_general,
        define_operation(
            &[MlirOpcode::DotGeneral],
            DotGeneralAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::dot_general),
        ),
    ),
    with_rule(
        "2 1",
        contraction::verify_convolution,
        define_operation(
            &[MlirOpcode::Convolution],
            ConvolutionAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_convolution),
        ),
    ),
    with_rule(
        "3 1",
        contraction::verify_convolution,
        define_operation(
            &[MlirOpcode::DynamicConv],
            define_attributes!(
                window_strides: Option<IntegerList>,
                lhs_dilation: Option<IntegerList>,
                rhs_dilation: Option<IntegerList>,
                window_reversal: Option<BooleanList>,
                dimension_numbers: ConvolutionNumbers,
                feature_group_count: i64,
                batch_group_count: i64,
                precision_config: Option<PrecisionConfig>,
            ),
            AssemblyFormat::Custom(custom::parse_convolution),
        ),
    ),
    with_rule(
        "3 1",
        linear::verify_rng,
        define_operation(
            &[MlirOpcode::Rng],
            define_attributes!(
                rng_distribution: RngDistribution,
            ),
            functional_format("%*, distribution = <rng_distribution:stablehlo.rng_distribution>"),
        ),
    ),
    with_rule(
        "1 2",
        linear::rng_bit_generator,
        define_operation(
            &[MlirOpcode::RngBitGenerator],
            RngBitGeneratorAttributes::DEFINITIONS,
            functional_format("%, algorithm = <rng_algorithm:stablehlo.rng_algorithm>"),
        ),
    ),
    with_rule(
        "2+ 1+ 1",
        window::verify_reduce,
        define_operation(
            &[MlirOpcode::Reduce],
            ReduceAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_reduce),
        ),
    ),
    with_rule(
        "1+ 1 1",
        elementwise::verify_map,
        define_operation(
            &[MlirOpcode::Map],
            MapAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        window::verify_sort,
        define_operation(
            &[MlirOpcode::Sort],
            SortAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "2+ 1+ 1",
        window::reduce_window,
        define_operation(
            &[MlirOpcode::ReduceWindow],
            ReduceWindowAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 1 2",
        window::select_and_scatter,
        define_operation(
            &[MlirOpcode::SelectAndScatter],
            SelectAndScatterAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        &[MlirOpcode::Einsum, MlirOpcode::UnaryEinsum],
        define_attributes!(
            einsum_config: StringValue<'_>,
        ),
        AssemblyFormat::Generic,
    ),
    with_rule(
        "5 1",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormInference],
            BatchNormAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 3",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormTraining],
            BatchNormAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "5 3",
        linear::batch_norm,
        define_operation(
            &[MlirOpcode::BatchNormGrad],
            BatchNormAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
];
