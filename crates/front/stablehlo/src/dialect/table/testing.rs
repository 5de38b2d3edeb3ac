//! Operations of StableHLO's own tests.

use crate::dialect::custom;
use crate::dialect::operations::{Form, Operation, Types, checked, counted, row, same};
use crate::verify::rules::chlo;

pub(super) const OPERATIONS: &[Operation] = &[
    checked(
        "1",
        chlo::expect_const,
        row(
            "check",
            &["expect_eq_const", "expect_almost_eq_const"],
            "value:elements tolerance:float? min_ulp_difference:i64? max_ulp_difference:i64?",
            Form::Custom(custom::expect_const),
        ),
    ),
    checked(
        "2",
        chlo::expect,
        row(
            "check",
            &["expect_eq", "expect_almost_eq"],
            "tolerance:float?",
            Form::Format("%, % {, tolerance = <tolerance:f64>}", Types::Operands),
        ),
    ),
    checked(
        "2",
        chlo::expect,
        row(
            "check",
            &["expect_close"],
            "max_ulp_difference:i64? min_ulp_difference:i64?",
            Form::Format(
                "%, % {, max_ulp_difference = <max_ulp_difference:i64>} \
             {, min_ulp_difference = <min_ulp_difference:i64>}",
                Types::Operands,
            ),
        ),
    ),
    counted(
        "1",
        row(
            "check",
            &["expect_serialized_eq"],
            "probe_id:string iteration:i32?",
            Form::Format(
                "%, probe_id = <probe_id:string> {, iter = <iteration:i32>}",
                Types::Operands,
            ),
        ),
    ),
    row(
        "interpreter",
        &["run_parallel"],
        "programs:any infeed:any?",
        Form::Generic,
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
        Form::Format("%", Types::Operands),
    ),
];
