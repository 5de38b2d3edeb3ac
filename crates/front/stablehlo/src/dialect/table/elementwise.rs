//! Operations on one element of each operand.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, checked, elementwise, functional, row, same,
};
use crate::verify::rules::{VerifierRule, classes, elementwise};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    elementwise("2 1", &["and", "or", "xor"], classes::LOGICAL),
    elementwise("1 1", &["not"], classes::LOGICAL),
    elementwise(
        "2 1",
        &["add", "maximum", "minimum", "multiply"],
        classes::ANY,
    ),
    elementwise(
        "2 1",
        &["divide", "power", "remainder", "subtract"],
        classes::NUMBER,
    ),
    elementwise("2 1", &["atan2"], classes::CONTINUOUS),
    elementwise("1 1", &["negate"], classes::NUMBER),
    elementwise("1 1", &["sign"], classes::SIGNED),
    elementwise("1 1", &["count_leading_zeros", "popcnt"], classes::INTEGER),
    elementwise(
        "2 1",
        &[
            "shift_left",
            "shift_right_arithmetic",
            "shift_right_logical",
        ],
        classes::INTEGER,
    ),
    elementwise(
        "1 1",
        &["ceil", "floor", "round_nearest_afz", "round_nearest_even"],
        classes::ROUNDED,
    ),
    checked(
        "1 1",
        elementwise::abs,
        row("stablehlo", &["abs"], "", same("%")),
    ),
    checked(
        "1 1",
        elementwise::part,
        row("stablehlo", &["imag", "real"], "", same("%")),
    ),
    checked(
        "1 1",
        elementwise::is_finite,
        row("stablehlo", &["is_finite"], "", same("%")),
    ),
    checked(
        "3 1",
        elementwise::clamp,
        row("stablehlo", &["clamp"], "", same("%*")),
    ),
    checked(
        "1 1",
        elementwise::convert,
        row("stablehlo", &["convert"], "", same("%")),
    ),
    checked(
        "1 1",
        elementwise::quantize,
        row("stablehlo", &["uniform_quantize"], "", same("%")),
    ),
    checked(
        "1 1",
        elementwise::dequantize,
        row("stablehlo", &["uniform_dequantize"], "", same("%")),
    ),
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes::CONTINUOUS),
        ..row(
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
            same("%"),
        )
    },
    checked(
        "2 1",
        elementwise::complex,
        row(
            "stablehlo",
            &["complex"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Complex),
        ),
    ),
    checked(
        "3 1",
        elementwise::select,
        row(
            "stablehlo",
            &["select"],
            "",
            AssemblyFormat::Format("%*", TrailingTypes::Select),
        ),
    ),
    checked(
        "2 1",
        elementwise::compare,
        row(
            "stablehlo",
            &["compare"],
            "comparison_direction:comparison_direction compare_type:comparison_type?",
            functional(
                "<comparison_direction:stablehlo.comparison_direction>, %, % \
             {, <compare_type:stablehlo.comparison_type>}",
            ),
        ),
    ),
    checked(
        "1 1",
        elementwise::reduce_precision,
        row(
            "stablehlo",
            &["reduce_precision"],
            "exponent_bits:i32 mantissa_bits:i32",
            AssemblyFormat::Custom(custom::reduce_precision),
        ),
    ),
];
