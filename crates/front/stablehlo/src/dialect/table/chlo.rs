//! The `chlo` dialect: functions that are made of StableHLO's operations.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, checked, counted, functional, row, same,
};
use crate::verify::check::ElementClasses;
use crate::verify::rules::{VerifierRule, chlo, classes, elementwise};

const fn unary(names: &'static [&'static str], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes),
        ..row("chlo", names, "", same("%"))
    }
}

const fn binary(names: &'static [&'static str], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "2 1",
        rule: VerifierRule::Elementwise(classes),
        ..row("chlo", names, "", same("%, %"))
    }
}

pub(super) const OPERATIONS: &[OpDefinition] = &[
    unary(
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "bessel_i1e",
            "cosh",
            "digamma",
            "erf",
            "erf_inv",
            "erfc",
            "lgamma",
            "sinh",
            "tan",
        ],
        classes::CONTINUOUS,
    ),
    unary(&["conj", "square"], classes::NUMBER),
    checked(
        "1 1",
        elementwise::is_finite,
        row(
            "chlo",
            &["is_inf", "is_neg_inf", "is_pos_inf"],
            "",
            same("%"),
        ),
    ),
    binary(&["next_after", "polygamma", "zeta"], classes::FLOAT),
    binary(&["mulhi"], classes::INTEGER),
    counted("3 1", row("chlo", &["broadcast_select"], "", same("%*"))),
    checked(
        "2 1",
        chlo::broadcast,
        row(
            "chlo",
            &[
                "broadcast_add",
                "broadcast_and",
                "broadcast_atan2",
                "broadcast_complex",
                "broadcast_divide",
                "broadcast_maximum",
                "broadcast_minimum",
                "broadcast_multiply",
                "broadcast_next_after",
                "broadcast_or",
                "broadcast_polygamma",
                "broadcast_power",
                "broadcast_remainder",
                "broadcast_shift_left",
                "broadcast_shift_right_arithmetic",
                "broadcast_shift_right_logical",
                "broadcast_subtract",
                "broadcast_xor",
                "broadcast_zeta",
            ],
            "broadcast_dimensions:i64s?",
            same("%*"),
        ),
    ),
    checked(
        "2 1",
        chlo::broadcast,
        row(
            "chlo",
            &["broadcast_compare"],
            "broadcast_dimensions:i64s? comparison_direction:comparison_direction \
         compare_type:comparison_type?",
            same("%*"),
        ),
    ),
    checked(
        "0 1",
        elementwise::constant,
        row(
            "chlo",
            &["constant"],
            "value:elements",
            AssemblyFormat::Custom(custom::constant),
        ),
    ),
    row("chlo", &["constant_like"], "value:any", same("%*")),
    checked(
        "1 2",
        chlo::top_k,
        row("chlo", &["top_k"], "k:i64", functional("(%, k = <k:i64>)")),
    ),
    checked(
        "1+ 1+ 1",
        chlo::scan,
        row(
            "chlo",
            &["scan"],
            "dimension:i64 is_reverse:bool? is_associative:any? operandSegmentSizes:any? \
         resultSegmentSizes:any?",
            AssemblyFormat::Custom(custom::scan),
        ),
    ),
    checked(
        "3 1",
        chlo::ragged_dot,
        row(
            "chlo",
            &["ragged_dot"],
            "ragged_dot_dimension_numbers:ragged_dot precision_config:precisions?",
            AssemblyFormat::Generic,
        ),
    ),
    row("chlo", &["dynamic_reshape"], "", functional("%*")),
];
