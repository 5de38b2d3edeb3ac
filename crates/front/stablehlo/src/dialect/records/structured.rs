//! Attributes of reductions, products, convolutions, linear algebra and random numbers.

use crate::dialect::keywords::{FftType, RngAlgorithm, TransposeKind};
use crate::dialect::numbers::{ConvolutionNumbers, DotNumbers};
use crate::dialect::properties::attribute_record;
use crate::dialect::values::{
    BooleanList, IntegerElements, IntegerList, NamedInteger, PrecisionConfig,
};
use crate::mlir::MlirAttr;

attribute_record! {
    /// Attributes of `cholesky`.
    struct CholeskyAttributes {
        lower: Option<bool>,
    }
}

attribute_record! {
    /// Attributes of `triangular_solve`: `op(a) x = b`, or `x op(a) = b`.
    struct TriangularSolveAttributes {
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: TransposeKind,
    }
}

attribute_record! {
    /// Attributes of `fft`.
    struct FftAttributes {
        fft_type: FftType,
        fft_length: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `dot`.
    struct DotAttributes {
        precision_config: Option<PrecisionConfig>,
    }
}

attribute_record! {
    /// Attributes of `dot_general`.
    struct DotGeneralAttributes {
        dot_dimension_numbers: DotNumbers,
        precision_config: Option<PrecisionConfig>,
        algorithm: Option<MlirAttr>,
    }
}

attribute_record! {
    /// Attributes of `convolution`. Those of `dynamic_conv` are the same but for the padding, which
    /// is an operand.
    struct ConvolutionAttributes {
        window_strides: Option<IntegerList>,
        padding: Option<IntegerElements>,
        lhs_dilation: Option<IntegerList>,
        rhs_dilation: Option<IntegerList>,
        window_reversal: Option<BooleanList>,
        dimension_numbers: ConvolutionNumbers,
        feature_group_count: i64,
        batch_group_count: i64,
        precision_config: Option<PrecisionConfig>,
    }
}

attribute_record! {
    /// Attributes of `rng_bit_generator`.
    struct RngBitGeneratorAttributes {
        rng_algorithm: RngAlgorithm,
    }
}

attribute_record! {
    /// Attributes of `reduce`.
    struct ReduceAttributes {
        dimensions: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `map`.
    struct MapAttributes {
        dimensions: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `sort`. A negative dimension counts from the last; absent, it is the last.
    struct SortAttributes {
        dimension: Option<i64>,
        is_stable: Option<bool>,
    }
}

attribute_record! {
    /// Attributes of `reduce_window`.
    struct ReduceWindowAttributes {
        window_dimensions: IntegerList,
        window_strides: Option<IntegerList>,
        base_dilations: Option<IntegerList>,
        window_dilations: Option<IntegerList>,
        padding: Option<IntegerElements>,
    }
}

attribute_record! {
    /// Attributes of `select_and_scatter`.
    struct SelectAndScatterAttributes {
        window_dimensions: Option<IntegerList>,
        window_strides: Option<IntegerList>,
        padding: Option<IntegerElements>,
    }
}

attribute_record! {
    /// Attributes of the operations of batch normalisation.
    struct BatchNormAttributes {
        epsilon: f64,
        feature_index: NamedInteger,
    }
}
