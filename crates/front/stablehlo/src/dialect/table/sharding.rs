//! Shardy's operations, by which JAX says what is to lie on which device.

use crate::dialect::custom;
use crate::dialect::operations::{Form, Operation, counted, row};

pub(super) const OPERATIONS: &[Operation] = &[
    counted(
        "0 0",
        row(
            "sdy",
            &["mesh"],
            "sym_name:string mesh:any",
            Form::Custom(custom::mesh),
        ),
    ),
    counted(
        "1 1",
        row(
            "sdy",
            &["sharding_constraint"],
            "sharding:any",
            Form::Custom(custom::sharding_constraint),
        ),
    ),
    // Artifacts have it where values go between the versioned dialect and others.
    counted(
        "* *",
        row(
            "builtin",
            &["unrealized_conversion_cast"],
            "",
            Form::Generic,
        ),
    ),
];
