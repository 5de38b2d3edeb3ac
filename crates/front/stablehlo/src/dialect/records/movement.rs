//! Attributes of constants and of operations that move elements.

use crate::dialect::numbers::{GatherNumbers, ScatterNumbers};
use crate::dialect::properties::attribute_record;
use crate::dialect::values::{ElementsAttribute, IntegerList, NamedInteger};

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
