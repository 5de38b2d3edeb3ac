//! Shardy's operations, by which JAX says what is to lie on which device.

use crate::dialect::custom;
use crate::dialect::operations::{AssemblyFormat, OpDefinition, counted, row};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    counted(
        "0 0",
        row(
            "sdy",
            &["mesh"],
            "sym_name:string mesh:any",
            AssemblyFormat::Custom(custom::mesh),
        ),
    ),
    counted(
        "1 1",
        row(
            "sdy",
            &["sharding_constraint"],
            "sharding:any",
            AssemblyFormat::Custom(custom::sharding_constraint),
        ),
    ),
    // Artifacts have it where values go between the versioned dialect and others.
    counted(
        "* *",
        row(
            "builtin",
            &["unrealized_conversion_cast"],
            "",
            AssemblyFormat::Generic,
        ),
    ),
];
