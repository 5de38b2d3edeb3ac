//! Shardy's operations, by which JAX says what is to lie on which device.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::operations::{AssemblyFormat, OpDefinition, define_operation, with_signature};

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "0 0",
        define_operation(
            &[MlirOpcode::SdyMesh],
            "sym_name:string mesh:any",
            AssemblyFormat::Custom(custom::parse_mesh),
        ),
    ),
    with_signature(
        "1 1",
        define_operation(
            &[MlirOpcode::SdyShardingConstraint],
            "sharding:any",
            AssemblyFormat::Custom(custom::sharding_constraint),
        ),
    ),
    // Artifacts have it where values go between the versioned dialect and others.
    with_signature(
        "* *",
        define_operation(
            &[MlirOpcode::UnrealizedConversionCast],
            "",
            AssemblyFormat::Generic,
        ),
    ),
];
