//! Table of the operations of StableHLO's own tests.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, same_type_format, with_rule,
    with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::values::{ElementsAttribute, StringValue};
use crate::mlir::MlirAttr;
use crate::verify::rules::chlo;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_rule(
        "1",
        chlo::expect_const,
        define_operation(
            &[
                MlirOpcode::CheckExpectEqConst,
                MlirOpcode::CheckExpectAlmostEqConst,
            ],
            define_attributes!(
                value: ElementsAttribute,
                tolerance: Option<f64>,
                min_ulp_difference: Option<i64>,
                max_ulp_difference: Option<i64>,
            ),
            AssemblyFormat::Custom(custom::expect_const),
        ),
    ),
    with_rule(
        "2",
        chlo::verify_expect,
        define_operation(
            &[MlirOpcode::CheckExpectEq, MlirOpcode::CheckExpectAlmostEq],
            define_attributes!(
                tolerance: Option<f64>,
            ),
            AssemblyFormat::Format(
                "%, % {, tolerance = <tolerance:f64>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    with_rule(
        "2",
        chlo::verify_expect,
        define_operation(
            &[MlirOpcode::CheckExpectClose],
            define_attributes!(
                max_ulp_difference: Option<i64>,
                min_ulp_difference: Option<i64>,
            ),
            AssemblyFormat::Format(
                "%, % {, max_ulp_difference = <max_ulp_difference:i64>} \
             {, min_ulp_difference = <min_ulp_difference:i64>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    with_signature(
        "1",
        define_operation(
            &[MlirOpcode::CheckExpectSerializedEq],
            define_attributes!(
                probe_id: StringValue<'_>,
                iteration: Option<i32>,
            ),
            AssemblyFormat::Format(
                "%, probe_id = <probe_id:string> {, iter = <iteration:i32>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    define_operation(
        &[MlirOpcode::InterpreterRunParallel],
        define_attributes!(
            programs: MlirAttr,
            infeed: Option<MlirAttr>,
        ),
        AssemblyFormat::Generic,
    ),
    define_operation(
        &[MlirOpcode::InterpreterProbe],
        define_attributes!(
            probe_id: StringValue<'_>,
        ),
        same_type_format("%, probe_id = <probe_id:string>"),
    ),
    define_operation(
        &[MlirOpcode::InterpreterPrint],
        &[],
        AssemblyFormat::Format("%", TrailingTypes::Operands),
    ),
];
