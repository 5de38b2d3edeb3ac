//! Operations on one element of each operand.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_elementwise, define_operation,
    functional_format, same_type_format, with_rule,
};
use crate::verify::rules::{VerifierRule, classes, elementwise};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    define_elementwise("2 1", &["and", "or", "xor"], classes::LOGICAL),
    define_elementwise("1 1", &["not"], classes::LOGICAL),
    define_elementwise(
        "2 1",
        &["add", "maximum", "minimum", "multiply"],
        classes::ANY,
    ),
    define_elementwise(
        "2 1",
        &["divide", "power", "remainder", "subtract"],
        classes::NUMBER,
    ),
    define_elementwise("2 1", &["atan2"], classes::CONTINUOUS),
    define_elementwise("1 1", &["negate"], classes::NUMBER),
    define_elementwise("1 1", &["sign"], classes::SIGNED),
    define_elementwise("1 1", &["count_leading_zeros", "popcnt"], classes::INTEGER),
    define_elementwise(
        "2 1",
        &[
            "shift_left",
            "shift_right_arithmetic",
            "shift_right_logical",
        ],
        classes::INTEGER,
    ),
    define_elementwise(
        "1 1",
        &["ceil", "floor", "round_nearest_afz", "round_nearest_even"],
        classes::ROUNDED,
    ),
    with_rule(
        "1 1",
        elementwise::verify_abs,
        define_operation("stablehlo", &["abs"], "", same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_complex_part,
        define_operation("stablehlo", &["imag", "real"], "", same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::is_finite,
        define_operation("stablehlo", &["is_finite"], "", same_type_format("%")),
    ),
    with_rule(
        "3 1",
        elementwise::verify_clamp,
        define_operation("stablehlo", &["clamp"], "", same_type_format("%*")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_convert,
        define_operation("stablehlo", &["convert"], "", same_type_format("%")),
    ),
    with_rule(
        "1 1",
        elementwise::verify_quantize,
        define_operation(
            "stablehlo",
            &["uniform_quantize"],
            "",
            same_type_format("%"),
        ),
    ),
    with_rule(
        "1 1",
        elementwise::verify_dequantize,
        define_operation(
            "stablehlo",
            &["uniform_dequantize"],
            "",
            same_type_format("%"),
        ),
    ),
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes::CONTINUOUS),
        ..define_operation(
            "stablehlo",
            &[
                "cbrt",
                "cosine",
                "exponential",
                "exponential_minus_one",
                "log",
                "log_plus_one",
                "logistic",
                "rsqrt",
                "sine",
                "sqrt",
                "tan",
                "tanh",
            ],
            "result_accuracy:any?",
            same_type_format("%"),
        )
    },
    with_rule(
        "2 1",
        elementwise::verify_complex,
        define_operation(
            "stablehlo",
            &["complex"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Complex),
        ),
    ),
    with_rule(
        "3 1",
        elementwise::verify_select,
        define_operation(
            "stablehlo",
            &["select"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Select),
        ),
    ),
    with_rule(
        "2 1",
        elementwise::verify_compare,
        define_operation(
            "stablehlo",
            &["compare"],
            "comparison_direction:comparison_direction compare_type:comparison_type?",
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
            "stablehlo",
            &["reduce_precision"],
            "exponent_bits:i32 mantissa_bits:i32",
            AssemblyFormat::Custom(custom::reduce_precision),
        ),
    ),
];
