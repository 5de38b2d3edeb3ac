//! Constants, and operations that move elements.

use crate::dialect::MlirOpcode;
use crate::dialect::custom;
use crate::dialect::numbers::{GatherNumbers, ScatterNumbers};
use crate::dialect::operations::{
    AssemblyFormat, OpDefinition, TrailingTypes, define_operation, functional_format,
    same_type_format, with_rule, with_signature,
};
use crate::dialect::properties::{attribute_record, define_attributes};
use crate::dialect::values::{ElementsAttribute, IntegerList, NamedInteger};
use crate::verify::rules::{elementwise, indexing, movement};

attribute_record! {
    /// Attributes of `constant`, of both dialects.
    struct ConstantAttributes {
        value: ElementsAttribute,
    }
}

attribute_record! {
    /// Attributes of `iota` and `dynamic_iota`.
    struct IotaAttributes {
        iota_dimension: NamedInteger,
    }
}

attribute_record! {
    /// Attributes of `broadcast`.
    struct BroadcastAttributes {
        broadcast_sizes: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `broadcast_in_dim`.
    struct BroadcastInDimAttributes {
        broadcast_dimensions: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `dynamic_broadcast_in_dim`.
    struct DynamicBroadcastInDimAttributes {
        broadcast_dimensions: IntegerList,
        known_expanding_dimensions: Option<IntegerList>,
        known_nonexpanding_dimensions: Option<IntegerList>,
    }
}

attribute_record! {
    /// Attributes of `transpose`.
    struct TransposeAttributes {
        permutation: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `reverse`.
    struct ReverseAttributes {
        dimensions: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `concatenate`.
    struct ConcatenateAttributes {
        dimension: NamedInteger,
    }
}

attribute_record! {
    /// Attributes of `slice`.
    struct SliceAttributes {
        start_indices: IntegerList,
        limit_indices: IntegerList,
        strides: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `dynamic_slice`.
    struct DynamicSliceAttributes {
        slice_sizes: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `pad`.
    struct PadAttributes {
        edge_padding_low: IntegerList,
        edge_padding_high: IntegerList,
        interior_padding: IntegerList,
    }
}

attribute_record! {
    /// Attributes of `get_dimension_size` and `set_dimension_size`.
    struct DimensionSizeAttributes {
        dimension: NamedInteger,
    }
}

attribute_record! {
    /// Attributes of `get_tuple_element`.
    struct GetTupleElementAttributes {
        index: i32,
    }
}

attribute_record! {
    /// Attributes of `gather`.
    struct GatherAttributes {
        dimension_numbers: GatherNumbers,
        slice_sizes: IntegerList,
    }
    unread {
        indices_are_sorted: Option<bool>,
    }
}

attribute_record! {
    /// Attributes of `dynamic_gather`, whose sizes of slices are an operand.
    struct DynamicGatherAttributes {
        dimension_numbers: GatherNumbers,
    }
    unread {
        indices_are_sorted: Option<bool>,
    }
}

attribute_record! {
    /// Attributes of `scatter`.
    struct ScatterAttributes {
        scatter_dimension_numbers: ScatterNumbers,
        unique_indices: Option<bool>,
    }
    unread {
        indices_are_sorted: Option<bool>,
    }
}

pub(super) const OPERATIONS: &[OpDefinition] = &[
    with_rule(
        "1 1",
        elementwise::bitcast_convert,
        define_operation(&[MlirOpcode::BitcastConvert], &[], functional_format("%")),
    ),
    with_rule(
        "5 1",
        movement::dynamic_lists,
        define_operation(&[MlirOpcode::DynamicPad], &[], functional_format("%*")),
    ),
    with_rule(
        "4 1",
        movement::dynamic_lists,
        define_operation(
            &[MlirOpcode::RealDynamicSlice],
            &[],
            functional_format("%*"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_reshape,
        define_operation(
            &[MlirOpcode::DynamicReshape],
            &[],
            functional_format("%, %"),
        ),
    ),
    with_rule(
        "2+ 1",
        movement::dynamic_update_slice,
        define_operation(
            &[MlirOpcode::DynamicUpdateSlice],
            &[],
            functional_format("%*"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reshape,
        define_operation(&[MlirOpcode::Reshape], &[], functional_format("%")),
    ),
    with_rule(
        "* 1",
        movement::verify_tuple,
        define_operation(
            &[MlirOpcode::Tuple],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Tuple),
        ),
    ),
    with_rule(
        "* *",
        elementwise::verify_optimization_barrier,
        define_operation(
            &[MlirOpcode::OptimizationBarrier],
            &[],
            AssemblyFormat::Format("%*", TrailingTypes::Pairwise),
        ),
    ),
    with_rule(
        "0 1",
        elementwise::verify_constant,
        define_operation(
            &[MlirOpcode::Constant],
            ConstantAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_constant),
        ),
    ),
    with_rule(
        "0 1",
        movement::verify_iota,
        define_operation(
            &[MlirOpcode::Iota],
            IotaAttributes::DEFINITIONS,
            same_type_format("dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::dynamic_iota,
        define_operation(
            &[MlirOpcode::DynamicIota],
            IotaAttributes::DEFINITIONS,
            functional_format("%, dim = <iota_dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_broadcast,
        define_operation(
            &[MlirOpcode::Broadcast],
            BroadcastAttributes::DEFINITIONS,
            functional_format("%, sizes = <broadcast_sizes:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::broadcast_in_dim,
        define_operation(
            &[MlirOpcode::BroadcastInDim],
            BroadcastInDimAttributes::DEFINITIONS,
            functional_format("%, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::dynamic_broadcast_in_dim,
        define_operation(
            &[MlirOpcode::DynamicBroadcastInDim],
            DynamicBroadcastInDimAttributes::DEFINITIONS,
            functional_format("%, %, dims = <broadcast_dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_transpose,
        define_operation(
            &[MlirOpcode::Transpose],
            TransposeAttributes::DEFINITIONS,
            functional_format("%, dims = <permutation:i64s>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_reverse,
        define_operation(
            &[MlirOpcode::Reverse],
            ReverseAttributes::DEFINITIONS,
            same_type_format("%, dims = <dimensions:i64s>"),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::verify_concatenate,
        define_operation(
            &[MlirOpcode::Concatenate],
            ConcatenateAttributes::DEFINITIONS,
            functional_format("%*, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::verify_slice,
        define_operation(
            &[MlirOpcode::Slice],
            SliceAttributes::DEFINITIONS,
            AssemblyFormat::Custom(custom::parse_slice),
        ),
    ),
    with_rule(
        "1+ 1",
        movement::dynamic_slice,
        define_operation(
            &[MlirOpcode::DynamicSlice],
            DynamicSliceAttributes::DEFINITIONS,
            functional_format("%*, sizes = <slice_sizes:i64s>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::verify_pad,
        define_operation(
            &[MlirOpcode::Pad],
            PadAttributes::DEFINITIONS,
            functional_format(
                "%, %, low = <edge_padding_low:i64s>, high = <edge_padding_high:i64s>, \
             interior = <interior_padding:i64s>",
            ),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_dimension_size,
        define_operation(
            &[MlirOpcode::GetDimensionSize],
            DimensionSizeAttributes::DEFINITIONS,
            functional_format("%, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "2 1",
        movement::set_dimension_size,
        define_operation(
            &[MlirOpcode::SetDimensionSize],
            DimensionSizeAttributes::DEFINITIONS,
            functional_format("%, %, dim = <dimension:i64>"),
        ),
    ),
    with_rule(
        "1 1",
        movement::get_tuple_element,
        define_operation(
            &[MlirOpcode::GetTupleElement],
            GetTupleElementAttributes::DEFINITIONS,
            functional_format("% [<index:i32>]"),
        ),
    ),
    with_rule(
        "2 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::Gather],
            GatherAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3 1",
        indexing::verify_gather,
        define_operation(
            &[MlirOpcode::DynamicGather],
            DynamicGatherAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_rule(
        "3+ 1+ 1",
        indexing::verify_scatter,
        define_operation(
            &[MlirOpcode::Scatter],
            ScatterAttributes::DEFINITIONS,
            AssemblyFormat::Generic,
        ),
    ),
    with_signature(
        "2 1",
        define_operation(
            &[MlirOpcode::TorchIndexSelect],
            define_attributes!(
                dim: i64,
                batch_dims: i64,
            ),
            AssemblyFormat::Generic,
        ),
    ),
];
