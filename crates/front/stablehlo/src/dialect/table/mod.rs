//! All operations, by subject.

mod chlo;
mod distributed;
mod elementwise;
mod movement;
mod program;
mod sharding;
mod structured;
mod testing;

use super::operations::OpDefinition;

pub(crate) use chlo::{RaggedDotAttributes, ScanAttributes, TopKAttributes};
pub(crate) use distributed::{CollectiveAttributes, CollectivePermuteAttributes};
pub(crate) use elementwise::{CompareAttributes, ReducePrecisionAttributes};
pub(crate) use movement::{
    BroadcastAttributes, BroadcastInDimAttributes, ConcatenateAttributes, ConstantAttributes,
    DimensionSizeAttributes, DynamicBroadcastInDimAttributes, DynamicGatherAttributes,
    DynamicSliceAttributes, GatherAttributes, GetTupleElementAttributes, IotaAttributes,
    PadAttributes, ReverseAttributes, ScatterAttributes, SliceAttributes, TransposeAttributes,
};
pub(crate) use program::{
    CallAttributes, CompositeAttributes, CustomCallAttributes, FuncAttributes,
    ShapeAssertionAttributes, TargetParameters,
};
pub(crate) use structured::{
    BatchNormAttributes, CholeskyAttributes, ConvolutionAttributes, DotAttributes,
    DotGeneralAttributes, FftAttributes, MapAttributes, ReduceAttributes, ReduceWindowAttributes,
    RngBitGeneratorAttributes, SelectAndScatterAttributes, SortAttributes,
    TriangularSolveAttributes,
};
pub(crate) use testing::CheckAttributes;

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
