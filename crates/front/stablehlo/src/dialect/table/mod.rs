//! Tables of all operations, by subject.

mod chlo;
mod distributed;
mod elementwise;
mod movement;
mod program;
mod sharding;
mod structured;
mod testing;

use super::operations::OpDefinition;

/// The tables.
pub(super) const TABLES: &[&[OpDefinition]] = &[
    program::OPERATIONS,
    elementwise::OPERATIONS,
    movement::OPERATIONS,
    structured::OPERATIONS,
    distributed::OPERATIONS,
    sharding::OPERATIONS,
    chlo::OPERATIONS,
    testing::OPERATIONS,
];
