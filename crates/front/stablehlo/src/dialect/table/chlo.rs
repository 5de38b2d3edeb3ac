//! The `chlo` dialect: functions that are made of StableHLO's operations.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, functional_format, same_type_format, with_rule,
    with_signature,
};
use crate::verify::check::ElementClasses;
use crate::verify::rules::{VerifierRule, chlo, classes, elementwise};

const fn define_unary(names: &'static [&'static str], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes),
        ..define_operation("chlo", names, "", same_type_format("%"))
    }
}

const fn define_binary(names: &'static [&'static str], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "2 1",
        rule: VerifierRule::Elementwise(classes),
        ..define_operation("chlo", names, "", same_type_format("%, %"))
    }
}

pub(super) const OPERATIONS: &[OpDefinition] = &[
    define_unary(
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
    define_unary(&["conj", "square"], classes::NUMBER),
    with_rule(
        "1 1",
        elementwise::is_finite,
        define_operation(
            "chlo",
            &["is_inf", "is_neg_inf", "is_pos_inf"],
            "",
            same_type_format("%"),
        ),
    ),
    define_binary(&["next_after", "polygamma", "zeta"], classes::FLOAT),
    define_binary(&["mulhi"], classes::INTEGER),
    with_signature(
        "3 1",
        define_operation("chlo", &["broadcast_select"], "", same_type_format("%*")),
    ),
    with_rule(
        "2 1",
        chlo::verify_broadcasting,
        define_operation(
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
            same_type_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        chlo::verify_broadcasting,
        define_operation(
            "chlo",
            &["broadcast_compare"],
            "broadcast_dimensions:i64s? comparison_direction:comparison_direction \
         compare_type:comparison_type?",
            same_type_format("%*"),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            "chlo",
            &["constant"],
            "value:elements",
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    define_operation(
        "chlo",
        &["constant_like"],
        "value:any",
        same_type_format("%*"),
    ),
    with_rule(
        "1 2",
        chlo::top_k,
        define_operation(
            "chlo",
            &["top_k"],
            "k:i64",
            functional_format("(%, k = <k:i64>)"),
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        chlo::verify_scan,
        define_operation(
            "chlo",
            &["scan"],
            "dimension:i64 is_reverse:bool? is_associative:any? operandSegmentSizes:any? \
         resultSegmentSizes:any?",
            AssemblyFormat::Custom(custom::parse_scan),
        ),
    ),
    with_rule(
        "3 1",
        chlo::ragged_dot,
        define_operation(
            "chlo",
            &["ragged_dot"],
            "ragged_dot_dimension_numbers:ragged_dot precision_config:precisions?",
            AssemblyFormat::Generic,
        ),
    ),
    define_operation("chlo", &["dynamic_reshape"], "", functional_format("%*")),
];
