//! Operations of StableHLO's own tests.

use crate::dialect::custom;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, checked, counted, row, same,
};
use crate::verify::rules::chlo;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    checked(
        "1",
        chlo::expect_const,
        row(
            "check",
            &["expect_eq_const", "expect_almost_eq_const"],
            "value:elements tolerance:float? min_ulp_difference:i64? max_ulp_difference:i64?",
            AssemblyFormat::Custom(custom::expect_const),
        ),
    ),
    checked(
        "2",
        chlo::expect,
        row(
            "check",
            &["expect_eq", "expect_almost_eq"],
            "tolerance:float?",
            AssemblyFormat::Format(
                "%, % {, tolerance = <tolerance:f64>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    checked(
        "2",
        chlo::expect,
        row(
            "check",
            &["expect_close"],
            "max_ulp_difference:i64? min_ulp_difference:i64?",
            AssemblyFormat::Format(
                "%, % {, max_ulp_difference = <max_ulp_difference:i64>} \
             {, min_ulp_difference = <min_ulp_difference:i64>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    counted(
        "1",
        row(
            "check",
            &["expect_serialized_eq"],
            "probe_id:string iteration:i32?",
            AssemblyFormat::Format(
                "%, probe_id = <probe_id:string> {, iter = <iteration:i32>}",
                TrailingTypes::Operands,
            ),
        ),
    ),
    row(
        "interpreter",
        &["run_parallel"],
        "programs:any infeed:any?",
        AssemblyFormat::Generic,
    ),
    row(
        "interpreter",
        &["probe"],
        "probe_id:string",
        same("%, probe_id = <probe_id:string>"),
    ),
    row(
        "interpreter",
        &["print"],
        "",
        AssemblyFormat::Format("%", TrailingTypes::Operands),
    ),
];
