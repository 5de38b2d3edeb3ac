//! Table of the `chlo` dialect: functions that are composed of StableHLO's operations.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::keywords::{ComparisonDirection, ComparisonType};
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, define_operation, functional_format, same_type_format, with_rule,
    with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::{
    ConstantAttributes, RaggedDotAttributes, ScanAttributes, TopKAttributes,
};
use crate::dialect::values::IntegerList;
use crate::mlir::MlirAttr;
use crate::verify::checked_operation::ElementClasses;
use crate::verify::rules::{VerifierRule, chlo, classes, elementwise};

const fn define_unary(opcodes: &'static [MlirOpcode], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "1 1",
        rule: VerifierRule::Elementwise(classes),
        ..define_operation(opcodes, &[], same_type_format("%"))
    }
}

const fn define_binary(opcodes: &'static [MlirOpcode], classes: ElementClasses) -> OpDefinition {
    OpDefinition {
        signature: "2 1",
        rule: VerifierRule::Elementwise(classes),
        ..define_operation(opcodes, &[], same_type_format("%, %"))
    }
}

pub(super) const OPERATIONS: &[OpDefinition] = &[
    define_unary(
        &[
            MlirOpcode::ChloAcos,
            MlirOpcode::ChloAcosh,
            MlirOpcode::ChloAsin,
            MlirOpcode::ChloAsinh,
            MlirOpcode::ChloAtan,
            MlirOpcode::ChloAtanh,
            MlirOpcode::ChloBesselI1e,
            MlirOpcode::ChloCosh,
            MlirOpcode::ChloDigamma,
            MlirOpcode::ChloErf,
            MlirOpcode::ChloErfInv,
            MlirOpcode::ChloErfc,
            MlirOpcode::ChloLgamma,
            MlirOpcode::ChloSinh,
            MlirOpcode::ChloTan,
        ],
        classes::CONTINUOUS,
    ),
    define_unary(
        &[MlirOpcode::ChloConj, MlirOpcode::ChloSquare],
        classes::NUMBER,
    ),
    with_rule(
        "1 1",
        elementwise::is_finite,
        define_operation(
            &[
                MlirOpcode::ChloIsInf,
                MlirOpcode::ChloIsNegInf,
                MlirOpcode::ChloIsPosInf,
            ],
            &[],
            same_type_format("%"),
        ),
    ),
    define_binary(
        &[
            MlirOpcode::ChloNextAfter,
            MlirOpcode::ChloPolygamma,
            MlirOpcode::ChloZeta,
        ],
        classes::FLOAT,
    ),
    define_binary(&[MlirOpcode::ChloMulhi], classes::INTEGER),
    with_signature(
        "3 1",
        define_operation(
            &[MlirOpcode::ChloBroadcastSelect],
            &[],
            same_type_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        chlo::verify_broadcasting,
        define_operation(
            &[
                MlirOpcode::ChloBroadcastAdd,
                MlirOpcode::ChloBroadcastAnd,
                MlirOpcode::ChloBroadcastAtan2,
                MlirOpcode::ChloBroadcastComplex,
                MlirOpcode::ChloBroadcastDivide,
                MlirOpcode::ChloBroadcastMaximum,
                MlirOpcode::ChloBroadcastMinimum,
                MlirOpcode::ChloBroadcastMultiply,
                MlirOpcode::ChloBroadcastNextAfter,
                MlirOpcode::ChloBroadcastOr,
                MlirOpcode::ChloBroadcastPolygamma,
                MlirOpcode::ChloBroadcastPower,
                MlirOpcode::ChloBroadcastRemainder,
                MlirOpcode::ChloBroadcastShiftLeft,
                MlirOpcode::ChloBroadcastShiftRightArithmetic,
                MlirOpcode::ChloBroadcastShiftRightLogical,
                MlirOpcode::ChloBroadcastSubtract,
                MlirOpcode::ChloBroadcastXor,
                MlirOpcode::ChloBroadcastZeta,
            ],
            define_attributes!(
                broadcast_dimensions: Option<IntegerList>,
            ),
            same_type_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        chlo::verify_broadcasting,
        define_operation(
            &[MlirOpcode::ChloBroadcastCompare],
            define_attributes!(
                broadcast_dimensions: Option<IntegerList>,
                comparison_direction: ComparisonDirection,
                compare_type: Option<ComparisonType>,
            ),
            same_type_format("%*"),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            &[MlirOpcode::ChloConstant],
            ConstantAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    define_operation(
        &[MlirOpcode::ChloConstantLike],
        define_attributes!(
            value: MlirAttr,
        ),
        same_type_format("%*"),
    ),
    with_rule(
        "1 2",
        chlo::top_k,
        define_operation(
            &[MlirOpcode::ChloTopK],
            TopKAttributes::DEFINITIONS,
            functional_format("(%, k = <k:i64>)"),
        ),
    ),
    with_rule(
        "1+ 1+ 1",
        chlo::verify_scan,
        define_operation(
            &[MlirOpcode::ChloScan],
            ScanAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_scan),
        ),
    ),
    with_rule(
        "3 1",
        chlo::ragged_dot,
        define_operation(
            &[MlirOpcode::ChloRaggedDot],
            RaggedDotAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    define_operation(
        &[MlirOpcode::ChloDynamicReshape],
        &[],
        functional_format("%*"),
    ),
];
