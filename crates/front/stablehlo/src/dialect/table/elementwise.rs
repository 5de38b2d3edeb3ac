//! Table of operations on one element of each operand.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_elementwise, define_operation,
    functional_format, same_type_format, with_rule,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::{CompareAttributes, ReducePrecisionAttributes};
use crate::mlir::MlirAttr;
use crate::verify::rules::{VerifierRule, classes, elementwise};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    define_elementwise(
        "2 1",
        &[MlirOpcode::And, MlirOpcode::Or, MlirOpcode::Xor],
        classes::LOGICAL,
    ),
    define_elementwise("1 1", &[MlirOpcode::Not], classes::LOGICAL),
    define_elementwise(
        "2 1",
        &[
            MlirOpcode::Add,
            MlirOpcode::Maximum,
            MlirOpcode::Minimum,
            MlirOpcode::Multiply,
        ],
        classes::ANY,
    ),
    define_elementwise(
        "2 1",
        &[
            MlirOpcode::Divide,
            MlirOpcode::Power,
            MlirOpcode::Remainder,
            MlirOpcode::Subtract,
        ],
        classes::NUMBER,
    ),
    define_elementwise("2 1", &[MlirOpcode::Atan2], classes::CONTINUOUS),
    define_elementwise("1 1", &[MlirOpcode::Negate], classes::NUMBER),
    define_elementwise("1 1", &[MlirOpcode::Sign], classes::SIGNED),
    define_elementwise(
        "1 1",
        &[MlirOpcode::CountLeadingZeros, MlirOpcode::Popcnt],
        classes::INTEGER,
    ),
    define_elementwise(
        "2 1",
        &[
            MlirOpcode::ShiftLeft,
            MlirOpcode::ShiftRightArithmetic,
            MlirOpcode::ShiftRightLogical,
        ],
        classes::INTEGER,
    ),
    define_elementwise(
        "1 1",
        &[
            MlirOpcode::Ceil,
            MlirOpcode::Floor,
            MlirOpcode::RoundNearestAfz,
            MlirOpcode::RoundNearestEven,
        ],
        classes::ROUNDED,
    ),
    with_rule(
        "1 1",
        elementwise::verify_abs,
        define_operation(&[MlirOpcode::Abs], &[], same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_complex_part,
        define_operation(
            &[MlirOpcode::Imag, MlirOpcode::Real],
            &[],
            same_type_format("%"),
        ),
    ),
    with_rule(
        "1 1",
        elementwise::is_finite,
        define_operation(&[MlirOpcode::IsFinite], &[], same_type_format("%")),
    ),
    with_rule(
        "3 1",
        elementwise::verify_clamp,
        define_operation(&[MlirOpcode::Clamp], &[], same_type_format("%*")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_convert,
        define_operation(&[MlirOpcode::Convert], &[], same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_quantize,
        define_operation(&[MlirOpcode::UniformQuantize], &[], same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_dequantize,
        define_operation(&[MlirOpcode::UniformDequantize], &[], same_type_format("%")),
    ),
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes::CONTINUOUS),
        ..define_operation(
            &[
                MlirOpcode::Cbrt,
                MlirOpcode::Cosine,
                MlirOpcode::Exponential,
                MlirOpcode::ExponentialMinusOne,
                MlirOpcode::Log,
                MlirOpcode::LogPlusOne,
                MlirOpcode::Logistic,
                MlirOpcode::Rsqrt,
                MlirOpcode::Sine,
                MlirOpcode::Sqrt,
                MlirOpcode::Tan,
                MlirOpcode::Tanh,
            ],
            define_attributes!(
                result_accuracy: Option<MlirAttr>,
            ),
            same_type_format("%"),
        )
    },
    with_rule(
        "2 1",
        elementwise::verify_complex,
        define_operation(
            &[MlirOpcode::Complex],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Complex),
        ),
    ),
    with_rule(
        "3 1",
        elementwise::verify_select,
        define_operation(
            &[MlirOpcode::Select],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Select),
        ),
    ),
    with_rule(
        "2 1",
        elementwise::verify_compare,
        define_operation(
            &[MlirOpcode::Compare],
            CompareAttributes::DEFINITIONS,
            functional_format(
                "<comparison_direction:stablehlo.comparison_direction>, %, % \
             {, <compare_type:stablehlo.comparison_type>}",
            ),
        ),
    ),
    with_rule(
        "1 1",
        elementwise::reduce_precision,
        define_operation(
            &[MlirOpcode::ReducePrecision],
            ReducePrecisionAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::reduce_precision),
        ),
    ),
];
