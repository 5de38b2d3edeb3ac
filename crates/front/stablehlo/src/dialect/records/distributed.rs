//! Attributes of collectives.

use crate::dialect::properties::attribute_record;
use crate::dialect::values::{ChannelHandle, IntegerElements, NamedInteger};
use crate::mlir::MlirAttr;

attribute_record! {
    /// The attributes that collectives share.
    struct CollectiveAttributes {
        replica_groups: Option<MlirAttr>,
        channel_handle: Option<ChannelHandle>,
    }
}

attribute_record! {
    /// The attribute of `all_gather` alone.
    struct GatherDimensionAttributes {
        all_gather_dim: NamedInteger,
    }
}

attribute_record! {
    /// The attribute of `reduce_scatter` alone.
    struct ScatterDimensionAttributes {
        scatter_dimension: NamedInteger,
    }
}

attribute_record! {
    /// The attributes of `all_to_all` alone.
    struct AllToAllAttributes {
        split_dimension: NamedInteger,
        concat_dimension: NamedInteger,
    }
}

attribute_record! {
    /// Attributes of `collective_permute`.
    struct CollectivePermuteAttributes {
        source_target_pairs: IntegerElements,
        channel_handle: Option<ChannelHandle>,
    }
}
