//! Table of Shardy's operations, by which JAX assigns data to devices.

use crate::dialect::MlirOpcode;
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, with_isolation, with_signature,
};
use crate::dialect::properties::define_attributes;
use crate::dialect::records::ManualComputationAttributes;
use crate::dialect::sharding_forms;
use crate::dialect::values::StringValue;
use crate::mlir::MlirAttr;

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_signature(
        "0 0",
        define_operation(
            &[MlirOpcode::SdyMesh],
            define_attributes!(
                sym_name: StringValue<'_>,
                mesh: MlirAttr,
            ),
            AssemblyFormat::Custom(sharding_forms::parse_mesh),
        ),
    ),
    with_signature(
        "1 1",
        define_operation(
            &[MlirOpcode::SdyShardingConstraint],
            define_attributes!(
                sharding: MlirAttr,
            ),
            AssemblyFormat::Custom(sharding_forms::sharding_constraint),
        ),
    ),
    with_signature(
        "* * 1",
        with_isolation(define_operation(
            &[MlirOpcode::SdyManualComputation],
            ManualComputationAttributes::DEFINITIONS,
            AssemblyFormat::Custom(sharding_forms::manual_computation),
        )),
    ),
    with_signature(
        "1 0",
        define_operation(
            &[MlirOpcode::SdyShardingGroup],
            define_attributes!(
                group_id: i64,
            ),
            AssemblyFormat::Custom(sharding_forms::sharding_group),
        ),
    ),
    define_operation(
        &[MlirOpcode::SdyReturn],
        &[],
        AssemblyFormat::Format("%*", TrailingTypes::Operands),
    ),
    // Artifacts have it where values pass between the versioned dialect and others.
    with_signature(
        "* *",
        define_operation(
            &[MlirOpcode::UnrealizedConversionCast],
            &[],
            AssemblyFormat::Generic,
        ),
    ),
];
