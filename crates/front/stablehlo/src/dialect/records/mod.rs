//! Records of attributes, by subject as the tables of operations.

mod chlo;
mod distributed;
mod elementwise;
mod movement;
mod program;
mod sharding;
mod structured;
mod testing;

pub(crate) use chlo::{RaggedDotAttributes, ScanAttributes, TopKAttributes};
pub(crate) use distributed::{
    AllToAllAttributes, CollectiveAttributes, CollectivePermuteAttributes,
    GatherDimensionAttributes, ScatterDimensionAttributes,
};
pub(crate) use elementwise::{CompareAttributes, ReducePrecisionAttributes};
pub(crate) use movement::{
    BroadcastAttributes, BroadcastInDimAttributes, ConcatenateAttributes, ConstantAttributes,
    DimensionSizeAttributes, DynamicBroadcastInDimAttributes, DynamicGatherAttributes,
    DynamicSliceAttributes, GatherAttributes, GetTupleElementAttributes, IotaAttributes,
    PadAttributes, ReverseAttributes, ScatterAttributes, SliceAttributes, TransposeAttributes,
};
pub(crate) use program::{
    CallAttributes, CompositeAttributes, CustomCallAttributes, ForeignCallAttributes,
    FuncAttributes, MhloCallAttributes, ShapeAssertionAttributes, TargetParameters,
};
pub(crate) use sharding::ManualComputationAttributes;
pub(crate) use structured::{
    BatchNormAttributes, CholeskyAttributes, ConvolutionAttributes, DotAttributes,
    DotGeneralAttributes, FftAttributes, MapAttributes, ReduceAttributes, ReduceWindowAttributes,
    RngBitGeneratorAttributes, SelectAndScatterAttributes, SortAttributes,
    TriangularSolveAttributes,
};
pub(crate) use testing::CheckAttributes;
